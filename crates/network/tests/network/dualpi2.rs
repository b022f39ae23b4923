//! Prague beside a classic flow at a DualPI2 queue (RFC 9332): rates of the same order, and a delay of about a millisecond for the one.

use celltrain_network::{Experiment, Options, RunResult};

use crate::common::{scenario, value};

/// Two connections into a link of `rate` Mbit/s. `round_trip` in milliseconds is that of all six links.
fn two_flows(rate: u64, round_trip: u64, first: &str, second: &str) -> RunResult {
    let scenario = scenario(&format!(
        "duration = \"40 s\"\nwarm-up = \"10 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n\
         [link]\nframing = \"packets\"\nrate = \"{rate} Mbit/s\"\ndelay = \"{} us\"\naccess.rate = \"1 Gbit/s\"\n\
         exit.rate = \"1 Gbit/s\"\n[switch]\nbuffer = \"{} packets\"\ndiscard.policy = \"dualpi2\"\n\
         scheduler.discipline = \"dual-queue\"\n[traffic]\nkind = \"greedy\"\nstart = \"0 ms .. 100 ms\"\n\
         [[flow]]\nname = \"1\"\ntcp = {{ {first} }}\n[[flow]]\nname = \"2\"\ntcp = {{ {second} }}\n",
        round_trip * 1000 / 6,
        // 250 ms of the link (figure 2).
        rate * 250_000 / 12_000,
    ));
    let experiment = Experiment::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut network = experiment.network(1, 0, Options::default());
    network.record_events();
    experiment.run_network(network, &mut || false).expect("nothing interrupts")
}

const CLASSIC: &str = "stack = \"rfc\", receive-window = \"4 MB\", delayed-ack = \"40 ms\", mss = \"1448 B\"";
const PRAGUE: &str = "stack = \"prague\"";

fn goodput(result: &RunResult, flow: &str) -> f64 {
    value(&result.flows, flow, "goodput")
}

/// The mean of what round trips of a flow are above the shortest, after the warm-up, in milliseconds.
fn queueing_delay(result: &RunResult, flow: &str) -> f64 {
    let trips = result.series.iter().find(|series| series.entity == flow && series.metric == "rtt");
    let trips = trips.expect("a connection that sends has round trips");
    let shortest = trips.values.iter().copied().fold(f64::MAX, f64::min);
    let late = &trips.values[trips.values.len() / 4..];
    (late.iter().sum::<f64>() / late.len() as f64 - shortest) * 1e3
}

/// RFC 9332 section 2.1: with k = 2 the rate of Reno, 1.22 / (R p') for losses of p'^2, is about that of a scalable flow, 2 / (R 2 p').
/// That is for a p' that stands. One Reno flow alone empties the classic queue at each loss, so that p' swings: Reno, which the square
/// counts for, falls behind by a factor of 1.4 to 2.4. The delay of the one is that of figure 5, where marks become certain, at the most,
/// while the classic queue keeps its target of 15 ms.
#[test]
fn a_scalable_flow_does_not_starve_a_classic_one() {
    let mut wrong = Vec::new();
    for rate in [10, 20] {
        for round_trip in [20, 50] {
            let result = two_flows(rate, round_trip, CLASSIC, PRAGUE);
            let (classic, scalable) = (goodput(&result, "1"), goodput(&result, "2"));
            let (long, short) = (queueing_delay(&result, "1"), queueing_delay(&result, "2"));
            let used = (classic + scalable) / (rate as f64 * 1e6);
            let case = format!(
                "{rate} Mbit/s, {round_trip} ms: {classic:.0} and {scalable:.0} bit/s ({:.2}), {long:.2} and {short:.2} ms, {used:.3}",
                scalable / classic
            );
            // A packet that is being sent is waited for, and one more where the other queue has its turn.
            let most = 1.2 + 2.0 * 12.0 / rate as f64;
            if !((0.4..2.5).contains(&(scalable / classic))
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
