//! Virtual queuing against the published pseudocode and its two theorems.

use std::collections::VecDeque;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Departure, PerVc, PortContext, PortState, Reason, Verdict, View, epd_per_vc,
        frame::EndMarks,
        improved_virtual_queuing::{self, ImprovedVirtualQueuing},
        tail_drop,
        virtual_queuing::{self, VirtualQueuing},
    },
    catalogue::ParamError,
    contract::Contract,
    quantity::Level,
};
use celltrain_engine::Time;

use crate::accounts::{Fate, Port, Traffic, context};

const VCS: usize = 4;
const CAPACITY: u64 = 60;
const THRESHOLD: u64 = 24;

fn equal() -> Vec<Contract> {
    weighted(&[1; VCS])
}

fn weighted(weights: &[u32]) -> Vec<Contract> {
    weights.iter().map(|&weight| Contract { weight, ..Contract::default() }).collect()
}

fn plain() -> virtual_queuing::Params {
    virtual_queuing::Params {
        threshold: Level::Cells(THRESHOLD),
        end_marks: EndMarks::Never,
        ..virtual_queuing::Params::default()
    }
}

fn improved(w: u64) -> improved_virtual_queuing::Params {
    improved_virtual_queuing::Params {
        threshold: Level::Cells(THRESHOLD),
        bound: Some(Level::Cells(w)),
        end_marks: EndMarks::Never,
        ..improved_virtual_queuing::Params::default()
    }
}

/// The virtual queues.
fn sizes(policy: &VirtualQueuing) -> &[i64] {
    policy.rule().sizes()
}

/// The excess of each VC.
fn excess(policy: &ImprovedVirtualQueuing) -> &[i64] {
    policy.rule().queues().sizes()
}

/// Runs `slots` slots with 0 to 3 cells each, and shows `check` the port after every event.
fn run<P: BufferPolicy>(
    port: &mut Port<P>,
    traffic: &mut Traffic,
    slots: usize,
    mut check: impl FnMut(&Port<P>, Option<(&Cell, &Fate)>) -> Result<(), String>,
) -> Result<(), String> {
    for _ in 0..slots {
        for cell in traffic.slot(3, 1) {
            let fate = port.arrive(cell);
            check(port, Some((&cell, &fate)))?;
        }
        port.send();
        check(port, None)?;
    }
    Ok(())
}

/// Theorem 1: the variables add up to the occupancy.
fn sum_is_occupancy<P: BufferPolicy>(
    port: &mut Port<P>,
    variables: impl Fn(&P) -> &[i64],
    replication: u64,
) -> Result<(), String> {
    run(port, &mut Traffic::new(replication, VCS, (1, 9)), 400, |port, _| {
        let (sum, queue) = (variables(&port.policy).iter().sum::<i64>(), port.buffer.cells.len());
        if sum == queue as i64 { Ok(()) } else { Err(format!("the sum is {sum}, the queue {queue}")) }
    })
}

/// Theorem 2: a VC's variable is the number of its accepted cells less its turns. As long as no VC touches the bound
/// all take turns for ever in the order of their labels; after whole rounds each has had the same number K.
fn variables_are_excess<P: BufferPolicy>(
    port: &mut Port<P>,
    variables: impl Fn(&P) -> &[i64],
    replication: u64,
) -> Result<(), String> {
    let mut accepted = [0; VCS];
    run(port, &mut Traffic::new(replication, VCS, (1, 9)), 400, |port, arrival| {
        if let Some((cell, fate)) = arrival {
            accepted[cell.vc as usize] += i64::from(fate.is_accepted());
        }
        let sent = port.buffer.sent.len();
        for (vc, &accepted) in accepted.iter().enumerate() {
            let turns = ((sent + VCS - 1 - vc) / VCS) as i64;
            let (excess, variable) = (accepted - turns, variables(&port.policy)[vc]);
            if excess != variable {
                return Err(format!("VC {vc}: accepted {accepted} - turns {turns} is not {variable}"));
            }
        }
        Ok(())
    })
}

#[test]
fn the_variables_add_up_to_the_occupancy() {
    for replication in 0..50 {
        let plain = virtual_queuing::Params { dynamic_threshold: replication % 2 == 0, ..plain() };
        let mut port = Port::<VirtualQueuing>::new(&plain, CAPACITY, &weighted(&[1, 2, 1, 3]));
        sum_is_occupancy(&mut port, sizes, replication).unwrap();
        let improved = improved_virtual_queuing::Params {
            dynamic_threshold: replication % 2 == 0,
            ..improved(replication % 10)
        };
        let mut port = Port::<ImprovedVirtualQueuing>::new(&improved, CAPACITY, &weighted(&[3, 1, 1, 2]));
        sum_is_occupancy(&mut port, excess, replication).unwrap();
    }
}

