//! Max-min fair rates against allocations worked out in the literature, and against the definition on random networks.

use celltrain_engine::random::Randomness;
use celltrain_network::max_min::{Flow, MaxMinError, max_min, max_min_above_minima};

fn close(rates: &[f64], expected: &[f64]) {
    assert_eq!(rates.len(), expected.len());
    for (number, (rate, expected)) in rates.iter().zip(expected).enumerate() {
        assert!((rate - expected).abs() <= 1e-9 * expected.max(1.0), "flow {number}: {rate}, not {expected}");
    }
}

fn solve(capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
    let rates = max_min(capacities, flows).unwrap();
    bottlenecks(capacities, flows, &rates, WHOLE).unwrap();
    rates
}

fn solve_above_minima(capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
    let rates = max_min_above_minima(capacities, flows).unwrap();
    bottlenecks(capacities, flows, &rates, ABOVE_MINIMUM).unwrap();
    rates
}

/// What is made equal of a flow and its rate.
type Level = fn(&Flow, f64) -> f64;
const WHOLE: Level = |flow, rate| rate / flow.weight;
const ABOVE_MINIMUM: Level = |flow, rate| (rate - flow.minimum) / flow.weight;

/// The defining property: the rates fit, and each flow has all it asks for or a bottleneck, a full link on which no
/// flow that is above its minimum has a higher level.
fn bottlenecks(capacities: &[f64], flows: &[Flow], rates: &[f64], level: Level) -> Result<(), String> {
    let crosses = |link: usize| (0..flows.len()).filter(move |&flow| flows[flow].route.contains(&link));
    let slack = |rate: f64| 1e-9 * rate.max(1.0);
    let load = |link| crosses(link).map(|flow| rates[flow]).sum::<f64>();
    for (link, &capacity) in capacities.iter().enumerate() {
        if load(link) > capacity + slack(capacity) {
            return Err(format!("link {link} carries {} of {capacity}", load(link)));
        }
    }
    for (number, (flow, &rate)) in flows.iter().zip(rates).enumerate() {
        if rate < flow.minimum - slack(rate) || flow.demand.is_some_and(|demand| rate > demand + slack(rate))
        {
            return Err(format!("flow {number}: {rate} is out of its bounds"));
        }
        let satisfied = flow.demand.is_some_and(|demand| rate >= demand - slack(rate));
        let own = level(flow, rate);
        let is_bottleneck = |link: usize| {
            let highest = crosses(link)
                .filter(|&other| rates[other] > flows[other].minimum + slack(rates[other]))
                .all(|other| level(&flows[other], rates[other]) <= own + slack(rate));
            load(link) >= capacities[link] - slack(capacities[link]) && highest
        };
        if !satisfied && !flow.route.iter().any(|&link| is_bottleneck(link)) {
            return Err(format!("flow {number} has no bottleneck at {rate}"));
        }
    }
    Ok(())
}

#[test]
fn bertsekas_and_gallager() {
    // Links (2,3), (3,5) and (4,5) of capacity 1; sessions 2, 3 and 5 share the first, 1 and 3 the second.
    let flows = [&[1][..], &[0], &[0, 1], &[2], &[0]].map(Flow::over);
    let third = 1.0 / 3.0;
    close(&solve(&[1.0; 3], &flows), &[2.0 * third, third, third, 1.0, third]);
}

#[test]
fn a_parking_lot() {
    // One flow over all links, and one for each of them: all get half, but where a link is wider.
    let flows = [&[0, 1, 2, 3][..], &[0], &[1], &[2], &[3]].map(Flow::over);
    close(&solve(&[10.0, 10.0, 10.0, 20.0], &flows), &[5.0, 5.0, 5.0, 5.0, 15.0]);
    // The chain of Wu, Siu and Ren: five VCs over three links, five more on each: all equal.
    let flows: Vec<_> =
        (0..20).map(|vc| if vc < 5 { Flow::over(&[0, 1, 2]) } else { Flow::over(&[(vc - 5) / 5]) }).collect();
    close(&solve(&[150.0; 3], &flows), &[15.0; 20]);
}

