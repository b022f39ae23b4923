//! What holds for every sender and receiver, whatever the network does.

mod common;

use std::collections::BTreeSet;

use celltrain_engine::{
    Time,
    time::{MILLISECOND, SECOND},
};
use celltrain_tcp::{
    CongestionKind, Ecn, EventKind, Flags, Params, Receiver, RecoveryKind, RtoArithmetic, Segment, StackSpec,
};
use common::{Fate, Random, Rig, Step, params};
use proptest::prelude::*;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, max_shrink_iters: 100, failure_persistence: None, ..ProptestConfig::default() }
}

/// Every recovery with every congestion control that it can go with.
fn pairs() -> Vec<(RecoveryKind, CongestionKind)> {
    let all = |&recovery| CongestionKind::ALL.iter().map(move |&congestion| (recovery, congestion));
    let possible = |&(recovery, congestion): &_| match congestion {
        _ if congestion.samples() => recovery == RecoveryKind::Rack,
        CongestionKind::Prague => matches!(recovery, RecoveryKind::Rack | RecoveryKind::Sack),
        _ => true,
    };
    RecoveryKind::ALL.iter().flat_map(all).filter(possible).collect()
}

fn algorithms() -> impl Strategy<Value = (RecoveryKind, CongestionKind)> {
    prop::sample::select(pairs())
}

/// A choice of text.
fn one_of(choices: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(choices)
}

/// Stacks from all over the space of knobs.
fn stacks() -> impl Strategy<Value = Params> {
    let numbers = (1u64..3000, 1u64..60, 1u32..=10, 1u32..=3);
    let switches = prop::collection::vec(any::<bool>(), 11);
    let times =
        (one_of(&["0 s", "10 ms", "500 ms"]), one_of(&["20 ms", "1 s"]), one_of(&["50 ms", "200 ms"]));
    (algorithms(), numbers, switches, times).prop_map(|((recovery, congestion), numbers, switches, times)| {
        let (mss, window, initial_window, ack_every) = numbers;
        let (tick, rto_min, delayed_ack) = times;
        let [nagle, timestamps, ecn, syn, idle, limited, immediate, proportional, counted, pacing, accurate] =
            switches[..]
        else {
            unreachable!()
        };
        let model = congestion.sets_window();
        let (idle, pacing) = (idle && !model, pacing || model);
        let limited = limited && !matches!(recovery, RecoveryKind::TimeoutOnly | RecoveryKind::Rack);
        let (ack_every, delayed_ack) = if immediate { (1, "0 s") } else { (ack_every, delayed_ack) };
        let mut spec: StackSpec = common::spec(&format!(
            "mss = '{mss} B'\nreceive-window = '{} B'\nwindow-scaling = true\ntick = '{tick}'\n\
             initial-window = {initial_window}\nack-every = {ack_every}\ndelayed-ack = '{delayed_ack}'\n\
             rto-min = '{rto_min}'\nnagle = {nagle}\ntimestamps = {timestamps}\necn = {}\n\
             syn-exchange = {syn}\nidle-restart = {idle}\nlimited-transmit = {limited}\npacing = {pacing}",
            mss * window + mss / 2,
            ecn || matches!(congestion, CongestionKind::Dctcp | CongestionKind::Prague),
        ));
        let counts = ecn && accurate && matches!(recovery, RecoveryKind::Rack | RecoveryKind::Sack);
        spec.accurate_ecn = Some(counts || congestion == CongestionKind::Prague);
        spec.recovery = Some(recovery);
        spec.idle_decay = Some(idle && nagle);
        spec.congestion_control = Some(congestion);
        spec.proportional_rate_reduction = (recovery == RecoveryKind::Sack).then_some(proportional);
        spec.rto_arithmetic = (counted && tick != "0 s").then_some(RtoArithmetic::Ticks);
        spec.resolve().expect("the combination is possible")
    })
}

/// What Linux does beside its algorithms, where the stack lets it.
fn as_linux(params: Params) -> Params {
    Params {
        nagle_minshall: params.nagle,
        quick_acks: if params.delayed_ack > 0 { 16 } else { 0 },
        delayed_ack_max: 4 * params.delayed_ack,
        ecn_window_min: 2,
        f_rto: params.recovery == RecoveryKind::Rack,
        dsack: params.sack,
        ..params
    }
}

