//! Active queue management in front of a link of packets: the delay that each keeps, and what it costs.

use celltrain_network::{Options, RunResult, network::Network, scenario::Scenario};

use crate::common::{replicate, run, run_as, scenario, series, value};

/// Four connections into a link of 10 Mbit/s with room for 400 packets, half a second of them.
fn at_ten_megabits(switch: &str, tcp: &str, flows: &str, warm_up: &str) -> Scenario {
    scenario(&format!(
        "duration = \"30 s\"\nwarm-up = \"{warm_up}\"\n[topology]\nkind = \"n-source\"\nsources = 4\n\
         [link]\nframing = \"packets\"\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\naccess.rate = \"100 Mbit/s\"\n\
         exit.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"400 packets\"\n{switch}\n[tcp]\nstack = \"newreno\"\n\
         recovery = \"sack\"\nmss = \"1460 B\"\nreceive-window = \"4 MiB\"\nwindow-scaling = true\n{tcp}\n\
         [traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 1 s\"\n{flows}"
    ))
}

fn bottleneck(switch: &str, tcp: &str, flows: &str) -> RunResult {
    let scenario = at_ten_megabits(switch, tcp, flows, "10 s");
    run_as(&scenario, Options::default(), Network::record_events)
}

fn at_bottleneck(result: &RunResult, column: &str) -> f64 {
    value(&result.ports, "switch1 > switch2", column)
}

/// The mean delay in milliseconds, and the utilisation.
fn delay_and_utilisation(switch: &str) -> (f64, f64) {
    let result = bottleneck(switch, "", "");
    (1e3 * at_bottleneck(&result, "delay_mean"), at_bottleneck(&result, "utilisation"))
}

#[test]
fn queues_stay_short_where_they_are_managed_and_the_link_busy() {
    let (unmanaged, busy) = delay_and_utilisation("discard.policy = \"tail-drop\"");
    assert!(unmanaged > 200.0 && busy > 0.99, "{unmanaged} ms, {busy}");
    // RFC 8289 section 4.2: the target is 5 ms, and the standing queue is what is controlled. RFC 8033 section 4.2: 15 ms.
    for (policy, least, most) in [("codel", 2.0, 15.0), ("cobalt", 2.0, 15.0), ("pie", 8.0, 25.0)] {
        let (delay, busy) = delay_and_utilisation(&format!("discard.policy = \"{policy}\""));
        assert!((least..most).contains(&delay) && busy > 0.9, "{policy}: {delay} ms, {busy}");
        let marks = format!("discard.policy = \"{policy}\"\ndiscard.{policy}.ecn = true");
        let result = bottleneck(&marks, "ecn = true", "");
        let (delay, lost) =
            (1e3 * at_bottleneck(&result, "delay_mean"), at_bottleneck(&result, "cells_discarded"));
        assert!(
            (least..most).contains(&delay) && at_bottleneck(&result, "frames_marked") > 20.0,
            "{policy}: {delay} ms"
        );
        assert!(lost < at_bottleneck(&result, "frames_marked"), "{policy} marks more than it drops");
    }
}

#[test]
fn a_sparse_flow_does_not_wait_in_the_queues_of_others() {
    // RFC 8290 section 1.3: packets of sparse flows are served before those that build queues.
    let sparse =
        "[[flow]]\nname = \"1\"\ntraffic = { kind = \"bursty\", bytes = \"100 B\", every = \"50 ms\" }\n";
    let flow_queue = "discard.policy = \"fq-codel\"\nscheduler.discipline = \"flow-queue\"";
    let longest_trip = |switch: &str| {
        let result = bottleneck(switch, "delayed-ack = \"1 ms\"", sparse);
        let trips = series(&result, "1", "rtt");
        assert!(trips.len() > 40, "{} samples", trips.len());
        trips[20..].iter().copied().fold(0.0, f64::max)
    };
    let (fifo, fair) = (longest_trip("discard.policy = \"tail-drop\""), longest_trip(flow_queue));
    // Six links of 10 ms there and back, two services of 1.2 ms at the most, and a packet in transmission.
    assert!(fair < 0.066 && fifo > 0.2, "{fair} s with flow queuing, {fifo} s without");
}

