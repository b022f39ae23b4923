//! Times and rates that can be worked out exactly.

use celltrain_atm::buffer::PolicyName;

use crate::common::{names, run, value};

/// Frames delivered before the end of a run of `duration` picoseconds.
fn frames_before(tables: &str, duration: u128) -> f64 {
    value(&run(&format!("duration = \"{duration} ps\"\n{tables}")).flows, "1", "frames_delivered")
}

/// Three links of different rates, the second slower than the first and the third faster again, with delays.
const PATH: &str = "[topology]\nkind = \"n-source\"\nsources = 1\n[link]\naccess.rate = \"155.52 Mbit/s\"\n\
    access.delay = \"3 us\"\ntrunk.rate = \"149.76 Mbit/s\"\ntrunk.delay = \"1 ms\"\nexit.rate = \"622.08 Mbit/s\"\n\
    exit.delay = \"17 ns\"\n";
const RATES: [u128; 3] = [155_520_000, 149_760_000, 622_080_000];
/// The sum of the delays, in picoseconds.
const DELAYS: u128 = 3_000_000 + 1_000_000_000 + 17_000;

/// The sum of `count` times of a cell (424 bits) at `rate` each, from `start` on, rounded to the nearest picosecond.
fn rounded(start: u128, spans: &[(u128, u128)]) -> u128 {
    // Over the common denominator of all rates, so without error.
    let denominator: u128 = spans.iter().map(|&(_, rate)| rate / 10_000).product();
    let term = |&(count, rate): &(u128, u128)| count * 424 * 100_000_000 * (denominator / (rate / 10_000));
    let numerator: u128 = spans.iter().map(term).sum();
    start + (2 * numerator + denominator) / (2 * denominator)
}

#[test]
fn a_cell_crosses_an_empty_network_in_the_sum_of_slots_and_delays() {
    // A cell every 424 bits at 10 Mbit/s; the first leaves the source at 5 us. Cell n, from 0, arrives n intervals, a slot
    // of each link and all delays later: a run that ends then does not see it, one that ends a picosecond later does.
    let tables = format!("{PATH}[traffic]\nkind = \"cbr\"\nrate = \"10 Mbit/s\"\nstart = \"5 us\"\n");
    for n in [0, 1, 999] {
        let slots: Vec<_> = RATES.iter().map(|&rate| (1, rate)).chain([(n, 10_000_000)]).collect();
        let arrival = rounded(5_000_000 + DELAYS, &slots);
        assert_eq!(frames_before(&tables, arrival), n as f64, "cell {n}, too early");
        assert_eq!(frames_before(&tables, arrival + 1), n as f64 + 1.0, "cell {n}");
    }
}

#[test]
fn a_frame_takes_its_cells_on_the_slowest_link_and_a_slot_on_the_others() {
    // The cells of a frame follow one another: the last of nine has waited for the other eight on the slowest link, where
    // they come faster than they leave. A transfer of one segment: 376 octets of data, 40 of headers, 16 of AAL5.
    let tables = format!(
        "{PATH}[tcp]\nmss = \"376 B\"\n[traffic]\nkind = \"finite\"\nbytes = \"376 B\"\nstart = \"5 us\"\n"
    );
    let arrival = rounded(5_000_000 + DELAYS, &[(1, RATES[0]), (9, RATES[1]), (1, RATES[2])]);
    assert_eq!(frames_before(&tables, arrival), 0.0);
    assert_eq!(frames_before(&tables, arrival + 1), 1.0);
}

/// One TCP connection over three links of 424 Mbit/s, where a cell takes 1 us: 512 octets of data are 12 cells, an ACK two,
/// and every segment is acknowledged at once.
fn connection(delay: &str, window: &str, warm_up: &str, duration: &str) -> String {
    format!(
        "duration = \"{duration}\"\nwarm-up = \"{warm_up}\"\n[topology]\nkind = \"n-source\"\nsources = 1\n\
         [link]\nrate = \"424 Mbit/s\"\ndelay = \"{delay}\"\n\
         [tcp]\nmss = \"512 B\"\nreceive-window = \"{window}\"\ndelayed-ack = \"0 s\"\n"
    )
}

