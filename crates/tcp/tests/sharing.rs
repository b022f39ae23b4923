//! How flows share a drop-tail bottleneck of 10 Mbit/s.

mod common;

use celltrain_engine::{
    Time,
    time::{MILLISECOND, SECOND},
};
use common::{Link, dumbbell::Dumbbell};

/// Goodput of a flow of stack `first` over that of a flow of stack `second`, of equal round trips, over a buffer of
/// `packets`, in two minutes, as the mean of the logarithms of runs in which one of the two starts a little later.
fn ratio(first: &str, second: &str, round_trip: Time, packets: usize) -> f64 {
    let logarithm = |turn: u64| {
        let mut bell = Dumbbell::new(Link::new(10_000_000, 0, packets + 1));
        for table in [first, second] {
            let table = format!("{table}\nwindow-scaling = true\nreceive-window = '4 MB'");
            bell.add(&common::params(&table), round_trip);
        }
        let early = (turn % 2) as usize;
        bell.offer(early, u64::MAX);
        bell.run_until(turn * 130 * MILLISECOND);
        bell.offer(1 - early, u64::MAX);
        bell.run_until(120 * SECOND);
        let delivered = |flow: usize| bell.flows[flow].receiver.stats().delivered_bytes as f64;
        libm::log(delivered(0) / delivered(1))
    };
    libm::exp((0..8).map(logarithm).sum::<f64>() / 8.0)
}

/// Reno with everything that the preset `cubic` has beside CUBIC.
const RENO: &str = "stack = 'cubic'\ncongestion-control = 'reno'";

/// RFC 9438 section 4.3: where round trips and windows are small, CUBIC aims at Reno's average window.
#[test]
fn cubic_is_friendly_to_reno() {
    for alpha in ["one", "constant"] {
        let cubic = format!("stack = 'cubic'\ncubic-alpha = '{alpha}'");
        let found = ratio(&cubic, RENO, 20 * MILLISECOND, 42);
        assert!((0.7..1.5).contains(&found), "{alpha}: {found}");
    }
}

#[test]
fn alike_flows_share_alike() {
    for table in ["stack = 'sack'", "stack = 'newreno'", "stack = 'cubic'"] {
        let found = ratio(table, table, 50 * MILLISECOND, 42);
        assert!((0.8..1.25).contains(&found), "{table}: {found}");
    }
}

/// RFC 8257 section 3.1: where packets above a threshold of K are marked, K more than a seventh of what the path holds, DCTCP
/// keeps the queue near K and the line full; Reno with the same marks leaves it idle.
#[test]
fn dctcp_keeps_the_queue_short_and_the_line_full() {
    // 100 Mbit/s, 4 ms: 33 packets; a seventh is 5.
    let run = |congestion_control: &str| {
        let mut bell = Dumbbell::new(Link::new(100_000_000, 0, 200));
        bell.mark_above = 8;
        let table = format!(
            "congestion-control = '{congestion_control}'\necn = true\nwindow-scaling = true\n\
             receive-window = '1 MB'\ndelayed-ack = '0 s'"
        );
        for flow in 0..2 {
            bell.add(&common::params(&table), 4 * MILLISECOND);
            bell.offer(flow, u64::MAX);
        }
        bell.run_until(SECOND);
        let delivered = |bell: &Dumbbell| -> u64 {
            bell.flows.iter().map(|flow| flow.receiver.stats().delivered_bytes).sum()
        };
        let (before, mut longest) = (delivered(&bell), 0);
        for step in 0..4000 {
            bell.run_until(SECOND + step * MILLISECOND);
            longest = longest.max(bell.bottleneck.length(bell.now));
        }
        assert_eq!(bell.drops, 0, "marks come before losses");
        let line = 100e6 * 4.0 * 1460.0 / 1500.0;
        ((delivered(&bell) - before) as f64 * 8.0 / line, longest)
    };
    let (dctcp, reno) = (run("dctcp"), run("reno"));
    assert!(dctcp.0 > 0.99 && dctcp.1 <= 24, "{dctcp:?}");
    assert!(reno.0 < 0.97, "{reno:?}");
}

/// RFC 3168 section 6.1.2: at a window of one segment the next mark holds the sender back until its timer expires. Where that takes 200 ms
/// and a round trip 10 us, such a sender starves beside another one, with delayed ACKs and without. Linux keeps two segments.
#[test]
fn two_dctcp_senders_share_where_marks_leave_two_segments() {
    let least_share = |table: &str| {
        let mut bell = Dumbbell::new(Link::new(1_000_000_000, 0, 1000));
        bell.mark_above = 2;
        for flow in 0..2 {
            let stack = "stack = 'linux'\ncongestion-control = 'dctcp'\nhystart = false\necn = true";
            bell.add(&common::params(&format!("{stack}\n{table}")), MILLISECOND / 100);
            bell.run_until(flow * MILLISECOND / 2);
            bell.offer(flow as usize, u64::MAX);
        }
        bell.run_until(SECOND / 10);
        let delivered = |flow: usize| bell.flows[flow].receiver.stats().delivered_bytes as f64;
        delivered(0).min(delivered(1)) / (delivered(0) + delivered(1))
    };
    for acks in ["", "delayed-ack = '0 s'"] {
        let standard = "reductions = 'standard'\nhalving = 'flight'\necn-window-min = 1";
        let (one, two) = (least_share(&format!("{standard}\n{acks}")), least_share(acks));
        assert!(one < 0.02 && two > 0.45, "{acks}: {one}, {two}");
    }
}
