//! Recovery by selective acknowledgements (RFC 6675). Function names follow its section 4.

mod board;

use std::ops::Range;

use celltrain_engine::Time;

use self::board::Board;
use super::{Recovery, prr::Prr, reduced, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause, LossSign},
    flow::{DUP_THRESH, Flow},
    segment::Segment,
};

/// The scoreboard and the variables of RFC 6675 section 2. Where the RFC names the last byte of something,
/// these name the byte after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sack {
    board: Board,
    /// RescueRxt: one more retransmission of the tail may go once everything below is acknowledged.
    rescue_rxt: u64,
    episode: Option<Episode>,
    /// Bytes that the last ACK told to have arrived.
    delivered: u64,
    /// Whether its blocks told of any.
    duplicate: bool,
    /// Proportional rate reduction in this recovery, if it is on.
    prr: Option<Prr>,
}

/// A time in which holes are filled.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// RecoveryPoint: what had been sent when it began.
    recovery_point: u64,
    /// Whether a timeout began it. Everything not reported is then taken for lost, and the window grows by
    /// slow start (section 5.1).
    after_timeout: bool,
}

impl Sack {
    /// The byte below which everything not reported is lost: IsLost(S) holds for exactly the S below it.
    fn lost_below(&self, flow: &Flow) -> u64 {
        let floor = match self.episode {
            Some(Episode { recovery_point, after_timeout: true }) => recovery_point,
            _ => flow.una,
        };
        let (mut blocks, mut bytes) = (0, 0);
        for block in self.board.reported().iter().rev() {
            blocks += 1;
            bytes += block.end - block.start;
            if blocks >= DUP_THRESH || bytes > u64::from(DUP_THRESH - 1) * flow.mss {
                return block.start.max(floor);
            }
        }
        floor
    }

    // RFC 6675 §4: MUST estimate the octets in transit
    /// SetPipe: the bytes thought to be in the network. One that is not lost counts, one sent again counts
    /// (again).
    fn pipe(&self, flow: &Flow) -> u64 {
        self.board.reported().missing_in(self.lost_below(flow)..flow.max)
            + self.board.missing_below_high_rxt(flow.una)
    }

    /// The next hole above HighRxt, cut to a segment, if it starts below `limit`.
    fn hole_below(&self, flow: &Flow, limit: u64) -> Option<Range<u64>> {
        let (reported, from) = (self.board.reported(), self.board.high_rxt().max(flow.una));
        let hole =
            reported.first_gap(from).unwrap_or_else(|| from.max(reported.end().unwrap_or(0))..flow.max);
        (hole.start < limit.min(hole.end)).then(|| hole.start..hole.end.min(hole.start + flow.mss))
    }

    /// The last segment not reported, for the rescue retransmission.
    fn tail(&self, flow: &Flow) -> Option<Range<u64>> {
        let end = match self.board.reported().iter().next_back() {
            Some(top) if top.end == flow.max => top.start,
            _ => flow.max,
        };
        (end > flow.una).then(|| end.saturating_sub(flow.mss).max(flow.una)..end)
    }

