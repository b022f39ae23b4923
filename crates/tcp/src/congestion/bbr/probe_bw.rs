//! The cycle of bandwidth probing (section 5.3.3).

use celltrain_engine::{Time, time::SECOND};

use super::{
    Model, UNBOUNDED,
    loss::too_much_lost,
    path::{min_pipe_cwnd, scale},
    phase::AckPhase,
};
use crate::{delivery::Sample, event::BbrPhase, flow::Flow};

/// Share of the long-term bound that is left to others, in percent (BBR.Headroom).
const HEADROOM: u64 = 15;
/// Bounds of the wait between probes, of which one is drawn (PickProbeWait, section 5.3.3.8.3).
const PROBE_WAIT_MIN: Time = 2 * SECOND;
const PROBE_WAIT_MAX: Time = 3 * SECOND;
/// Rounds after which it probes at the latest, as Reno would have grown by a loss (section 5.3.3.8.3).
const RENO_ROUNDS_MAX: u64 = 63;
/// Bound of the exponent by which inflight grows.
const UP_ROUNDS_MAX: u32 = 30;

impl Model {
    /// UpdateProbeBWCyclePhase (section 5.3.3.9).
    pub(super) fn update_probe_bw_cycle_phase(&mut self, now: Time, flow: &Flow, rs: &Sample) {
        if !self.full_bw_reached || self.adapt_long_term_model(flow, rs) {
            return;
        }
        match self.phase {
            BbrPhase::ProbeBwDown | BbrPhase::ProbeBwCruise if self.is_time_to_probe(now, flow) => {
                self.start_probe_bw_refill(rs.delivered_total);
            }
            BbrPhase::ProbeBwDown if self.is_time_to_cruise(flow, rs) => self.phase = BbrPhase::ProbeBwCruise,
            // One round of refilling.
            BbrPhase::ProbeBwRefill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(flow, rs);
            }
            BbrPhase::ProbeBwUp => self.end_probe_bw_up(now, flow, rs),
            _ => {}
        }
    }

    /// Goes down when it is time.
    fn end_probe_bw_up(&mut self, now: Time, flow: &Flow, rs: &Sample) {
        if self.is_time_to_go_down(flow, rs) {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(now, rs.delivered_total);
        }
    }

    /// StartProbeBW_DOWN; `delivered` bytes have been delivered (section 5.3.3.9).
    pub(super) fn start_probe_bw_down(&mut self, now: Time, delivered: u64) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = UNBOUNDED;
        // PickProbeWait.
        self.rounds_since_probe_up = self.generator.below(2);
        self.bw_probe_wait = self.generator.uniform(PROBE_WAIT_MIN, PROBE_WAIT_MAX);
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin(delivered);
        self.phase = BbrPhase::ProbeBwDown;
    }

    /// StartProbeBW_REFILL (section 5.3.3.9).
    pub(super) const fn start_probe_bw_refill(&mut self, delivered: u64) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.begin(delivered);
        self.phase = BbrPhase::ProbeBwRefill;
    }

    /// StartProbeBW_UP (section 5.3.3.9).
    fn start_probe_bw_up(&mut self, flow: &Flow, rs: &Sample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.begin(rs.delivered_total);
        self.reset_full_bw(rs.rate);
        self.phase = BbrPhase::ProbeBwUp;
        self.raise_inflight_longterm_slope(flow);
    }

    /// IsTimeToProbeBW (section 5.3.3.8.3).
    fn is_time_to_probe(&self, now: Time, flow: &Flow) -> bool {
        let reno_rounds = self.target_inflight(flow) / flow.mss;
        now > self.cycle_stamp + self.bw_probe_wait
            || self.rounds_since_probe_up >= reno_rounds.min(RENO_ROUNDS_MAX)
    }

    /// IsTimeToCruise (section 5.3.3.9).
    fn is_time_to_cruise(&self, flow: &Flow, rs: &Sample) -> bool {
        rs.inflight <= self.inflight_with_headroom(flow).min(self.inflight_of_max_bw(flow))
    }

    /// IsTimeToGoDown (section 5.3.3.9).
    fn is_time_to_go_down(&mut self, flow: &Flow, rs: &Sample) -> bool {
        if self.prev_probe_too_high && rs.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if rs.cwnd_limited && flow.cwnd >= self.inflight_longterm {
            self.reset_full_bw(rs.rate);
            return false;
        }
        self.full_bw_now
    }

    /// InflightWithHeadroom (section 5.3.3.9).
    pub(super) fn inflight_with_headroom(&self, flow: &Flow) -> u64 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = scale(self.inflight_longterm, HEADROOM).max(flow.mss);
        self.inflight_longterm.saturating_sub(headroom).max(min_pipe_cwnd(flow))
    }

    /// RaiseInflightLongtermSlope: the growth doubles each round (section 5.3.3.9).
    fn raise_inflight_longterm_slope(&mut self, flow: &Flow) {
        let growth = 1 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(UP_ROUNDS_MAX);
        self.probe_up_acked_per_inc = (flow.cwnd / growth).max(flow.mss);
    }

    /// ProbeInflightLongtermUpward (section 5.3.3.9).
    fn probe_inflight_longterm_upward(&mut self, flow: &Flow, rs: &Sample) {
        if !rs.cwnd_limited || flow.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.acked;
        let steps = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= steps * self.probe_up_acked_per_inc;
        self.inflight_longterm += steps * flow.mss;
        if self.round_start {
            self.raise_inflight_longterm_slope(flow);
        }
    }

    /// AdaptLongTermModel; true if it has changed the phase (section 5.3.3.9).
    fn adapt_long_term_model(&mut self, flow: &Flow, rs: &Sample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start && self.end_probe_samples(rs) {
            return true;
        }
        if self.inflight_longterm == UNBOUNDED || too_much_lost(rs.lost_since, rs.tx_in_flight) {
            return false;
        }
        self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
        if self.phase == BbrPhase::ProbeBwUp {
            self.probe_inflight_longterm_upward(flow, rs);
        }
        false
    }

    /// The last samples of a probe have come. If it was only precautionary and nothing was lost, the next follows at once
    /// (section 5.3.3.6).
    fn end_probe_samples(&mut self, rs: &Sample) -> bool {
        self.is_bw_probe_sample = false;
        self.ack_phase = AckPhase::Init;
        if !self.phase.is_probe_bw() {
            return false;
        }
        if !rs.app_limited {
            // AdvanceMaxBwFilter (section 5.5.6).
            self.cycle_count += 1;
        }
        let again = self.prev_probe_precautionary && !self.prev_probe_too_high;
        if again {
            self.start_probe_bw_refill(rs.delivered_total);
        }
        again
    }
}
