//! Queues whose distribution is known, and laws that hold for all queues.

use celltrain_atm::buffer::PolicyName;

use crate::common::{mean_and_error, metric, names, occupancies, replicate, run, scenario, traced, value};

const PORT: &str = "switch1 > switch2";
/// The slot of the trunk at 424 Mbit/s, in seconds.
const SLOT: f64 = 1e-6;

/// `sources` hosts with `traffic` at one trunk of 424 Mbit/s without losses; their own links take no time to speak of.
fn trunk(sources: u32, traffic: &str, duration: &str, sample: &str) -> String {
    format!(
        "duration = \"{duration}\"\nsample = \"{sample}\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n\
         [link]\nrate = \"100 Gbit/s\"\ndelay = \"0 s\"\naccess.rate = \"100000 Gbit/s\"\ntrunk.rate = \"424 Mbit/s\"\n\
         [switch]\nbuffer = \"unlimited\"\n[traffic]\n{traffic}"
    )
}

/// The probabilities of 0, 1, 2, … cells in an M/D/1 system of utilisation `load`, from the chain at departures
/// (Kleinrock, Queueing Systems 1, section 5.6, with Poisson arrivals during a constant service).
///
/// `p(j+1) a(0) = p(j) − p(0) a(j) − Σ p(i) a(j−i+1)`, i = 1…j, where a(k) = e^−ρ ρ^k / k!; here divided by e^−ρ.
fn m_d_1(load: f64, count: usize) -> Vec<f64> {
    let mut powers = vec![1.0];
    for k in 1..60 {
        powers.push(powers[k - 1] * load / k as f64);
    }
    let exponential: f64 = powers.iter().sum();
    let mut p = vec![1.0 - load];
    for j in 0..count {
        let later: f64 = (1..=j).map(|i| p[i] * powers[j - i + 1]).sum();
        p.push(exponential * p[j] - p[0] * powers[j] - later);
    }
    p
}

#[test]
fn the_series_for_m_d_1_is_right() {
    // p(0) = 1 − ρ and p(1) = (1 − ρ)(e^ρ − 1); the mean number is ρ + ρ² / 2(1 − ρ) (Pollaczek-Khinchine).
    let p = m_d_1(0.5, 40);
    assert!((p[1] - 0.5 * (1.648_721_270_700_128 - 1.0)).abs() < 1e-12);
    let mean: f64 = p.iter().zip(0..).map(|(p, n)| p * f64::from(n)).sum();
    assert!((mean - 0.75).abs() < 1e-9, "{mean}");
}

/// The share of samples above `level`.
fn share_above(samples: &[f64], level: f64) -> f64 {
    samples.iter().filter(|&&sample| sample > level).count() as f64 / samples.len() as f64
}

#[test]
fn poisson_cells_wait_as_in_m_d_1() {
    // Four sources at a rate each of ρ/4 of the trunk's.
    for (load, rate) in [(0.5, "53 Mbit/s"), (0.8, "84.8 Mbit/s")] {
        let traffic = format!("kind = \"poisson\"\nrate = \"{rate}\"");
        let scenario = scenario(&trunk(4, &traffic, "500 ms", "1.7 us"));
        let runs: Vec<_> = (0..10).map(|replication| replicate(&scenario, replication, traced())).collect();
        // Pollaczek-Khinchine for a constant service of one slot: a mean wait of ρ / 2(1 − ρ) slots.
        let waits: Vec<_> =
            runs.iter().map(|run| value(&run.ports, PORT, "delay_mean") / SLOT - 1.0).collect();
        check("mean wait", &waits, load / (2.0 * (1.0 - load)), 0.05);
        let p = m_d_1(load, 12);
        for level in [0, 1, 2, 4, 7, 10] {
            let shares: Vec<_> =
                runs.iter().map(|run| share_above(occupancies(run, PORT), f64::from(level))).collect();
            let expected = 1.0 - p[..=level as usize].iter().sum::<f64>();
            // The relative error grows in the tail, where events are rare.
            if expected > 1e-3 {
                check(&format!("more than {level} cells"), &shares, expected, 0.3);
            }
        }
    }
}

