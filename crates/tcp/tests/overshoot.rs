//! One flow alone at a drop-tail buffer, which its slow start overruns: 10 Mbit/s, a round trip of 100 ms, a minute.

mod common;

use celltrain_engine::time::{MILLISECOND, SECOND};
use celltrain_tcp::{Event, EventKind, Window};
use common::Rig;

/// The bottleneck, in bit/s.
const RATE: u64 = 10_000_000;
/// How long a run takes, in seconds.
const DURATION: u64 = 60;
/// What the path holds without its buffer, in packets of 1500 bytes.
const BDP: usize = 83;

/// What became of the flow.
#[derive(Debug, Clone, Copy)]
struct Outcome {
    /// Delivered in order, in Mbit/s.
    goodput: f64,
    /// The same from the end of the first recovery on.
    later: f64,
    timeouts: u64,
    /// How long the first recovery took, in seconds, and what was sent again in it.
    recovery: f64,
    repairs: u64,
}

/// Runs the stack of `table` over a buffer of `packets` and checks each reduction on the way.
fn run(table: &str, packets: usize) -> Outcome {
    let params = common::params(&format!("{table}\nwindow-scaling = true\nreceive-window = '4 MB'"));
    // The link holds the packet in service beside the buffer; the reverse path of the ACKs is never full.
    let links = [(RATE, 50 * MILLISECOND, packets + 1)];
    let mut rig = Rig::new(&params, &links, Box::new(|_, _| Some(0)));
    rig.sender.trace(true);
    rig.sender.offer(0, u64::MAX);
    let (mut before, mut recovering) = (rig.sender.window(), false);
    // When the first recovery began and ended, and what had been sent again and delivered then.
    let (mut began, mut ended) = (None, None);
    while rig.now < DURATION * SECOND {
        rig.step();
        for event in rig.sender.take_events() {
            if let Some(after) = reduction(&event) {
                let bound = bound(before, recovering);
                assert!(after < bound || after <= 2 * u64::from(params.mss), "{table}, {packets}: {event:?}");
            }
            let state =
                (rig.now, rig.sender.stats().retransmitted_segments, rig.receiver.stats().delivered_bytes);
            match event.kind {
                EventKind::FastRetransmit { .. } => began = began.or(Some(state)),
                EventKind::RecoveryExited { .. } | EventKind::Timeout { .. } => ended = ended.or(Some(state)),
                _ => {}
            }
            match event.kind {
                // Tahoe has no fast recovery.
                EventKind::FastRetransmit { cwnd, ssthresh, .. } => recovering = cwnd >= ssthresh,
                EventKind::RecoveryExited { .. } | EventKind::Timeout { .. } => recovering = false,
                _ => {}
            }
        }
        before = rig.sender.window();
    }
    let delivered = rig.receiver.stats().delivered_bytes;
    let rate = |bytes: u64, time: u64| bytes as f64 * 8.0 * 1e6 / time.max(1) as f64;
    let (began, ended) = (began.unwrap_or_default(), ended.unwrap_or_default());
    Outcome {
        goodput: rate(delivered, DURATION * SECOND),
        later: rate(delivered - ended.2, DURATION * SECOND - ended.0),
        timeouts: rig.sender.stats().timeouts,
        recovery: (ended.0 as f64 - began.0 as f64) / SECOND as f64,
        repairs: ended.1.saturating_sub(began.1),
    }
}

/// The threshold after an indication of congestion. A timeout of what had timed out before is none (RFC 5681 section 3.1).
fn reduction(event: &Event) -> Option<u64> {
    match event.kind {
        EventKind::FastRetransmit { ssthresh, .. }
        | EventKind::Timeout { ssthresh: Some(ssthresh), consecutive: 1, .. } => Some(ssthresh),
        _ => None,
    }
}

/// What the threshold must stay below (RFC 5681 section 4.3): the window, or what the last reduction left where that has not
/// been reached again. What duplicate ACKs inflate the window by is not window.
fn bound(before: Window, recovering: bool) -> u64 {
    match before.ssthresh {
        u64::MAX => before.cwnd,
        ssthresh if recovering => ssthresh,
        ssthresh => before.cwnd.max(ssthresh),
    }
}

/// The share of the line that a window gets which grows by a segment a round trip from half of what path and buffer hold,
/// and falls back when it gets there; for buffers up to the path's own capacity.
fn sawtooth(buffer: f64) -> f64 {
    let path = RATE as f64 * 0.1 / (1500.0 * 8.0);
    let top = path + buffer;
    let sent = top * top * 3.0 / 8.0;
    let time = (path * (path - buffer) + top * top - path * path) / 2.0;
    sent / time
}

/// Goodput of a full line: 1460 of 1500 bytes are data.
const FULL: f64 = RATE as f64 / 1e6 * 1460.0 / 1500.0;

/// Buffers from 5 packets to four times what the path holds.
const BUFFERS: &[usize] = &[5, 10, 20, 42, BDP, 2 * BDP, 4 * BDP];

