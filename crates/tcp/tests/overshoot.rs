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
    timeouts: u64,
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
    while rig.now < DURATION * SECOND {
        rig.step();
        for event in rig.sender.take_events() {
            if let Some(after) = reduction(&event) {
                let bound = bound(before, recovering);
                assert!(after < bound || after <= 2 * u64::from(params.mss), "{table}, {packets}: {event:?}");
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
    Outcome {
        goodput: rig.receiver.stats().delivered_bytes as f64 * 8.0 / (DURATION as f64 * 1e6),
        timeouts: rig.sender.stats().timeouts,
    }
}

/// The threshold after an indication of congestion. A timeout of what had timed out before is none (RFC 5681 section 3.1).
fn reduction(event: &Event) -> Option<u64> {
    match event.kind {
        EventKind::FastRetransmit { ssthresh, .. } | EventKind::Timeout { ssthresh, consecutive: 1, .. } => {
            Some(ssthresh)
        }
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
        "stack = 'reno'",
        "stack = 'tahoe'",
        "stack = 'sack'",
        "stack = 'sack'\nproportional-rate-reduction = true",
        "stack = 'cubic'",
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

/// Where a recovery repairs one loss a round trip, more losses in a larger buffer take longer (RFC 6582 section 4), and
/// CUBIC's smaller reduction meets a full buffer more than once (RFC 9438 section 4.6).
#[test]
fn one_repair_a_round_trip_is_survived() {
    for table in [
        "newreno-impatient = false",
        "stack = 'cubic'\nrecovery = 'newreno'",
        "stack = 'cubic'\nrecovery = 'tahoe'",
    ] {
        let goodputs = survives(table);
        assert!(goodputs.iter().all(|&goodput| goodput > 4.0), "{table}: {goodputs:?}");
    }
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
