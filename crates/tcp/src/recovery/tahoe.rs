//! Tahoe: fast retransmit without fast recovery (Jacobson 1988; Fall and Floyd 1996, section 2).

use celltrain_engine::Time;

use super::{Recovery, reduced};
use crate::{congestion::Congestion, event::LossSign, flow::Flow};

/// Slow start from the lost segment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tahoe;

impl Recovery for Tahoe {
    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if flow.third_duplicate() {
            let ssthresh = reduced(flow, congestion);
            flow.fast_retransmit(now, LossSign::ThirdDuplicateAck, ssthresh, flow.mss);
            flow.go_back();
        }
    }

    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        Some(flow.window_edge())
    }
}
