//! Samples for a congestion control that asks for them.

use celltrain_engine::Time;

use super::Sender;
use crate::{congestion::CongestionControl, segment::Segment};

impl Sender {
    /// Takes what an ACK reports as delivered, before anything else reads it.
    #[cold]
    pub(super) fn read_delivery(&mut self, now: Time, segment: &Segment) {
        self.flow.check_app_limited();
        if let Some(delivery) = &mut self.flow.delivery {
            delivery.on_ack(now, segment);
        }
    }

    /// Reports the losses that an ACK has shown, then its mark, then what it has delivered.
    #[cold]
    pub(super) fn report_delivery(&mut self, now: Time, segment: &Segment) {
        self.report_losses(now);
        let marked = self.flow.echoed;
        if marked {
            // Before the sample, so that the model knows of the mark when it takes what this ACK delivers.
            self.on_echo(now);
        }
        let Some(delivery) = &mut self.flow.delivery else { return };
        let echo = segment.timestamps.map(|timestamps| timestamps.echo);
        if let Some(sample) = delivery.sample(now, self.flow.timer.clock, echo, marked) {
            self.congestion.on_sample(now, &mut self.flow, &sample);
        }
    }

    /// Reports what has been taken for lost.
    pub(super) fn report_losses(&mut self, now: Time) {
        let Some(delivery) = &mut self.flow.delivery else { return };
        for lost in delivery.take_losses() {
            self.congestion.on_lost(now, &mut self.flow, &lost);
        }
    }
}