#[test]
fn cobalt_stops_the_overflow_of_what_does_not_answer_long_before_codel() {
    // Twice what the link carries. CoDel drops n frames in 0.2 sqrt(n) s, and so takes 16 s until it drops the 833 packets a second that are too
    // many; BLUE adds 1/256 in 5 ms, and so takes 0.7 s from the first overflow until it drops every other packet.
    let unanswering = "[[flow]]\nname = \"1\"\ntraffic = { kind = \"poisson\", rate = \"20 Mbit/s\", packet = \"1500 B\" }\n\
                       [[flow]]\nname = \"2 .. 4\"\nstart = \"29 s\"\n";
    let overflow = |policy: &str| {
        let text = format!("discard.policy = \"{policy}\"");
        let scenario = at_ten_megabits(&text, "", unanswering, "0 s");
        at_bottleneck(&replicate(&scenario, 0, Options::default()), "discarded_buffer_full")
    };
    let (codel, cobalt) = (overflow("codel"), overflow("cobalt"));
    assert!(cobalt > 100.0 && codel > 5.0 * cobalt, "{codel} under CoDel, {cobalt} under COBALT");
}

/// RFC 8289 section 4.4: "In a multiple-queue setting, a separate CoDel algorithm runs on each queue". Strict priority gives each category
/// a queue of its own: the waits of an urgent one, which are short, are not those of the other.
#[test]
fn a_sparse_category_does_not_keep_codel_from_dropping_in_another() {
    for policy in ["codel", "cobalt"] {
        let result = run(&format!(
            "duration = \"20 s\"\nwarm-up = \"8 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nrate = \"10 Mbit/s\"\n\
             delay = \"5 ms\"\naccess.rate = \"155.52 Mbit/s\"\n[switch]\nbuffer = \"5000 cells\"\ndiscard.policy = \"{policy}\"\n\
             [tcp]\nstack = \"rfc\"\n[traffic]\nkind = \"greedy\"\n[[flow]]\nname = \"2\"\n\
             traffic = {{ kind = \"cbr\", rate = \"100 kbit/s\" }}\nvc.category = \"cbr\"\n"
        ));
        let delay = 1e3 * at_bottleneck(&result, "delay_mean");
        assert!(delay < 15.0, "{policy}: {delay} ms");
        assert_eq!(value(&result.flows, "2", "cells_discarded"), 0.0, "{policy}");
    }
}

/// RFC 8289 section 5.6: "queue is empty - we can't be above TARGET". Each packet of the urgent category waits for the one in transmission, 9 ms,
/// and nothing of its category is behind it.
#[test]
fn codel_drops_nothing_of_a_category_that_is_found_empty() {
    let result = run(
        "duration = \"4 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\noverhead = \"0 B\"\n\
         rate = \"1 Gbit/s\"\ndelay = \"1 us\"\ntrunk.rate = \"1 Mbit/s\"\n[switch]\nbuffer = \"100 packets\"\n\
         discard.policy = \"codel\"\n[[flow]]\nname = \"1\"\nvc.category = \"cbr\"\n\
         traffic = { kind = \"cbr\", rate = \"100 kbit/s\", packet = \"500 B\", start = \"3 ms\" }\n[[flow]]\nname = \"2\"\n\
         traffic = { kind = \"cbr\", rate = \"1.2 Mbit/s\", packet = \"1500 B\" }\n",
    );
    assert_eq!(value(&result.flows, "1", "cells_discarded"), 0.0);
    assert!(value(&result.flows, "2", "cells_discarded") > 30.0);
}

/// RFC 8289 section 4.4: the occupancy of all queues counts. No connection has more than two packets under way, and forty of them let each wait
/// for ten times the target.
#[test]
fn queues_of_two_packets_drop_if_they_are_many() {
    let dropped = |sources: u32| {
        let result = run(&format!(
            "duration = \"4 s\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n[link]\nframing = \"packets\"\n\
             rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\naccess.rate = \"1 Gbit/s\"\n[switch]\nbuffer = \"1000 packets\"\n\
             scheduler.discipline = \"flow-queue\"\ndiscard.policy = \"fq-codel\"\n\
             [tcp]\nstack = \"newreno\"\nmss = \"1460 B\"\nreceive-window = \"2920 B\"\n[traffic]\nkind = \"greedy\"\n"
        ));
        at_bottleneck(&result, "discarded_at_head")
    };
    let (few, many) = (dropped(2), dropped(40));
    assert!(few == 0.0 && many > 40.0, "{few} and {many}");
}