/// Checks the reductions and the timeouts of a stack over every buffer; returns the goodputs.
fn survives(table: &str) -> Vec<f64> {
    let goodput = |&buffer: &usize| {
        let outcome = run(table, buffer);
        assert!(outcome.timeouts <= 6, "{table}, {buffer}: {outcome:?}");
        outcome.goodput
    };
    BUFFERS.iter().map(goodput).collect()
}

#[test]
fn larger_buffers_carry_more() {
    for table in [
        "stack = 'newreno'",
        // With delayed ACKs three segments leave at once where the window grows. A buffer of 20 then loses two of them each time, and Reno
        // halves its window twice.
        "stack = 'reno'\nack-every = 1\ndelayed-ack = '0 s'",
        "stack = 'tahoe'",
        "stack = 'sack'",
        "stack = 'sack'\nproportional-rate-reduction = true",
        "stack = 'cubic'",
        "stack = 'cubic'\nrecovery = 'tahoe'",
        "stack = 'cubic'\nrecovery = 'newreno'\ncongestion-control = 'reno'",
        "recovery = 'rack'",
        "stack = 'cubic'\nrecovery = 'rack'",
        "stack = 'linux'",
        "stack = 'rfc'",
        "recovery = 'go-back-n'\nfast-retransmit-guard = 'careful'",
    ] {
        let goodputs = survives(table);
        // A minute has one slow start, which loses more in a larger buffer.
        assert!(goodputs.windows(2).all(|pair| pair[1] > 0.99 * pair[0]), "{table}: {goodputs:?}");
    }
}

/// An exception, and its cause: NewReno repairs one loss in a round trip (RFC 6582 section 4), so that the recovery from the first slow
/// start is as long as its losses are many. Without that recovery a larger buffer carries more.
#[test]
fn one_repair_a_round_trip_takes_its_time() {
    let outcomes: Vec<_> = BUFFERS.iter().map(|&buffer| run("newreno-impatient = false", buffer)).collect();
    for (outcome, buffer) in std::iter::zip(&outcomes, BUFFERS) {
        let least = 0.1 * (outcome.repairs as f64 - 1.0);
        assert!(outcome.timeouts == 0 && outcome.recovery > least, "{buffer}: {outcome:?}");
    }
    assert!(outcomes.windows(2).all(|pair| pair[1].later > 0.99 * pair[0].later), "{outcomes:?}");
}

/// The other exception: CUBIC keeps 0.7 of the window (RFC 9438 section 4.6). With NewReno, whose window grows with every duplicate ACK, a
/// recovery then overruns a large buffer once more. With Reno's half, and with Tahoe, it does not: `larger_buffers_carry_more`.
#[test]
fn a_smaller_reduction_meets_a_full_buffer_again() {
    let goodputs = survives("stack = 'cubic'\nrecovery = 'newreno'");
    let small = BUFFERS.iter().take_while(|&&buffer| buffer <= 20).count();
    assert!(goodputs[..small].windows(2).all(|pair| pair[1] > 0.99 * pair[0]), "{goodputs:?}");
    assert!(goodputs.iter().all(|&goodput| goodput > 7.0), "{goodputs:?}");
}

#[test]
fn sack_follows_the_sawtooth() {
    for &buffer in BUFFERS.iter().take_while(|&&buffer| buffer < BDP) {
        let (found, expected) = (run("stack = 'sack'", buffer).goodput, FULL * sawtooth(buffer as f64));
        assert!((0.92..1.01).contains(&(found / expected)), "{buffer}: {found}, expected {expected}");
    }
}

/// A current Linux kernel without SACK carries 8.4 Mbit/s here.
#[test]
fn the_default_stack_carries_what_a_kernel_does() {
    let goodput = run("stack = 'newreno'", 20).goodput;
    assert!(goodput > 0.9 * 8.4, "{goodput} Mbit/s");
}

/// RFC 9406: a first slow start that sees the queue grow ends without the overshoot.
#[test]
fn hystart_loses_less_at_the_start() {
    for stack in ["stack = 'newreno'\ntimestamps = true", "stack = 'cubic'"] {
        let lost = |table: &str| {
            let table = format!("{table}\nwindow-scaling = true\nreceive-window = '4 MB'");
            let links = [(RATE, 50 * MILLISECOND, 4 * BDP + 1)];
            let mut rig = Rig::new(&common::params(&table), &links, Box::new(|_, _| Some(0)));
            rig.sender.offer(0, u64::MAX);
            rig.run_until(4 * SECOND);
            (rig.overflows, rig.receiver.stats().delivered_bytes)
        };
        let (with, without) = (lost(&format!("{stack}\nhystart = true")), lost(stack));
        assert!(without.0 > 50 && with.0 == 0, "{stack}: {with:?} instead of {without:?}");
        assert!(with.1 > without.1, "{stack}: {with:?} instead of {without:?}");
    }
}
