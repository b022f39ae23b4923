//! Single rules of the draft, on a model that is set up by hand.

use celltrain_engine::time::{MILLISECOND, SECOND};

use super::*;
use crate::{
    StackSpec,
    congestion::bbr::{loss::too_much_lost, path::volume},
};

const MSS: u64 = 1000;
const RTT: Time = 100 * MILLISECOND;

fn flow() -> Flow {
    let spec = StackSpec { stack: crate::Stack::LinuxBbr, ..StackSpec::default() };
    let mut params = spec.resolve().expect("the preset is possible");
    params.mss = MSS as u32;
    let mut flow = Flow::new(params);
    flow.cwnd = 100 * MSS;
    flow
}

/// A model in `phase` of a path of 8 Mbit/s and 100 ms, which holds 100 segments.
fn model(phase: BbrPhase) -> Model {
    let full_bw_reached = phase != BbrPhase::Startup;
    let mut model =
        Model { phase, full_bw_reached, min_rtt: RTT, probe_rtt_min_delay: RTT, ..Model::default() };
    model.max_bw = model.max_bw_filter.update(0, 8_000_000, 2);
    model.bw = model.max_bw;
    model
}

/// A sample of what the path gives while 100 segments are in flight, in the middle of a round.
fn sample() -> Sample {
    Sample {
        acked: MSS,
        inflight: 99 * MSS,
        delivered_total: 1_000_000,
        rate: 8_000_000,
        delivered: 100 * MSS,
        prior_delivered: 900_000,
        tx_in_flight: 100 * MSS,
        rtt: Some(RTT),
        ..Sample::default()
    }
}

fn lost(number: u64, lost_since: u64) -> Lost {
    Lost {
        start: number * MSS,
        end: (number + 1) * MSS,
        tx_in_flight: 100 * MSS,
        lost_since,
        app_limited: false,
        delivered_total: 1_000_000,
    }
}

#[test]
fn more_than_two_in_a_hundred_is_too_much() {
    assert!(!too_much_lost(2000, 100_000) && too_much_lost(2001, 100_000));
}

/// Section 5.5.10.2: the volume at which losses crossed 2 % lies in the segment whose loss crossed it: 99 kB before it with 2 kB
/// lost, of which 1980 B are allowed.
#[test]
fn the_third_loss_in_a_hundred_segments_bounds_what_is_in_flight() {
    let (mut model, flow) = (model(BbrPhase::ProbeBwUp), flow());
    model.is_bw_probe_sample = true;
    for (number, total) in [(0, 1000), (1, 2000)] {
        model.handle_lost_packet(SECOND, &flow, &lost(number, total));
        assert_eq!((model.phase, model.inflight_longterm), (BbrPhase::ProbeBwUp, UNBOUNDED));
    }
    model.handle_lost_packet(SECOND, &flow, &lost(2, 3000));
    assert_eq!((model.phase, model.inflight_longterm), (BbrPhase::ProbeBwDown, 99 * MSS));
    assert!(model.prev_probe_too_high && !model.is_bw_probe_sample);
    // Once a probe.
    model.inflight_longterm = 90 * MSS;
    model.handle_lost_packet(SECOND, &flow, &lost(3, 4000));
    assert_eq!(model.inflight_longterm, 90 * MSS);
}

/// Section 5.5.10.2: it falls by no more than CUBIC's window would.
#[test]
fn the_long_term_bound_falls_by_three_tenths_at_most() {
    let (mut model, flow) = (model(BbrPhase::ProbeBwUp), flow());
    model.is_bw_probe_sample = true;
    model.handle_lost_packet(SECOND, &flow, &Lost { tx_in_flight: 20 * MSS, ..lost(0, 1000) });
    assert_eq!(model.inflight_longterm, 70 * MSS);
}