/// A limit of one VC fills no buffer: BLUE, which answers overflows, stays away from the others.
#[test]
fn a_vc_at_its_limit_is_no_overflow_for_cobalt() {
    let result = run(
        "duration = \"6 s\"\nwarm-up = \"3 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nrate = \"10 Mbit/s\"\n\
         delay = \"1 ms\"\naccess.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"2000 cells\"\nvc-buffer = \"100 cells\"\n\
         discard.policy = \"cobalt\"\n[[flow]]\nname = \"1\"\ntraffic = { kind = \"cbr\", rate = \"20 Mbit/s\" }\n\
         [[flow]]\nname = \"2\"\ntraffic = { kind = \"poisson\", rate = \"0.5 Mbit/s\" }\n",
    );
    assert!(value(&result.flows, "1", "cells_discarded") > 10_000.0);
    assert_eq!(value(&result.flows, "2", "cells_discarded"), 0.0);
}

/// RFC 8290 section 4.1: "the queue with the largest current byte count is selected". Nine flows share one queue; one sends bursts of less than a
/// third of the buffer into a queue of its own.
#[test]
fn what_several_flows_have_in_a_queue_counts_together() {
    for (framing, size, buffer) in
        [("packets", "packet = \"1000 B\"", "100 packets"), ("cells", "frame = 21", "2100 cells")]
    {
        let result = run(&format!(
            "duration = \"5 s\"\n[topology]\nkind = \"n-source\"\nsources = 10\n[link]\nframing = \"{framing}\"\nrate = \"10 Mbit/s\"\n\
             delay = \"1 ms\"\naccess.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"{buffer}\"\n\
             scheduler = {{ discipline = \"flow-queue\", flow-queue = {{ sets = 2, ways = 1, hash-seed = 203 }} }}\n\
             discard = {{ policy = \"fq-codel\", fq-codel.target = \"1 s\", fq-codel.interval = \"10 s\" }}\n\
             [traffic]\nkind = \"cbr\"\nrate = \"2 Mbit/s\"\n{size}\nstart = \"0 ms .. 4 ms\"\n[[flow]]\nname = \"1\"\n\
             traffic = {{ kind = \"on-off\", peak = \"80 Mbit/s\", on = \"3 ms\", off = \"57 ms\", {size} }}\n",
        ));
        assert_eq!(value(&result.flows, "1", "cells_discarded"), 0.0, "{framing}");
        let pushed_out = at_bottleneck(&result, "discarded_pushed_out");
        assert!(pushed_out > 3000.0, "{framing}: {pushed_out}");
    }
}

/// RFC 8290 section 4.1: "half the number of packets from this queue (up to a maximum of 64 packets) are dropped from the head of that queue",
/// whosever they are. One flow has nearly all of the buffer: with what arrives it would have more than all of it, which is no limit of its own.
#[test]
fn a_queue_that_several_flows_share_gives_way_at_its_head_whosever_the_packets_are() {
    let packets = |size: u32, at: &[&str]| {
        let times: Vec<_> = at.iter().map(|at| format!("\"{at} us\"")).collect();
        format!("traffic = {{ kind = \"trace\", packet = \"{size} B\", times = [{}] }}\n", times.join(", "))
    };
    // The link takes 4624 us for the first packet of 578 bytes. Behind it wait one of flow 1, two of flow 2, one of flow 1 and two of flow 2,
    // when another one comes.
    let (small, large) =
        (packets(118, &["1000", "2200"]), packets(578, &["0", "2000", "2100", "2500", "2600", "3000"]));
    let result = run(&format!(
        "duration = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\nrate = \"1 Mbit/s\"\n\
         delay = \"1 ms\"\naccess.rate = \"1 Gbit/s\"\n[switch]\nbuffer = \"3240 B\"\n\
         scheduler = {{ discipline = \"flow-queue\", flow-queue = {{ sets = 1, ways = 1 }} }}\n\
         discard = {{ policy = \"fq-codel\", fq-codel.target = \"1 s\", fq-codel.interval = \"10 s\" }}\n\
         [[flow]]\nname = \"1\"\n{small}[[flow]]\nname = \"2\"\n{large}"
    ));
    // Half of the seven, rounded up: the first four.
    let discarded = ["1", "2"].map(|flow| value(&result.flows, flow, "cells_discarded"));
    assert_eq!((discarded, at_bottleneck(&result, "discarded_pushed_out")), ([2.0, 2.0], 4.0));
}

