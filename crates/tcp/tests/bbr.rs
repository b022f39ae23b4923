//! BBRv3 as draft-ietf-ccwg-bbr describes it, over paths in virtual time; several follow the example test cases of its appendix.

mod common;

use celltrain_engine::{
    Time,
    time::{MILLISECOND, SECOND},
};
use celltrain_tcp::{BbrPhase, Event, EventKind, Flags, Segment};
use common::{Link, Random, Rig, dumbbell::Dumbbell, params};

const STACK: &str = "stack = 'linux-bbr'";
/// Payload of the line's bytes: segments of 1448 B in packets of 1500 B.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// A change of phase.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entered {
    at: Time,
    phase: BbrPhase,
    bandwidth: u64,
    min_rtt: Time,
    cwnd: u64,
    longterm: Option<u64>,
    shortterm: Option<u64>,
}

fn phases(events: &[Event]) -> Vec<Entered> {
    let phase = |event: &Event| match event.kind {
        EventKind::PhaseEntered {
            phase,
            bandwidth,
            min_rtt,
            cwnd,
            inflight_longterm: longterm,
            inflight_shortterm: shortterm,
        } => Some(Entered { at: event.at, phase, bandwidth, min_rtt, cwnd, longterm, shortterm }),
        _ => None,
    };
    events.iter().filter_map(phase).collect()
}

/// One greedy flow over `rate` bit/s and `round_trip` with a buffer of `packets`: the dumbbell after `end`, and its phases.
fn alone(rate: u64, round_trip: Time, packets: usize, end: Time) -> (Dumbbell, Vec<Entered>) {
    let mut bell = Dumbbell::new(Link::new(rate, 0, packets));
    bell.add(&params(STACK), round_trip);
    bell.flows[0].sender.trace(true);
    bell.offer(0, u64::MAX);
    bell.run_until(end);
    let phases = phases(&bell.flows[0].sender.take_events());
    (bell, phases)
}

fn goodput(bell: &Dumbbell, flow: usize) -> f64 {
    bell.flows[flow].receiver.stats().delivered_bytes as f64 * 8.0
}

/// "Exiting STARTUP on Bandwidth Plateau", "Exiting DRAIN Based on Inflight": the estimate is within 2 % of the line, found in
/// a number of round trips that grows with the logarithm of what the path holds; then the queue drains.
#[test]
fn startup_finds_the_bandwidth_and_drain_empties_the_queue() {
    for (rate, round_trip) in [(1_000_000, 100), (10_000_000, 40), (100_000_000, 20), (200_000_000, 100)] {
        let round_trip = round_trip * MILLISECOND;
        let (_, phases) = alone(rate, round_trip, 100_000, 4 * SECOND);
        // DOWN may pass within one ACK, as the queue is empty already.
        assert_eq!(phases[0].phase, BbrPhase::Drain, "{rate} {phases:?}");
        let cycle = [BbrPhase::ProbeBwDown, BbrPhase::ProbeBwCruise];
        assert!(cycle.contains(&phases[1].phase), "{rate} {phases:?}");
        let line = rate as f64 * PAYLOAD;
        let found = phases[0].bandwidth as f64 / line;
        assert!((0.98..1.02).contains(&found), "{rate}: {found}");
        // Doubling from ten segments, and three rounds of plateau, with a queue that makes the last of them longer.
        let held = line * round_trip as f64 / SECOND as f64 / 8.0 / 1448.0;
        let rounds = libm::log2((held / 10.0).max(1.0)) + 6.0;
        let found_after = phases[0].at as f64 / round_trip as f64;
        assert!(found_after < 2.0 * rounds, "{rate}: {found_after} round trips");
        let drained = phases[1].at - phases[0].at;
        assert!(drained < 4 * round_trip, "{rate}: drained in {drained}");
        let shortest = phases[phases.len() - 1].min_rtt as f64 / round_trip as f64;
        assert!((1.0..1.2).contains(&shortest), "{rate}: {shortest}");
    }
}

