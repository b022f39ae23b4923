//! The scoreboard of RFC 6675: what the receiver has reported, and up to where holes were filled.

use std::ops::Range;

use crate::ranges::Ranges;

/// What the receiver has reported above the cumulative ACK. It has thousands of blocks where a large window has lost every other
/// segment, and every ACK asks for the bytes below HighRxt, so they are counted as they change.
#[derive(Debug, Clone, Default)]
pub(super) struct Board {
    reported: Ranges,
    /// HighRxt (RFC 6675 section 2), the byte after the highest retransmission of this episode.
    high_rxt: u64,
    /// Reported bytes below that.
    below: u64,
}

impl Board {
    /// What has been reported.
    pub(super) const fn reported(&self) -> &Ranges {
        &self.reported
    }

    pub(super) const fn high_rxt(&self) -> u64 {
        self.high_rxt
    }

    /// Notes that what is below `high_rxt` has been sent again, where it had not been reported, and nothing above.
    pub(super) fn set_high_rxt(&mut self, high_rxt: u64) {
        let (low, high) = (high_rxt.min(self.high_rxt), high_rxt.max(self.high_rxt));
        let between = high - low - self.reported.missing_in(low..high);
        self.below = if high_rxt == high { self.below + between } else { self.below - between };
        self.high_rxt = high_rxt;
    }

    /// Adds what the receiver reports and returns how many bytes of it are new.
    pub(super) fn report(&mut self, block: Range<u64>) -> u64 {
        self.below += self.reported.missing_in(block.start..block.end.min(self.high_rxt));
        self.reported.insert(block)
    }

    /// Removes what the cumulative ACK says.
    pub(super) fn remove_below(&mut self, ack: u64) {
        let before = self.reported.bytes();
        self.reported.remove_below(ack);
        let removed = before - self.reported.bytes();
        // HighRxt falls behind where ACKs reach further than what was sent again.
        self.below = if ack <= self.high_rxt { self.below - removed } else { 0 };
    }

    /// How many bytes of those from `una`, the cumulative ACK, up to HighRxt have not been reported.
    pub(super) fn missing_below_high_rxt(&self, una: u64) -> u64 {
        let missing = self.high_rxt.saturating_sub(una).checked_sub(self.below);
        let missing = missing.expect("what is reported lies above the cumulative ACK");
        debug_assert_eq!(missing, self.reported.missing_in(una..self.high_rxt), "{self:?} above {una}");
        missing
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::Randomness;

    use super::*;

    #[test]
    fn what_is_counted_is_what_is_there() {
        let mut draw = Randomness { seed: 1, replication: 0 }.named("scoreboard");
        for _ in 0..200 {
            let (mut board, mut una, mut some) = (Board::default(), 0, 0);
            for _ in 0..40 {
                match draw.below(8) {
                    0 => {
                        una += draw.below(30);
                        board.remove_below(una);
                    }
                    1 => board.set_high_rxt(draw.below(300)),
                    2 => board.set_high_rxt(board.high_rxt() + draw.below(20)),
                    _ => {
                        let start = una + draw.below(200);
                        board.report(start..start + draw.below(20));
                    }
                }
                let missing = board.reported().missing_in(una..board.high_rxt());
                assert_eq!(board.missing_below_high_rxt(una), missing);
                some += u32::from(missing > 0 && missing + una < board.high_rxt());
            }
            assert!(some > 0, "nothing was ever reported below HighRxt");
        }
    }
}
