//! Weighted fair queueing and self-clocked fair queueing against the fluid system that they imitate, generalised processor
//! sharing (GPS), in exact fractions. Cells take one slot; the line serves one cell a slot.
//!
//! WFQ, which is PGPS: a unit ends at most one largest unit after GPS ends it (Parekh and Gallager 1993, theorem 1).
//!
//! SCFQ: a cell leaves at most one slot for each other VC after the time at which it would leave a line of its guaranteed
//! rate w_i/W (Golestani 1994; Goyal, Lam and Vin 1995 in this form), where W is the sum of all weights. GPS itself is
//! never later than that, and as late if all other VCs are always busy. The bound of WFQ does not hold for it.

use celltrain_atm::{
    quantity::CellRate,
    scheduler::{DisciplineName, SchedulerParams, Share, scfq},
};
use celltrain_engine::quantity::BitRate;
use proptest::prelude::*;

use crate::model::{Port, discipline, of, weighted};

/// Times of arrival by VC, in slots, in order.
type Arrivals = Vec<Vec<i128>>;

/// A fraction in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fraction(i128, i128);

impl Fraction {
    fn new(numerator: i128, denominator: i128) -> Self {
        let (mut a, mut b) = (numerator.abs(), denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self(numerator / a, denominator / a)
    }

    fn plus(self, other: Self) -> Self {
        let product = |a: i128, b: i128| a.checked_mul(b).expect("the run is too long for exact fractions");
        Self::new(product(self.0, other.1) + product(other.0, self.1), product(self.1, other.1))
    }

    fn times(self, numerator: i128, denominator: i128) -> Self {
        Self::new(self.0 * numerator, self.1 * denominator)
    }

    fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, other.1))
    }

    fn is_at_most(self, other: Self) -> bool {
        self.minus(other).0 <= 0
    }

    fn min(self, other: Self) -> Self {
        if self.is_at_most(other) { self } else { other }
    }
}

/// When GPS ends each cell: from event to event, busy VCs are served in proportion to their weights.
fn gps(arrivals: &Arrivals, weights: &[u32]) -> Vec<Vec<Fraction>> {
    let one = Fraction(1, 1);
    let mut now = Fraction(0, 1);
    let mut ends: Vec<Vec<Fraction>> = vec![Vec::new(); weights.len()];
    let mut rest = vec![one; weights.len()];
    loop {
        let upcoming = |vc: usize| arrivals[vc].get(ends[vc].len()).map(|&at| Fraction(at, 1));
        let is_busy = |vc: &usize| upcoming(*vc).is_some_and(|at| at.is_at_most(now));
        let busy: Vec<usize> = (0..weights.len()).filter(is_busy).collect();
        let sum: i128 = busy.iter().map(|&vc| i128::from(weights[vc])).sum();
        // The next event: a cell comes to an idle VC, or a cell ends.
        let idle = (0..weights.len()).filter(|vc| !busy.contains(vc)).filter_map(upcoming);
        let done = busy.iter().map(|&vc| now.plus(rest[vc].times(sum, i128::from(weights[vc]))));
        let Some(then) = idle.chain(done).reduce(Fraction::min) else { return ends };
        for vc in busy {
            rest[vc] = rest[vc].minus(then.minus(now).times(i128::from(weights[vc]), sum));
            if rest[vc].0 == 0 {
                ends[vc].push(then);
                rest[vc] = one;
            }
        }
        now = then;
    }
}

/// When a line of each VC's guaranteed rate ends each cell.
fn guaranteed(arrivals: &Arrivals, weights: &[u32]) -> Vec<Vec<Fraction>> {
    let sum: i128 = weights.iter().map(|&weight| i128::from(weight)).sum();
    let of_vc = |(times, &weight): (&Vec<i128>, &u32)| {
        let service = Fraction::new(sum, i128::from(weight));
        let end = |end: &mut Fraction, &at: &i128| {
            let start = if end.is_at_most(Fraction(at, 1)) { Fraction(at, 1) } else { *end };
            *end = start.plus(service);
            Some(*end)
        };
        times.iter().scan(Fraction(0, 1), end).collect()
    };
    std::iter::zip(arrivals, weights).map(of_vc).collect()
}

