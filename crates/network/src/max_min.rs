//! Max-min fair rates: what each flow gets if no flow can have more without taking from one that has no more than it.
//!
//! All rates rise together, in proportion to the flows' weights, until a link is full or a flow has all it asks for;
//! the flows concerned stay where they are, and the others go on rising (progressive filling; Bertsekas and Gallager,
//! "Data Networks", section 6.5.2). A flow with a minimum rate stands at it until the others have caught up (max-min
//! fairness over the rates that respect the minima), or gets its share of the rest on top of it ([`max_min_above_minima`]).
//! ATM Forum TM 4.0 names both among its examples of fairness: the larger of MCR and share, and MCR plus equal share.

use std::collections::BTreeSet;

use thiserror::Error;

/// A flow: the links on its way and what it asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Flow {
    /// The numbers of the links that it crosses, each once.
    pub route: Vec<usize>,
    /// The rate that it gets at least, in the unit of the capacities.
    pub minimum: f64,
    /// The rate that it takes at most; `None` if it takes what it gets.
    pub demand: Option<f64>,
    /// Its share beside the other flows; rates over weights are what is made equal.
    pub weight: f64,
}

impl Flow {
    /// A flow over these links, of weight 1, without a minimum, that takes what it gets.
    #[must_use]
    pub fn over(route: &[usize]) -> Self {
        Self { route: route.to_vec(), minimum: 0.0, demand: None, weight: 1.0 }
    }
}

/// A problem that has no answer.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MaxMinError {
    /// A capacity is negative, infinite or not a number.
    #[error("link {0}: the capacity must be a number of at least 0, found {1}")]
    Capacity(usize, f64),
    /// A route names a link that does not exist, or one twice.
    #[error("flow {0}: the route must name each of its links once, from 0 to {1}, found {2:?}")]
    Route(usize, usize, Vec<usize>),
    /// A weight is not positive.
    #[error("flow {0}: the weight must be a number above 0, found {1}")]
    Weight(usize, f64),
    /// The minimum and the demand of a flow do not go together.
    #[error("flow {0}: the minimum {1} must be at least 0 and no more than the demand {2}")]
    Bounds(usize, f64, f64),
    /// Nothing limits a flow.
    #[error("flow {0} crosses no link and has no demand: nothing limits its rate")]
    Unlimited(usize),
    /// The minima on a link are more than it carries.
    #[error("link {0}: the minimum rates add up to {1}, more than its capacity {2}")]
    Minima(usize, f64, f64),
}

/// How much of a capacity rounding may make the minima seem too large by.
const ROUNDING: f64 = 1e-12;

/// The max-min fair rate of each flow, in the unit of `capacities`.
///
/// # Errors
/// A problem that has no answer; the message names the link or the flow.
pub fn max_min(capacities: &[f64], flows: &[Flow]) -> Result<Vec<f64>, MaxMinError> {
    check(capacities, flows)?;
    let mut filling = Filling::new(capacities, flows);
    let mut level = 0.0;
    while let Some((next, stop)) = filling.next_stop() {
        // Rounding may put a link that fills at the same time as the one before a little below it.
        level = next.max(level);
        filling.settle(level, stop);
    }
    Ok(filling.rates.into_iter().map(|rate| rate.expect("every flow is limited")).collect())
}

/// The rate of each flow, in the unit of `capacities`, if it gets its minimum and what the minima leave is shared max-min
/// fairly: it is the rates above the minima that are made equal, in proportion to the weights.
///
/// # Errors
/// As [`max_min`].
pub fn max_min_above_minima(capacities: &[f64], flows: &[Flow]) -> Result<Vec<f64>, MaxMinError> {
    check(capacities, flows)?;
    let minima = minima(capacities.len(), flows);
    let rest = capacities.iter().zip(minima).map(|(capacity, minima)| f64::max(capacity - minima, 0.0));
    let rest: Vec<_> = rest.collect();
    let above = |flow: &Flow| Flow {
        minimum: 0.0,
        demand: flow.demand.map(|demand| demand - flow.minimum),
        ..flow.clone()
    };
    let shares = max_min(&rest, &flows.iter().map(above).collect::<Vec<_>>())?;
    Ok(flows.iter().zip(shares).map(|(flow, share)| flow.minimum + share).collect())
}

