//! The ABR destination: turns forward RM cells round and passes on what congestion marks say (TM 4.0, destination
//! behaviour).

use celltrain_engine::{Time, time::MILLISECOND};

use super::{Params, rate::MAX, rm::RmCell};

/// Least distance of the RM cells a destination makes itself: ten a second.
const NOTIFICATION_DISTANCE: Time = 100 * MILLISECOND;

/// The destination of one ABR connection. The BRM it holds goes out in the in-rate flow of the connection in the other
/// direction, when the source there chooses it.
#[derive(Debug, Clone)]
pub struct Destination {
    params: Params,
    /// EFCI of the last data cell, cleared once a BRM has said so.
    marked: bool,
    waiting: Option<RmCell>,
    /// When the next RM cell of its own may be made.
    next_notification: Time,
    overwritten: u64,
}

impl Destination {
    /// A destination that has received nothing yet.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self { params: params.clone(), marked: false, waiting: None, next_notification: 0, overwritten: 0 }
    }

    /// A data cell arrives, with its EFCI mark.
    #[inline]
    pub fn on_data(&mut self, now: Time, marked: bool) {
        self.marked = marked;
        let notify = marked && self.waiting.is_none() && self.params.backward_notification;
        if notify && now >= self.next_notification {
            self.next_notification = now + NOTIFICATION_DISTANCE;
            self.waiting = Some(RmCell::notification(MAX, self.params.mcr, self.params.rate_coding));
        }
    }

    /// A forward RM cell arrives. It takes the place of one that still waits: what goes back is never older than what came.
    pub fn on_frm(&mut self, rm: &RmCell) {
        self.overwritten += u64::from(self.waiting.is_some());
        self.waiting = Some(rm.turned());
    }

    /// Whether a backward RM cell waits.
    #[must_use]
    pub fn has_brm(&self) -> bool {
        self.waiting.is_some()
    }

    /// The backward RM cell that waits, as it is sent: the mark of the last data cell becomes CI only now, so that it is
    /// not lost when a newer FRM overwrites the cell.
    pub fn take_brm(&mut self) -> Option<RmCell> {
        let mut rm = self.waiting.take()?;
        if std::mem::take(&mut self.marked) {
            rm.set_ci();
        }
        Some(rm)
    }

    /// Backward RM cells that were overwritten before they could be sent.
    #[must_use]
    pub fn overwritten(&self) -> u64 {
        self.overwritten
    }
}
