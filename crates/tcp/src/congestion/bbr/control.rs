//! Pacing rate and window (section 5.6).

use celltrain_engine::time::{MILLISECOND, SECOND};

use super::{
    Model,
    path::{min_pipe_cwnd, scale},
};
use crate::{delivery::Sample, event::BbrPhase, flow::Flow};

/// By how much it paces below the bandwidth, in percent (BBR.PacingMarginPercent).
const PACING_MARGIN: u64 = 1;

impl Model {
    /// InitPacingRate: the initial window in a round trip, or in a millisecond before one has been measured (section 5.6.2).
    pub(super) fn init_pacing_rate(&mut self, flow: &mut Flow) {
        let srtt = flow.timer.estimator.srtt();
        self.has_seen_rtt = srtt.is_some();
        let initial = u128::from(flow.params.initial_window) * u128::from(flow.mss) * 8 * u128::from(SECOND);
        let nominal = initial / u128::from(srtt.unwrap_or(MILLISECOND).max(1));
        let nominal = u64::try_from(nominal).unwrap_or(u64::MAX);
        flow.pacing_rate = Some(scale(nominal, BbrPhase::Startup.pacing_gain()).max(1));
    }

    /// SetPacingRateWithGain (section 5.6.2).
    pub(super) fn set_pacing_rate(&mut self, flow: &mut Flow, gain: u64) {
        if !self.has_seen_rtt && flow.timer.estimator.srtt().is_some() {
            self.init_pacing_rate(flow);
        }
        let rate = scale(scale(self.bw, gain), 100 - PACING_MARGIN);
        let present = flow.pacing_rate.unwrap_or(0);
        if rate > 0 && (self.full_bw_reached || rate > present) {
            flow.pacing_rate = Some(rate);
        }
    }

    /// SetCwnd (section 5.6.4.6).
    pub(super) fn set_cwnd(&self, flow: &mut Flow, rs: &Sample) {
        let max_inflight = self.max_inflight(flow);
        let initial = u64::from(flow.params.initial_window) * flow.mss;
        if self.full_bw_reached {
            flow.cwnd = (flow.cwnd + rs.acked).min(max_inflight);
        } else if flow.cwnd < max_inflight || rs.delivered_total < initial {
            flow.cwnd += rs.acked;
        }
        flow.cwnd = flow.cwnd.max(min_pipe_cwnd(flow));
        if self.phase == BbrPhase::ProbeRtt {
            flow.cwnd = flow.cwnd.min(self.probe_rtt_cwnd(flow));
        }
        flow.cwnd = flow.cwnd.min(self.volume_cap(flow));
    }

    /// BoundCwndForModel (section 5.6.4.7).
    fn volume_cap(&self, flow: &Flow) -> u64 {
        let cap = match self.phase {
            BbrPhase::ProbeBwDown | BbrPhase::ProbeBwRefill | BbrPhase::ProbeBwUp => self.inflight_longterm,
            BbrPhase::ProbeBwCruise | BbrPhase::ProbeRtt => self.inflight_with_headroom(flow),
            BbrPhase::Startup | BbrPhase::Drain => super::UNBOUNDED,
        };
        cap.min(self.inflight_shortterm).max(min_pipe_cwnd(flow))
    }
}