#[test]
fn the_variable_of_a_vc_is_its_excess_while_none_touches_the_bound() {
    for replication in 0..50 {
        // 400 slots are 100 rounds: no VC can come down to -60 only by accident of the traffic, and none does.
        let params = improved(CAPACITY);
        let mut port = Port::<ImprovedVirtualQueuing>::new(&params, CAPACITY, &equal());
        variables_are_excess(&mut port, excess, replication).unwrap();
    }
}

#[test]
fn the_second_theorem_ends_at_the_bound() {
    let mut port = Port::<ImprovedVirtualQueuing>::new(&improved(2), CAPACITY, &equal());
    let error = variables_are_excess(&mut port, excess, 0).unwrap_err();
    assert!(error.starts_with("VC"), "{error}");
}

#[test]
fn variables_stay_above_their_bounds() {
    let mut lowest = 0;
    for replication in 0..50 {
        let mut port = Port::<VirtualQueuing>::new(&plain(), CAPACITY, &equal());
        let above = |variables: &[i64], bound: i64| {
            let lowest = *variables.iter().min().unwrap();
            if lowest >= bound { Ok(lowest) } else { Err(format!("{variables:?} below {bound}")) }
        };
        let mut traffic = Traffic::new(replication, VCS, (1, 9));
        run(&mut port, &mut traffic, 300, |port, _| above(sizes(&port.policy), 0).map(drop)).unwrap();

        let mut port = Port::<ImprovedVirtualQueuing>::new(&improved(5), CAPACITY, &equal());
        let mut traffic = Traffic::new(replication, VCS, (1, 9));
        run(&mut port, &mut traffic, 300, |port, _| {
            lowest = above(excess(&port.policy), -5)?.min(lowest);
            Ok(())
        })
        .unwrap();
    }
    assert_eq!(lowest, -5, "no VC came down to the bound");
}

/// The variables with one mistake each, without any discarding.
#[derive(Debug, Clone)]
struct Mistaken {
    variables: Vec<i64>,
    turns: VecDeque<u32>,
    mistake: Mistake,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// Lowers the variable of the cell sent: accounts by VC.
    OwnCell,
    /// Does not put the VC at the end of the list again.
    NoReturn,
    /// Counts cells that are discarded.
    CountsDiscarded,
}

impl BufferPolicy for Mistaken {
    type Params = tail_drop::Params;
    type Needs = PerVc;

    const SUMMARY: &'static str = "Makes a mistake.";
    const REFERENCE: &'static str = "none";

    fn new(_: &Self::Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let vcs = port.vcs.len();
        Ok(Self { variables: vec![0; vcs], turns: (0..vcs as u32).collect(), mistake: Mistake::None })
    }

    fn on_arrival<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> Verdict {
        let full = port.is_full();
        if !full || self.mistake == Mistake::CountsDiscarded {
            self.variables[cell.vc as usize] += 1;
        }
        if full { Verdict::Discard(Reason::BufferFull) } else { Verdict::Accept }
    }

    fn on_departure(&mut self, Departure { cell, .. }: Departure) {
        let vc = match self.mistake {
            Mistake::OwnCell => Some(cell.vc),
            _ => self.turns.pop_front(),
        };
        let Some(vc) = vc else { return };
        self.variables[vc as usize] -= 1;
        if self.mistake != Mistake::NoReturn {
            self.turns.push_back(vc);
        }
    }
}

#[test]
fn the_theorems_fail_where_the_algorithm_is_broken() {
    let port = |mistake| {
        let mut port = Port::<Mistaken>::new(&tail_drop::Params {}, CAPACITY, &equal());
        port.policy.mistake = mistake;
        port
    };
    let first = |mistake| sum_is_occupancy(&mut port(mistake), |policy| &policy.variables, 1);
    let second = |mistake| variables_are_excess(&mut port(mistake), |policy| &policy.variables, 1);
    assert_eq!((first(Mistake::None), second(Mistake::None)), (Ok(()), Ok(())));
    // Accounts by VC add up to the queue, but say nothing of the service.
    assert_eq!(first(Mistake::OwnCell), Ok(()));
    assert!(second(Mistake::OwnCell).is_err());
    for mistake in [Mistake::NoReturn, Mistake::CountsDiscarded] {
        assert!(first(mistake).is_err() && second(mistake).is_err(), "{mistake:?}");
    }
}

/// The pseudocode of section III, line by line, for VCs of weight one and a threshold that the number of VCs divides.
struct Pseudocode {
    variables: Vec<i64>,
    list: Vec<u32>,
    w: i64,
    discarding: Vec<bool>,
}

impl Pseudocode {
    fn new(w: i64) -> Self {
        let list = if w > 0 { (0..VCS as u32).collect() } else { vec![] };
        Self { variables: vec![0; VCS], list, w, discarding: vec![false; VCS] }
    }