#[test]
fn a_small_window_gives_a_window_a_round_trip() {
    // 16 segments take 192 us of the link, far less than the round trip: there 12 slots for the segment on the first
    // link, one on each other and 3 ms of delay, back 2 + 1 + 1 slots and 3 ms. 14 + 3000 + 4 + 3000 = 6018 us.
    // Hundred round trips bring exactly 1600 segments.
    let result = run(&connection("1 ms", "8192 B", "100 ms", "701.8 ms"));
    assert_eq!(value(&result.flows, "1", "frames_delivered"), 1600.0);
    assert_eq!(value(&result.flows, "1", "bytes_delivered"), 1600.0 * 512.0);
    assert_eq!(value(&result.flows, "1", "acks_sent"), 1600.0);
    let throughput = 1600.0 * 512.0 * 8.0 / 0.6018;
    assert!((value(&result.flows, "1", "throughput") / throughput - 1.0).abs() < 1e-12);
    // Each segment passes each empty port in a slot a cell.
    assert!((value(&result.ports, "switch1 > switch2", "delay_mean") / 1e-6 - 1.0).abs() < 1e-12);
}

#[test]
fn a_large_window_gives_the_rate_of_the_link() {
    // The round trip is 14 + 30 + 4 + 30 = 78 us, six and a half segments; the window is 127 segments, which wait at the
    // source. A segment leaves every 12 slots: 12 ms bring exactly 1000.
    let result = run(&connection("10 us", "64 KiB", "20 ms", "32 ms"));
    assert_eq!(value(&result.flows, "1", "frames_delivered"), 1000.0);
    assert!((value(&result.ports, "switch1 > switch2", "utilisation") - 1.0).abs() < 1e-12);
    assert_eq!(
        value(&result.ports, "switch1 > switch2", "occupancy_max"),
        1.0,
        "a switch has nothing to queue"
    );
}

#[test]
fn the_series_of_bytes_delivered_grows_with_the_rate_of_the_link() {
    // As above: 100 segments every 1.2 ms, from the second sample on (slow start is over after half a millisecond). The
    // warm-up is no part of it, the series counts from the start.
    let result = run(&format!("sample = \"1200 us\"\n{}", connection("10 us", "64 KiB", "1.2 ms", "12 ms")));
    let series =
        result.series.iter().find(|series| series.metric == "delivered").expect("the series is kept");
    assert_eq!((series.entity.as_str(), series.unit, series.values.len()), ("1", "B", 10));
    for pair in series.values.windows(2) {
        assert_eq!(pair[1] - pair[0], 51_200.0, "{:?}", series.values);
    }
    let since_warm_up = series.values[9] - series.values[0];
    assert_eq!(value(&result.flows, "1", "bytes_delivered"), since_warm_up);
}

#[test]
fn tcp_delivers_all_it_was_given_through_every_policy() {
    // Transfers of 200 full segments through a trunk that is too small for them: what is lost is sent again.
    for policy in PolicyName::ALL {
        let result = run(&format!(
            "duration = \"10 s\"\n[topology]\nkind = \"n-source\"\nsources = 4\n[link]\ndelay = \"100 us\"\n\
             [switch]\nbuffer = \"60 cells\"\n[switch.discard]\npolicy = \"{}\"\n\
             [tcp]\nmss = \"512 B\"\nrto-min = \"10 ms\"\nrto-initial = \"10 ms\"\n\
             [traffic]\nkind = \"finite\"\nbytes = \"102400 B\"\nstart = \"0 ms .. 2 ms\"\n",
            policy.name()
        ));
        assert!(value(&result.ports, "switch1 > switch2", "cells_discarded") > 0.0, "{}", policy.name());
        for flow in names(&result.flows) {
            let column = |name| value(&result.flows, flow, name);
            assert_eq!(column("bytes_delivered"), 102_400.0, "{}, flow {flow}", policy.name());
            assert_eq!(
                column("segments_sent") - column("segments_retransmitted"),
                200.0,
                "{}",
                policy.name()
            );
            // Segments have 12 cells and ACKs two; none was sent on any other occasion.
            let sent = 12.0 * column("segments_sent");
            assert_eq!(value(&result.ports, &format!("src{flow} > switch1"), "cells_arrived"), sent);
            let acks = 2.0 * column("acks_sent");
            assert_eq!(value(&result.ports, &format!("dest{flow} > switch2"), "cells_arrived"), acks);
        }
    }
}
