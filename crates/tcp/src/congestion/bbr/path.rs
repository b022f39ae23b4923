//! The model of the path: bandwidth, what it delivers lately, aggregation (section 5.5).

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};

use super::{Model, UNBOUNDED};
use crate::{delivery::Sample, event::BbrPhase, flow::Flow};

/// Cycles of the bandwidth filter (BBR.MaxBwFilterLen).
const MAX_BW_FILTER_LEN: u64 = 2;
/// Rounds of the aggregation filter (BBR.ExtraAckedFilterLen).
const EXTRA_ACKED_FILTER_LEN: u64 = 10;
/// What a round with losses leaves of the short-term bounds, in percent (BBR.Beta).
pub(super) const BETA: u64 = 70;
/// The least window, in segments (BBR.MinPipeCwnd).
const MIN_PIPE_CWND: u64 = 4;

/// `value` times `percent` / 100.
pub(super) fn scale(value: u64, percent: u64) -> u64 {
    let scaled = u128::from(value) * u128::from(percent) / 100;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// Bytes that `bw` bit/s carry in `interval`.
pub(super) fn volume(bw: u64, interval: Time) -> u64 {
    let bytes = u128::from(bw) * u128::from(interval) / (8 * u128::from(SECOND));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

impl Model {
    /// UpdateRound (section 5.5.1).
    fn update_round(&mut self, rs: &Sample) {
        self.round_start = self.rounds.end_by(rs.prior_delivered, rs.delivered_total);
        self.rounds_since_probe_up += u64::from(self.round_start);
    }

    /// UpdateMaxBw (section 5.5.5). Samples that the application limits count only if they raise the estimate (section 5.5.4).
    fn update_max_bw(&mut self, rs: &Sample) {
        self.update_round(rs);
        if rs.rate > 0 && (rs.rate >= self.max_bw || !rs.app_limited) {
            self.max_bw = self.max_bw_filter.update(self.cycle_count, rs.rate, MAX_BW_FILTER_LEN);
        }
    }

    /// UpdateLatestDeliverySignals (section 5.5.10.3).
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Sample) {
        self.bw_latest = self.bw_latest.max(rs.rate);
        self.inflight_latest = self.inflight_latest.max(rs.delivered);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = rs.delivered_total;
        }
    }

    /// AdvanceLatestDeliverySignals (section 5.5.10.3).
    pub(super) const fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (rs.rate, rs.delivered);
            self.loss_ranges = 0;
        }
    }

    /// ResetCongestionSignals (section 5.5.10.3).
    pub(super) const fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0, 0);
    }

    /// UpdateCongestionSignals (section 5.5.10.3).
    pub(super) fn update_congestion_signals(&mut self, flow: &Flow, rs: &Sample) {
        self.update_max_bw(rs);
        if self.loss_round_start {
            self.adapt_lower_bounds(flow);
            self.is_loss_in_round = false;
        }
    }

    /// AdaptLowerBoundsFromCongestion: a round with losses, in which bandwidth was not probed, lowers the short-term bounds to
    /// what was delivered, by 30 % at most (section 5.5.10.3).
    fn adapt_lower_bounds(&mut self, flow: &Flow) {
        if self.phase.accelerates() || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm == UNBOUNDED {
            self.bw_shortterm = self.max_bw;
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = flow.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(scale(self.bw_shortterm, BETA));
        self.inflight_shortterm = self.inflight_latest.max(scale(self.inflight_shortterm, BETA));
    }

    /// ResetShortTermModel (section 5.5.10.3).
    pub(super) const fn reset_short_term_model(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (UNBOUNDED, UNBOUNDED);
    }

    /// UpdateACKAggregation (section 5.5.9): how much more than expected has been acknowledged.
    pub(super) fn update_ack_aggregation(&mut self, now: Time, flow: &Flow, rs: &Sample) {
        let mut expected = volume(self.bw, now - self.extra_acked_interval_start);
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_interval_start = now;
            expected = 0;
        }
        self.extra_acked_delivered += rs.acked;
        let extra = (self.extra_acked_delivered - expected).min(flow.cwnd);
        let length = if self.full_bw_reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        self.extra_acked_filter.update(self.rounds.count, extra, length);
    }

    /// BDPMultiple (section 5.6.4.2): the initial window before the first round-trip sample.
    pub(super) fn bdp_multiple(&self, flow: &Flow, gain: u64) -> u64 {
        if self.min_rtt == NEVER {
            return u64::from(flow.params.initial_window) * flow.mss;
        }
        scale(volume(self.bw, self.min_rtt), gain)
    }

    /// QuantizationBudget (section 5.6.4.2).
    fn quantized(&self, flow: &Flow, inflight: u64) -> u64 {
        let probing = self.phase == BbrPhase::ProbeBwUp;
        inflight.max(min_pipe_cwnd(flow)).saturating_add(if probing { 2 * flow.mss } else { 0 })
    }

    /// Inflight(1.0) (section 5.6.4.2).
    pub(super) fn inflight_of_bdp(&self, flow: &Flow) -> u64 {
        self.quantized(flow, self.bdp_multiple(flow, 100))
    }

    /// Inflight(BBR.max_bw, 1.0): as above, but of the long-term bandwidth (section 5.3.3.9).
    pub(super) fn inflight_of_max_bw(&self, flow: &Flow) -> u64 {
        let bdp = if self.min_rtt == NEVER { 0 } else { volume(self.max_bw, self.min_rtt) };
        self.quantized(flow, bdp)
    }

    /// BBR.max_inflight (UpdateMaxInflight, section 5.6.4.2).
    pub(super) fn max_inflight(&self, flow: &Flow) -> u64 {
        let inflight = self.bdp_multiple(flow, self.phase.cwnd_gain());
        self.quantized(flow, inflight.saturating_add(self.extra_acked_filter.greatest()))
    }

    /// TargetInflight (section 5.3.3.8.3).
    pub(super) fn target_inflight(&self, flow: &Flow) -> u64 {
        self.bdp_multiple(flow, 100).min(flow.cwnd)
    }
}

/// BBR.MinPipeCwnd in bytes (section 2.8).
pub(super) const fn min_pipe_cwnd(flow: &Flow) -> u64 {
    MIN_PIPE_CWND * flow.mss
}
