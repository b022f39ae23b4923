//! The selective acknowledgements of Fall and Floyd (1996), section 5: a counter of segments in the network and no test of
//! whether a hole is lost. The agent Sack1 of ns-2.

use std::ops::Range;

use celltrain_engine::Time;

use super::{Recovery, reduced, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause, LossSign},
    flow::{DUP_THRESH, Flow},
    ranges::Ranges,
    segment::Segment,
};

/// The scoreboard and the recovery that uses it.
#[derive(Debug, Clone, Default)]
pub(crate) struct SackPipe {
    /// What the receiver has reported above the cumulative ACK.
    board: Ranges,
    episode: Option<Episode>,
}

/// One fast recovery.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// What had been sent when it began.
    recovery_point: u64,
    /// Segments thought to be in the network. A burst of ACKs may take it below zero.
    pipe: i64,
    /// The end of the highest retransmission.
    high_rxt: u64,
}

impl SackPipe {
    /// The lowest hole that was not sent again, cut to a segment. Anything below what is reported counts as missing.
    fn hole(&self, flow: &Flow, high_rxt: u64) -> Option<Range<u64>> {
        let hole = self.board.first_gap(high_rxt.max(flow.una))?;
        Some(hole.start..hole.end.min(hole.start + flow.mss))
    }

    /// What to send next while a loss is repaired. Kept out of the way of senders that repair none.
    #[inline(never)]
    fn next_in_episode(&mut self, flow: &Flow, mut episode: Episode) -> Option<Range<u64>> {
        if episode.pipe >= (flow.cwnd / flow.mss) as i64 {
            return None;
        }
        let bytes = match self.hole(flow, episode.high_rxt) {
            Some(hole) => {
                episode.high_rxt = hole.end;
                hole
            }
            None => flow.next_below(flow.una + flow.rwnd)?,
        };
        episode.pipe += 1;
        self.episode = Some(episode);
        Some(bytes)
    }
}

impl Recovery for SackPipe {
    fn read(&mut self, _now: Time, flow: &Flow, segment: &Segment) -> bool {
        for block in segment.sack.ranges(segment.ack) {
            self.board.insert(block.start.max(flow.una)..block.end.min(flow.max));
        }
        self.board.remove_below(segment.ack.max(flow.una));
        flow.is_duplicate(segment)
    }

    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if let Some(episode) = &mut self.episode {
            episode.pipe -= 1;
        } else if flow.third_duplicate() {
            let outstanding = (flow.flight().div_ceil(flow.mss)) as i64;
            let ssthresh = reduced(flow, congestion);
            flow.fast_retransmit(now, LossSign::ThirdDuplicateAck, ssthresh, ssthresh);
            flow.resend_first = true;
            self.episode = Some(Episode {
                recovery_point: flow.max,
                pipe: outstanding - i64::from(DUP_THRESH),
                high_rxt: flow.first_segment().end,
            });
        }
    }

    /// A partial ACK means two segments that left the network: the retransmission, and the original that was lost.
    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        let Some(episode) = &mut self.episode else {
            congestion.on_ack(now, flow, acked);
            return true;
        };
        if flow.una >= episode.recovery_point {
            self.episode = None;
            trace_exit(now, flow, ExitCause::FullAck);
        } else {
            episode.pipe -= 2;
            let (ack, recover) = (flow.una, episode.recovery_point);
            flow.trace.record(now, || EventKind::PartialAck { ack, recover });
        }
        true
    }

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        self.board = Ranges::default();
        if self.episode.take().is_some() {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        flow.go_back();
    }

    fn next(&mut self, _now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        match self.episode {
            None => flow.next_in_window(),
            Some(episode) => self.next_in_episode(flow, episode),
        }
    }

    /// ns-2 restarts its timer with ACKs and timeouts alone.
    fn times_first(&self, _flow: &Flow) -> bool {
        false
    }

    fn recovering(&self) -> bool {
        self.episode.is_some()
    }
}
