//! Prague beside a classic flow at a DualPI2 queue (RFC 9332): rates of the same order, and a delay of about a millisecond for the one.

use celltrain_network::{Options, RunResult, network::Network};

use crate::common::{row_text, run, run_as, scenario, series, total, value};

/// A Reno and a Prague connection into a link of `rate` Mbit/s. `round_trip` in milliseconds is that of all six links, `longest` the
/// `longest-round-trip` of the controller, `duration` in seconds that of the run, of which a quarter is warm-up.
fn two_flows(rate: u64, round_trip: u64, longest: &str, duration: u64) -> RunResult {
    let scenario = scenario(&format!(
        "duration = \"{duration} s\"\nwarm-up = \"{} s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
         [link]\nframing = \"packets\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{} us\"\naccess.rate = \"1 Gbit/s\"\n\
         exit.rate = \"1 Gbit/s\"\n[switch]\nbuffer = \"{} packets\"\ndiscard.policy = \"dualpi2\"\n\
         discard.dualpi2.longest-round-trip = \"{longest}\"\n\
         scheduler.discipline = \"dual-queue\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 100 ms\"\n\
         [[flow]]\nname = \"1\"\ntcp = {{ {CLASSIC} }}\n[[flow]]\nname = \"2\"\ntcp = {{ {PRAGUE} }}\n",
        duration / 4,
        round_trip * 1000 / 6,
        // 250 ms of the link (figure 2).
        rate * 250_000 / 12_000,
    ));
    run_as(&scenario, Options::default(), Network::record_events)
}

const CLASSIC: &str = "stack = \"rfc\", receive-window = \"4 MB\", delayed-ack = \"40 ms\", mss = \"1448 B\"";
const PRAGUE: &str = "stack = \"prague\"";
/// Prague reduces at the first mark after a round trip is over, and grows until then. That mark comes (1 + sqrt(3)) / 2 round trips
/// after the last reduction if marks are random, and sooner if they are even; equation (6) counts one.
const WAIT_FOR_A_MARK: f64 = 1.37;

fn goodput(result: &RunResult, flow: &str) -> f64 {
    value(&result.flows, flow, "goodput")
}

/// The round trips of a flow without the first quarter, in milliseconds: their mean, and what it is above the shortest.
fn round_trips(result: &RunResult, flow: &str) -> (f64, f64) {
    let trips = series(result, flow, "rtt");
    let shortest = trips.iter().copied().fold(f64::MAX, f64::min);
    let late = &trips[trips.len() / 4..];
    let mean = late.iter().sum::<f64>() / late.len() as f64;
    (mean * 1e3, (mean - shortest) * 1e3)
}

/// The rate of Prague as a multiple of Reno's, and what equation (10) makes of the round trips that they have: R_C / (1.22 R_L), where
/// R_L is 25 ms at least, as Prague makes itself independent of shorter ones.
fn ratios(result: &RunResult) -> (f64, f64) {
    let (classic, scalable) = (round_trips(result, "1").0, round_trips(result, "2").0);
    (goodput(result, "2") / goodput(result, "1"), classic / (1.22 * scalable.max(25.0)))
}

/// RFC 9332, appendix C.2, equation (10), which holds for a p' that stands. A controller for round trips of up to 500 ms follows the
/// sawtooth of the one Reno flow with a fifth of the gain. At 10 Mbit/s the queue of low latency adds marks of its own.
#[test]
fn rates_are_about_equal_where_the_base_probability_is_steady() {
    for (rate, round_trip) in [(10, 20), (20, 50)] {
        let (found, expected) = ratios(&two_flows(rate, round_trip, "500 ms", 80));
        let off = found / expected;
        assert!(
            (1.0 / WAIT_FOR_A_MARK..WAIT_FOR_A_MARK).contains(&off),
            "{rate} Mbit/s, {round_trip} ms: {found:.2} instead of {expected:.2}"
        );
    }
}