/// A network that, for its first packets, loses, delays and so reorders them at random, and marks some.
#[derive(Debug, Clone, Copy)]
struct Trouble {
    seed: u64,
    packets: u32,
    loss_percent: u64,
    delay_percent: u64,
}

impl Trouble {
    fn script(self) -> impl FnMut(&mut Segment, bool) -> Fate {
        let mut random = Random(self.seed);
        let mut left = self.packets;
        move |segment, _| {
            left = left.saturating_sub(1);
            if left > 0 && segment.ecn != Ecn::NotEct && random.below(10) == 0 {
                segment.ecn = Ecn::Ce;
            }
            if left > 0 && random.below(100) < self.loss_percent {
                return None;
            }
            let late = left > 0 && random.below(100) < self.delay_percent;
            Some(if late { random.below(300) * MILLISECOND } else { 0 })
        }
    }
}

fn troubles() -> impl Strategy<Value = Trouble> {
    (any::<u64>(), 0u32..400, 0u64..50, 0u64..30).prop_map(|(seed, packets, loss_percent, delay_percent)| {
        Trouble { seed, packets, loss_percent, delay_percent }
    })
}

/// What must hold when the sender has just sent `segment`.
fn check_sent(rig: &Rig<'_>, params: &Params, segment: &Segment, offered: u64) {
    let window = rig.sender.window();
    let una = rig.acknowledged;
    if segment.flags.contains(Flags::SYN) {
        assert_eq!(segment.len, 0);
        return;
    }
    let least = u32::from(!segment.is_fin());
    assert!((least..=params.mss).contains(&segment.len), "a segment has 1 to MSS bytes, or a FIN");
    assert!(segment.seq >= una, "nothing acknowledged is sent again");
    assert!(segment.end() <= offered, "nothing is sent that was not offered");
    assert!(segment.end() <= una + window.rwnd, "nothing is sent beyond the receive window");
    let mss = u64::from(params.mss);
    let allowance = if params.limited_transmit { 2 * mss } else { 0 };
    let fast_retransmit = segment.retransmission && segment.seq == una;
    // SACK counts what is in the network, not the distance from the first hole; its own tests check the
    // count.
    let counts_network =
        matches!(params.recovery, RecoveryKind::Sack | RecoveryKind::SackPipe | RecoveryKind::Rack);
    if !counts_network && !fast_retransmit {
        assert!(
            segment.seq + u64::from(segment.len) <= una + window.cwnd + allowance,
            "nothing is sent beyond the congestion window"
        );
    }
    assert!(rig.sender.next_timeout().is_some(), "the timer runs while data is outstanding");
}

/// What must hold at any time.
fn check_windows(rig: &Rig<'_>, params: &Params) {
    let window = rig.sender.window();
    let mss = u64::from(params.mss);
    assert!(window.cwnd >= mss, "the congestion window holds a segment");
    assert!(window.ssthresh >= 2 * mss, "the threshold holds two segments");
    assert!(window.flight <= window.rwnd, "the flight fits the receiver's buffer");
    let (sent, received) = (rig.sender.stats(), rig.receiver.stats());
    assert!(received.delivered_bytes <= received.distinct_bytes);
    assert!(received.distinct_bytes + received.duplicate_bytes <= sent.bytes);
    assert!(sent.duplicate_acks <= sent.acks);
    assert_eq!(received.beyond_window, 0, "a sender that keeps its windows never overruns the buffer");
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn every_sender_keeps_its_windows_and_delivers(
        params in stacks(),
        trouble in troubles(),
        queue in 2usize..40,
        offers in prop::collection::vec((0u64..300_000, 0u64..1_500), 1..4),
        (fin, pause) in (any::<bool>(), prop_oneof![Just(0), 0u64..3_000]),
        linux in any::<bool>(),
    ) {
        let params = if linux { as_linux(params) } else { params };
        let params = Params { fin, ..params };
        let links = [(10_000_000, 20 * MILLISECOND, queue)];
        let mut rig = Rig::new(&params, &links, Box::new(trouble.script()));
        let mut offered = 0;
        for (bytes, at) in offers {
            rig.run_until(at * MILLISECOND);
            offered += bytes;
            rig.sender.offer(rig.now, bytes);
        }
        rig.run_until(rig.now + pause * MILLISECOND);
        rig.sender.close(rig.now);
        let mut steps = 0;
        while !rig.sender.is_done() {
            match rig.step() {
                Step::Sent(segment, true) => check_sent(&rig, &params, &segment, offered + u64::from(fin)),
                Step::Sent(..) | Step::Advanced => {}
                Step::Quiet => panic!("it stands still before everything is delivered"),
            }
            check_windows(&rig, &params);
            steps += 1;
            // Segments of a byte are many.
            prop_assert!(steps < 4_000_000 + 40 * offered / u64::from(params.mss), "it does not end");
        }
        let (sent, received) = (rig.sender.stats(), rig.receiver.stats());
        prop_assert_eq!(received.delivered_bytes, offered);
        prop_assert_eq!(received.distinct_bytes, offered);
        prop_assert_eq!(sent.bytes - sent.retransmitted_bytes, offered);
        prop_assert_eq!(rig.sender.next_timeout(), None, "no timer runs when all is done");
    }
}