/// The line is full, the queue short, and the phases follow each other as section 5.3.3 says, at times that section 5.3.3.8 and
/// section 5.3.4 bound.
#[test]
fn phases_cycle_and_the_line_stays_full() {
    let round_trip = 40 * MILLISECOND;
    let (mut bell, phases) = alone(10_000_000, round_trip, 1000, 60 * SECOND);
    let share = goodput(&bell, 0) / (60.0 * 10e6 * PAYLOAD);
    assert!(share > 0.95, "{share}");
    assert_eq!(bell.drops, 0);
    let mut longest = 0;
    for step in 0..1000 {
        bell.run_until(60 * SECOND + step * 10 * MILLISECOND);
        longest = longest.max(bell.bottleneck.length(bell.now));
    }
    // 33 packets fill the path; probing adds a quarter, and some for the window of 2.25 of that.
    assert!(longest <= 45, "{longest} packets wait");
    for pair in phases.windows(2) {
        let follows: &[BbrPhase] = match pair[0].phase {
            BbrPhase::Startup => &[BbrPhase::Drain],
            BbrPhase::Drain => &[BbrPhase::ProbeBwDown, BbrPhase::ProbeBwCruise],
            BbrPhase::ProbeBwDown => &[BbrPhase::ProbeBwCruise, BbrPhase::ProbeBwRefill, BbrPhase::ProbeRtt],
            BbrPhase::ProbeBwCruise => &[BbrPhase::ProbeBwRefill, BbrPhase::ProbeRtt],
            BbrPhase::ProbeBwRefill => &[BbrPhase::ProbeBwUp, BbrPhase::ProbeRtt],
            BbrPhase::ProbeBwUp => &[BbrPhase::ProbeBwDown, BbrPhase::ProbeRtt],
            BbrPhase::ProbeRtt => &[BbrPhase::ProbeBwCruise],
        };
        assert!(follows.contains(&pair[1].phase), "{pair:?}");
    }
    let of = |phase: BbrPhase| -> Vec<Time> {
        phases.iter().filter(|entered| entered.phase == phase).map(|entered| entered.at).collect()
    };
    let (ups, rtts) = (of(BbrPhase::ProbeBwUp), of(BbrPhase::ProbeRtt));
    assert!(ups.len() >= 15, "it probes for bandwidth: {}", ups.len());
    // 33 packets a round trip: as many rounds, a round of refilling and those of the probe itself; a visit to ProbeRTT between.
    assert!(ups.windows(2).all(|pair| pair[1] - pair[0] < 4 * SECOND), "{ups:?}");
    assert!(rtts.len() >= 9, "a probe of the round trip every 5 s: {rtts:?}");
    assert!(rtts.windows(2).all(|pair| pair[1] - pair[0] >= 5 * SECOND), "{rtts:?}");
    for (index, entered) in
        phases.iter().enumerate().filter(|(_, entered)| entered.phase == BbrPhase::ProbeRtt)
    {
        let Some(after) = phases.get(index + 1) else { continue };
        let lasted = after.at - entered.at;
        assert!((200 * MILLISECOND..500 * MILLISECOND).contains(&lasted), "{lasted}");
        // Half of the product of bandwidth and delay.
        let held = entered.bandwidth as f64 * entered.min_rtt as f64 / SECOND as f64 / 8.0;
        assert!(entered.cwnd as f64 <= 0.5 * held + 1.0, "{entered:?}");
    }
}

/// "Correctly Managing Sub-Packet BDPs": a window of four segments.
#[test]
fn a_path_that_holds_less_than_a_packet_is_filled() {
    let (bell, phases) = alone(1_000_000, MILLISECOND, 100, 20 * SECOND);
    assert!(goodput(&bell, 0) > 0.93 * 20.0 * 1e6 * PAYLOAD, "{}", goodput(&bell, 0));
    assert!(phases.iter().all(|entered| entered.cwnd >= 4 * 1448), "{phases:?}");
}

/// Section 1: random losses of one in a hundred do not keep it from the line as they do CUBIC. Each of the 33 round trips between
/// two probes takes 1 % off the rate (section 5.3.3.8.3), 15 % on average.
#[test]
fn random_losses_below_the_threshold_are_survived() {
    let run = |table: &str| {
        let mut random = Random(3);
        let script = move |_: &mut _, data: bool| (!data || random.below(100) > 0).then_some(0);
        let mut rig = Rig::new(&params(table), &[(10_000_000, 20 * MILLISECOND, 1000)], Box::new(script));
        rig.sender.offer(0, u64::MAX);
        rig.run_until(30 * SECOND);
        rig.receiver.stats().delivered_bytes as f64 * 8.0 / (30.0 * 10e6 * PAYLOAD)
    };
    let (bbr, cubic) = (run(STACK), run("stack = 'linux'"));
    assert!(bbr > 0.8 && cubic < 0.5, "{bbr} {cubic}");
}