/// Section 5.5.10.3: a round with losses lowers the short-term bounds to what was delivered, by 30 % at most; refilling forgets
/// them.
#[test]
fn losses_while_cruising_lower_the_short_term_bounds() {
    let (mut model, mut flow) = (model(BbrPhase::ProbeBwCruise), flow());
    model.cycle_stamp = SECOND;
    model.bw_probe_wait = SECOND;
    model.handle_lost_packet(SECOND, &flow, &lost(0, 1000));
    let round = Sample { prior_delivered: 1_000_000, delivered_total: 1_100_000, ..sample() };
    model.on_sample(SECOND, &mut flow, &Sample { rate: 6_400_000, delivered: 80 * MSS, ..round });
    assert_eq!((model.bw_shortterm, model.inflight_shortterm), (6_400_000, 80 * MSS));
    assert_eq!((model.bw, flow.cwnd), (6_400_000, 80 * MSS));
    model.handle_lost_packet(SECOND, &flow, &Lost { delivered_total: 1_100_000, ..lost(9, 1000) });
    let round = Sample { prior_delivered: 1_100_000, delivered_total: 1_140_000, ..round };
    model.advance_latest_delivery_signals(&Sample { rate: 0, delivered: 0, ..round });
    model.on_sample(SECOND, &mut flow, &Sample { rate: 3_200_000, delivered: 40 * MSS, ..round });
    assert_eq!((model.bw_shortterm, model.inflight_shortterm), (4_480_000, 56 * MSS));
    model.start_probe_bw_refill(0);
    assert_eq!((model.bw_shortterm, model.inflight_shortterm), (UNBOUNDED, UNBOUNDED));
}

/// Section 5.3.1.2: three rounds without growth by a quarter, of which none is limited by the application.
#[test]
fn three_rounds_of_plateau_fill_the_pipe() {
    let mut model = Model { round_start: true, ..Model::default() };
    let mut round = |rate, app_limited| {
        model.check_full_bw_reached(&Sample { rate, app_limited, ..sample() });
        (model.full_bw, model.full_bw_count, model.full_bw_reached)
    };
    assert_eq!(round(1000, false), (1000, 0, false));
    assert_eq!(round(1250, false), (1250, 0, false));
    assert_eq!(round(1500, false), (1250, 1, false));
    assert_eq!(round(1500, true), (1250, 1, false));
    assert_eq!(round(1500, false), (1250, 2, false));
    assert_eq!(round(1562, false), (1250, 3, true));
}

/// Section 5.3.1.3: six ranges and more than 2 % in a round of fast recovery end Startup, also where the application limits.
#[test]
fn losses_end_startup() {
    for (ranges, leaves) in [(5, false), (6, true)] {
        let (mut model, flow) = (model(BbrPhase::Startup), flow());
        model.enter_recovery(&flow, true);
        (0..ranges).for_each(|range| model.handle_lost_packet(0, &flow, &lost(2 * range, 1000)));
        model.loss_round_start = true;
        model.inflight_latest = 120 * MSS;
        model.check_startup_done(&Sample { lost_since: 6 * MSS, app_limited: true, ..sample() });
        assert_eq!(model.phase == BbrPhase::Drain, leaves, "{ranges} ranges");
        assert_eq!(model.inflight_longterm == 120 * MSS, leaves);
    }
}

/// Section 5.3.1.3: "The connection has been in fast recovery for at least one full packet-timed round trip". What a timeout begins is none.
#[test]
fn losses_behind_a_timeout_do_not_end_startup() {
    for (timeout, leaves) in [(false, true), (true, false)] {
        let (mut bbr, flow) = (Bbr(Box::new(model(BbrPhase::Startup))), flow());
        if timeout {
            bbr.on_timeout(&flow);
        } else {
            bbr.on_loss(&flow);
        }
        (0..6).for_each(|range| bbr.0.handle_lost_packet(0, &flow, &lost(2 * range, 1000)));
        bbr.0.loss_round_start = true;
        bbr.0.check_startup_done(&Sample { lost_since: 6 * MSS, ..sample() });
        assert_eq!(bbr.0.phase == BbrPhase::Drain, leaves, "timeout: {timeout}");
    }
}

/// Section 5.5.11.2: what a loss that was none has changed is undone.
#[test]
fn a_spurious_loss_is_undone() {
    let (mut model, mut flow) = (model(BbrPhase::ProbeBwUp), flow());
    model.is_bw_probe_sample = true;
    model.handle_lost_packet(SECOND, &flow, &lost(0, 3000));
    assert_eq!(model.phase, BbrPhase::ProbeBwDown);
    flow.cwnd = 4 * MSS;
    model.handle_spurious_loss(&mut flow);
    assert_eq!((model.phase, model.inflight_longterm), (BbrPhase::ProbeBwRefill, UNBOUNDED));
    assert_eq!(flow.cwnd, 100 * MSS);
}

