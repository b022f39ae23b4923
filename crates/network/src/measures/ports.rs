//! What is sampled at a port.

use celltrain_engine::{Span, Time, time::seconds};

use super::{Sampler, Series};

/// What is followed over time at a port, at one period.
#[derive(Debug)]
pub(crate) struct PortSamplers {
    occupancy: Sampler,
    /// Of the periods.
    utilisation: Sampler,
    abr_queue: Sampler,
    illegal: Sampler,
    /// How long the link had been busy at the last sample.
    busy: Span,
}

impl PortSamplers {
    /// Samples at `period`.
    pub(crate) fn new(period: Time) -> Self {
        let sampler = Sampler::new(Some(period));
        Self {
            occupancy: sampler.clone(),
            utilisation: sampler.clone(),
            abr_queue: sampler.clone(),
            illegal: sampler,
            busy: Span::default(),
        }
    }

    /// When the next samples are to be taken.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.occupancy.due()
    }

    /// Takes the samples that are due: units in the buffer, how long the link has been busy so far, ABR cells in the buffer where rates are
    /// controlled, and what the buffer holds beyond the VCs' own parts of it where they have any.
    pub(crate) fn record(
        &mut self,
        occupancy: u64,
        busy: Span,
        abr_queue: Option<u64>,
        illegal: Option<u64>,
    ) {
        self.occupancy.record(occupancy as f64);
        let sent = busy.minus(std::mem::replace(&mut self.busy, busy));
        self.utilisation.record(sent.seconds() / seconds(self.utilisation.period()));
        if let Some(queue) = abr_queue {
            self.abr_queue.record(queue as f64);
        }
        if let Some(illegal) = illegal {
            self.illegal.record(illegal as f64);
        }
    }

    /// The series of the port `name`, whose buffer holds `unit`.
    pub(crate) fn series(&self, name: &str, unit: &'static str) -> [Series; 4] {
        [
            self.occupancy.series(name, "occupancy", unit),
            self.utilisation.series(name, "utilisation", ""),
            self.abr_queue.series(name, "abr_queue", "cells"),
            self.illegal.series(name, "illegal_occupancy", unit),
        ]
    }
}