/// When the discipline's line ends each cell. Cells that come as a slot begins can be sent in it.
fn served(name: DisciplineName, arrivals: &Arrivals, weights: &[u32]) -> Vec<Vec<Fraction>> {
    let mut port = Port::new(discipline(&of(name), &weighted(weights)), weights.len());
    let mut ends = vec![Vec::new(); weights.len()];
    let cells: usize = arrivals.iter().map(Vec::len).sum();
    let (mut now, mut sent) = (0, 0);
    while sent < cells {
        for (vc, times) in arrivals.iter().enumerate() {
            times.iter().filter(|&&at| at == now).for_each(|_| port.enqueue(vc as u32, 1));
        }
        now += 1;
        if let Some((vc, _)) = port.next().unwrap() {
            ends[vc as usize].push(Fraction(now, 1));
            sent += 1;
        }
    }
    ends
}

/// Serves packets (time since the one before, VC, slots): when each VC's packets end, and when GPS ends them.
///
/// GPS gets a packet when the line could send it first: at once if that is idle, or else when the packet in service ends.
fn served_packets(
    name: DisciplineName,
    steps: &[(i128, usize, u32)],
    weights: &[u32],
) -> [Vec<Vec<Fraction>>; 2] {
    let vcs = weights.len();
    let mut port = Port::new(discipline(&of(name), &weighted(weights)), vcs);
    let (mut ends, mut lasts, mut slots) =
        (vec![Vec::new(); vcs], vec![Vec::new(); vcs], vec![Vec::new(); vcs]);
    let (mut now, mut at, mut upcoming) = (0, 0, steps.iter().peekable());
    loop {
        while let Some(&(gap, vc, size)) = upcoming.next_if(|&&(gap, ..)| at + gap <= now) {
            at += gap;
            port.enqueue((vc % vcs) as u32, size);
            // To GPS a packet is as many cells as it has slots.
            slots[vc % vcs].extend(vec![now; size as usize]);
            lasts[vc % vcs].push(slots[vc % vcs].len() - 1);
        }
        match (port.next().unwrap(), upcoming.peek()) {
            (Some((vc, size)), _) => {
                now += i128::from(size);
                ends[vc as usize].push(Fraction(now, 1));
            }
            (None, Some((gap, ..))) => now = at + gap,
            (None, None) => break,
        }
    }
    let fluid = gps(&slots, weights);
    let of_vc = |(ends, lasts): (&Vec<Fraction>, &Vec<usize>)| lasts.iter().map(|&slot| ends[slot]).collect();
    [ends, std::iter::zip(&fluid, &lasts).map(of_vc).collect()]
}

/// Whether each cell in `ends` leaves at most `slots` after the same one in `reference`.
fn within(ends: &[Vec<Fraction>], reference: &[Vec<Fraction>], slots: i128) -> bool {
    let in_time = |(end, limit): (&Fraction, &Fraction)| end.is_at_most(limit.plus(Fraction(slots, 1)));
    std::iter::zip(ends.concat(), reference.concat()).all(|(end, limit)| in_time((&end, &limit)))
}