/// Four sources of Poisson packets of 1500 B on average at a packet-framed trunk of 12 Mbit/s without losses, which takes 1 ms for one of them.
fn packets(load: f64, distribution: &str) -> String {
    let rate = load * 3.0;
    format!(
        "duration = \"250 s\"\nwarm-up = \"1 s\"\nsample = \"3.7 ms\"\n[topology]\nkind = \"n-source\"\nsources = 4\n\
         [link]\nframing = \"packets\"\noverhead = \"0 B\"\nrate = \"100 Gbit/s\"\ndelay = \"0 s\"\naccess.rate = \"5000 Gbit/s\"\n\
         trunk.rate = \"12 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n\
         [traffic]\nkind = \"poisson\"\nrate = \"{rate} Mbit/s\"\npacket = \"1500 B\"\npacket-distribution = \"{distribution}\""
    )
}

/// Pollaczek-Khinchine for a constant service: a mean wait of ρ / 2(1 − ρ) services.
#[test]
fn packets_of_one_size_wait_as_in_m_d_1() {
    for load in [0.5, 0.8] {
        let scenario = scenario(&packets(load, "fixed"));
        let runs: Vec<_> = (0..10).map(|replication| replicate(&scenario, replication, traced())).collect();
        let waits: Vec<_> =
            runs.iter().map(|run| value(&run.ports, PORT, "delay_mean") * 1e3 - 1.0).collect();
        check("mean wait", &waits, load / (2.0 * (1.0 - load)), 0.05);
    }
}

/// In an M/M/1 queue of service rate μ and arrival rate λ, the time from arrival to departure is exponentially distributed with the mean
/// 1 / (μ − λ), and more than n are in the system with probability ρ^(n + 1) (Kleinrock, Queueing Systems 1, section 3.2 and 5.6).
#[test]
fn packets_of_exponential_sizes_wait_as_in_m_m_1() {
    for load in [0.5, 0.8] {
        let scenario = scenario(&packets(load, "exponential"));
        let runs: Vec<_> = (0..10).map(|replication| replicate(&scenario, replication, traced())).collect();
        let mean = 1.0 / (1.0 - load);
        let of =
            |column| -> Vec<f64> { runs.iter().map(|run| value(&run.ports, PORT, column) * 1e3).collect() };
        check("mean delay", &of("delay_mean"), mean, 0.05);
        // Long delays are rare, so that less is known of them.
        for (column, quantile, error) in
            [("delay_p50", 0.5, 0.05), ("delay_p95", 0.95, 0.08), ("delay_p99", 0.99, 0.1)]
        {
            check(column, &of(column), -libm::log(1.0 - quantile) * mean, error);
        }
        for level in [0, 1, 3] {
            let shares: Vec<_> =
                runs.iter().map(|run| share_above(occupancies(run, PORT), f64::from(level))).collect();
            check(&format!("more than {level} packets"), &shares, power(load, level + 1), 0.1);
        }
        // What arrives is counted octet by octet, and is what the sources offer.
        let goodput: Vec<_> = runs.iter().map(|run| metric(run, "goodput") / 12e6).collect();
        check("goodput", &goodput, load, 0.02);
    }
}

/// Checks the mean of ten replications against `expected`, and that they can tell it from a value that is
/// `resolution` larger.
fn check(what: &str, values: &[f64], expected: f64, resolution: f64) {
    let (mean, error) = mean_and_error(values);
    assert!((mean - expected).abs() <= error, "{what}: {mean} ± {error}, expected {expected}");
    assert!(error <= resolution * expected, "{what}: {mean} ± {error} says little about {expected}");
}

/// Cells in step: N inputs with a cell in a slot with probability p / N each wait (N − 1) / N · p / 2(1 − p) slots in an output queue
/// on average (Karol, Hluchyj and Morgan 1987, section III), the cells of one slot in random order.
#[test]
fn bernoulli_cells_wait_as_in_an_output_queue() {
    for (sources, load) in [(2, 0.5), (4, 0.8), (16, 0.8)] {
        let probability = load / f64::from(sources);
        let traffic = format!("kind = \"bernoulli\"\npeak = \"424 Mbit/s\"\nprobability = {probability}");
        let scenario = scenario(&trunk(sources, &traffic, "500 ms", "10 us"));
        let runs: Vec<_> = (0..10).map(|replication| replicate(&scenario, replication, traced())).collect();
        let waits: Vec<_> =
            runs.iter().map(|run| value(&run.ports, PORT, "delay_mean") / SLOT - 1.0).collect();
        let inputs = f64::from(sources);
        check("mean wait", &waits, (inputs - 1.0) / inputs * load / (2.0 * (1.0 - load)), 0.05);
    }
}