/// Collecting events does not change what a sender does.
#[test]
fn tracing_changes_nothing() {
    for &recovery in RecoveryKind::ALL {
        let spec = StackSpec { recovery: Some(recovery), ..StackSpec::default() };
        let params = spec.resolve().expect("every recovery is possible");
        let trouble = Trouble { seed: 3, packets: 1000, loss_percent: 5, delay_percent: 2 };
        let run = |trace: bool| {
            let mut rig =
                Rig::new(&params, &[(10_000_000, 20 * MILLISECOND, 20)], Box::new(trouble.script()));
            rig.sender.trace(trace);
            rig.sender.offer(0, 2_000_000);
            assert!(rig.finishes_by(1000 * SECOND));
            (rig.now, *rig.sender.stats(), *rig.receiver.stats(), rig.sender.take_events())
        };
        let (traced, untraced) = (run(true), run(false));
        assert_eq!((traced.0, traced.1, traced.2), (untraced.0, untraced.1, untraced.2));
        assert_eq!(untraced.3, []);
        let count =
            |wanted: fn(&EventKind) -> bool| traced.3.iter().filter(|e| wanted(&e.kind)).count() as u64;
        let stats = traced.1;
        assert_eq!(count(|kind| matches!(kind, EventKind::Sent { .. })), stats.segments);
        assert_eq!(count(|kind| matches!(kind, EventKind::Timeout { .. })), stats.timeouts);
        assert_eq!(count(|kind| matches!(kind, EventKind::FastRetransmit { .. })), stats.fast_retransmits);
        assert_eq!(count(|kind| matches!(kind, EventKind::DuplicateAck { .. })), stats.duplicate_acks);
        assert_eq!(count(|kind| matches!(kind, EventKind::RttSample { .. })), stats.rtt_samples);
        assert!(traced.3.is_sorted_by_key(|event| event.at), "events come in order");
    }
}

/// A segment of the reassembly test.
fn data(seq: u64, len: u32, params: &Params) -> Segment {
    Segment {
        seq,
        len,
        flags: Flags::ACK,
        window: params.receive_window,
        ecn: Ecn::NotEct,
        ..Segment::default()
    }
}

/// A segment without a new byte counts as received again, though the number of its FIN is new: that stands behind the last byte (RFC 9293
/// section 3.4). One that has nothing but a FIN counts when the FIN had arrived.
#[test]
fn a_segment_that_brings_a_fin_alone_brings_no_byte() {
    let params = params("mss = '8 B'");
    let fin = |seq, len| Segment { flags: Flags::FIN, ..data(seq, len, &params) };
    let again = |segments: &[Segment]| {
        let mut receiver = Receiver::new(&params);
        segments.iter().for_each(|segment| receiver.on_segment(0, segment));
        (receiver.stats().duplicate_segments, receiver.stats().duplicate_bytes)
    };
    assert_eq!(again(&[data(0, 8, &params), fin(8, 0)]), (0, 0));
    assert_eq!(again(&[data(0, 8, &params), fin(8, 0), fin(8, 0)]), (1, 0));
    assert_eq!(again(&[data(0, 8, &params), fin(0, 8)]), (1, 8));
    assert_eq!(again(&[data(0, 8, &params), fin(0, 8), fin(0, 8)]), (2, 16));
    assert_eq!(again(&[data(0, 6, &params), fin(0, 8)]), (0, 6));
}

