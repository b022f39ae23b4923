//! BBRv3 (draft-ietf-ccwg-bbr): a model of the path, from delivery rates, round trips and losses, sets the pacing rate and
//! the window.
//!
//! Section numbers are the draft's. Volumes are in bytes, times in picoseconds, rates in bit/s, gains in percent; a bound that
//! is not set is [`UNBOUNDED`]. Names follow section 2 of the draft.
//!
//! Segments leave one by one, so the send quantum (section 5.6.3) is a segment, and the offload budget of section 5.5.8 lies
//! below the minimum of four segments that holds anyway.

mod control;
mod filter;
mod loss;
mod path;
mod phase;
mod probe_bw;
mod probe_rtt;
mod startup;
#[cfg(test)]
mod tests;

use celltrain_engine::{
    Time,
    random::{Generator, Randomness},
    time::NEVER,
};

use self::{filter::WindowedMax, loss::Saved, phase::AckPhase};
use super::CongestionControl;
use crate::{
    delivery::{Lost, Rounds, Sample},
    event::{BbrPhase, EventKind},
    flow::Flow,
};

/// A bound that is not set.
const UNBOUNDED: u64 = u64::MAX;

/// BBR; boxed, as it is several times as large as the others.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bbr(Box<Model>);

/// Everything that BBR knows (sections 2.4 to 2.16).
#[derive(Debug, Clone)]
struct Model {
    phase: BbrPhase,
    ack_phase: AckPhase,
    generator: Generator,
    /// The initial pacing rate rests on a measured round trip.
    has_seen_rtt: bool,

    /// BBR.round_count, with the end of the present round.
    rounds: Rounds,
    /// The present ACK ends a round.
    round_start: bool,

    max_bw_filter: WindowedMax,
    /// The time of that filter: cycles of bandwidth probing.
    cycle_count: u64,
    max_bw: u64,
    bw_shortterm: u64,
    /// The smaller of the two.
    bw: u64,
    inflight_longterm: u64,
    inflight_shortterm: u64,

    full_bw: u64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,

    /// The greatest of this round.
    bw_latest: u64,
    inflight_latest: u64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    /// A congestion mark has been echoed since the last sample.
    marked: bool,
    /// Ranges lost in this round that do not touch, and where the last ended.
    loss_ranges: u32,
    last_lost_end: u64,
    in_recovery: bool,
    /// That recovery is a fast one.
    in_fast_recovery: bool,
    prior_cwnd: u64,
    saved: Saved,

    extra_acked_filter: WindowedMax,
    extra_acked_delivered: u64,
    extra_acked_interval_start: Time,

    /// [`NEVER`] before a sample, as are the two below.
    min_rtt: Time,
    min_rtt_stamp: Time,
    probe_rtt_min_delay: Time,
    probe_rtt_min_stamp: Time,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<Time>,
    probe_rtt_round_done: bool,
    idle_restart: bool,

    rounds_since_probe_up: u64,
    bw_probe_wait: Time,
    cycle_stamp: Time,
    is_bw_probe_sample: bool,
    bw_probe_up_rounds: u32,
    bw_probe_up_acked: u64,
    probe_up_acked_per_inc: u64,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
}

impl Default for Model {
    /// OnInit (section 5.2.1).
    fn default() -> Self {
        Self {
            phase: BbrPhase::Startup,
            ack_phase: AckPhase::Init,
            generator: Randomness { seed: 0, replication: 0 }.named("bbr"),
            has_seen_rtt: false,
            rounds: Rounds::default(),
            round_start: false,
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            max_bw: 0,
            bw_shortterm: UNBOUNDED,
            bw: 0,
            inflight_longterm: UNBOUNDED,
            inflight_shortterm: UNBOUNDED,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            bw_latest: 0,
            inflight_latest: 0,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            marked: false,
            loss_ranges: 0,
            last_lost_end: 0,
            in_recovery: false,
            in_fast_recovery: false,
            prior_cwnd: 0,
            saved: Saved::default(),
            extra_acked_filter: WindowedMax::default(),
            extra_acked_delivered: 0,
            extra_acked_interval_start: 0,
            min_rtt: NEVER,
            min_rtt_stamp: 0,
            probe_rtt_min_delay: NEVER,
            probe_rtt_min_stamp: 0,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            idle_restart: false,
            rounds_since_probe_up: 0,
            bw_probe_wait: 0,
            cycle_stamp: 0,
            is_bw_probe_sample: false,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: UNBOUNDED,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        }
    }
}