/// What stops flows from rising further.
#[derive(Debug, Clone, Copy)]
enum Stop {
    /// This link is full.
    Link(usize),
    /// This flow has all it asks for.
    Flow(usize),
}

/// A network whose rates rise. A stop changes what is known of the links that the flows concerned cross, and of no other: they leave more to
/// those that go on rising, so that such a link is full no earlier than was known. It is looked at when it would be.
struct Filling<'a> {
    capacities: &'a [f64],
    flows: &'a [Flow],
    /// The rates of the flows that have stopped.
    rates: Vec<Option<f64>>,
    /// The flows that cross each link, in their order.
    crossing: Vec<Vec<usize>>,
    /// Those of them that rise, in the order in which they begin to: those with the lowest minimum first.
    rising: Vec<Vec<usize>>,
    /// The level at which each link is full; `None` if no rising flow crosses it.
    full: Vec<Option<f64>>,
    /// Whether it may be full only later: a flow that crosses it has stopped.
    stale: Vec<bool>,
    /// The stops to come, by level and then by number: those of links first.
    stops: BTreeSet<(i64, usize)>,
}

impl<'a> Filling<'a> {
    fn new(capacities: &'a [f64], flows: &'a [Flow]) -> Self {
        let crossing = crossing(capacities.len(), flows);
        let mut rising = crossing.clone();
        for link in &mut rising {
            link.sort_by(|&one, &other| begins(&flows[one]).total_cmp(&begins(&flows[other])));
        }
        let mut filling = Self {
            capacities,
            flows,
            rates: vec![None; flows.len()],
            crossing,
            rising,
            full: vec![None; capacities.len()],
            stale: vec![false; capacities.len()],
            stops: BTreeSet::new(),
        };
        (0..capacities.len()).for_each(|link| filling.update(link));
        let satisfied: Vec<_> = (0..flows.len()).filter_map(|flow| filling.satisfied(flow)).collect();
        filling.stops.extend(satisfied);
        filling
    }

    /// The next stop and the level, rate over weight, at which it comes.
    fn next_stop(&mut self) -> Option<(f64, Stop)> {
        let links = self.capacities.len();
        loop {
            let &(_, number) = self.stops.first()?;
            if number >= links {
                let flow = number - links;
                return Some((self.flows[flow].demand? / self.flows[flow].weight, Stop::Flow(flow)));
            }
            if !self.stale[number] {
                return Some((self.full[number]?, Stop::Link(number)));
            }
            self.update(number);
        }
    }

    /// The stop at which a flow has all it asks for.
    fn satisfied(&self, flow: usize) -> Option<(i64, usize)> {
        let level = self.flows[flow].demand? / self.flows[flow].weight;
        Some((rank(level), self.capacities.len() + flow))
    }

    /// Brings what is known of a link up to date.
    fn update(&mut self, link: usize) {
        let rates = &self.rates;
        self.rising[link].retain(|&flow| rates[flow].is_none());
        let level = self.fills_at(link);
        self.stale[link] = false;
        if let Some(before) = std::mem::replace(&mut self.full[link], level) {
            self.stops.remove(&(rank(before), link));
        }
        self.stops.extend(level.map(|level| (rank(level), link)));
    }

    /// The level at which a link is full; `None` if no rising flow crosses it.
    fn fills_at(&self, link: usize) -> Option<f64> {
        let rising = || self.rising[link].iter().map(|&flow| &self.flows[flow]);
        let stopped = self.crossing[link].iter().filter_map(|&flow| self.rates[flow]);
        let mut left = self.capacities[link] - stopped.sum::<f64>();
        left -= rising().map(|flow| flow.minimum).sum::<f64>();
        let mut weight = 0.0;
        for (place, flow) in rising().enumerate() {
            left += flow.minimum;
            weight += flow.weight;
            let level = left / weight;
            let next = self.rising[link].get(place + 1);
            if next.is_none_or(|&next| level <= begins(&self.flows[next])) {
                return Some(level);
            }
        }
        None
    }

