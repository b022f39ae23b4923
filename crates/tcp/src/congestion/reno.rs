//! Slow start and congestion avoidance (RFC 5681 section 3.1).

use celltrain_engine::Time;

use super::{CongestionControl, slow_start};
use crate::{
    flow::Flow,
    params::{CongestionAvoidance, Halving},
};

/// State of Reno's growth.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reno {
    /// What has been earned towards the next increase: acknowledged bytes, or MSS*MSS an ACK, in units of
    /// 1/cwnd.
    credit: u64,
}

impl CongestionControl for Reno {
    // RFC 5681 §3.1: RECOMMENDED to count acknowledged bytes in congestion avoidance
    // RFC 5681 §3.1: MUST NOT add more than a segment per round trip in congestion avoidance
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        if flow.cwnd < flow.ssthresh {
            // What was earned at another window, before an idle time, is no part of the next congestion avoidance.
            self.credit = 0;
            return slow_start(now, flow, acked);
        }
        match flow.params.congestion_avoidance {
            CongestionAvoidance::ByteCounting => {
                self.credit += acked;
                if self.credit >= flow.cwnd {
                    self.credit -= flow.cwnd;
                    flow.cwnd += flow.mss;
                }
            }
            CongestionAvoidance::PerAck => {
                self.credit += flow.mss * flow.mss;
                let increase = self.credit / flow.cwnd;
                self.credit -= increase * flow.cwnd;
                flow.cwnd += increase;
            }
        }
    }

    // RFC 5681 §3.1: MUST set ssthresh to no more than half of FlightSize, two segments at least
    // RFC 5681 §3.2: MUST set ssthresh so on the third duplicate ACK
    fn on_loss(&mut self, flow: &Flow) -> u64 {
        self.credit = 0;
        let half = match flow.params.halving {
            Halving::Flight => flow.in_network() / 2,
            Halving::Window => half_of(flow, flow.cwnd.min(flow.rwnd)),
            Halving::Segments => half_of(flow, flow.cwnd),
        };
        half.max(2 * flow.mss)
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        self.credit = 0;
        match flow.params.halving {
            // RFC 3168 section 6.1.2: the congestion window is halved, however little of it is in use just now.
            Halving::Flight => flow.cwnd / 2,
            Halving::Window => half_of(flow, flow.cwnd.min(flow.rwnd)),
            Halving::Segments => half_of(flow, flow.cwnd),
        }
    }

    // RFC 5681 §3.1: MUST set ssthresh so upon a timeout of a segment not yet sent again by the timer
    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        // RFC 5681 section 3.1: a segment that times out again does not halve again.
        if flow.params.halving != Halving::Window && flow.consecutive_timeouts > 1 {
            return flow.ssthresh;
        }
        self.on_loss(flow)
    }
}

/// Half of a window, in whole segments (4.3BSD, Linux).
fn half_of(flow: &Flow, window: u64) -> u64 {
    window / 2 / flow.mss * flow.mss
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::StackSpec;

    /// RFC 5681 section 3.1: "during congestion avoidance, cwnd MUST NOT be increased by more than SMSS bytes per RTT". What was acknowledged at a
    /// larger window, before an idle time, is no part of that.
    #[test]
    fn congestion_avoidance_counts_from_its_beginning() {
        let mut flow = Flow::new(StackSpec::default().resolve().expect("the default stack is possible"));
        let (mut reno, mss) = (Reno::default(), flow.mss);
        let mut acknowledge = |flow: &mut Flow, segments| {
            (0..segments).for_each(|_| reno.on_ack(0, flow, mss));
            flow.cwnd / mss
        };
        (flow.cwnd, flow.ssthresh) = (40 * mss, 20 * mss);
        assert_eq!(acknowledge(&mut flow, 39), 40);
        // The restart of section 4.1, and slow start.
        flow.cwnd = 3 * mss;
        assert_eq!(acknowledge(&mut flow, 17), 20);
        assert_eq!([19, 1, 20, 1].map(|segments| acknowledge(&mut flow, segments)), [20, 21, 21, 22]);
    }

    /// `tcp_reno_ssthresh` of Linux halves the window, 4.3BSD the smaller of the window and the receiver's.
    #[test]
    fn what_is_halved_is_the_window_in_linux_whatever_the_receiver_tells() {
        let params = StackSpec::default().resolve().expect("the default stack is possible");
        let mut flow = Flow::new(params);
        (flow.cwnd, flow.rwnd) = (101 * flow.mss, 10 * flow.mss);
        for (halving, segments) in [(Halving::Segments, 50), (Halving::Window, 5)] {
            Arc::make_mut(&mut flow.params).halving = halving;
            assert_eq!(Reno::default().on_loss(&flow), segments * flow.mss);
            assert_eq!(Reno::default().on_mark(&flow), segments * flow.mss);
        }
    }
}