impl Model {
    /// UpdateModelAndState and UpdateControlParameters (section 5.2.3), in their order.
    fn on_sample(&mut self, now: Time, flow: &mut Flow, rs: &Sample) {
        if std::mem::take(&mut self.marked) {
            self.handle_mark(now, flow, rs);
        }
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(flow, rs);
        self.update_ack_aggregation(now, flow, rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(now, flow, rs);
        self.update_probe_bw_cycle_phase(now, flow, rs);
        self.update_min_rtt(now, rs);
        self.check_probe_rtt(now, flow, rs);
        self.advance_latest_delivery_signals(rs);
        self.bw = self.max_bw.min(self.bw_shortterm);
        self.set_pacing_rate(flow, self.phase.pacing_gain());
        self.set_cwnd(flow, rs);
    }
}

impl CongestionControl for Bbr {
    fn samples(&self) -> bool {
        true
    }

    fn sets_window(&self) -> bool {
        true
    }

    /// OnInit (section 5.2.1), as far as it depends on the handshake.
    fn begin(&mut self, now: Time, flow: &mut Flow) {
        self.0.init_pacing_rate(flow);
        if let Some(srtt) = flow.timer.estimator.srtt() {
            (self.0.min_rtt, self.0.min_rtt_stamp) = (srtt, now);
        }
    }

    fn seed(&mut self, generator: Generator) {
        self.0.generator = generator;
    }

    /// The window follows from samples alone.
    fn on_ack(&mut self, _now: Time, _flow: &mut Flow, _acked: u64) {}

    fn on_sample(&mut self, now: Time, flow: &mut Flow, sample: &Sample) {
        let before = self.0.phase;
        self.0.on_sample(now, flow, sample);
        self.0.trace(now, flow, before);
    }

    fn on_lost(&mut self, now: Time, flow: &mut Flow, lost: &Lost) {
        let before = self.0.phase;
        self.0.handle_lost_packet(now, flow, lost);
        self.0.trace(now, flow, before);
    }

    fn on_restart(&mut self, now: Time, _idle: Time, flow: &mut Flow) {
        let before = self.0.phase;
        self.0.handle_restart_from_idle(now, flow);
        self.0.trace(now, flow, before);
    }

    fn on_loss(&mut self, flow: &Flow) -> u64 {
        self.0.enter_recovery(flow, true);
        flow.ssthresh
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        self.0.enter_recovery(flow, false);
        flow.ssthresh
    }

    fn on_mark(&mut self, flow: &Flow) -> u64 {
        self.0.marked = true;
        flow.cwnd
    }

    fn on_repaired(&mut self, flow: &mut Flow) -> u64 {
        let delivered = flow.delivered();
        self.0.note_loss(flow, delivered);
        flow.cwnd
    }

    fn on_recovered(&mut self, flow: &mut Flow) {
        self.0.leave_recovery(flow);
    }

    fn on_spurious(&mut self, now: Time, flow: &mut Flow) -> bool {
        let before = self.0.phase;
        self.0.handle_spurious_loss(flow);
        self.0.trace(now, flow, before);
        true
    }
}

impl Model {
    /// Records a change of phase, with the model at that moment.
    fn trace(&self, now: Time, flow: &mut Flow, before: BbrPhase) {
        let (phase, cwnd) = (self.phase, flow.cwnd);
        if phase != before {
            let bound = |volume: u64| (volume != UNBOUNDED).then_some(volume);
            flow.trace.record(now, || EventKind::PhaseEntered {
                phase,
                bandwidth: self.bw,
                min_rtt: self.min_rtt,
                cwnd,
                inflight_longterm: bound(self.inflight_longterm),
                inflight_shortterm: bound(self.inflight_shortterm),
            });
        }
    }
}