    /// Counts what is sent, if the reduction is proportional.
    const fn on_sent(&mut self, bytes: u64) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(bytes);
        }
    }

    /// Lets the window follow what arrives, if the reduction is proportional.
    fn reduce(&mut self, flow: &mut Flow) {
        if let Some(mut prr) = self.prr {
            flow.cwnd = prr.window(flow, self.pipe(flow), self.delivered);
            self.prr = Some(prr);
        }
    }

    // RFC 6675 §5: MUST count duplicate ACKs and look for losses, whether or not they acknowledge new data
    /// What follows a duplicate ACK outside a recovery, steps 1, 2 and 4: begins one if the ACK shows a loss, and says whether it did.
    fn look_for_loss(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) -> bool {
        let third = flow.duplicates >= DUP_THRESH;
        if !third && self.lost_below(flow) <= flow.una {
            return false;
        }
        let cause = if third { LossSign::ThirdDuplicateAck } else { LossSign::SackedAbove };
        let (ssthresh, flight) = (reduced(flow, congestion), flow.in_network());
        flow.fast_retransmit(now, cause, ssthresh, ssthresh);
        flow.resend_first = true;
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: false });
        let first = flow.first_segment();
        if flow.params.proportional_rate_reduction {
            self.prr = Some(Prr::begin(flight));
            self.reduce(flow);
            // The first retransmission goes in any case.
            flow.cwnd = flow.cwnd.max(self.pipe(flow) + first.end - first.start);
        }
        self.on_sent(first.end - first.start);
        self.board.set_high_rxt(first.end);
        self.rescue_rxt = first.end;
        true
    }

    // RFC 6675 §4: MUST choose the next segment by rules 1 to 5
    // RFC 6675 §4: MUST NOT update HighRxt for a rescue retransmission
    /// NextSeg, rules 1 to 4.
    fn next_seg(&mut self, flow: &Flow, episode: Episode) -> Option<Range<u64>> {
        if let Some(hole) = self.hole_below(flow, self.lost_below(flow)) {
            self.board.set_high_rxt(hole.end);
            return Some(hole);
        }
        if let Some(new) = flow.next_below(flow.una + flow.rwnd) {
            return Some(new);
        }
        if let Some(hole) = self.hole_below(flow, self.board.reported().end().unwrap_or(0)) {
            self.board.set_high_rxt(hole.end);
            return Some(hole);
        }
        if !episode.after_timeout && flow.una > self.rescue_rxt {
            self.rescue_rxt = episode.recovery_point;
            return self.tail(flow);
        }
        None
    }

    /// Whether `bytes` may go outside of a recovery: they lie within the window, or limited transmit sends them in place of what has left the
    /// network (section 5 step 3).
    #[inline]
    fn may_exceed_window(&self, flow: &Flow, bytes: &Range<u64>) -> bool {
        flow.allowance == 0 || bytes.end <= flow.una + flow.cwnd || self.pipe(flow) + flow.mss <= flow.cwnd
    }

    /// What to send next while a loss is repaired. Kept out of the way of senders that repair none.
    #[inline(never)]
    fn next_in_episode(&mut self, flow: &Flow, episode: Episode) -> Option<Range<u64>> {
        if flow.cwnd < self.pipe(flow) + flow.mss {
            return None;
        }
        let bytes = self.next_seg(flow, episode)?;
        self.on_sent(bytes.end - bytes.start);
        Some(bytes)
    }
}

impl Recovery for Sack {
    // RFC 6675 §5: MUST update the scoreboard from every ACK
    // RFC 6675 §4: MUST NOT release reported data before it is acknowledged
    /// A duplicate ACK is one that reports something new (section 2).
    fn read(&mut self, _now: Time, flow: &Flow, segment: &Segment) -> bool {
        (self.delivered, self.duplicate) = (segment.ack.saturating_sub(flow.una), false);
        if segment.sack.is_empty() && self.board.reported().is_empty() {
            return false;
        }
        let before = self.board.reported().bytes();
        let (mut reported, ack) = (0, segment.ack.max(flow.una));
        for block in segment.sack.ranges(segment.ack) {
            reported += self.board.report(block.start.max(ack)..block.end.min(flow.max));
        }
        self.board.remove_below(ack);
        self.delivered = self.delivered + self.board.reported().bytes() - before;
        self.duplicate = reported > 0;
        self.duplicate
    }

