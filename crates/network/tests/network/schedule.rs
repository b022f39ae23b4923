//! Any order and any length of visits give one run.

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName};
use celltrain_engine::{random::Randomness, time::MILLISECOND, visit::Schedule};
use celltrain_network::{Experiment, capture::Capture, network::Network, scenario::Scenario};
use proptest::{prelude::*, sample::select};

use crate::common::{self, cases, names, replicate, scenario, traced, value};

/// A network and what is captured of it.
#[derive(Debug, Clone)]
struct Case {
    tables: String,
    hosts: &'static [&'static str],
    links: &'static [&'static str],
}

/// Everything a run under `change`d visits says: its tables, series and events as text, and its captures.
fn everything(scenario: &Scenario, change: impl FnOnce(&mut Schedule)) -> (String, Vec<Capture>) {
    run(scenario, [&[], &[]], change)
}

fn run(
    scenario: &Scenario,
    places: [&[&str]; 2],
    change: impl FnOnce(&mut Schedule),
) -> (String, Vec<Capture>) {
    run_network(scenario, places, |network| network.set_schedule(change))
}

/// As [`everything`], with so many parts that run at once, which `seed` has drawn, as it has the time at which they are looked at again,
/// and visits that it has drawn, if they are.
fn in_parts(scenario: &Scenario, parts: u64, seed: u64, draws_visits: bool) -> (String, Vec<Capture>) {
    let mut generator = Randomness { seed, replication: 0 }.named("parts");
    run_network(scenario, [&[], &[]], |network| {
        if draws_visits {
            network.set_schedule(shuffled(seed));
        }
        let partition = (0..network.processes()).map(|_| generator.below(parts) as usize);
        network.set_partition(partition.collect());
        network.review_partition(vec![generator.below(scenario.spec().duration.ps())]);
    })
}

fn run_network(
    scenario: &Scenario,
    places: [&[&str]; 2],
    change: impl FnOnce(&mut Network),
) -> (String, Vec<Capture>) {
    let mut experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let [hosts, links] = places.map(|names| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
    experiment.capture(&hosts, &links).unwrap_or_else(|error| panic!("{error}"));
    let mut network = experiment.network(1, 0, traced());
    change(&mut network);
    network.record_events();
    let mut result = experiment.run_network(network, &mut || false).expect("nothing interrupts");
    let captures = std::mem::take(&mut result.captures);
    (format!("{result:?}"), captures)
}

/// One event at a time, against the direction of the data.
fn single_events(schedule: &mut Schedule) {
    schedule.order.reverse();
    (schedule.cap, schedule.longest) = (1, 1);
}

/// Rounds of random order and length.
fn shuffled(seed: u64) -> impl Fn(&mut Schedule) {
    common::shuffled(seed, 4 * MILLISECOND)
}

fn topology() -> impl Strategy<Value = String> {
    let lot = (2u32..5, 1u32..4).prop_map(|(switches, sources)| {
        format!("kind = \"parking-lot\"\nswitches = {switches}\nsources = {sources}\n")
    });
    let pairs = (1u32..6).prop_map(|sources| format!("kind = \"n-source\"\nsources = {sources}\n"));
    let chain = (1u32..4, 1u32..3, 0u32..3).prop_map(|(trunks, long, cross)| {
        format!("kind = \"chain\"\ntrunks = {trunks}\nlong = {long}\ncross = {cross}\n")
    });
    prop_oneof![lot, pairs, chain]
}

/// Rate and delay of the links of a place: from LAN links and none at all to a quarter of the run.
fn links(place: &'static str) -> impl Strategy<Value = String> {
    let rates = select(vec!["155.52 Mbit/s", "149.76 Mbit/s", "25.6 Mbit/s", "424 Mbit/s"]);
    let delays = select(vec!["0 s", "500 ns", "500 ns", "20 us", "300 us", "1 ms"]);
    (rates, delays)
        .prop_map(move |(rate, delay)| format!("{place} = {{ rate = \"{rate}\", delay = \"{delay}\" }}\n"))
}

/// Sources that send over TCP; a host of these can be captured, and their segments lost by name.
const TCP_TRAFFIC: [&str; 4] = [
    "kind = \"greedy\", start = \"0 ms .. 1 ms\"",
    "kind = \"greedy\"",
    "kind = \"finite\", bytes = \"20 KiB\", start = \"0 ms .. 1 ms\"",
    "kind = \"bursty\", bytes = \"5 KiB\", every = \"700 us\"",
];

/// Sources of bare cells.
const CELL_TRAFFIC: [&str; 3] = [
    "kind = \"cbr\", rate = \"40 Mbit/s\", frame = 7",
    "kind = \"poisson\", rate = \"60 Mbit/s\", frame = 12",
    "kind = \"on-off\", peak = \"155.52 Mbit/s\", on = \"100 us\", off = \"200 us\", frame = 5, \
     distribution = \"exponential\"",
];

/// Losses of named segments of flow 1.
fn scripted_losses() -> impl Strategy<Value = String> {
    let loss = (0u32..4, 1u32..3, select(vec!["data", "ack"])).prop_map(|(segment, occurrence, direction)| {
        format!(
            "[[loss]]\nflow = \"1\"\nsegment = {segment}\noccurrence = {occurrence}\ndirection = \"{direction}\"\n"
        )
    });
    prop::collection::vec(loss, 0..4).prop_map(|losses| losses.concat())
}

fn tcp() -> impl Strategy<Value = &'static str> {
    select(vec![
        "stack = \"newreno\"",
        "stack = \"sack\"",
        "stack = \"tahoe\"",
        "stack = \"reno\"\ndelayed-ack = \"100 us\"",
        "stack = \"opnet-1998\"",
        "stack = \"yats\"\nprocessing-delay = \"50 us\"\nprocessing-spread = \"20 us\"",
        "stack = \"newreno\"\nsyn-exchange = true\nrto-min = \"300 us\"\nrto-initial = \"500 us\"",
        "stack = \"cubic\"\nrto-min = \"300 us\"\nrto-initial = \"500 us\"",
    ])
}