/// Groups of flows as (number of flows, route, rate of each).
fn groups(capacities: &[f64], groups: &[(usize, &[usize], f64)]) {
    let each = |f: fn(&[usize], f64) -> (Flow, f64)| {
        groups.iter().flat_map(move |&(count, route, rate)| vec![f(route, rate); count])
    };
    let (flows, rates): (Vec<_>, Vec<_>) = each(|route, rate| (Flow::over(route), rate)).unzip();
    close(&solve(capacities, &flows), &rates);
}

#[test]
fn generic_fairness_configuration_1() {
    // Groups A to F of the ATM Forum's GFC-1, in Mbit/s.
    groups(
        &[50.0, 150.0, 150.0, 100.0],
        &[
            (3, &[0, 1, 2], 50.0 / 9.0),
            (3, &[1, 2, 3], 100.0 / 9.0),
            (3, &[1], 100.0 / 3.0),
            (6, &[0], 50.0 / 9.0),
            (6, &[3], 100.0 / 9.0),
            (2, &[2], 50.0),
        ],
    );
}

#[test]
fn generic_fairness_configuration_2() {
    // Groups A to H of GFC-2; the members of A and B enter at different switches.
    groups(
        &[50.0, 100.0, 50.0, 150.0, 150.0, 50.0],
        &[
            (1, &[0, 1, 2, 3, 4], 10.0),
            (1, &[1, 2, 3, 4], 10.0),
            (1, &[2, 3, 4], 10.0),
            (1, &[0, 1, 2, 3, 4, 5], 5.0),
            (1, &[1, 2, 3, 4, 5], 5.0),
            (1, &[3, 4, 5], 5.0),
            (3, &[3], 35.0),
            (1, &[0], 35.0),
            (2, &[1], 35.0),
            (1, &[2], 10.0),
            (7, &[5], 5.0),
            (2, &[4], 52.5),
        ],
    );
}

#[test]
fn weights_demands_and_minima() {
    let flow = |weight, minimum, demand| Flow { weight, minimum, demand, ..Flow::over(&[0]) };
    close(&solve(&[10.0], &[flow(3.0, 0.0, None), flow(2.0, 0.0, None)]), &[6.0, 4.0]);
    // What one does not want goes to the others.
    let flows = [flow(1.0, 0.0, Some(1.0)), flow(1.0, 0.0, None), flow(2.0, 0.0, None)];
    close(&solve(&[10.0], &flows), &[1.0, 3.0, 6.0]);
    // A minimum above the fair share is kept; one below it changes nothing.
    close(
        &solve(&[10.0], &[flow(1.0, 6.0, None), flow(1.0, 0.0, None), flow(1.0, 1.0, None)]),
        &[6.0, 2.0, 2.0],
    );
    // Two rise, a third joins them at the level of its minimum.
    close(
        &solve(&[10.0], &[flow(1.0, 3.0, None), flow(1.0, 0.0, None), flow(1.0, 0.0, None)]),
        &[10.0 / 3.0; 3],
    );
    // The minima fill the link.
    close(&solve(&[0.3], &[flow(1.0, 0.1, None), flow(1.0, 0.2, None)]), &[0.1, 0.2]);
    close(&solve(&[0.0], &[flow(1.0, 0.0, None)]), &[0.0]);
    assert_eq!(max_min(&[], &[Flow { demand: Some(3.0), ..Flow::over(&[]) }]), Ok(vec![3.0]));
}