    fn delivered(&self) -> u64 {
        self.delivered
    }

    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        self.reduce(flow);
        if self.episode.is_none() {
            self.look_for_loss(now, flow, congestion);
        }
    }

    // RFC 6675 §5: MUST end the recovery when RecoveryPoint is acknowledged
    // RFC 6675 §5: SHOULD NOT clear what is reported above it
    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        let Some(Episode { recovery_point, after_timeout }) = self.episode else {
            // It may be a duplicate too, the first one.
            flow.duplicates = u32::from(self.duplicate);
            if !self.duplicate || !self.look_for_loss(now, flow, congestion) {
                congestion.on_ack(now, flow, acked);
            }
            return true;
        };
        if flow.una >= recovery_point {
            self.episode = None;
            self.board.set_high_rxt(0);
            if self.prr.take().is_some() {
                flow.cwnd = flow.ssthresh;
            }
        }
        self.reduce(flow);
        if after_timeout {
            congestion.on_ack(now, flow, acked);
        } else if self.episode.is_none() {
            trace_exit(now, flow, ExitCause::FullAck);
        } else {
            let ack = flow.una;
            flow.trace.record(now, || EventKind::PartialAck { ack, recover: recovery_point });
        }
        true
    }

    // RFC 6675 §5.1: MUST set RecoveryPoint to HighData at a timeout, and begin no recovery before it is acknowledged
    // RFC 6675 §5.1: SHOULD use what was reported to decide what to send after a timeout
    // Not RFC 6675 §5.1: SHOULD expunge reports at a timeout (receivers here never renege)
    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        if self.recovering() {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        self.prr = None;
        self.board.set_high_rxt(flow.una);
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: true });
    }

    // RFC 6675 §5: SHOULD send while cwnd exceeds pipe by a segment
    fn next(&mut self, _now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        match self.episode {
            None => flow.next_in_window().filter(|bytes| self.may_exceed_window(flow, bytes)),
            Some(episode) => self.next_in_episode(flow, episode),
        }
    }

    fn recovering(&self) -> bool {
        self.episode.is_some_and(|episode| !episode.after_timeout)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::StackSpec;

    const MSS: u64 = 3;
    const SENT: u64 = 40;

    /// A flow with everything up to `SENT` outstanding, and a scoreboard in recovery that reports `blocks`.
    fn in_recovery(blocks: &[(u64, u64)], high_rxt: u64, cwnd: u64) -> (Sack, Flow) {
        let mut params = StackSpec::default().resolve().expect("the default stack is possible");
        params.mss = MSS as u32;
        let mut flow = Flow::new(params);
        (flow.max, flow.nxt, flow.cwnd, flow.offered) = (SENT, SENT, cwnd, u64::MAX);
        let mut sack = Sack::default();
        sack.board.set_high_rxt(high_rxt);
        sack.episode = Some(Episode { recovery_point: SENT, after_timeout: false });
        for &(start, len) in blocks {
            sack.board.report(start..(start + len).min(SENT));
        }
        (sack, flow)
    }

    /// IsLost as RFC 6675 section 4 defines it, byte by byte.
    fn is_lost(sack: &Sack, byte: u64) -> bool {
        let above: Vec<_> = sack.board.reported().iter().filter(|block| block.start > byte).collect();
        let bytes: u64 = above.iter().map(|block| block.end - block.start).sum();
        above.len() >= 3 || bytes > 2 * MSS
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn scoreboard_agrees_with_the_definitions(
            blocks in prop::collection::vec((1..SENT, 1u64..6), 0..8),
            high_rxt in 0..SENT,
            cwnd in MSS..2 * SENT,
        ) {
            let (mut sack, mut flow) = in_recovery(&blocks, high_rxt, cwnd);
            let reported = |byte| sack.board.reported().containing(byte).is_some();
            let unreported: Vec<u64> = (0..SENT).filter(|&byte| !reported(byte)).collect();
            for &byte in &unreported {
                prop_assert_eq!(byte < sack.lost_below(&flow), is_lost(&sack, byte));
            }
            let not_lost = unreported.iter().filter(|&&byte| !is_lost(&sack, byte)).count();
            let sent_again = unreported.iter().filter(|&&byte| byte < high_rxt).count();
            prop_assert_eq!(sack.pipe(&flow), (not_lost + sent_again) as u64);

            let first = |condition: &dyn Fn(u64) -> bool| {
                unreported.iter().copied().find(|&byte| byte >= high_rxt && condition(byte))
            };
            let lost = first(&|byte| is_lost(&sack, byte));
            let room = sack.pipe(&flow) + MSS <= cwnd;
            match sack.next(0, &mut flow) {
                Some(bytes) => {
                    prop_assert!(room);
                    prop_assert_eq!(bytes.start, lost.unwrap_or(SENT), "rule 1, else rule 2");
                    prop_assert!(bytes.end - bytes.start <= MSS);
                    flow.max = flow.max.max(bytes.end);
                    prop_assert!(sack.pipe(&flow) <= cwnd, "what is sent fits the window");
                }
                None => prop_assert!(!room),
            }
        }

        #[test]
        fn without_new_data_holes_below_a_report_go(
            blocks in prop::collection::vec((1..SENT, 1u64..6), 0..8),
            high_rxt in 0..SENT,
        ) {
            let (mut sack, mut flow) = in_recovery(&blocks, high_rxt, 3 * SENT);
            flow.offered = SENT;
            sack.rescue_rxt = SENT;
            let top = sack.board.reported().end().unwrap_or(0);
            let hole = (high_rxt..top).find(|&byte| sack.board.reported().containing(byte).is_none());
            let next = sack.next(0, &mut flow).map(|bytes| bytes.start);
            prop_assert_eq!(next, hole, "rule 1 or 3, and no rescue is left");
        }
    }
}