/// How the host keeps the VCs at a peak rate.
const PEAK: [&str; 3] = ["", "pcr = \"30 Mbit/s\"\n", "pcr = \"30 Mbit/s\"\nspacing = \"frames\"\n"];

/// Hosts, switches under any policy and their links, whose framing is `unit`, as is the unit of buffers.
fn elements(unit: &'static str, buffer_max: u64) -> impl Strategy<Value = String> {
    let host = select(vec!["", "ip-rate = \"20000 packet/s\"\nip-spread = 0.3\nip-serves = \"both\"\n"]);
    let switch = (select(PolicyName::ALL), 1..=buffer_max).prop_map(move |(policy, buffer)| {
        (policy.name(), format!("{buffer} {unit}"), PEAK[buffer as usize % 3])
    });
    let losses = select(vec!["", "", "loss = 0.02\n", "loss = 0.002\nloss-unit = \"cell\"\n"]);
    let links = (losses, links("access"), links("trunk"), links("exit"));
    (links, switch, host).prop_map(move |((losses, access, trunk, exit), (policy, buffer, vc), host)| {
        format!(
            "[link]\nframing = \"{unit}\"\n{losses}{access}{trunk}{exit}[switch]\nbuffer = \"{buffer}\"\n\
             [switch.discard]\npolicy = \"{policy}\"\n[host]\n{host}[vc]\n{vc}"
        )
    })
}