/// Sources of a Markov-modulated Poisson process send at its mean rate, and as irregularly as they should: of a source that is silent
/// between times of 1 ms at a higher rate than the trunk's, more cells wait than of a Poisson process of its mean rate.
#[test]
fn modulated_cells_come_at_their_mean_rate() {
    let states = "states = [{ rate = \"636 Mbit/s\", mean-time = \"1 ms\" }, { rate = \"0 Mbit/s\", mean-time = \"2 ms\" }]";
    let waits = |traffic: &str| {
        let scenario = scenario(&trunk(1, traffic, "400 ms", "10 us"));
        let runs: Vec<_> = (0..10).map(|replication| replicate(&scenario, replication, traced())).collect();
        let sent: Vec<_> = runs.iter().map(|run| value(&run.flows, "1", "cells_sent") / 0.4e6).collect();
        check("cells a microsecond", &sent, 0.5, 0.25);
        runs.iter().map(|run| value(&run.ports, PORT, "delay_mean") / SLOT).sum::<f64>() / 10.0
    };
    let [poisson, modulated] =
        [waits("kind = \"poisson\"\nrate = \"212 Mbit/s\""), waits(&format!("kind = \"mmpp\"\n{states}"))];
    assert!(modulated > 50.0 * poisson, "{modulated} and {poisson} slots");
}

/// Binomial coefficient.
fn choose(n: u32, k: u32) -> f64 {
    (1..=k).map(|i| f64::from(n - k + i) / f64::from(i)).product()
}

fn power(base: f64, exponent: u32) -> f64 {
    (0..exponent).map(|_| base).product()
}

/// The probability that N·D/D/1 has more than `level` slots of work waiting: N sources of a cell every D slots at random
/// phases, N < D (Roberts and Virtamo 1991, after Beneš and the ballot theorem):
/// `Σ C(N,n) ((n−x)/D)^n (1−(n−x)/D)^(N−n) (D−N+x)/(D−n+x)`, n from x + 1 to N.
fn n_d_d_1(sources: u32, period: u32, level: u32) -> f64 {
    let (n_all, d, x) = (f64::from(sources), f64::from(period), f64::from(level));
    let term = |n: u32| {
        let share = (f64::from(n) - x) / d;
        let ballot = (d - n_all + x) / (d - f64::from(n) + x);
        choose(sources, n) * power(share, n) * power(1.0 - share, sources - n) * ballot
    };
    (level + 1..=sources).map(term).sum()
}

#[test]
fn the_formula_for_n_d_d_1_is_right_where_it_is_obvious() {
    // Work waits with probability ρ. Two sources: more than a slot of it waits if the phases are less than a slot
    // apart, either one first, for as long as they overlap: the integral of (1 − gap) over gaps up to 1, twice, over D².
    assert!((n_d_d_1(20, 25, 0) - 0.8).abs() < 1e-12);
    assert!((n_d_d_1(2, 10, 1) - 1.0 / 100.0).abs() < 1e-12);
}

#[test]
fn periodic_sources_queue_as_in_n_d_d_1() {
    // Twenty sources of a cell every 25 slots. A group of 100 replications is one value: each draws phases of its own and is
    // periodic after two periods, so the third is measured, every tenth of a slot.
    let traffic = "kind = \"cbr\"\nrate = \"16.96 Mbit/s\"\nstart = \"0 us .. 25 us\"";
    let scenario = scenario(&trunk(20, traffic, "75 us", "100 ns"));
    let groups: Vec<Vec<f64>> = (0..10)
        .map(|group| {
            let periods = (0..100)
                .map(|n| occupancies(&replicate(&scenario, 100 * group + n, traced()), PORT)[500..].to_vec());
            periods.flatten().collect()
        })
        .collect();
    let shares =
        |level: u32| groups.iter().map(move |samples| share_above(samples, f64::from(level))).collect();
    // The server is busy for exactly 20 of 25 slots, whatever the phases; samples a tenth of a slot apart see that to 1 %.
    let busy: Vec<f64> = shares(0);
    assert!(busy.iter().all(|share| (share - 0.8).abs() < 0.01), "{busy:?}");
    for (level, resolution) in [(1, 0.05), (2, 0.1), (3, 0.25), (4, 0.5)] {
        check(&format!("more than {level} cells"), &shares(level), n_d_d_1(20, 25, level), resolution);
    }
}