    fn accepts(&mut self, cell: &Cell, first: bool, queue: u64) -> bool {
        let vc = cell.vc as usize;
        let share = (THRESHOLD / VCS as u64) as i64;
        self.discarding[vc] = if first {
            // The pseudocode leaves out that the buffer may be full here too.
            queue >= CAPACITY || queue >= THRESHOLD && self.variables[vc] >= share
        } else {
            self.discarding[vc] || queue >= CAPACITY
        };
        if self.discarding[vc] {
            return false;
        }
        self.variables[vc] += 1;
        if self.variables[vc] == -self.w + 1 {
            self.list.push(cell.vc);
        }
        true
    }

    fn transmit(&mut self) {
        if self.list.is_empty() {
            return;
        }
        let vc = self.list.remove(0);
        self.variables[vc as usize] -= 1;
        if self.variables[vc as usize] > -self.w {
            self.list.push(vc);
        }
    }
}

/// Runs a policy beside the pseudocode and compares every answer and, after every slot, the variables; returns the
/// number of cells discarded.
fn follows_the_pseudocode<P: BufferPolicy>(
    params: &P::Params,
    variables: impl Fn(&P) -> &[i64],
    w: i64,
    replication: u64,
) -> usize {
    let (mut port, mut pseudocode) = (Port::<P>::new(params, CAPACITY, &equal()), Pseudocode::new(w));
    let mut traffic = Traffic::new(replication, VCS, (1, 12));
    let mut discarded = 0;
    for _ in 0..500 {
        for cell in traffic.slot(3, 1) {
            let queue = port.buffer.cells.len() as u64;
            let fate = port.arrive(cell);
            let accepts = pseudocode.accepts(&cell, port.buffer.is_first(), queue);
            assert_eq!(fate.is_accepted(), accepts, "{cell:?} in replication {replication}");
            discarded += usize::from(!accepts);
        }
        if !port.buffer.cells.is_empty() {
            pseudocode.transmit();
        }
        port.send();
        assert_eq!(variables(&port.policy), pseudocode.variables, "replication {replication}");
    }
    discarded
}

#[test]
fn both_policies_follow_the_pseudocode() {
    for replication in 0..30 {
        let plain = follows_the_pseudocode(&plain(), sizes, 0, replication);
        let improved = |w: u64| follows_the_pseudocode(&improved(w), excess, w as i64, replication);
        // The comparison means something only where cells are discarded.
        assert!(plain > 100 && improved(1) > 100 && improved(20) > 100);
    }
}

/// Single-cell frames, so that each is a decision.
fn cell(vc: u32, frame: u32) -> Cell {
    Cell { vc, frame, length: 1, ..Cell::default() }
}

#[test]
fn the_dynamic_threshold_is_updated_once_a_round_or_at_its_interval() {
    let updates = |update_interval| {
        let params = improved_virtual_queuing::Params {
            dynamic_threshold: true,
            update_interval,
            ..improved(CAPACITY)
        };
        let mut port = Port::<ImprovedVirtualQueuing>::new(&params, CAPACITY, &equal());
        (0..30).for_each(|frame| assert!(port.arrive(cell(0, frame)).is_accepted() == (frame < 24)));
        let unit = |port: &mut Port<ImprovedVirtualQueuing>| {
            port.send();
            port.policy.rule().queues().share().unit()
        };
        (0..10).map(|_| unit(&mut port)).collect::<Vec<_>>()
    };
    let fixed = (24, 4);
    // After a round of four VC 0 has 23 and the others -1: it may use all of the threshold and what they have saved.
    let (first, second) = ((27, 1), (30, 1));
    let by_round = [fixed, fixed, fixed, first, first, first, first, second, second, second];
    assert_eq!(updates(None), by_round);
    assert_eq!(updates(Some(4)), by_round);
    // After every cell: it was VC 0's turn, then those of the others.
    let by_cell = [24, 25, 26, 27, 27, 28, 29, 30, 30, 31].map(|left| (left, 1));
    assert_eq!(updates(Some(1)), by_cell);
}

#[test]
fn the_bound_is_the_room_above_the_threshold_for_each_vc_unless_given() {
    let vcs = vec![Contract::default(); 10];
    let lowest = |bound, vcs: &[Contract]| {
        let params = improved_virtual_queuing::Params {
            threshold: Level::Cells(1000),
            bound,
            ..improved_virtual_queuing::Params::default()
        };
        let mut port = Port::<ImprovedVirtualQueuing>::new(&params, 3000, vcs);
        // VC 0 alone: the others come down to the bound.
        for frame in 0..5000 {
            port.arrive(cell(0, frame));
            port.send();
        }
        *excess(&port.policy).iter().min().unwrap()
    };
    assert_eq!(lowest(None, &vcs), -200);
    assert_eq!(lowest(Some(Level::Cells(7)), &vcs), -7);
    assert_eq!(lowest(Some(Level::Share(10_000)), &vcs), -30);
}