/// Section 5.5.10.2: where a probe loses more than 2 %, the long-term bound holds inflight near what the path can keep, and
/// losses stay rare.
#[test]
fn a_shallow_buffer_bounds_what_is_in_flight() {
    // The path holds 33 packets, the buffer 8.
    let (bell, phases) = alone(10_000_000, 40 * MILLISECOND, 8, 60 * SECOND);
    let sent = bell.flows[0].sender.stats();
    let lost = sent.retransmitted_segments as f64 / sent.segments as f64;
    assert!(goodput(&bell, 0) > 0.88 * 60.0 * 10e6 * PAYLOAD, "{}", goodput(&bell, 0));
    assert!(lost < 0.02, "{lost}");
    assert_eq!(sent.timeouts, 0);
    let bounds: Vec<_> = phases.iter().filter_map(|entered| entered.longterm).collect();
    assert!(bounds.len() > phases.len() / 2, "it has a long-term bound");
    let segments = |bytes: &u64| *bytes as f64 / 1448.0;
    assert!(bounds[5..].iter().map(segments).all(|bound| (20.0..60.0).contains(&bound)), "{bounds:?}");
}

/// "Skipping PROBE_RTT Due to Application-Limited Sending", and section 5.5.4: what the application limits does not lower the
/// estimate of the bandwidth.
#[test]
fn an_idle_application_changes_nothing() {
    let mut bell = Dumbbell::new(Link::new(10_000_000, 0, 1000));
    bell.add(&params(STACK), 40 * MILLISECOND);
    bell.flows[0].sender.trace(true);
    bell.offer(0, 2_000_000);
    bell.run_until(4 * SECOND);
    assert!(bell.flows[0].sender.is_done());
    let before = phases(&bell.flows[0].sender.take_events());
    bell.run_until(20 * SECOND);
    for burst in 0..20 {
        bell.run_until(20 * SECOND + burst * 100 * MILLISECOND);
        bell.offer(0, 20_000);
    }
    let after = phases(&bell.flows[0].sender.take_events());
    assert!(after.iter().all(|entered| entered.phase != BbrPhase::ProbeRtt), "{after:?}");
    let (known, now) = (before.last().unwrap().bandwidth, after.last().unwrap().bandwidth);
    assert!(now as f64 > 0.95 * known as f64, "{known} {now}");
}

/// "Handling Spurious Fast Recovery" (section 5.5.11): segments that come late are no losses, and bounds that rested on them go.
#[test]
fn reordering_is_undone() {
    let mut random = Random(11);
    let late =
        move |_: &mut _, data: bool| Some(if data && random.below(50) == 0 { 15 * MILLISECOND } else { 0 });
    let mut rig = Rig::new(&params(STACK), &[(10_000_000, 20 * MILLISECOND, 1000)], Box::new(late));
    rig.sender.offer(0, u64::MAX);
    rig.run_until(30 * SECOND);
    let share = rig.receiver.stats().delivered_bytes as f64 * 8.0 / (30.0 * 10e6 * PAYLOAD);
    assert!(share > 0.9, "{share}");
    let stats = rig.sender.stats();
    assert!(stats.undone_reductions > 0 && stats.timeouts == 0, "{stats:?}");
}

/// The bandwidth of the path rises and falls tenfold ("Increasing Bandwidth 10x", "Decreasing Bandwidth 10x").
#[test]
fn it_follows_a_change_of_the_path() {
    let mut bell = Dumbbell::new(Link::new(10_000_000, 0, 200));
    bell.add(&params(STACK), 40 * MILLISECOND);
    bell.offer(0, u64::MAX);
    let mut shares = Vec::new();
    for (rate, end) in [(10_000_000, 10), (100_000_000, 30), (10_000_000, 60)] {
        bell.bottleneck.set_rate(rate);
        bell.run_until((end - 5) * SECOND);
        let before = goodput(&bell, 0);
        bell.run_until(end * SECOND);
        shares.push((goodput(&bell, 0) - before) / (5.0 * rate as f64 * PAYLOAD));
    }
    assert!(shares.iter().all(|&share| share > 0.85), "{shares:?}");
}