proptest! {
    #![proptest_config(config(400))]

    /// The model of a receiver is the set of bytes that have arrived.
    #[test]
    fn receiver_reassembles_any_interleaving(
        segments in prop::collection::vec((0u64..60, 1u32..12), 1..60),
        timestamps in any::<bool>(),
    ) {
        let params = params(&format!("stack = 'sack'\nmss = '8 B'\ntimestamps = {timestamps}"));
        let mut receiver = Receiver::new(&params);
        let mut model = BTreeSet::new();
        let (mut full, mut duplicates) = (0, 0);
        for (seq, len) in segments {
            let range = seq..seq + u64::from(len);
            let new = range.clone().filter(|&byte| model.insert(byte)).count() as u64;
            full += u64::from(new == u64::from(len) && len == params.mss);
            duplicates += u64::from(len) - new;
            receiver.on_segment(0, &data(seq, len, &params));
            let missing = (0..).find(|byte| !model.contains(byte)).expect("some byte is missing");
            let stats = receiver.stats();
            prop_assert_eq!(stats.delivered_bytes, missing);
            prop_assert_eq!(stats.distinct_bytes, model.len() as u64);
            prop_assert_eq!(stats.duplicate_bytes, duplicates);
            prop_assert_eq!(stats.distinct_full_segments, full);
            let Some(ack) = receiver.poll_segment(0) else {
                prop_assert!(receiver.next_timeout().is_some(), "an ACK is sent or delayed");
                continue;
            };
            prop_assert_eq!(ack.ack, missing);
            let blocks: Vec<_> = ack.sack.ranges(ack.ack).collect();
            for block in &blocks {
                prop_assert!(block.start > missing && block.clone().all(|byte| model.contains(&byte)));
                let neighbours = [block.start - 1, block.end];
                prop_assert!(neighbours.iter().all(|byte| !model.contains(byte)), "a whole block");
            }
            if seq > missing {
                prop_assert!(blocks[0].contains(&seq), "the newest block is first");
            }
            let distinct: BTreeSet<_> = blocks.iter().map(|block| block.start).collect();
            prop_assert_eq!(distinct.len(), blocks.len(), "no block twice");
            prop_assert!(receiver.poll_segment(0).is_none(), "one ACK a segment");
        }
    }
}

/// With no loss and no queue that overflows nothing is sent twice and no timer expires.
#[test]
fn nothing_is_sent_twice_on_a_clean_path() {
    for (recovery, congestion) in pairs() {
        let spec = StackSpec {
            recovery: Some(recovery),
            congestion_control: Some(congestion),
            ecn: Some(true),
            accurate_ecn: Some(congestion == CongestionKind::Prague),
            ..StackSpec::default()
        };
        let params = spec.resolve().expect("every pair is possible");
        let links = [(10_000_000, 20 * MILLISECOND, usize::MAX)];
        let mut rig = Rig::new(&params, &links, Box::new(|_, _| Some(0)));
        rig.sender.offer(0, 3_000_000);
        let end: Time = 10 * SECOND;
        assert!(rig.finishes_by(end), "{recovery:?} {congestion:?}");
        let stats = rig.sender.stats();
        assert_eq!((stats.retransmitted_segments, stats.timeouts, stats.duplicate_acks), (0, 0, 0));
    }
}