/// Cells of each VC that were accepted when VC 0 is weighted and offers much more than the others: slots with all VCs
/// sending a cell, and VC 0 two.
fn accepted_under_overload<P: BufferPolicy>(params: &P::Params, weights: &[u32]) -> Vec<u64> {
    let mut port = Port::<P>::new(params, CAPACITY, &weighted(weights));
    let mut traffic = Traffic::new(0, VCS, (1, 5));
    let mut accepted = vec![0; VCS];
    for _ in 0..10_000 {
        for vc in [0, 0, 1, 2, 3] {
            accepted[vc as usize] += u64::from(port.arrive(traffic.cell_of(vc)).is_accepted());
        }
        port.send();
    }
    accepted
}

#[test]
fn throughput_goes_by_weight_whatever_is_offered() {
    let check = |accepted: Vec<u64>, weights: [u32; VCS], apart: u64| {
        let unit = accepted.iter().sum::<u64>() / u64::from(weights.iter().sum::<u32>());
        for (vc, &weight) in weights.iter().enumerate() {
            let fair = unit * u64::from(weight);
            assert!(accepted[vc].abs_diff(fair) <= apart, "VC {vc} of {accepted:?} by {weights:?}");
        }
    };
    for weights in [[1; VCS], [3, 1, 1, 1], [1, 2, 1, 1]] {
        // Theorem 2: the accepted cells differ by no more than the variables do, a buffer at most.
        check(accepted_under_overload::<ImprovedVirtualQueuing>(&improved(30), &weights), weights, CAPACITY);
        check(accepted_under_overload::<VirtualQueuing>(&plain(), &weights), weights, CAPACITY);
    }
}

#[test]
fn a_vc_that_pauses_gets_its_service_later_only_where_it_saves_turns() {
    /// VC 3 sends in 100 of every 200 slots, the others always; its part of what was accepted.
    fn part_of_the_pausing<P: BufferPolicy>(params: &P::Params) -> f64 {
        let mut port = Port::<P>::new(params, CAPACITY, &equal());
        let mut traffic = Traffic::new(0, VCS, (1, 5));
        let mut accepted = [0; VCS];
        for slot in 0..40_000 {
            let pausing = slot % 200 < 100;
            for vc in (0..VCS as u32).filter(|&vc| vc != 3 || !pausing) {
                accepted[vc as usize] += u32::from(port.arrive(traffic.cell_of(vc)).is_accepted());
            }
            port.send();
        }
        f64::from(accepted[3]) / f64::from(accepted.iter().sum::<u32>())
    }
    let plain = part_of_the_pausing::<VirtualQueuing>(&plain());
    let improved = part_of_the_pausing::<ImprovedVirtualQueuing>(&improved(30));
    assert!((improved - 0.25).abs() < 0.005, "{improved}");
    assert!(plain < 0.22, "{plain}");
}

#[test]
fn epd_per_vc_refuses_a_vc_that_fills_its_share_above_the_threshold() {
    let params = epd_per_vc::Params { threshold: Level::Cells(8), ..epd_per_vc::Params::default() };
    let mut port = Port::<epd_per_vc::EpdPerVc>::new(&params, 12, &weighted(&[2, 1, 1]));
    let mut arrive = |vc, frame| port.arrive(cell(vc, frame)).verdict;
    // Below 8 cells anyone may come; shares are 4, 2 and 2.
    (0..7).for_each(|frame| assert_eq!(arrive(1, frame), Verdict::Accept));
    assert_eq!(arrive(0, 0), Verdict::Accept);
    assert_eq!(arrive(1, 7), Verdict::Discard(Reason::FrameRefused));
    (1..4).for_each(|frame| assert_eq!(arrive(0, frame), Verdict::Accept));
    assert_eq!(arrive(0, 4), Verdict::Discard(Reason::FrameRefused));
    assert_eq!(arrive(2, 0), Verdict::Accept);
    assert_eq!(arrive(2, 1), Verdict::Discard(Reason::BufferFull));
}

#[test]
fn an_interval_that_means_nothing_is_an_error() {
    let vcs = equal();
    let error = |dynamic_threshold, update_interval| {
        let params = virtual_queuing::Params { dynamic_threshold, update_interval, ..plain() };
        let error = VirtualQueuing::new(&params, &context(CAPACITY, &vcs)).unwrap_err();
        (error.key, error.message)
    };
    assert!(error(true, Some(0)).1.contains("at least 1"));
    assert!(error(false, Some(5)).1.contains("dynamic-threshold"));
    assert_eq!(error(true, Some(0)).0, "update-interval");
}