/// Arrivals from (gap, VC).
fn arrivals(steps: &[(i128, usize)], vcs: usize) -> Arrivals {
    let (mut now, mut arrivals) = (0, vec![Vec::new(); vcs]);
    for &(gap, vc) in steps {
        now += gap;
        arrivals[vc % vcs].push(now);
    }
    arrivals
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn wfq_is_late_by_at_most_a_cell(
        steps in prop::collection::vec((0i128..4, 0usize..5), 1..60),
        weights in prop::collection::vec(1u32..10, 2..5),
    ) {
        let arrivals = arrivals(&steps, weights.len());
        let (ends, fluid) = (served(DisciplineName::Wfq, &arrivals, &weights), gps(&arrivals, &weights));
        prop_assert!(within(&ends, &fluid, 1), "{ends:?}, {fluid:?}");
    }

    #[test]
    fn wfq_is_late_by_at_most_a_largest_packet(
        steps in prop::collection::vec((0i128..12, 0usize..5, 1u32..7), 1..25),
        weights in prop::collection::vec(1u32..6, 2..5),
    ) {
        let [ends, fluid] = served_packets(DisciplineName::Wfq, &steps, &weights);
        let largest = steps.iter().map(|step| step.2).max().unwrap();
        prop_assert!(within(&ends, &fluid, largest.into()), "{ends:?}, {fluid:?}");
    }

    #[test]
    fn scfq_is_late_by_at_most_a_cell_of_each_other_vc(
        steps in prop::collection::vec((0i128..4, 0usize..5), 1..60),
        weights in prop::collection::vec(1u32..10, 2..5),
    ) {
        let arrivals = arrivals(&steps, weights.len());
        let limits = guaranteed(&arrivals, &weights);
        let ends = served(DisciplineName::Scfq, &arrivals, &weights);
        prop_assert!(within(&ends, &limits, weights.len() as i128 - 1), "{ends:?}, {limits:?}");
    }

    #[test]
    fn the_fluid_system_keeps_the_guarantee(
        steps in prop::collection::vec((0i128..4, 0usize..3), 1..30),
        own in prop::collection::vec(0i128..30, 1..4),
    ) {
        let weights = [1, 1, 2];
        let arrivals = arrivals(&steps, weights.len());
        prop_assert!(within(&gps(&arrivals, &weights), &guaranteed(&arrivals, &weights), 0));
        // With the others always busy, the guarantee is all there is.
        let mut own = own;
        own.sort_unstable();
        let greedy = vec![own, vec![0; 60], vec![0; 120]];
        let first = |ends: Vec<Vec<Fraction>>| ends[0].clone();
        prop_assert_eq!(first(gps(&greedy, &weights)), first(guaranteed(&greedy, &weights)));
    }

    /// The head-of-line tags of the implementation against tags given on arrival, as the scheme was published:
    /// F = max(F of the VC's packet before, tag in service) + size / weight.
    #[test]
    fn tags_on_arrival_give_the_same_order(
        steps in prop::collection::vec((0u32..4, 1u32..1500, any::<bool>()), 1..200),
    ) {
        let weights = [1, 2, 4, 8];
        let mut port = Port::new(discipline(&of(DisciplineName::Scfq), &weighted(&weights)), 4);
        let (mut now, mut last, mut waiting) = (0, [0; 4], Vec::<(u64, u32, usize)>::new());
        for (number, &(vc, size, send)) in steps.iter().enumerate() {
            port.enqueue(vc, size);
            let weight = u64::from(weights[vc as usize]);
            let tag = now.max(last[vc as usize]) + u64::from(size) * 8 / weight;
            last[vc as usize] = tag;
            waiting.push((tag, vc, number));
            if send {
                let first = *waiting.iter().min().unwrap();
                waiting.retain(|unit| *unit != first);
                now = first.0;
                prop_assert_eq!(port.next().unwrap(), Some((first.1, steps[first.2].1)));
            }
        }
    }

    #[test]
    fn virtual_time_set_back_changes_nothing(
        steps in prop::collection::vec((0u32..3, 1u32..1500, any::<bool>()), 1..100), rounds in 1usize..12,
    ) {
        // VCs 0 and 3 have so small a share that each of their largest packets takes a quarter of the range that
        // virtual time has. VC 3 is a little later than VC 0, and still waits when virtual time is set back.
        let mut contracts = weighted(&[1; 4]);
        for (contract, rate) in std::iter::zip(&mut contracts, [1, (1 << 61) - 1, 1 << 60, 1]) {
            contract.mcr = Some(CellRate(BitRate(rate)));
        }
        let scfq = scfq::Params { share: Share::Mcr };
        let params = SchedulerParams { scfq, ..of(DisciplineName::Scfq) };
        let new = || Port::new(discipline(&params, &contracts), 4);
        let next = |port: &mut Port<_>| port.next().unwrap().map(|(vc, _)| vc);
        let (mut fresh, mut old, later) = (new(), new(), 700);
        for round in 0..rounds {
            if round > 0 {
                prop_assert_eq!(next(&mut old), Some(3));
            }
            old.enqueue(0, u32::MAX - later);
            old.enqueue(3, u32::MAX);
            prop_assert_eq!(next(&mut old), Some(0));
        }
        fresh.enqueue(3, later);
        for &(vc, size, send) in &steps {
            fresh.enqueue(vc, size);
            old.enqueue(vc, size);
            if send {
                prop_assert_eq!(next(&mut fresh), next(&mut old));
            }
        }
    }
}

