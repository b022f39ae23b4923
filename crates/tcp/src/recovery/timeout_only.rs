//! No recovery but the timeout: slow start and congestion avoidance of 1988 without fast retransmit, which
//! the OSU papers call "vanilla" TCP.

use super::Recovery;
use crate::flow::Flow;

/// Ignores duplicate ACKs.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimeoutOnly;

impl Recovery for TimeoutOnly {
    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        Some(flow.window_edge())
    }
}
