//! Westwood+: Reno whose threshold after a loss is what the path has been delivering (L. A. Grieco and S. Mascolo,
//! "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control", ACM SIGCOMM CCR 34(2), 2004).

use celltrain_engine::{Time, time::SECOND};

use super::{CongestionControl, reno::Reno};
use crate::{delivery::Sample, flow::Flow};

/// State of Westwood+.
#[derive(Debug, Clone, Default)]
pub(crate) struct Westwood {
    reno: Reno,
    /// Filtered delivery rate, in bit/s; 0 before a sample.
    bandwidth: u64,
    /// Shortest round trip.
    min_rtt: Option<Time>,
    /// The round trip that was sampled last.
    round: u64,
}

impl Westwood {
    /// What the path holds at the filtered rate, or half the flight before there is a sample; two segments at least.
    fn threshold(&mut self, flow: &Flow) -> u64 {
        let half = self.reno.on_loss(flow);
        let Some(min_rtt) = self.min_rtt.filter(|_| self.bandwidth > 0) else { return half };
        let bytes = u128::from(self.bandwidth) * u128::from(min_rtt) / (8 * u128::from(SECOND));
        (bytes as u64).clamp(2 * flow.mss, flow.in_network().max(2 * flow.mss))
    }
}

impl CongestionControl for Westwood {
    fn samples(&self) -> bool {
        true
    }

    fn on_sample(&mut self, _now: Time, _flow: &mut Flow, sample: &Sample) {
        self.min_rtt = self.min_rtt.into_iter().chain(sample.rtt).min();
        if sample.rounds > self.round && sample.rate > 0 && !sample.app_limited {
            self.round = sample.rounds;
            let filtered = self.bandwidth - self.bandwidth / 8 + sample.rate / 8;
            self.bandwidth = if self.bandwidth == 0 { sample.rate } else { filtered };
        }
    }

    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        self.reno.on_ack(now, flow, acked);
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        self.threshold(flow)
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        self.threshold(flow)
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        self.threshold(flow)
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;
    use crate::StackSpec;

    #[test]
    fn a_loss_leaves_what_the_path_holds() {
        let mut flow = Flow::new(StackSpec::default().resolve().unwrap());
        (flow.mss, flow.cwnd, flow.max) = (1000, 40_000, 40_000);
        let mut westwood = Westwood::default();
        assert_eq!(westwood.on_loss(&flow), 20_000, "half the flight: nothing is known yet");
        // 2 Mbit/s and 100 ms hold 25 segments, whatever a round trip with a queue takes.
        for (rounds, rtt) in [(1, 100), (2, 160)] {
            let rtt = Some(rtt * MILLISECOND);
            westwood.on_sample(0, &mut flow, &Sample { rounds, rate: 2_000_000, rtt, ..Sample::default() });
        }
        assert_eq!(westwood.on_loss(&flow), 25_000);
        // Ten rounds at half the rate: 1 + (7/8)^10 = 1.263 Mbit/s.
        for rounds in 3..13 {
            westwood.on_sample(0, &mut flow, &Sample { rounds, rate: 1_000_000, ..Sample::default() });
        }
        assert_eq!(westwood.on_loss(&flow) / 100, 157);
    }
}