/// RFC 8985 section 3.3: RACK adapts to reordering and does not take it for loss, where counting duplicates does.
#[test]
fn rack_survives_reordering() {
    let run = |recovery: &str| {
        let table = format!(
            "recovery = '{recovery}'\ntimestamps = true\nwindow-scaling = true\nreceive-window = '1 MB'"
        );
        let mut random = Random(7);
        let late = move |_: &mut Segment, data: bool| {
            Some(if data && random.below(20) == 0 { 15 * MILLISECOND } else { 0 })
        };
        let links = [(20_000_000, 25 * MILLISECOND, 200)];
        let mut rig = Rig::new(&params(&table), &links, Box::new(late));
        rig.sender.offer(0, 20_000_000);
        assert!(rig.finishes_by(200 * SECOND), "{recovery}");
        (rig.now, rig.sender.stats().retransmitted_segments, rig.sender.stats().fast_retransmits)
    };
    let (rack, sack) = (run("rack"), run("sack"));
    assert!(2 * rack.0 < sack.0, "it takes less time: {rack:?}, {sack:?}");
    assert!(rack.1 < sack.1 && rack.2 <= 5, "it sends less twice, and learns: {rack:?}, {sack:?}");
}

/// What limited a flow, as shares of the time that it took.
fn shares(table: &str, links: &[(u64, Time, usize)], offers: &[(u64, Time)], end: Time) -> [f64; 6] {
    let mut rig = Rig::new(&params(table), links, Box::new(|_, _| Some(0)));
    for &(bytes, at) in offers {
        rig.run_until(at);
        rig.now = rig.now.max(at);
        rig.sender.offer(rig.now, bytes);
    }
    rig.run_until(end);
    let limits = rig.sender.limits(end);
    let spent = [
        limits.application,
        limits.handshake,
        limits.receive_window,
        limits.congestion_window,
        limits.recovery,
        limits.timeout,
    ];
    assert_eq!(spent.iter().sum::<Time>(), end, "all of the time");
    spent.map(|time| time as f64 / end as f64)
}

#[test]
fn a_flow_knows_what_limits_it() {
    let line = |queue| [(10_000_000, 50 * MILLISECOND, queue)];
    let greedy = [(u64::MAX, 0)];
    // 64 kB a round trip are less than the line carries.
    let shares_of = |table: &str, queue| shares(table, &line(queue), &greedy, 20 * SECOND);
    let [application, _, receiver, window, ..] = shares_of("", 1000);
    assert!(application == 0.0 && receiver > 0.9 && window < 0.1, "{receiver}");
    let [_, _, receiver, window, recovery, timeout] =
        shares_of("stack = 'sack'\nwindow-scaling = true\nreceive-window = '4 MB'", 20);
    assert!(receiver == 0.0 && timeout == 0.0 && recovery > 0.01 && window > 0.9, "{window} {recovery}");
    let [.., timeout] =
        shares_of("recovery = 'timeout-only'\nwindow-scaling = true\nreceive-window = '4 MB'", 20);
    assert!((0.05..0.5).contains(&timeout), "{timeout}");
    // Bursts of ten segments a second, after a round trip of the handshake.
    let bursts: Vec<_> = (0..20).map(|second| (14_600, second * SECOND)).collect();
    let [application, handshake, ..] = shares("syn-exchange = true", &line(1000), &bursts, 20 * SECOND);
    assert!(application > 0.7 && (0.004..0.006).contains(&handshake), "{application} {handshake}");
    // RFC 4898, SndLimTransSnd: the application limits as soon as all that it has offered was sent.
    for table in ["", "stack = 'sack'", "recovery = 'rack'\npacing = true", "recovery = 'timeout-only'"] {
        let [application, ..] = shares(table, &line(1000), &[(1_000, 0)], SECOND);
        assert_eq!(application, 1.0, "{table}");
        // It waits for the window only until the last segment has left.
        let [application, _, _, window, ..] = shares(table, &line(1000), &[(100_000, SECOND)], 3 * SECOND);
        assert!(application > 0.7 && window > 0.05, "{table}: {application} {window}");
    }
    // Also while the pacer, or Nagle's algorithm, has the last word.
    for (table, bytes) in [("pacing = true", 1_000), ("nagle = true\ninitial-window = 10", 1_500)] {
        let bursts: Vec<_> = (0..5).map(|second| (bytes, second * SECOND)).collect();
        assert_eq!(shares(table, &line(1000), &bursts, 5 * SECOND)[0], 1.0, "{table}");
    }
    // While a loss is repaired, or its timer runs, something else limits.
    let [application, _, _, window, recovery, timeout] = shares(
        "stack = 'sack'\nwindow-scaling = true\nreceive-window = '4 MB'",
        &line(20),
        &[(3_000_000, 0)],
        20 * SECOND,
    );
    assert!(
        application > 0.5 && recovery > 0.01 && window > 0.05 && timeout < 0.2,
        "{application} {window} {recovery} {timeout}"
    );
}

