//! The shortest round trip, and ProbeRTT, which drains the queue to see it (section 5.3.4).

use celltrain_engine::{
    Time,
    time::{MILLISECOND, NEVER, SECOND},
};

use super::{Model, path::min_pipe_cwnd, phase::AckPhase};
use crate::{delivery::Sample, event::BbrPhase, flow::Flow};

/// How long a minimum counts (BBR.MinRTTFilterLen).
const MIN_RTT_FILTER_LEN: Time = 10 * SECOND;
/// Time between two probes (BBR.ProbeRTTInterval).
const PROBE_RTT_INTERVAL: Time = 5 * SECOND;
/// How long a probe lasts (BBR.ProbeRTTDuration).
const PROBE_RTT_DURATION: Time = 200 * MILLISECOND;

impl Model {
    /// UpdateMinRTT (section 5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, now: Time, rs: &Sample) {
        // Before the first sample of a connection there is nothing that could be old.
        let measured = self.probe_rtt_min_delay != NEVER;
        self.probe_rtt_expired = measured && now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = rs.rtt
            && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        let min_rtt_expired = now > self.min_rtt_stamp + MIN_RTT_FILTER_LEN;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
    }

    /// CheckProbeRTT (section 5.3.4.3).
    pub(super) fn check_probe_rtt(&mut self, now: Time, flow: &mut Flow, rs: &Sample) {
        if self.phase != BbrPhase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            // The pseudocode enters the phase first, and would then keep an older window that was larger; the text asks for the latest one
            // (section 5.6.4.4).
            self.save_cwnd(flow);
            self.phase = BbrPhase::ProbeRtt;
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin(rs.delivered_total);
        }
        if self.phase == BbrPhase::ProbeRtt {
            self.handle_probe_rtt(now, flow, rs);
        }
        self.idle_restart &= rs.delivered == 0;
    }

    /// HandleProbeRTT (section 5.3.4.3). Low rates do not count meanwhile.
    fn handle_probe_rtt(&mut self, now: Time, flow: &mut Flow, rs: &Sample) {
        if let Some(delivery) = &mut flow.delivery {
            delivery.mark_app_limited();
        }
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(now, flow, rs.delivered_total);
            }
        } else if rs.inflight <= self.probe_rtt_cwnd(flow) {
            self.probe_rtt_done_stamp = Some(now + PROBE_RTT_DURATION);
            self.probe_rtt_round_done = false;
            self.rounds.begin(rs.delivered_total);
        }
    }

    /// CheckProbeRTTDone (section 5.3.4.3).
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, flow: &mut Flow, delivered: u64) {
        if self.probe_rtt_done_stamp.is_some_and(|done| now > done) {
            self.probe_rtt_min_stamp = now;
            self.restore_cwnd(flow);
            self.exit_probe_rtt(now, delivered);
        }
    }

    /// ExitProbeRTT (section 5.3.4.4): less than the product of bandwidth and delay is in flight, so that cruising begins at
    /// once.
    fn exit_probe_rtt(&mut self, now: Time, delivered: u64) {
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(now, delivered);
            self.phase = BbrPhase::ProbeBwCruise;
        } else {
            self.phase = BbrPhase::Startup;
        }
    }

    /// ProbeRTTCwnd (section 5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self, flow: &Flow) -> u64 {
        self.bdp_multiple(flow, BbrPhase::ProbeRtt.cwnd_gain()).max(min_pipe_cwnd(flow))
    }

    /// HandleRestartFromIdle (section 5.4.1): the network has been empty, as the application had nothing to send.
    pub(super) fn handle_restart_from_idle(&mut self, now: Time, flow: &mut Flow) {
        let Some(delivery) = &flow.delivery else { return };
        if delivery.inflight() > 0 || !delivery.is_app_limited() {
            return;
        }
        let delivered = delivery.delivered();
        self.idle_restart = true;
        // The volume is what was delivered since the interval began (section 2.10). The pseudocode forgets it here, so that all that was
        // delivered before would count as aggregated, and the window would grow without end.
        (self.extra_acked_interval_start, self.extra_acked_delivered) = (now, 0);
        if self.phase.is_probe_bw() {
            self.set_pacing_rate(flow, 100);
        } else if self.phase == BbrPhase::ProbeRtt {
            self.check_probe_rtt_done(now, flow, delivered);
        }
    }
}
