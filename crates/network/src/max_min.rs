//! Max-min fair rates: what each flow gets if no flow can have more without taking from one that has no more than it.
//!
//! All rates rise together, in proportion to the flows' weights, until a link is full or a flow has all it asks for;
//! the flows concerned stay where they are, and the others go on rising (progressive filling; Bertsekas and Gallager,
//! "Data Networks", section 6.5.2). A flow with a minimum rate stands at it until the others have caught up (max-min
//! fairness over the rates that respect the minima), or gets its share of the rest on top of it ([`max_min_above_minima`]).
//! ATM Forum TM 4.0 names both among its examples of fairness: the larger of MCR and share, and MCR plus equal share.

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
    let mut filling = Filling { capacities, flows, rates: vec![None; flows.len()] };
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
    let promised =
        |link| flows.iter().filter(move |flow| flow.route.contains(&link)).map(|flow| flow.minimum);
    let rest = |(link, capacity)| f64::max(capacity - promised(link).sum::<f64>(), 0.0);
    let rest: Vec<_> = capacities.iter().copied().enumerate().map(rest).collect();
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

struct Filling<'a> {
    capacities: &'a [f64],
    flows: &'a [Flow],
    /// The rates of the flows that have stopped.
    rates: Vec<Option<f64>>,
}

impl Filling<'_> {
    /// The next stop and the level, rate over weight, at which it comes.
    fn next_stop(&self) -> Option<(f64, Stop)> {
        let links =
            (0..self.capacities.len()).filter_map(|link| Some((self.fills_at(link)?, Stop::Link(link))));
        let flows = self.rising(|_| true).filter_map(|number| {
            let flow = &self.flows[number];
            Some((flow.demand? / flow.weight, Stop::Flow(number)))
        });
        links.chain(flows).min_by(|one, other| one.0.total_cmp(&other.0))
    }

    fn rising(&self, matches: impl Fn(&Flow) -> bool) -> impl Iterator<Item = usize> {
        (0..self.flows.len()).filter(move |&flow| self.rates[flow].is_none() && matches(&self.flows[flow]))
    }

    /// The level at which a link is full; `None` if no rising flow crosses it.
    fn fills_at(&self, link: usize) -> Option<f64> {
        let crosses = |flow: &Flow| flow.route.contains(&link);
        let mut rising: Vec<_> = self.rising(crosses).map(|flow| &self.flows[flow]).collect();
        // A flow rises from the level of its minimum: those with the lowest first.
        let begins = |flow: &Flow| flow.minimum / flow.weight;
        rising.sort_by(|one, other| begins(one).total_cmp(&begins(other)));
        let stopped = self.flows.iter().zip(&self.rates).filter(|(flow, _)| crosses(flow));
        let mut left = self.capacities[link] - stopped.filter_map(|(_, rate)| *rate).sum::<f64>();
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

    /// The flows that `stop` concerns stay at `level`.
    fn settle(&mut self, level: f64, stop: Stop) {
        let stopped: Vec<_> = match stop {
            Stop::Link(link) => self.rising(|flow| flow.route.contains(&link)).collect(),
            Stop::Flow(flow) => vec![flow],
        };
        for number in stopped {
            let flow = &self.flows[number];
            let rate = (level * flow.weight).max(flow.minimum);
            self.rates[number] = Some(flow.demand.map_or(rate, |demand| rate.min(demand)));
        }
    }
}

fn check(capacities: &[f64], flows: &[Flow]) -> Result<(), MaxMinError> {
    let is_rate = |rate: f64| rate.is_finite() && rate >= 0.0;
    for (link, &capacity) in capacities.iter().enumerate() {
        if !is_rate(capacity) {
            return Err(MaxMinError::Capacity(link, capacity));
        }
    }
    for (number, Flow { route, minimum, demand, weight }) in flows.iter().enumerate() {
        let is_known =
            |(place, link): (usize, &usize)| *link < capacities.len() && !route[..place].contains(link);
        if !route.iter().enumerate().all(is_known) {
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
    for (link, &capacity) in capacities.iter().enumerate() {
        let minima: f64 =
            flows.iter().filter(|flow| flow.route.contains(&link)).map(|flow| flow.minimum).sum();
        if minima > capacity * (1.0 + ROUNDING) {
            return Err(MaxMinError::Minima(link, minima, capacity));
        }
    }
    Ok(())
}
