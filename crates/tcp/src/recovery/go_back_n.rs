//! Go-back-N on the third duplicate ACK: a hypothesis about the simulated Reno of the `espd` paper.
//!
//! The window is halved as Reno's, but the sender then sends everything again from the lost segment on, as
//! far as that window reaches, although the receiver may hold the rest. The network carries duplicates.

use celltrain_engine::Time;

use super::{Recovery, halve, reno::Reno};
use crate::{
    congestion::Congestion,
    flow::{DUP_THRESH, Flow},
};

/// Reno, except for what is sent again.
#[derive(Debug, Clone, Default)]
pub(crate) struct GoBackN {
    reno: Reno,
}

impl Recovery for GoBackN {
    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let inflates = flow.params.go_back_n_inflation;
        if self.reno.recovering {
            flow.cwnd += if inflates { flow.mss } else { 0 };
        } else if flow.third_duplicate() {
            halve(now, flow, congestion, if inflates { DUP_THRESH } else { 0 });
            flow.go_back();
            self.reno.recovering = true;
        }
    }

    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        self.reno.on_new_ack(now, flow, congestion, acked)
    }

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        self.reno.on_timeout(now, flow);
    }

    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        Some(flow.window_edge())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        !self.reno.recovering
    }

    fn recovering(&self) -> bool {
        self.reno.recovering
    }
}
