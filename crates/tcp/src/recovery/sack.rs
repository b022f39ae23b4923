//! Recovery by selective acknowledgements (RFC 6675). Function names follow its section 4.

use std::ops::Range;

use celltrain_engine::Time;

use super::{Recovery, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause, LossSign},
    flow::{DUP_THRESH, Flow},
    ranges::Ranges,
    segment::Segment,
};

/// The scoreboard and the variables of RFC 6675 section 2. Where the RFC names the last byte of something, these name
/// the byte after it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sack {
    /// What the receiver has reported above the cumulative ACK.
    board: Ranges,
    /// HighRxt: the end of the highest retransmission of this episode.
    high_rxt: u64,
    /// RescueRxt: one more retransmission of the tail may go once everything below is acknowledged.
    rescue_rxt: u64,
    episode: Option<Episode>,
}

/// A time in which holes are filled.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// RecoveryPoint: what had been sent when it began.
    recovery_point: u64,
    /// Whether a timeout began it. Everything not reported is then taken for lost, and the window grows by slow start
    /// (section 5.1).
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
        for block in self.board.iter().rev() {
            blocks += 1;
            bytes += block.end - block.start;
            if blocks >= DUP_THRESH || bytes > u64::from(DUP_THRESH - 1) * flow.mss {
                return block.start.max(floor);
            }
        }
        floor
    }

    /// SetPipe: the bytes thought to be in the network. One that is not lost counts, one sent again counts (again).
    fn pipe(&self, flow: &Flow) -> u64 {
        self.board.missing_in(self.lost_below(flow)..flow.max)
            + self.board.missing_in(flow.una..self.high_rxt)
    }

    /// The next hole above HighRxt, cut to a segment, if it starts below `limit`.
    fn hole_below(&self, flow: &Flow, limit: u64) -> Option<Range<u64>> {
        let from = self.high_rxt.max(flow.una);
        let hole =
            self.board.first_gap(from).unwrap_or_else(|| from.max(self.board.end().unwrap_or(0))..flow.max);
        (hole.start < limit.min(hole.end)).then(|| hole.start..hole.end.min(hole.start + flow.mss))
    }

    /// The last segment not reported, for the rescue retransmission.
    fn tail(&self, flow: &Flow) -> Option<Range<u64>> {
        let end = match self.board.iter().next_back() {
            Some(top) if top.end == flow.max => top.start,
            _ => flow.max,
        };
        (end > flow.una).then(|| end.saturating_sub(flow.mss).max(flow.una)..end)
    }

    /// NextSeg, rules 1 to 4.
    fn next_seg(&mut self, flow: &Flow, episode: Episode) -> Option<Range<u64>> {
        if let Some(hole) = self.hole_below(flow, self.lost_below(flow)) {
            self.high_rxt = hole.end;
            return Some(hole);
        }
        if let Some(new) = flow.next_below(flow.una + flow.rwnd) {
            return Some(new);
        }
        if let Some(hole) = self.hole_below(flow, self.board.end().unwrap_or(0)) {
            self.high_rxt = hole.end;
            return Some(hole);
        }
        if !episode.after_timeout && flow.una > self.rescue_rxt {
            self.rescue_rxt = episode.recovery_point;
            return self.tail(flow);
        }
        None
    }
}

impl Recovery for Sack {
    /// A duplicate ACK is one that reports something new (section 2).
    fn read(&mut self, flow: &Flow, segment: &Segment) -> bool {
        if segment.sack.is_empty() && self.board.is_empty() {
            return false;
        }
        let mut reported = 0;
        for block in segment.sack.ranges(segment.ack) {
            reported += self.board.insert(block.start.max(flow.una)..block.end.min(flow.max));
        }
        self.board.remove_below(segment.ack.max(flow.una));
        reported > 0
    }

    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        let lost = self.lost_below(flow) > flow.una;
        if self.episode.is_some() || (flow.duplicates < DUP_THRESH && !lost) {
            return;
        }
        let cause =
            if flow.duplicates < DUP_THRESH { LossSign::SackedAbove } else { LossSign::ThirdDuplicateAck };
        let ssthresh = congestion.on_loss(flow);
        flow.fast_retransmit(now, cause, ssthresh, ssthresh);
        flow.resend_first = true;
        self.high_rxt = flow.first_segment().end;
        self.rescue_rxt = self.high_rxt;
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: false });
    }

    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        let Some(Episode { recovery_point, after_timeout }) = self.episode else {
            congestion.on_ack(now, flow, acked);
            return true;
        };
        if flow.una >= recovery_point {
            self.episode = None;
            self.high_rxt = 0;
        }
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

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        if self.recovering() {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        self.high_rxt = flow.una;
        self.episode = Some(Episode { recovery_point: flow.max, after_timeout: true });
    }

    fn next(&mut self, flow: &Flow) -> Option<Range<u64>> {
        match self.episode {
            None => flow.next_in_window(),
            Some(_) if flow.cwnd < self.pipe(flow) + flow.mss => None,
            Some(episode) => self.next_seg(flow, episode),
        }
    }

    fn recovering(&self) -> bool {
        self.episode.is_some_and(|episode| !episode.after_timeout)
    }
}