/// A network of a few hosts and switches, of cells or of packets, and what flows across it: all kinds of `first` and `most`.
fn of_kind(
    (unit, buffer_max): (&'static str, u64),
    first: &[&'static str],
    most: &[&'static str],
    scripted: bool,
) -> impl Strategy<Value = String> + use<> {
    let head =
        (select(vec!["port-id", "random"]), select(vec!["0 s", "1 ms"])).prop_map(|(ties, warm_up)| {
            format!(
                "duration = \"4 ms\"\nsample = \"300 us\"\ntie-break = \"{ties}\"\nwarm-up = \"{warm_up}\"\n"
            )
        });
    let flows = (select(first.to_vec()), select(most.to_vec()), scripted_losses());
    (head, topology(), elements(unit, buffer_max), tcp(), flows).prop_map(
        move |(head, topology, elements, tcp, (first, most, losses))| {
            let losses = if scripted { losses } else { String::new() };
            format!(
                "{head}[topology]\n{topology}{elements}[tcp]\n{tcp}\n\
                 [[flow]]\nname = \"1\"\ntraffic = {{ {first} }}\n[traffic]\n{}\n{losses}",
                most.replace(", ", "\n")
            )
        },
    )
}

/// ABR flows with and without TCP under any allocator, beside VBR and UBR.
fn abr_network() -> impl Strategy<Value = String> {
    let allocator =
        (select(AllocatorName::ALL), select(vec!["", "interval.time = \"37 us\"", "interval.cells = 7"]))
            .prop_map(|(name, interval)| {
                let parameters = match name {
                    AllocatorName::Erica | AllocatorName::EricaPlus => interval,
                    AllocatorName::Efci => "high = \"20 %\"\nlow = \"10 %\"",
                    AllocatorName::Eprca => "congested = \"10 %\"\nvery-congested = \"50 %\"",
                    AllocatorName::Capc => "congested = \"10 %\"",
                };
                let name = name.name();
                format!("algorithm = \"{name}\"\n[switch.allocator.{name}]\n{parameters}\n")
            });
    let ends = select(vec![
        "",
        "rif = 1\nicr = \"1 Mbit/s\"\n",
        "rif = 1\nsource-buffer = \"40 cells\"\nnrm = 4\n",
        "backward-notification = true\ntrm = \"300 us\"\nrate-coding = \"float\"\n",
        "icr = \"0 cells/s\"\ntcr = \"3000 cells/s\"\n",
    ]);
    let networks =
        of_kind(("cells", 200), &CELL_TRAFFIC, &[TCP_TRAFFIC, [CELL_TRAFFIC[0]; 4]].concat(), false);
    let first = select(vec!["cbr", "vbr", "ubr", "abr"]);
    (networks, allocator, ends, first).prop_map(|(tables, allocator, ends, first)| {
        // The peak rate of an ABR source is its own.
        let tables = PEAK[1..].iter().rev().fold(tables, |tables, peak| tables.replace(peak, ""));
        let tables = tables
            .replace("[vc]\n", "[vc]\ncategory = \"abr\"\n")
            .replace("name = \"1\"\n", &format!("name = \"1\"\nvc.category = \"{first}\"\n"));
        // The topology may have one flow only, which is then the first.
        format!(
            "{tables}[[flow]]\nname = \"more\"\nfrom = \"src1\"\nto = \"dest1\"\n\
             [abr]\n{ends}[switch.allocator]\n{allocator}"
        )
    })
}

/// Cells or packets, TCP or bare cells, with and without captures, of the kinds that are possible together.
fn network() -> impl Strategy<Value = Case> {
    const ALL: &[&str] = &["all"];
    // A frame of most stacks fills some thirty cells.
    const CELLS: (&str, u64) = ("cells", 200);
    const PACKETS: (&str, u64) = ("packets", 6);
    let mixed = [&TCP_TRAFFIC[..], &CELL_TRAFFIC].concat();
    let case = |hosts, links| move |tables| Case { tables, hosts, links };
    prop_oneof![
        1 => of_kind(CELLS, &CELL_TRAFFIC, &mixed, false).prop_map(case(&[], ALL)),
        2 => of_kind(CELLS, &mixed, &mixed, false).prop_map(case(&[], &[])),
        2 => of_kind(CELLS, &TCP_TRAFFIC, &mixed, true).prop_map(case(ALL, ALL)),
        2 => abr_network().prop_map(case(&[], &[])),
        1 => of_kind(PACKETS, &TCP_TRAFFIC, &TCP_TRAFFIC, true).prop_map(case(&[], &[])),
        1 => of_kind(PACKETS, &TCP_TRAFFIC, &TCP_TRAFFIC, true).prop_map(case(ALL, &[])),
    ]
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn the_order_and_length_of_visits_do_not_matter(case in network(), seed in any::<u64>()) {
        let (scenario, places) = (scenario(&case.tables), [case.hosts, case.links]);
        let as_usual = run(&scenario, places, |_| {});
        prop_assert_eq!(as_usual.1.is_empty(), case.hosts.is_empty() && case.links.is_empty());
        for change in [seed, seed ^ 1, seed ^ 2] {
            prop_assert!(run(&scenario, places, shuffled(change)) == as_usual, "{change}: {}", case.tables);
        }
        prop_assert!(
            run(&scenario, places, single_events) == as_usual,
            "one event at a time: {}", case.tables
        );
        let uncaptured = everything(&scenario, |_| {});
        prop_assert_eq!(&uncaptured.0, &as_usual.0, "captures change nothing: {}", case.tables);
        for parts in 2..5 {
            let other = in_parts(&scenario, parts, seed ^ parts, seed % 2 == 0);
            prop_assert!(other == uncaptured, "{parts} parts: {}", case.tables);
        }
    }
}

/// Two connections whose frames never fit the buffer of a single cell: all they do is wait for timeouts, which back off
/// to eight seconds and more.
fn mostly_idle() -> Scenario {
    scenario(
        "duration = \"40 s\"\nwarm-up = \"3 s\"\nsample = \"1 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
         [link]\nrate = \"155.52 Mbit/s\"\ndelay = \"500 ns\"\ntrunk.rate = \"25.6 Mbit/s\"\n\
         [switch]\nbuffer = \"1 cell\"\n[tcp]\nstack = \"newreno\"\n",
    )
}

#[test]
fn a_network_that_waits_for_timeouts_gives_one_run_too() {
    let scenario = mostly_idle();
    let as_usual = everything(&scenario, |_| {});
    for seed in 0..3 {
        assert_eq!(everything(&scenario, shuffled(seed)), as_usual, "seed {seed}");
    }
    assert_eq!(everything(&scenario, single_events), as_usual, "one event at a time");
    for parts in 2..5 {
        assert_eq!(in_parts(&scenario, parts, parts, false), as_usual, "{parts} parts");
    }
}

#[test]
fn timeouts_back_off_where_nothing_gets_through() {
    // RFC 6298 rules 2.1 and 5.5: timeouts at 1, 3, 7, 15 and 31 s; the first two lie in the warm-up (3 s is no more before
    // its end: a run handles what is before its end).
    let scenario = mostly_idle();
    let result = replicate(&scenario, 0, traced());
    for flow in names(&result.flows) {
        assert_eq!(value(&result.flows, flow, "frames_delivered"), 0.0);
        assert_eq!(value(&result.flows, flow, "timeouts"), 4.0, "at 3, 7, 15 and 31 s");
    }
}

#[test]
fn hundreds_of_busy_inputs_give_one_run_too() {
    // Sources of one rate that start together tie at the switch, every time; those that start at random meet in any order.
    for start in ["0 ms", "0 ms .. 2 ms"] {
        for switch in ["buffer = \"500 cells\"", "buffer = \"500 cells\"\nvc-buffer = \"400 cells\""] {
            let scenario = scenario(&format!(
                "duration = \"12 ms\"\nwarm-up = \"1 ms\"\n[topology]\nkind = \"n-source\"\nsources = 160\n\
                 [link]\nrate = \"155.52 Mbit/s\"\ndelay = \"5 us\"\n[switch]\n{switch}\n\
                 [traffic]\nkind = \"cbr\"\nrate = \"1.1 Mbit/s\"\nstart = \"{start}\"\n"
            ));
            let as_usual = everything(&scenario, |_| {});
            for seed in 0..2 {
                assert!(everything(&scenario, shuffled(seed)) == as_usual, "{start}, {switch}: seed {seed}");
            }
            assert!(
                everything(&scenario, single_events) == as_usual,
                "{start}, {switch}: one event at a time"
            );
        }
    }
}

/// Frames of several sources arrive at the trunk cell by cell in turns, and part behind it: their cells are slots apart then, more than a
/// train can say if there are many, and come more slowly than an exit link sends though its rate is the lower one.
#[test]
fn frames_that_take_turns_and_part_give_one_run_too() {
    for (sources, exit) in [(2, "100 Mbit/s"), (3, "60 Mbit/s"), (3, "155.52 Mbit/s"), (18, "155.52 Mbit/s")]
    {
        // The last source sends single cells now and then.
        let scenario = scenario(&format!(
            "duration = \"5 ms\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n[link]\nrate = \"155.52 Mbit/s\"\n\
             delay = \"5 us\"\nexit.rate = \"{exit}\"\n[switch]\nbuffer = \"unlimited\"\ndiscard.policy = \"epd\"\n\
             discard.epd.threshold = \"100000 cells\"\n[traffic]\nkind = \"on-off\"\npeak = \"155.52 Mbit/s\"\non = \"200 us\"\n\
             off = \"2 ms\"\nframe = 64\nstart = \"0 us .. 2 us\"\n\
             [[flow]]\nname = \"{sources}\"\ntraffic = {{ kind = \"cbr\", rate = \"20 Mbit/s\" }}\n\
             [[flow]]\nname = \"more\"\nfrom = \"src1\"\nto = \"dest2\"\ntraffic = {{ kind = \"cbr\", rate = \"9 Mbit/s\" }}\n"
        ));
        let as_usual = everything(&scenario, |_| {});
        assert!(everything(&scenario, single_events) == as_usual, "{sources}: one event at a time");
    }
}