#[test]
fn the_bounds_notice_a_discipline_without_weights() {
    let (weights, arrivals) = ([9, 1, 1], vec![vec![0; 30], vec![0; 30], vec![0; 30]]);
    let (limits, fluid) = (guaranteed(&arrivals, &weights), gps(&arrivals, &weights));
    assert!(within(&served(DisciplineName::Scfq, &arrivals, &weights), &limits, 2));
    assert!(within(&served(DisciplineName::Wfq, &arrivals, &weights), &fluid, 1));
    assert!(!within(&served(DisciplineName::RoundRobin, &arrivals, &weights), &limits, 2));
    // Packets of one size: for round robin they are cells.
    let packets: Vec<_> = (0..90).map(|packet| (0, packet % 3, 2)).collect();
    let [ends, fluid] = served_packets(DisciplineName::RoundRobin, &packets, &weights);
    assert!(!within(&ends, &fluid, 2));
}

#[test]
fn scfq_serves_the_lowest_vc_of_those_with_equal_tags() {
    // Tags are 1/3, 2/3, 1 and 1/5, 2/5, 3/5, 4/5, 1: the last of both are equal (docs/reference/schedulers.md).
    let (weights, arrivals) = ([3, 5], vec![vec![0; 3], vec![0; 5]]);
    let ends: [&[i128]; 2] = [&[2, 5, 7], &[1, 3, 4, 6, 8]];
    let ends = ends.map(|of_vc| of_vc.iter().map(|&end| Fraction(end, 1)).collect::<Vec<_>>());
    assert_eq!(served(DisciplineName::Scfq, &arrivals, &weights), ends);
}

#[test]
fn scfq_has_not_the_bound_of_wfq() {
    // Ten light VCs begin at once with equal tags. While the first is served virtual time stands at that tag; a cell of
    // the heavy VC that comes then has to wait for all of them. The fluid system gives it half the line at once, and WFQ
    // sends it next.
    let weights = [&[10][..], &[1; 10]].concat();
    let arrivals = [vec![vec![1]], vec![vec![0; 2]; 10]].concat();
    let fluid = gps(&arrivals, &weights);
    let [scfq, wfq] =
        [DisciplineName::Scfq, DisciplineName::Wfq].map(|name| served(name, &arrivals, &weights));
    assert_eq!(fluid[0][0], Fraction(3, 1));
    assert_eq!((scfq[0][0], wfq[0][0]), (Fraction(11, 1), Fraction(2, 1)));
    assert!(!within(&scfq, &fluid, 1));
    assert!(within(&scfq, &guaranteed(&arrivals, &weights), 10));
    assert!(within(&wfq, &fluid, 1));
}

#[test]
fn a_vc_is_not_charged_for_what_is_pushed_out() {
    // Of two equal VCs one has ten cells, of which eight are pushed out while its first is sent. GPS owes it nothing for
    // them, and it goes on as if they had never come.
    let mut port = Port::new(discipline(&of(DisciplineName::Wfq), &weighted(&[1, 1])), 2);
    (0..10).for_each(|_| port.enqueue(0, 1));
    let mut order = vec![port.next().unwrap().unwrap().0];
    (0..8).for_each(|_| port.withdraw(0));
    (0..3).for_each(|_| port.enqueue(1, 1));
    (0..2).for_each(|_| port.enqueue(0, 1));
    order.extend(std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc));
    assert_eq!(order, [0, 0, 1, 0, 1, 0, 1]);
}
