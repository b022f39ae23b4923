//! NewReno (RFC 6582 section 3.2).

use std::ops::Range;

use celltrain_engine::Time;

use super::{Recovery, halve, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::{EventKind, ExitCause},
    flow::{DUP_THRESH, Flow},
    params::NewrenoFullAck,
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
    /// By how much duplicate ACKs have inflated the window.
    inflation: u64,
    /// Segments that have followed the last ACK.
    burst: u32,
}

impl Recovery for NewReno {
    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if let Some(episode) = &mut self.recovery {
            flow.cwnd += flow.mss;
            episode.inflation += flow.mss;
            episode.burst = 0;
        } else if flow.third_duplicate() {
            halve(now, flow, congestion, DUP_THRESH);
            flow.resend_first = true;
            self.recovery = Some(Episode {
                recover: flow.max,
                partial: false,
                inflation: u64::from(DUP_THRESH) * flow.mss,
                burst: 0,
            });
        }
    }

    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        let Some(episode) = &mut self.recovery else {
            congestion.on_ack(now, flow, acked);
            return true;
        };
        if flow.una >= episode.recover {
            flow.cwnd = match flow.params.newreno_full_ack {
                // First option: no burst when little is in flight.
                NewrenoFullAck::Flight => flow.ssthresh.min(flow.flight().max(flow.mss) + flow.mss),
                NewrenoFullAck::Deflated => flow.cwnd.saturating_sub(episode.inflation).max(flow.mss),
            };
            self.recovery = None;
            trace_exit(now, flow, ExitCause::FullAck);
            if flow.params.recovery_exit_growth {
                congestion.on_ack(now, flow, acked);
            }
            return true;
        }
        // Partial ACK: the next hole is lost. Deflate by what left the network, less the segment sent for it.
        let restarts = !(flow.params.newreno_impatient && episode.partial);
        episode.partial = true;
        episode.burst = 0;
        let (ack, recover) = (flow.una, episode.recover);
        flow.resend_first = true;
        flow.cwnd = flow.cwnd.saturating_sub(acked).max(flow.mss);
        // What exceeds the inflation comes off the window proper.
        episode.inflation = episode.inflation.saturating_sub(acked);
        if acked >= flow.mss {
            flow.cwnd += flow.mss;
            episode.inflation += flow.mss;
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

    fn next(&mut self, _now: Time, flow: &mut Flow) -> Option<Range<u64>> {
        let bytes = flow.next_in_window()?;
        if let (Some(episode), Some(limit)) = (&mut self.recovery, flow.params.newreno_burst) {
            if episode.burst >= limit {
                return None;
            }
            episode.burst += 1;
        }
        Some(bytes)
    }

    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        if self.recovery.is_some() { None } else { Some(flow.window_edge()) }
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        self.recovery.is_none()
    }

    /// The impatient variant lets the timer run on after partial ACKs (RFC 3782 section 4).
    fn times_first(&self, flow: &Flow) -> bool {
        self.recovery.is_none() || !flow.params.newreno_impatient
    }

    fn recovering(&self) -> bool {
        self.recovery.is_some()
    }
}