/// Goodputs of flows of the given stacks over `rate` bit/s and 40 ms with a buffer of `packets`, from a third of the time on, as
/// shares of the line. They start half a second apart.
fn shares(rate: u64, tables: &[&str], packets: usize, end: Time) -> Vec<f64> {
    let mut bell = Dumbbell::new(Link::new(rate, 0, packets));
    for (flow, table) in tables.iter().enumerate() {
        bell.add(&params(table), 40 * MILLISECOND);
        bell.offer(flow, u64::MAX);
        bell.run_until((flow as u64 + 1) * SECOND / 2);
    }
    bell.run_until(end / 3);
    let count = |bell: &Dumbbell| -> Vec<f64> { (0..tables.len()).map(|flow| goodput(bell, flow)).collect() };
    let before = count(&bell);
    bell.run_until(end);
    let seconds = (end - end / 3) as f64 / SECOND as f64;
    let line = seconds * rate as f64 * PAYLOAD;
    std::iter::zip(count(&bell), before).map(|(now, before)| (now - before) / line).collect()
}

fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    sum * sum / (shares.len() as f64 * shares.iter().map(|share| share * share).sum::<f64>())
}

/// Section 3.4: flows of BBR converge to alike shares; the line is full.
#[test]
fn flows_converge() {
    for (count, packets) in [(2, 33), (2, 132), (10, 66), (10, 132)] {
        let shares = shares(10_000_000, &vec![STACK; count], packets, 90 * SECOND);
        let (fairness, all) = (jain(&shares), shares.iter().sum::<f64>());
        assert!(fairness > 0.9, "{count} {packets}: {fairness} {shares:?}");
        assert!(all > 0.9, "{count} {packets}: {all}");
    }
}

/// What BBR carries of what it and CUBIC carry together, over `rate` bit/s and buffers of 1/2, 2 and 8 times what the path holds.
fn beside_cubic(rate: u64, path: usize) -> [f64; 3] {
    [1, 4, 16].map(|halves| {
        let shares = shares(rate, &[STACK, "stack = 'linux'"], halves * path / 2, 60 * SECOND);
        shares[0] / (shares[0] + shares[1])
    })
}

/// Where the path holds many packets BBR is ahead of CUBIC in shallow buffers, as it takes losses below 2 % for noise (section
/// 2.8), and its share falls as the buffer grows: CUBIC fills it, and BBR bounds what it keeps in flight.
#[test]
fn shares_with_cubic_fall_as_the_buffer_grows() {
    let of_bbr = beside_cubic(50_000_000, 167);
    assert!(of_bbr[0] > 0.6, "{of_bbr:?}");
    assert!(of_bbr[2] < of_bbr[0] - 0.05 && of_bbr[2] > 0.2, "{of_bbr:?}");
}

/// Where it holds few, a single loss is more than 2 %, and the two are level whatever the buffer.
#[test]
fn shares_with_cubic_are_level_on_a_short_path() {
    let of_bbr = beside_cubic(10_000_000, 33);
    assert!(of_bbr.iter().all(|share| (0.33..0.67).contains(share)), "{of_bbr:?}");
}

/// The same seeds, the same bytes; other seeds, other times of probing.
#[test]
fn probing_is_drawn_from_the_seed() {
    let run = |seed: u64| {
        let mut bell = Dumbbell::new(Link::new(100_000_000, 0, 1000));
        for _ in 0..=seed {
            bell.add(&params(STACK), 100 * MILLISECOND);
        }
        let last = seed as usize;
        bell.flows[last].sender.trace(true);
        bell.offer(last, u64::MAX);
        bell.run_until(15 * SECOND);
        bell.flows[last].sender.take_events()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(phases(&run(1)), phases(&run(2)));
}

/// Section 3.7: a mark is congestion, which the ACK that echoes it tells, not the next one.
#[test]
fn a_mark_ends_startup_with_the_ack_that_echoes_it() {
    let params = params(&format!("{STACK}\necn = true"));
    let mut acks = 0;
    let echo_third = move |segment: &mut Segment, data: bool| {
        acks += u64::from(!data);
        if !data && acks == 3 {
            segment.flags |= Flags::ECE;
        }
        Some(0)
    };
    let mut rig = Rig::new(&params, &[(10_000_000, 20 * MILLISECOND, 1000)], Box::new(echo_third));
    rig.sender.trace(true);
    rig.sender.offer(0, u64::MAX);
    loop {
        rig.step();
        if let [drain, ..] = phases(&rig.sender.take_events())[..] {
            assert_eq!((drain.phase, rig.sender.stats().acks), (BbrPhase::Drain, 3));
            break;
        }
    }
}