/// Section 5.3.3.5: with the bound in the way, it grows by 1, 2, 4 segments in successive round trips.
#[test]
fn the_long_term_bound_grows_faster_each_round() {
    let (mut model, mut flow) = (model(BbrPhase::ProbeBwUp), flow());
    model.inflight_longterm = 100 * MSS;
    model.probe_up_acked_per_inc = flow.cwnd;
    model.bw_probe_up_rounds = 1;
    let mut bounds = Vec::new();
    for round in 0..4u64 {
        let mut delivered = round * 100_000;
        // What the cycle does on each ACK of a round whose window is full; the last one ends it.
        let segments = model.inflight_longterm / MSS;
        for segment in 1..=segments {
            delivered += MSS;
            model.round_start = segment == segments;
            let rs = Sample { delivered_total: delivered, cwnd_limited: true, ..sample() };
            flow.cwnd = model.inflight_longterm;
            model.update_probe_bw_cycle_phase(SECOND, &flow, &rs);
        }
        bounds.push(model.inflight_longterm / MSS - 100);
    }
    assert_eq!(bounds, [1, 3, 7, 15]);
}

/// Section 5.5.9: a burst of ACKs beyond what the bandwidth explains.
#[test]
fn aggregated_acks_widen_the_window() {
    let (mut model, flow) = (model(BbrPhase::ProbeBwCruise), flow());
    for step in 0..10 {
        // 20 segments every 20 ms, at 1 segment a millisecond.
        model.update_ack_aggregation(step * 20 * MILLISECOND, &flow, &Sample { acked: 20 * MSS, ..sample() });
    }
    assert_eq!(model.extra_acked_filter.greatest(), 20 * MSS);
    assert_eq!(model.max_inflight(&flow), 220 * MSS);
    assert_eq!(volume(8_000_000, RTT), 100 * MSS);
}

/// Section 2.10: extra_acked_delivered is "the volume of data marked as delivered since BBR.extra_acked_interval_start", which an idle time moves.
#[test]
fn what_was_delivered_before_an_idle_time_is_not_aggregated() {
    let (mut model, mut flow) = (model(BbrPhase::ProbeBwCruise), flow());
    let delivery = flow.delivery.as_mut().expect("BBR samples the rate of delivery");
    delivery.check_app_limited(true, MSS);
    for burst in 0..100 {
        let now = burst * SECOND;
        model.handle_restart_from_idle(now, &mut flow);
        for ack in 1..=50 {
            // A little faster than the path is thought to be: 50 segments in the time of 45.
            model.update_ack_aggregation(now + ack * MILLISECOND * 9 / 10, &flow, &sample());
        }
    }
    let extra = model.extra_acked_filter.greatest();
    assert!((4 * MSS..=6 * MSS).contains(&extra), "{extra}");
}

/// Section 3.7: a congestion mark while it probes counts as too much in flight; in Startup it ends it.
#[test]
fn marks_are_congestion() {
    let (mut up, mut flow) = (model(BbrPhase::ProbeBwUp), flow());
    (up.is_bw_probe_sample, up.marked) = (true, true);
    up.on_sample(SECOND, &mut flow, &Sample { tx_in_flight: 80 * MSS, ..sample() });
    assert_eq!((up.phase, up.inflight_longterm), (BbrPhase::ProbeBwDown, 80 * MSS));
    let mut start = model(BbrPhase::Startup);
    start.marked = true;
    start.on_sample(SECOND, &mut flow, &Sample { inflight: 150 * MSS, ..sample() });
    assert_eq!(start.phase, BbrPhase::Drain);
}

/// Section 5.3.4.3: ProbeRTT is for a minimum that is old. A connection that opens late has none before its first measurement, which
/// an ambiguous ACK does not give.
#[test]
fn a_connection_without_a_round_trip_does_not_probe_for_it() {
    let (mut model, mut flow) = (Model::default(), flow());
    model.on_sample(20 * SECOND, &mut flow, &Sample { rtt: None, ..sample() });
    assert_eq!(model.phase, BbrPhase::Startup);
    model.on_sample(21 * SECOND, &mut flow, &sample());
    assert_eq!((model.phase, model.min_rtt), (BbrPhase::Startup, RTT));
    model.on_sample(27 * SECOND, &mut flow, &sample());
    assert_eq!(model.phase, BbrPhase::ProbeRtt);
}

/// Section 5.2.1: the round trip of the handshake is the first minimum, and counts from then on.
#[test]
fn the_handshake_gives_the_first_minimum() {
    let (mut bbr, mut flow) = (Bbr::default(), flow());
    flow.timer.estimator.sample(RTT);
    bbr.begin(20 * SECOND, &mut flow);
    assert_eq!((bbr.0.min_rtt, bbr.0.min_rtt_stamp), (RTT, 20 * SECOND));
    bbr.on_sample(21 * SECOND, &mut flow, &Sample { rtt: Some(2 * RTT), ..sample() });
    assert_eq!(bbr.0.min_rtt, RTT, "a later round trip, with a queue in it, is no minimum");
}
