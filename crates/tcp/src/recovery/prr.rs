//! Proportional rate reduction (RFC 6937 section 3, with its slow-start reduction bound). Variable names follow it.

use crate::flow::Flow;

/// What has been delivered and sent since a recovery began, in bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prr {
    /// RecoverFS: the flight when it began, without what limited transmit added, as in the examples of section 3.1; in Linux the window.
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    /// At the beginning of a recovery, or of a reduction for a mark, from `recover_fs`.
    pub(super) fn begin(recover_fs: u64) -> Self {
        Self { recover_fs, ..Self::default() }
    }

    /// Whether nothing was sent since.
    pub(super) const fn is_silent(&self) -> bool {
        self.out == 0
    }

    /// `bytes` were sent, for the first time or again.
    pub(super) const fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// An ACK told that `delivered` more bytes have arrived and left `pipe` in the network: the congestion window for it.
    pub(super) fn window(&mut self, flow: &Flow, pipe: u64, delivered: u64) -> u64 {
        self.delivered += delivered;
        let unsent = self.delivered.saturating_sub(self.out);
        pipe + if pipe > flow.ssthresh {
            // Rounded up to whole segments, as the RFC's own examples count.
            let share = u128::from(self.delivered) * u128::from(flow.ssthresh);
            let unit = u128::from(self.recover_fs.max(1)) * u128::from(flow.mss);
            let due = share.div_ceil(unit) as u64 * flow.mss;
            due.saturating_sub(self.out)
        } else {
            (flow.ssthresh - pipe).min(unsent.max(delivered) + flow.mss)
        }
    }
}