#[test]
fn shares_above_minima() {
    let flow = |minimum, demand, route: &[usize]| Flow { minimum, demand, ..Flow::over(route) };
    // Of 10, 6 are promised and 4 shared.
    let flows = [flow(5.0, None, &[0]), flow(1.0, None, &[0]), flow(0.0, Some(0.4), &[0])];
    close(&solve_above_minima(&[10.0], &flows), &[6.8, 2.8, 0.4]);
    // The first link leaves 4 for two, the second what one of these lets: 14 less its 5 + 2.
    let flows = [flow(5.0, None, &[0, 1]), flow(1.0, None, &[0]), flow(0.0, None, &[1])];
    close(&solve_above_minima(&[10.0, 14.0], &flows), &[7.0, 3.0, 7.0]);
    // Without minima both are the same; with minima that fill the link each has its own.
    close(&solve_above_minima(&[9.0], &[0.0; 3].map(|minimum| flow(minimum, None, &[0]))), &[3.0; 3]);
    close(&solve_above_minima(&[0.3], &[0.1, 0.2].map(|minimum| flow(minimum, None, &[0]))), &[0.1, 0.2]);
    assert!(max_min_above_minima(&[1.0], &[flow(2.0, None, &[0])]).is_err());
}

#[test]
fn random_networks_have_bottlenecks() {
    let mut generator = Randomness { seed: 1, replication: 0 }.named("max-min");
    for _ in 0..500 {
        let capacities: Vec<_> = (0..5).map(|_| 20.0 + generator.below(100) as f64 / 7.0).collect();
        let flows: Vec<_> = (0..12)
            .map(|_| {
                let (from, length) = (generator.below(5) as usize, generator.below(3) as usize);
                let demand = (generator.below(3) == 0).then(|| 1.0 + generator.below(90) as f64 / 11.0);
                Flow {
                    route: (from..(from + length + 1).min(5)).collect(),
                    minimum: if generator.below(4) == 0 { generator.unit() } else { 0.0 },
                    demand,
                    weight: 1.0 + generator.below(9) as f64 / 3.0,
                }
            })
            .collect();
        for (solve, level) in
            [(solve as fn(&[f64], &[Flow]) -> Vec<f64>, WHOLE), (solve_above_minima, ABOVE_MINIMUM)]
        {
            let rates = solve(&capacities, &flows);
            // The check sees a flow that has given something away.
            let mut less = rates.clone();
            less[0] *= 0.9;
            assert!(bottlenecks(&capacities, &flows, &less, level).is_err());
        }
    }
}

/// Progressive filling as it is defined: all links and all flows are looked at for each stop.
fn plain(capacities: &[f64], flows: &[Flow]) -> Vec<f64> {
    let mut rates: Vec<Option<f64>> = vec![None; flows.len()];
    let mut level = 0.0;
    loop {
        let links = (0..capacities.len())
            .filter_map(|link| Some((plain_full(capacities, flows, &rates, link)?, Some(link), 0)));
        let wishes = (0..flows.len()).filter(|&flow| rates[flow].is_none());
        let wishes = wishes.filter_map(|flow| Some((flows[flow].demand? / flows[flow].weight, None, flow)));
        let stops = links.chain(wishes);
        let Some((next, link, wish)) = stops.min_by(|one, other| one.0.total_cmp(&other.0)) else { break };
        level = next.max(level);
        for (number, flow) in flows.iter().enumerate() {
            let concerned = link.map_or(number == wish, |link| flow.route.contains(&link));
            if concerned && rates[number].is_none() {
                let rate = (level * flow.weight).max(flow.minimum);
                rates[number] = Some(flow.demand.map_or(rate, |demand| rate.min(demand)));
            }
        }
    }
    rates.into_iter().map(Option::unwrap).collect()
}

/// The level at which a link is full, if a flow that rises crosses it.
fn plain_full(capacities: &[f64], flows: &[Flow], rates: &[Option<f64>], link: usize) -> Option<f64> {
    let crossing = || flows.iter().zip(rates).filter(|(flow, _)| flow.route.contains(&link));
    let mut rising: Vec<_> = crossing().filter(|(_, rate)| rate.is_none()).map(|(flow, _)| flow).collect();
    let begins = |flow: &Flow| flow.minimum / flow.weight;
    rising.sort_by(|one, other| begins(one).total_cmp(&begins(other)));
    let mut left = capacities[link] - crossing().filter_map(|(_, rate)| *rate).sum::<f64>();
    left -= rising.iter().map(|flow| flow.minimum).sum::<f64>();
    let mut weight = 0.0;
    for (place, flow) in rising.iter().enumerate() {
        left += flow.minimum;
        weight += flow.weight;
        let level = left / weight;
        if rising.get(place + 1).is_none_or(|next| level <= begins(next)) {
            return Some(level);
        }
    }
    None
}