/// With the gains of RFC 9332, for 100 ms, one Reno flow alone moves p' as far as it is high: a loss takes up to 15 ms off the classic
/// queue, and 3 Hz times that is 0.045, where 1.22 / W is 0.02 to 0.1. Reno answers the mean square of p' and Prague grows while p' is
/// low, so that Prague gets more than by equation (10), but a rate of the same order, within the root of ten. The delay of the one is
/// that of figure 5, where marks become certain, at the most, while the classic queue keeps its target of 15 ms.
#[test]
fn a_scalable_flow_does_not_starve_a_classic_one() {
    let mut wrong = Vec::new();
    for rate in [10, 20] {
        for round_trip in [20, 50] {
            let result = two_flows(rate, round_trip, "100 ms", 40);
            let (found, expected) = ratios(&result);
            let (long, short) = (round_trips(&result, "1").1, round_trips(&result, "2").1);
            let used = (goodput(&result, "1") + goodput(&result, "2")) / (rate as f64 * 1e6);
            let case = format!(
                "{rate} Mbit/s, {round_trip} ms: {found:.2} times, {expected:.2} expected, {long:.2} and {short:.2} ms, {used:.3}"
            );
            // A packet that is being sent is waited for, and one more where the other queue has its turn.
            let most = 1.2 + 2.0 * 12.0 / rate as f64;
            if !((expected / WAIT_FOR_A_MARK..10f64.sqrt()).contains(&found)
                && (8.0..22.0).contains(&long)
                && short < most
                && used > 0.85)
            {
                wrong.push(case);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Packets of a constant rate beside a Reno connection at 10 Mbit/s. The ECN field alone chooses their queue (RFC 9332 section 2.4), and whether
/// they are marked or discarded in the classic one. They take three links of 1 ms, and wait 1 ms in the queue of low latency at the most, beside a
/// packet of 1500 B that is being sent (1.2 ms) and another that has its turn.
#[test]
fn a_source_without_tcp_asks_for_low_latency_by_its_ecn_field() {
    for (framing, buffer) in [("packets", "200 packets"), ("cells", "6400 cells")] {
        let result = |ecn: &str, rate: &str| {
            run(&format!(
                "duration = \"20 s\"\nwarm-up = \"5 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[measures]\ndelays = \"all\"\n\
                 [link]\nframing = \"{framing}\"\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\naccess.rate = \"100 Mbit/s\"\n\
                 exit.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"{buffer}\"\ndiscard.policy = \"dualpi2\"\n\
                 scheduler.discipline = \"dual-queue\"\n[tcp]\n{}\n[traffic]\nkind = \"greedy\"\n\
                 [[flow]]\nname = \"2\"\ntraffic = {{ kind = \"cbr\", rate = \"{rate}\", packet = \"200 B\"{ecn} }}\n",
                CLASSIC.replace(", ", "\n")
            ))
        };
        let found = |ecn: &str, rate: &str| {
            let result = result(ecn, rate);
            let of_flow = |column| value(&result.flows, "2", column);
            let marked = value(&result.ports, "switch1 > switch2", "frames_marked");
            (of_flow("transfer_delay_mean") * 1e3 - 3.0, of_flow("cells_discarded"), marked)
        };
        let (classic, lost, marked) = found("", "1 Mbit/s");
        assert!(
            (5.0..25.0).contains(&classic) && lost > 0.0 && marked == 0.0,
            "{classic} ms, {lost}, {marked}"
        );
        assert_eq!(found(", ecn = \"not-ect\"", "1 Mbit/s"), (classic, lost, marked));
        let (capable, lost, marked) = found(", ecn = \"ect0\"", "1 Mbit/s");
        assert!(
            (5.0..25.0).contains(&capable) && lost == 0.0 && marked > 0.0,
            "{capable} ms, {lost}, {marked}"
        );
        let (low, lost, marked) = found(", ecn = \"ect1\"", "1 Mbit/s");
        assert!(low < 2.0 && lost == 0.0 && marked > 0.0, "{low} ms, {lost}, {marked}");
        // It does not respond to marks: beyond the rate of the link it is not served in time, and nearly all is marked.
        let (over, _, marked) = found(", ecn = \"ect1\"", "12 Mbit/s");
        assert!(over > 10.0 && marked > 10_000.0, "{over} ms, {marked}");
    }
}

/// What a port is told of the delay of a queue is how long its first packet has waited (RFC 9332, section 4.1 and figure 6), also where links lose
/// cells or a policer discards them, so that frames without end marks run into the next ones, and where a more urgent category is served first.
/// 12 Mbit/s that do not answer, or connections in what an urgent category leaves, come into 10 Mbit/s.
#[test]
fn the_classic_queue_keeps_its_target_behind_lost_cells_and_beside_urgent_ones() {
    let lossy = "access = { rate = \"12 Mbit/s\", loss = 0.01, loss-unit = \"cell\" }";
    let cbr = "[traffic]\nkind = \"cbr\"\nrate = \"12 Mbit/s\"\nframe = 32\n";
    let policed = "[vc]\npcr = \"12 Mbit/s\"\ncdvt-pcr = \"5 ms\"\nspacing = \"none\"\npolicing = \"discard-cells\"\n\
                   [traffic]\nkind = \"poisson\"\nrate = \"12 Mbit/s\"\nframe = 32\n";
    let urgent = "[tcp]\nstack = \"rfc\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 1 s\"\n[[flow]]\nname = \"6\"\n\
                  traffic = { kind = \"cbr\", rate = \"2 Mbit/s\" }\nvc.category = \"cbr\"\n";
    for (sources, access, traffic) in [
        (1, lossy, cbr),
        (1, "access.rate = \"20 Mbit/s\"", policed),
        (6, "access.rate = \"155.52 Mbit/s\"", urgent),
    ] {
        let result = run(&format!(
            "duration = \"20 s\"\nwarm-up = \"10 s\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n[link]\n\
             rate = \"10 Mbit/s\"\ndelay = \"2 ms\"\n{access}\n[switch]\nbuffer = \"20000 cells\"\n\
             scheduler.discipline = \"dual-queue\"\ndiscard.policy = \"dualpi2\"\n{traffic}"
        ));
        let delay = 1e3 * value(&result.ports, "switch1 > switch2", "delay_mean");
        assert!((5.0..20.0).contains(&delay), "{traffic}: {delay} ms");
    }
}

/// RFC 9332, figure 3: the queue is chosen by the ECN field with which a packet comes. Not-ECT and ECT(0) packets all go to the classic one,
/// so that they are served in the order of their arrival; a mark that they get here at their arrival does not make them ECT(1).
#[test]
fn a_mark_on_arrival_does_not_change_the_queue() {
    for marking in [
        "policy = \"epd\"\ndiscard.epd = { threshold = \"5 packets\", ecn = true }",
        "policy = \"red\"\ndiscard.red = { min = \"2 packets\", max = \"20 packets\", ecn = true }",
    ] {
        let flows = |discipline: &str| {
            let result = run(&format!(
                "duration = \"10 s\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[link]\nframing = \"packets\"\n\
                 rate = \"10 Mbit/s\"\ndelay = \"2 ms\"\naccess.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"60 packets\"\n\
                 discard.{marking}\nscheduler.discipline = \"{discipline}\"\n[traffic]\nkind = \"greedy\"\n\
                 start = \"0 ms .. 100 ms\"\n[[flow]]\nname = \"1\"\ntcp.ecn = true\n[[flow]]\nname = \"2\"\ntcp.ecn = true\n"
            ));
            let marked = total(&result.ports, "frames_marked");
            assert!(marked > 50, "{marking}: {marked} marks");
            ["1", "2", "3"].map(|flow| row_text(&result.flows, flow))
        };
        assert_eq!(flows("dual-queue"), flows("fifo"), "{marking}");
    }
}

/// The same of the mark of a rate allocator (EFCI): no cell comes with one here.
#[test]
fn a_mark_of_the_allocator_does_not_change_the_queue() {
    let flows = |discipline: &str| {
        let result = run(&format!(
            "duration = \"2 s\"\n[topology]\nkind = \"n-source\"\nsources = 3\n[link]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n\
             access.rate = \"25 Mbit/s\"\n[switch]\nbuffer = \"4000 cells\"\nallocator.algorithm = \"efci\"\n\
             allocator.efci = {{ high = \"50 cells\", low = \"20 cells\" }}\nscheduler.discipline = \"{discipline}\"\n\
             [vc]\ncategory = \"abr\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 100 ms\"\n"
        ));
        ["1", "2", "3"].map(|flow| row_text(&result.flows, flow))
    };
    assert_eq!(flows("dual-queue"), flows("fifo"));
}

/// What decides for two queues, or for one per VC, needs a discipline that serves them, and the other way round. `check` says so.
#[test]
fn a_policy_without_its_discipline_is_noted() {
    let dualpi2 = "switch.discard.policy: \"dualpi2\" decides for two queues";
    for (policy, discipline, expected) in [
        ("dualpi2", "fifo", dualpi2),
        ("dualpi2", "flow-queue", dualpi2),
        ("codel", "dual-queue", "switch.scheduler.discipline: nothing couples the two queues"),
        ("fq-codel", "fifo", "switch.discard.policy: \"fq-codel\" keeps a queue for each VC"),
        ("dualpi2", "dual-queue", ""),
        ("fq-codel", "flow-queue", ""),
        ("fq-codel", "deficit-round-robin", ""),
        ("codel", "fifo", ""),
        ("codel", "flow-queue", "switch.discard.policy: \"codel\" has one state for all VCs of a category"),
        ("cobalt", "wfq", "switch.discard.policy: \"cobalt\" has one state for all VCs of a category"),
        ("pie", "wfq", ""),
    ] {
        let tables = format!(
            "duration = \"1 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nframing = \"packets\"\n\
             [switch]\nbuffer = \"60 packets\"\ndiscard.policy = \"{policy}\"\nscheduler.discipline = \"{discipline}\"\n\
             [traffic]\nkind = \"greedy\"\n"
        );
        let mut notes = scenario(&tables).notes().unwrap();
        // No TCP of these asks for marks.
        notes.retain(|note| !note.starts_with("a switch would mark"));
        let suits = match &notes[..] {
            [] => expected.is_empty(),
            [note] => !expected.is_empty() && note.starts_with(expected),
            _ => false,
        };
        assert!(suits, "{policy} and {discipline}: {notes:?}");
        let port = "[[port]]\nfrom = \"switch1\"\nto = \"switch2\"\ndiscard.policy = \"dualpi2\"\n";
        let notes = scenario(&format!("{tables}{port}")).notes().unwrap();
        let own = notes.iter().any(|note| note.starts_with("port.0.discard.policy: \"dualpi2\""));
        assert_eq!(own, discipline != "dual-queue", "{policy} and {discipline}: {notes:?}");
    }
}