/// RFC 4898, SndLimTransRwin and SndLimTransCwnd: what limits is the window that keeps a segment from being sent, which changes when one of
/// the two becomes the larger.
#[test]
fn of_the_two_windows_the_smaller_one_limits() {
    // From the first segments on, and behind the handshake.
    let table = "initial-window = 10\nreceive-window = '8 kB'\nsyn-exchange = true";
    let line = [(10_000_000, 50 * MILLISECOND, 1000)];
    let [_, handshake, receiver, window, ..] = shares(table, &line, &[(u64::MAX, 0)], SECOND);
    assert!(handshake > 0.09 && window == 0.0, "{handshake} {receiver} {window}");
    // Behind a pause the congestion window is what it was at first.
    let bursts = [0, 5, 10].map(|second| (60_000, second * SECOND));
    let [_, _, _, window, ..] =
        shares("initial-window = 4\nreceive-window = '8 kB'", &line, &bursts, 15 * SECOND);
    assert!((0.27..0.4).contains(&(15.0 * window)), "{window}");
    // A timeout takes it down to one segment, and the receiver takes no more than that.
    let mut first = true;
    let lossy = move |_: &mut Segment, data: bool| (!data || !std::mem::take(&mut first)).then_some(0);
    let mut rig = Rig::new(&params("receive-window = '1460 B'"), &line, Box::new(lossy));
    rig.sender.offer(0, u64::MAX);
    rig.run_until(3 * SECOND);
    assert_eq!(rig.sender.limits(3 * SECOND).congestion_window, 0);
    assert_eq!(rig.sender.stats().timeouts, 1);
    // The receiver offers more from some byte on, and the congestion window follows by a segment in a round trip of some 100 ms.
    let opens = |segment: &mut Segment, data: bool| {
        let window = if segment.ack < 100_000 { 10_000 } else { 60_000 };
        segment.window = if data { segment.window } else { window };
        Some(0)
    };
    let mut rig = Rig::new(&params("initial-ssthresh = '10 kB'"), &line, Box::new(opens));
    rig.sender.offer(0, u64::MAX);
    rig.run_until(3 * SECOND);
    let limits = rig.sender.limits(3 * SECOND);
    let opened = 3 * SECOND - limits.receive_window;
    assert!((8 * SECOND / 10..13 * SECOND / 10).contains(&limits.receive_window), "{limits:?}");
    assert!(limits.congestion_window > opened * 9 / 10, "{limits:?}");
    assert!(rig.sender.window().cwnd < 60_000, "it has not caught up");
}

/// RFC 9438 sections 4.2 and 5.8: time in which the receiver's window is the limit does not count, so that CUBIC goes on as before when it opens.
#[test]
fn a_window_that_opens_again_is_not_filled_at_once() {
    const SMALL: std::ops::Range<u64> = 400_000..2_000_000;
    let opens = |segment: &mut Segment, data: bool| {
        let window = if SMALL.contains(&segment.ack) { 10_000 } else { 60_000 };
        segment.window = if data { segment.window } else { window };
        Some(0)
    };
    let line = [(10_000_000, 50 * MILLISECOND, 1000)];
    let mut rig = Rig::new(&params("stack = 'cubic'\ninitial-ssthresh = '10 kB'"), &line, Box::new(opens));
    rig.sender.offer(0, u64::MAX);
    let (mut cwnds, mut ends) = (Vec::new(), vec![SMALL.start, SMALL.end, SMALL.end + 60_000]);
    for now in (0..60 * SECOND).step_by((10 * MILLISECOND) as usize) {
        rig.run_until(now);
        if ends.first().is_some_and(|&end| rig.sender.stats().bytes >= end) {
            ends.remove(0);
            cwnds.push(rig.sender.window().cwnd);
        }
    }
    assert!(cwnds[0] > 12_000 && cwnds[1] <= cwnds[0] + 3_000 && cwnds[2] < cwnds[1] * 6 / 5, "{cwnds:?}");
}