    /// The flows that `stop` concerns stay at `level`.
    fn settle(&mut self, level: f64, stop: Stop) {
        let stopped = match stop {
            Stop::Link(link) => self.rising[link].clone(),
            Stop::Flow(flow) => vec![flow],
        };
        for &number in &stopped {
            let flow = &self.flows[number];
            let rate = (level * flow.weight).max(flow.minimum);
            self.rates[number] = Some(flow.demand.map_or(rate, |demand| rate.min(demand)));
            if let Some(stop) = self.satisfied(number) {
                self.stops.remove(&stop);
            }
            flow.route.iter().for_each(|&link| self.stale[link] = true);
        }
    }
}

/// The level at which a flow begins to rise: that of its minimum.
fn begins(flow: &Flow) -> f64 {
    flow.minimum / flow.weight
}

/// A number that is in the order of [`f64::total_cmp`].
fn rank(level: f64) -> i64 {
    let bits = level.to_bits().cast_signed();
    bits ^ (bits >> 63).cast_unsigned().wrapping_shr(1).cast_signed()
}

/// The flows that cross each link, in their order.
fn crossing(links: usize, flows: &[Flow]) -> Vec<Vec<usize>> {
    let mut crossing = vec![Vec::new(); links];
    for (number, flow) in flows.iter().enumerate() {
        flow.route.iter().for_each(|&link| crossing[link].push(number));
    }
    crossing
}

/// The sum of the minimum rates on each link.
fn minima(links: usize, flows: &[Flow]) -> Vec<f64> {
    let sum = |link: Vec<usize>| link.into_iter().map(|flow| flows[flow].minimum).sum();
    crossing(links, flows).into_iter().map(sum).collect()
}

fn check(capacities: &[f64], flows: &[Flow]) -> Result<(), MaxMinError> {
    let is_rate = |rate: f64| rate.is_finite() && rate >= 0.0;
    for (link, &capacity) in capacities.iter().enumerate() {
        if !is_rate(capacity) {
            return Err(MaxMinError::Capacity(link, capacity));
        }
    }
    let mut last = vec![None; capacities.len()];
    for (number, Flow { route, minimum, demand, weight }) in flows.iter().enumerate() {
        let mut is_new = |&link: &usize| {
            last.get_mut(link).is_some_and(|last: &mut Option<usize>| last.replace(number) != Some(number))
        };
        if !route.iter().all(&mut is_new) {
            return Err(MaxMinError::Route(number, capacities.len().saturating_sub(1), route.clone()));
        }
        if !(weight.is_finite() && *weight > 0.0) {
            return Err(MaxMinError::Weight(number, *weight));
        }
        let most = demand.unwrap_or(f64::INFINITY);
        if !is_rate(*minimum) || most.is_nan() || most < *minimum {
            return Err(MaxMinError::Bounds(number, *minimum, most));
        }
        if route.is_empty() && most.is_infinite() {
            return Err(MaxMinError::Unlimited(number));
        }
    }
    for (link, (&capacity, minima)) in capacities.iter().zip(minima(capacities.len(), flows)).enumerate() {
        if minima > capacity * (1.0 + ROUNDING) {
            return Err(MaxMinError::Minima(link, minima, capacity));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::Randomness;

    use super::*;

    /// Where many flows on a link have demands of their own, one after the other is satisfied; the link is not looked at each time.
    #[test]
    fn a_link_is_looked_at_when_it_may_be_full() {
        const FLOWS: usize = 2000;
        let mut draw = Randomness { seed: 1, replication: 0 }.named("demands");
        let asks = |demand: u64| Flow { demand: Some(demand as f64 / 1e6), ..Flow::over(&[0]) };
        let flows: Vec<_> = (0..FLOWS).map(|_| asks(draw.below(2_000_000))).collect();
        let mut filling = Filling::new(&[0.7 * FLOWS as f64], &flows);
        let (mut looks, mut known) = (0, filling.full[0]);
        while let Some((next, stop)) = filling.next_stop() {
            filling.settle(next, stop);
            looks += usize::from(std::mem::replace(&mut known, filling.full[0]) != filling.full[0]);
        }
        assert!(filling.rates.iter().all(Option::is_some));
        assert!(looks < 20, "{looks} looks");
    }
}
