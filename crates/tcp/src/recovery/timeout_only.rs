//! No recovery but the timeout: slow start and congestion avoidance of 1988 without fast retransmit, which
//! the OSU papers call "vanilla" TCP.

use celltrain_engine::Time;

use super::Recovery;
use crate::flow::Flow;

/// Ignores duplicate ACKs.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimeoutOnly;

impl Recovery for TimeoutOnly {
    #[inline]
    fn sends_new(&mut self, _now: Time, flow: &mut Flow) -> Option<bool> {
        flow.fits_window()
    }
}