/// To the last bit: what is kept from stop to stop is what a look at the whole network finds.
#[test]
fn rates_are_those_of_the_definition_to_the_last_bit() {
    let mut generator = Randomness { seed: 2, replication: 0 }.named("max-min");
    let bits = |rates: Vec<f64>| rates.into_iter().map(f64::to_bits).collect::<Vec<_>>();
    for round in 0..1000 {
        let links = 1 + generator.below(8) as usize;
        // Few values, so that many stops come at the same level; or many.
        let values = if round % 2 == 0 { 3 } else { 1000 };
        let capacities: Vec<_> = (0..links).map(|_| 20.0 + generator.below(values) as f64 / 7.0).collect();
        let flows: Vec<_> = (0..generator.below(20))
            .map(|_| {
                let route = (0..links).filter(|_| generator.below(2) == 0).collect::<Vec<_>>();
                let wants = route.is_empty() || generator.below(3) == 0;
                Flow {
                    route,
                    minimum: if generator.below(3) == 0 {
                        generator.below(values) as f64 / 1000.0
                    } else {
                        0.0
                    },
                    demand: wants.then(|| 1.0 + generator.below(values) as f64 / 11.0),
                    weight: 1.0 + generator.below(values.min(9)) as f64 / 3.0,
                }
            })
            .collect();
        assert_eq!(bits(max_min(&capacities, &flows).unwrap()), bits(plain(&capacities, &flows)));
        let minima =
            |link| flows.iter().filter(move |flow| flow.route.contains(&link)).map(|flow| flow.minimum);
        let rest = |link| f64::max(capacities[link] - minima(link).sum::<f64>(), 0.0);
        let above = flows.iter().map(|flow| Flow {
            minimum: 0.0,
            demand: flow.demand.map(|demand| demand - flow.minimum),
            ..flow.clone()
        });
        let shares = plain(&(0..links).map(rest).collect::<Vec<_>>(), &above.collect::<Vec<_>>());
        let expected = flows.iter().zip(shares).map(|(flow, share)| flow.minimum + share);
        assert_eq!(bits(max_min_above_minima(&capacities, &flows).unwrap()), bits(expected.collect()));
    }
}

/// Looking at all links and flows for each stop, this would take hours.
#[test]
fn a_long_parking_lot() {
    let links = 20_000;
    let long = Flow::over(&(0..links).collect::<Vec<_>>());
    let flows: Vec<_> = std::iter::once(long).chain((0..links).map(|link| Flow::over(&[link]))).collect();
    let capacities: Vec<_> = (0..links).map(|link| 10.0 + link as f64).collect();
    let mut expected = vec![5.0];
    expected.extend(capacities.iter().map(|capacity| capacity - 5.0));
    close(&max_min(&capacities, &flows).unwrap(), &expected);
}

#[test]
fn a_problem_without_an_answer_is_an_error() {
    let flow = Flow::over(&[0]);
    let error = |capacity, flow: Flow| max_min(&[capacity], &[flow]).unwrap_err().to_string();
    let message = error(-1.0, flow.clone());
    assert_eq!(message, "link 0: the capacity must be a number of at least 0, found -1");
    assert!(error(1.0, Flow::over(&[1])).contains("from 0 to 0"));
    assert!(error(1.0, Flow::over(&[0, 0])).contains("once"));
    assert!(error(1.0, Flow { weight: 0.0, ..flow.clone() }).contains("above 0"));
    assert!(error(1.0, Flow { minimum: 2.0, demand: Some(1.0), ..flow.clone() }).contains("the demand 1"));
    assert!(error(1.0, Flow { minimum: 2.0, ..flow }).contains("add up to 2"));
    assert_eq!(max_min(&[], &[Flow::over(&[])]), Err(MaxMinError::Unlimited(0)));
}
