//! Reno: fast retransmit and fast recovery (RFC 5681 section 3.2).

use celltrain_engine::Time;

use super::{Recovery, halve, trace_exit};
use crate::{
    congestion::{Congestion, CongestionControl},
    event::ExitCause,
    flow::{DUP_THRESH, Flow},
};

/// Sends the lost segment again, keeps the pipe half full by duplicate ACKs, ends with the first ACK for new
/// data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reno {
    pub(super) recovering: bool,
}

impl Recovery for Reno {
    // RFC 5681 §3.2: SHOULD use fast retransmit
    // RFC 5681 §3.2: MUST retransmit SND.UNA and set cwnd to ssthresh plus three segments
    // RFC 5681 §3.2: MUST inflate cwnd by a segment for each further duplicate ACK
    fn on_duplicate_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion) {
        if self.recovering {
            // Step 4: another segment has left the network.
            flow.cwnd += flow.mss;
        } else if flow.third_duplicate() {
            halve(now, flow, congestion, DUP_THRESH);
            flow.resend_first = true;
            self.recovering = true;
        }
    }

    // RFC 5681 §3.2: MUST deflate cwnd to ssthresh on the next ACK for new data
    fn on_new_ack(&mut self, now: Time, flow: &mut Flow, congestion: &mut Congestion, acked: u64) -> bool {
        if self.recovering {
            // Step 6: deflate the window.
            self.recovering = false;
            flow.cwnd = flow.ssthresh;
            trace_exit(now, flow, ExitCause::NewAck);
            if flow.params.recovery_exit_growth {
                congestion.on_ack(now, flow, acked);
            }
        } else {
            congestion.on_ack(now, flow, acked);
        }
        true
    }

    fn on_timeout(&mut self, now: Time, flow: &mut Flow) {
        if std::mem::take(&mut self.recovering) {
            trace_exit(now, flow, ExitCause::Timeout);
        }
        flow.go_back();
    }

    #[inline]
    fn edge_of_new(&self, flow: &Flow) -> Option<u64> {
        Some(flow.window_edge())
    }

    #[inline]
    fn is_quiet(&self) -> bool {
        !self.recovering
    }

    fn recovering(&self) -> bool {
        self.recovering
    }
}
