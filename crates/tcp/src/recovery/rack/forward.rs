//! Forward RTO-recovery (F-RTO): after a timeout new data go first, and the ACKs for them say whether anything had been lost.
//!
//! The version with selective acknowledgements (RFC 5682 section 3.1), as a current Linux kernel has it. The text of the RFC was not at
//! hand; the steps are those that descriptions of it and the kernel agree on:
//!
//! 1. The timer expires, and the first segment is sent again.
//! 2. An ACK moves the left edge, but not beyond what had been sent before the timeout: new data are sent in place of what is taken for
//!    lost. Without new data, or room for them, the recovery goes on as ever.
//! 3. If an ACK then reports something that was sent before the timeout and never again, it had only been late: the timeout was
//!    spurious. If it reports the new data, or nothing new, the loss was real.
//!
//! Data of the third step may also be reported before new data are sent, which says the same. A timeout in the midst of a recovery says
//! nothing in this way, as what was sent again cannot be told from the original.

use crate::flow::Flow;

/// What is known since a timeout that may have been spurious.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Forward {
    /// What had been sent when new data began to go; 0 if no timeout is in question.
    high: u64,
    /// New data go before what is taken for lost, until the next ACK.
    holds: bool,
    /// The last ACK reports something below `high` that was sent once.
    original: bool,
}

impl Forward {
    /// The timer has expired for the first segment.
    pub(super) fn begin(flow: &Flow) -> Self {
        Self { high: flow.max, ..Self::default() }
    }

    /// Whether no timeout is in question.
    pub(super) fn is_idle(&self) -> bool {
        self.high == 0
    }

    /// Another ACK is read.
    pub(super) fn begin_ack(&mut self) {
        (self.holds, self.original) = (false, false);
    }

    /// An ACK reports data up to `end` that were sent once.
    pub(super) fn note_original(&mut self, end: u64) {
        self.original |= end <= self.high;
    }

    /// Whether the timeout was spurious (step 3).
    pub(super) fn spurious(&self) -> bool {
        self.original
    }

    /// An ACK did not show that: steps 2 and 3. `advanced`: it moved the left edge.
    pub(super) fn proceed(&mut self, flow: &Flow, advanced: bool, delivered: u64) {
        if self.high == 0 {
            return;
        }
        let sent_new = flow.max > self.high;
        let real = sent_new && (delivered > 0 || !advanced);
        if real || flow.una >= self.high {
            *self = Self::default();
        } else if !sent_new && advanced {
            self.holds = true;
        }
    }

    /// Whether what is taken for lost waits for new data to go, or for the answer to them. `may_send`: there are new data, and the
    /// windows let them go.
    pub(super) fn holds(&mut self, flow: &Flow, may_send: bool) -> bool {
        if self.holds && !may_send && flow.max == self.high {
            *self = Self::default();
        }
        self.holds
    }
}
