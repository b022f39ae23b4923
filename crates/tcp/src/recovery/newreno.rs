//! NewReno (RFC 6582 section 3.2).

use celltrain_engine::Time;

use super::{Recovery, halve, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause},
    flow::{DUP_THRESH, Flow},
};

/// Stays in fast recovery until everything that was outstanding at its start is acknowledged.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewReno {
    recovery: Option<Episode>,
}

/// One fast recovery.
#[derive(Debug, Clone, Copy)]
struct Episode {
    /// The byte after the highest sent when it began.
    recover: u64,
    /// Whether a partial ACK has come.
    partial: bool,
}

impl Recovery for NewReno {
    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if self.recovery.is_some() {
            flow.cwnd += flow.mss;
        } else if flow.third_duplicate() {
            halve(now, flow, congestion, DUP_THRESH);
            flow.resend_first = true;
            self.recovery = Some(Episode { recover: flow.max, partial: false });
        }
    }

    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        let Some(episode) = &mut self.recovery else {
            congestion.on_ack(now, flow, acked);
            return true;
        };
        if flow.una >= episode.recover {
            // Full ACK, first option: no burst when little is in flight.
            flow.cwnd = flow.ssthresh.min(flow.flight().max(flow.mss) + flow.mss);
            self.recovery = None;
            trace_exit(now, flow, ExitCause::FullAck);
            return true;
        }
        // Partial ACK: the next hole is lost. Deflate by what left the network, less the segment sent for it.
        let restarts = !(flow.params.newreno_impatient && episode.partial);
        episode.partial = true;
        let (ack, recover) = (flow.una, episode.recover);
        flow.resend_first = true;
        flow.cwnd = flow.cwnd.saturating_sub(acked).max(flow.mss);
        if acked >= flow.mss {
            flow.cwnd += flow.mss;
        }
        flow.trace.record(now, || EventKind::PartialAck { ack, recover });
        restarts
    }

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        if self.recovery.take().is_some() {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        flow.go_back();
    }

    fn recovering(&self) -> bool {
        self.recovery.is_some()
    }
}