/// RFC 9293 section 3.8.6: a receiver that reads slowly sets the pace, also where its window updates are lost.
#[test]
fn a_slow_reader_sets_the_pace() {
    for (table, lossy) in [("", false), ("", true), ("recovery = 'rack'\ntimestamps = true", true)] {
        let params = params(&format!("{table}\nreceive-window = '20 kB'\nread-rate = '1 Mbit/s'"));
        let mut random = Random(5);
        let script = move |_: &mut Segment, data: bool| (data || !lossy || random.below(5) > 0).then_some(0);
        let mut rig = Rig::new(&params, &[(10_000_000, 5 * MILLISECOND, 100)], Box::new(script));
        rig.sender.offer(0, 1_000_000);
        let mut steps = 0;
        while !rig.sender.is_done() {
            assert!(!matches!(rig.step(), Step::Quiet), "{table} {lossy}: it stands still");
            steps += 1;
            assert!(
                steps < 100_000,
                "{table} {lossy}: it does not end, at {} {:?}",
                rig.now,
                rig.sender.window()
            );
        }
        let least = (1_000_000 - 20_480) * 8 * (SECOND / 1_000_000);
        assert!(rig.now >= least, "{table} {lossy}: as fast as it reads, {}", rig.now);
        assert!(lossy || rig.now < least * 11 / 10, "{table}: {}", rig.now);
        let limits = rig.sender.limits(rig.now);
        // Where the ACK of what a small window let go is lost, the retransmission timer is waited for.
        let by_reader = limits.receive_window + if lossy { limits.timeout } else { 0 };
        assert!(by_reader > rig.now / 2, "{limits:?}");
    }
}

/// RFC 9293 section 3.8.6.1: a closed window is probed. So it is where data, or a FIN alone, find it closed while all before them is
/// acknowledged: the update that opens it may be lost.
#[test]
fn data_and_a_fin_that_find_the_window_closed_probe_it() {
    for more in [1_000, 0] {
        let params =
            params("fin = true\ndelayed-ack = '0 s'\nreceive-window = '20 kB'\nread-rate = '100 kbit/s'");
        let opening = |segment: &Segment, data: bool| !data && segment.ack >= 20_000 && segment.window > 0;
        let mut lost = false;
        let script = move |segment: &mut Segment, data: bool| {
            let first = opening(segment, data) && !lost;
            lost |= first;
            (!first).then_some(0)
        };
        let mut rig = Rig::new(&params, &[(10_000_000, 5 * MILLISECOND, 100)], Box::new(script));
        rig.sender.offer(0, 20_000);
        while !rig.sender.is_done() {
            assert!(!matches!(rig.step(), Step::Quiet));
        }
        assert_eq!(rig.sender.window().rwnd, 0);
        rig.sender.offer(rig.now, more);
        rig.sender.close(rig.now);
        assert!(rig.finishes_by(rig.now + 60 * SECOND), "{more}: it stands still");
        assert!(rig.sender.stats().window_probes > 0);
    }
}

/// RFC 9293 section 3.8.6.2.1: all queued data go where they fit into the window. A FIN is none, and follows when there is a place for it.
#[test]
fn the_last_data_do_not_wait_for_a_place_for_the_fin() {
    let params = params("fin = true\nmss = '1000 B'\nreceive-window = '1500 B'");
    let mut rig = Rig::new(&params, &[(10_000_000, 5 * MILLISECOND, 100)], Box::new(|_, _| Some(0)));
    rig.sender.offer(0, 1_500);
    rig.sender.close(0);
    let sent = [(); 3].map(|()| rig.step());
    assert!(matches!(sent[0], Step::Sent(segment, true) if segment.len == 1_000));
    assert!(matches!(sent[1], Step::Sent(segment, true) if segment.len == 500 && !segment.is_fin()));
    assert!(matches!(sent[2], Step::Advanced));
    assert!(rig.finishes_by(SECOND));
}
