//! Any order and any length of visits give one run.

use celltrain_atm::buffer::PolicyName;
use celltrain_engine::{random::Randomness, time::MILLISECOND, visit::Schedule};
use celltrain_network::{Experiment, scenario::Scenario};
use proptest::{prelude::*, sample::select, test_runner::RngSeed};

use crate::common::{names, replicate, scenario, traced, value};

/// Everything a run under `change`d visits says.
fn everything(scenario: &Scenario, change: impl FnOnce(&mut Schedule)) -> String {
    let experiment = Experiment::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut network = experiment.network(1, 0, traced());
    network.set_schedule(change);
    format!("{:?}", experiment.run_network(network, &mut || false).expect("nothing interrupts"))
}

/// One event at a time, against the direction of the data.
fn single_events(schedule: &mut Schedule) {
    schedule.order.reverse();
    schedule.cap = 1;
}

/// Rounds of random order and length.
fn shuffled(seed: u64) -> impl Fn(&mut Schedule) {
    move |schedule| {
        schedule.cap = 4 * MILLISECOND;
        schedule.shuffle = Some(Randomness { seed, replication: 0 }.named("schedule"));
    }
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

fn traffic() -> impl Strategy<Value = &'static str> {
    select(vec![
        "kind = \"greedy\", start = \"0 ms .. 1 ms\"",
        "kind = \"greedy\"",
        "kind = \"finite\", bytes = \"20 kB\", start = \"0 ms .. 1 ms\"",
        "kind = \"bursty\", bytes = \"5 kB\", every = \"700 us\"",
        "kind = \"cbr\", rate = \"40 Mbit/s\", frame = 7",
        "kind = \"poisson\", rate = \"60 Mbit/s\", frame = 12",
        "kind = \"on-off\", peak = \"155.52 Mbit/s\", on = \"100 us\", off = \"200 us\", frame = 5, \
         distribution = \"exponential\"",
    ])
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

/// A network of a few hosts and switches under any policy, and what flows across it.
fn network() -> impl Strategy<Value = String> {
    let host = select(vec!["", "ip-rate = \"20000 packet/s\"\nip-spread = 0.3\nip-serves = \"both\"\n"]);
    let switch = (select(PolicyName::ALL), 1u64..200).prop_map(|(policy, buffer)| {
        format!("[switch]\nbuffer = \"{buffer} cells\"\n[switch.discard]\npolicy = \"{}\"\n", policy.name())
    });
    let head =
        (select(vec!["port-id", "random"]), select(vec!["0 s", "1 ms"])).prop_map(|(ties, warm_up)| {
            format!(
                "duration = \"4 ms\"\nsample = \"300 us\"\ntie-break = \"{ties}\"\nwarm-up = \"{warm_up}\"\n"
            )
        });
    let losses = select(vec!["", "", "loss = 0.02\n", "loss = 0.002\nloss-unit = \"cell\"\n"]);
    let links = (losses, links("access"), links("trunk"), links("exit"));
    (head, topology(), links, switch, host, tcp(), traffic(), traffic()).prop_map(
        |(head, topology, (losses, access, trunk, exit), switch, host, tcp, most, first)| {
            format!(
                "{head}[topology]\n{topology}[link]\n{losses}{access}{trunk}{exit}{switch}[host]\n{host}[tcp]\n{tcp}\n\
                 [[flow]]\nname = \"1\"\ntraffic = {{ {first} }}\n[traffic]\n{}\n",
                most.replace(", ", "\n")
            )
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 256,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_order_and_length_of_visits_do_not_matter(tables in network(), seed in any::<u64>()) {
        let scenario = scenario(&tables);
        let as_usual = everything(&scenario, |_| {});
        for change in [seed, seed ^ 1, seed ^ 2] {
            prop_assert_eq!(&everything(&scenario, shuffled(change)), &as_usual, "{}", tables);
        }
        prop_assert_eq!(&everything(&scenario, single_events), &as_usual, "one event at a time: {}", tables);
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
}

#[test]
fn timeouts_back_off_where_nothing_gets_through() {
    // RFC 6298 rules 2.1 and 5.5: timeouts at 1, 3, 7, 15 and 31 s; the first two lie in the warm-up (3 s is no more before
    // its end: a run handles what is before its end).
    let scenario = mostly_idle();
    let result = replicate(&scenario, 0);
    for flow in names(&result.flows) {
        assert_eq!(value(&result.flows, flow, "frames_delivered"), 0.0);
        assert_eq!(value(&result.flows, flow, "timeouts"), 4.0, "at 3, 7, 15 and 31 s");
    }
}