/// What a discipline divides is what is sent (RFC 8290 section 4.2). Of two flows that both want more than half, the one of which more is dropped
/// at the head gets its half; the other is without a packet at times.
#[test]
fn drops_at_the_head_change_no_shares() {
    for discipline in
        ["flow-queue", "round-robin", "weighted-round-robin", "deficit-round-robin", "scfq", "wfq"]
    {
        let result = run(&format!(
            "duration = \"12 s\"\nwarm-up = \"4 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\n\
             rate = \"10 Mbit/s\"\ndelay = \"1 ms\"\naccess.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"2000 packets\"\n\
             scheduler.discipline = \"{discipline}\"\n\
             discard = {{ policy = \"fq-codel\", fq-codel.interval = \"10 ms\", fq-codel.target = \"5 ms\" }}\n[[flow]]\nname = \"1\"\n\
             traffic = {{ kind = \"poisson\", rate = \"20 Mbit/s\", packet = \"1000 B\" }}\n[[flow]]\nname = \"2\"\n\
             traffic = {{ kind = \"poisson\", rate = \"6 Mbit/s\", packet = \"1000 B\" }}\n"
        ));
        let rates = ["1", "2"].map(|flow| value(&result.flows, flow, "goodput") / 1e6);
        assert!((5.0..5.5).contains(&rates[0]) && (4.5..5.0).contains(&rates[1]), "{discipline}: {rates:?}");
    }
}

/// And they share a state of CoDel, which holds their delay at its target however many they are.
#[test]
fn flows_in_one_queue_share_a_state_of_codel() {
    let delay = |switch: &str| {
        let result = run(&format!(
            "duration = \"20 s\"\nwarm-up = \"10 s\"\n[topology]\nkind = \"n-source\"\nsources = 40\n[link]\nframing = \"packets\"\n\
             rate = \"20 Mbit/s\"\ndelay = \"5 ms\"\naccess.rate = \"1 Gbit/s\"\n[switch]\nbuffer = \"2000 packets\"\n{switch}\n\
             [tcp]\nstack = \"rfc\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 1 s\"\n"
        ));
        1e3 * at_bottleneck(&result, "delay_mean")
    };
    let fifo = delay("discard.policy = \"codel\"");
    let hashed = delay(
        "discard.policy = \"fq-codel\"\nscheduler = { discipline = \"flow-queue\", flow-queue = { sets = 1, ways = 1 } }",
    );
    assert!(hashed < 1.3 * fifo, "{hashed} ms in one hashed queue, {fifo} ms in one queue of CoDel");
}

/// The mean occupancy in packets of a link of 10 Mbit/s behind `sources` connections with round trips of 36 ms without queue, where RED
/// has thresholds of 20 and 60 packets.
fn occupancy_under_red(sources: u32, more: &str) -> f64 {
    let scenario = scenario(&format!(
        "duration = \"80 s\"\nwarm-up = \"30 s\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n\
         [link]\nframing = \"packets\"\nrate = \"10 Mbit/s\"\ndelay = \"6 ms\"\naccess.rate = \"100 Mbit/s\"\n\
         exit.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"400 packets\"\n[switch.discard]\npolicy = \"red\"\n\
         red = {{ min = \"20 packets\", max = \"60 packets\", weight = 0.0012, gentle = true, {more} }}\n\
         [tcp]\nstack = \"newreno\"\nrecovery = \"sack\"\nmss = \"1460 B\"\nreceive-window = \"4 MiB\"\nwindow-scaling = true\n\
         [traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 1 s\"\n"
    ));
    at_bottleneck(&replicate(&scenario, 0, Options::default()), "occupancy_mean")
}

#[test]
fn adaptive_red_keeps_the_average_where_it_is_to_be_whatever_the_load() {
    // Floyd, Gummadi and Shenker 2001: the average stays within the middle fifth of min to max, 36 to 44 packets.
    let fixed = [8, 40].map(|sources| occupancy_under_red(sources, "max-p = 0.1"));
    assert!(fixed[0] < 30.0 && fixed[1] > fixed[0] + 10.0, "{fixed:?}");
    for sources in [8, 20, 40] {
        let occupancy = occupancy_under_red(sources, "adaptive = true");
        assert!((36.0..44.0).contains(&occupancy), "{sources} connections: {occupancy} packets");
    }
    // Where less than the smallest max-p would do, 0.01, the average stays below: two connections of 35 segments each, half of what the
    // path and the target hold, lose one segment in 800 (1.5 / 35^2), and even at an average of 36 every 125th would be refused: 2 * 0.4 * 0.01.
    let occupancy = occupancy_under_red(2, "adaptive = true");
    assert!((20.0..36.0).contains(&occupancy), "two connections: {occupancy} packets");
}