#[test]
fn the_mean_occupancy_is_rate_times_mean_delay() {
    // Little's law, with both sides measured apart: the occupancy from samples, the delay from each cell. Three bursts end
    // long before the run, and everything happens an odd number of eighths of a slot after the start, while samples are
    // taken at quarters: each stands for the quarter in the middle of which it lies, and their sum is the integral.
    for policy in PolicyName::ALL {
        let flow = |flow: u32, frame: u32, start: &str| {
            format!(
                "[[flow]]\nname = \"{flow}\"\ntraffic = {{ kind = \"on-off\", peak = \"424 Mbit/s\", on = \"60 us\", \
                 off = \"1 s\", frame = {frame}, start = \"{start}\" }}\n"
            )
        };
        let result = run(&format!(
            "duration = \"500 us\"\nsample = \"250 ns\"\n[topology]\nkind = \"n-source\"\nsources = 3\n\
             [link]\nrate = \"424 Mbit/s\"\ndelay = \"0 s\"\n[switch]\nbuffer = \"20 cells\"\n\
             [switch.discard]\npolicy = \"{}\"\n{}{}{}",
            policy.name(),
            flow(1, 5, "125 ns"),
            flow(2, 7, "11.375 us"),
            flow(3, 3, "42.625 us"),
        ));
        let port = |column| value(&result.ports, PORT, column);
        assert!(port("cells_discarded") > 20.0, "{}", policy.name());
        let withdrawn = port("discarded_pushed_out") + port("discarded_at_head");
        let accepted = port("cells_arrived") - port("cells_discarded") + withdrawn;
        let integral = occupancies(&result, PORT).iter().sum::<f64>() * 250e-9;
        let sojourns = port("delay_mean") * accepted;
        assert!((integral / sojourns - 1.0).abs() < 1e-12, "{}: {integral} and {sojourns}", policy.name());
        let mean = port("occupancy_mean") * 500e-6;
        assert!((mean / sojourns - 1.0).abs() < 1e-12, "{}: {mean} and {sojourns}", policy.name());
    }
}

#[test]
fn every_cell_is_delivered_or_counted_as_discarded() {
    // Frames of one cell leave no stumps: what the hosts sent is what arrived and what the ports discarded. The bursts end
    // long before the run.
    for policy in PolicyName::ALL {
        let result = run(&format!(
            "duration = \"20 ms\"\n[topology]\nkind = \"parking-lot\"\nswitches = 4\nsources = 2\n\
             [link]\ndelay = \"100 us\"\n[switch]\nbuffer = \"30 cells\"\n[switch.discard]\npolicy = \"{}\"\n\
             [traffic]\nkind = \"on-off\"\npeak = \"100 Mbit/s\"\non = \"2 ms\"\noff = \"1 s\"\nstart = \"0 ms .. 5 ms\"\n",
            policy.name()
        ));
        let total = |column: &str, ports: &dyn Fn(&str) -> bool| -> f64 {
            let ports = names(&result.ports).into_iter().filter(|name| ports(name));
            ports.map(|name| value(&result.ports, name, column)).sum()
        };
        let sent = total("cells_forwarded", &|name| name.starts_with("src"));
        let discarded = total("cells_discarded", &|_| true);
        let delivered: f64 =
            names(&result.flows).iter().map(|flow| value(&result.flows, flow, "frames_delivered")).sum();
        // Six bursts of 2 ms at 100 Mbit/s: a cell every 4.24 us, 472 of them.
        assert_eq!(sent, 6.0 * 472.0, "{}", policy.name());
        assert!(discarded > 100.0, "{}", policy.name());
        assert_eq!(sent, delivered + discarded, "{}", policy.name());
        assert_eq!(delivered, total("cells_forwarded", &|name| name.contains("> dest")), "{}", policy.name());
    }
}
