//! What holds for any sequence of cells, RM cells and intervals, with every allocator and any parameters of the source.

use celltrain_atm::{
    abr::{
        Allocator, AllocatorName, AllocatorParams, Choice, Params, Port, PortState, Rate, RateAllocator,
        RateCoding, RmCell, Source, Waiting,
        averaging::{self, LoadAveraging},
        erica::{Feedback, PresentRate},
        source::Stats,
    },
    with_allocator,
};
use celltrain_engine::{
    Time,
    time::{MICROSECOND, SECOND},
};
use proptest::prelude::*;

const LINK: f64 = 366_792.452_830_188_7;
const VCS: u32 = 3;

/// Every allocator with its default parameters, and ERICA with its options turned round.
fn allocators() -> Vec<AllocatorParams> {
    let mut all: Vec<_> = AllocatorName::ALL.iter().map(|&name| AllocatorParams::of(name)).collect();
    for load in [LoadAveraging::Ratio, LoadAveraging::Separate] {
        for one_answer in [true, false] {
            let mut params = AllocatorParams::of(AllocatorName::Erica);
            params.erica.averaging =
                averaging::Params { activity: 0.9, immediate: true, load, ..averaging::Params::default() };
            let (present_rate, max_alloc_previous) = (PresentRate::Measured, !one_answer);
            params.erica.feedback = Feedback {
                one_answer,
                present_rate,
                max_alloc_previous,
                two_steps: one_answer,
                ..Feedback::default()
            };
            params.erica_plus.averaging = params.erica.averaging.clone();
            params.erica_plus.feedback = params.erica.feedback.clone();
            all.push(AllocatorParams { algorithm: AllocatorName::EricaPlus, ..params.clone() });
            all.push(params);
        }
    }
    all
}

/// Something that reaches a port: after how many microseconds, on which VC, what, the rate in it, queue and VBR cells.
type Step = (u64, u32, u8, f64, u64, u64);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let rate = prop_oneof![Just(0.0), Just(LINK), 0.0..LINK, 0.0..4e9];
    let gap = prop_oneof![Just(0u64), 0..20u64, 0..5_000u64];
    prop::collection::vec((gap, 0..VCS, 0u8..4, rate, 0u64..5_000, 0u64..2_000), 1..400)
}

/// Minimum rates, mostly of no VC.
fn minima() -> impl Strategy<Value = [Rate; VCS as usize]> {
    let minimum = prop_oneof![Just(0.0), 0.0..LINK];
    let some = [minimum.clone(), minimum.clone(), minimum];
    prop_oneof![Just([0.0; VCS as usize]), some].prop_map(|minima| minima.map(Rate::of_cells))
}

/// What an allocator answers, and whether it marks. No answer is below the minimum rate of its VC, if `keeps` them.
fn drive<A: RateAllocator>(
    allocator: &mut A,
    steps: &[Step],
    keeps: Option<&[Rate]>,
) -> Result<Vec<f64>, TestCaseError> {
    let (mut now, mut view, mut answers) = (0, PortState::default(), Vec::new());
    for &(gap, vc, what, rate, queue, vbr) in steps {
        now += gap * MICROSECOND;
        while allocator.next_interval() <= now {
            let end = allocator.next_interval();
            allocator.on_interval(end, &view);
            prop_assert!(allocator.next_interval() > end, "an interval ends later than it begins");
        }
        view = PortState { queue, priority_cells: view.priority_cells + vbr };
        let rate = Rate::of_cells(rate);
        let mut rm = RmCell::forward(rate, rate, Rate::ZERO, RateCoding::Exact);
        let mark = match what {
            0 => allocator.on_cell(now, vc, false, &view),
            1 => {
                let mark = allocator.on_cell(now, vc, true, &view);
                allocator.on_forward_rm(now, vc, &mut rm, &view);
                prop_assert!(!mark, "an RM cell is not marked");
                mark
            }
            _ => {
                rm = rm.turned();
                allocator.on_backward_rm(now, vc, &mut rm, &view);
                // `Rate` refuses what is negative or not a number: to get here is the proof.
                answers.push(rm.er().cells());
                false
            }
        };
        answers.push(f64::from(u8::from(mark)));
        prop_assert!(rm.er() <= rate, "ER rose from {} to {}", rate, rm.er());
        if let Some(minima) = keeps {
            let least = rate.min(minima[vc as usize]);
            prop_assert!(rm.er() >= least, "{} is below the minimum rate {}", rm.er(), least);
        }
    }
    Ok(answers)
}

/// What an allocator answers to rows of cells and RM cells. It is told of each cell as it comes, or, with `rows`, of data cells as late as
/// its allowance permits: when that is used up, and when an interval ends.
fn drive_rows<A: RateAllocator>(allocator: &mut A, steps: &[Step], rows: bool) -> Vec<f64> {
    let (mut now, mut answers, mut unreported) = (0, Vec::new(), [0; VCS as usize]);
    fn report<A: RateAllocator>(allocator: &mut A, unreported: &mut [u64; VCS as usize]) {
        for (vc, cells) in (0..).zip(unreported).filter(|(_, cells)| **cells > 0) {
            allocator.on_cells(vc, std::mem::take(cells));
        }
    }
    for &(gap, vc, what, rate, count, vbr) in steps {
        now += gap * MICROSECOND;
        let view = PortState { queue: 0, priority_cells: vbr };
        while allocator.next_interval() <= now {
            report(allocator, &mut unreported);
            let end = allocator.next_interval();
            allocator.on_interval(end, &PortState::default());
        }
        if what < 2 {
            // Cells in a row, which lies within an interval.
            let times = (0..=count % 150).map(|place| now + place * MICROSECOND / 8);
            let times: Vec<_> = times.take_while(|&time| time < allocator.next_interval()).collect();
            now += 20 * MICROSECOND;
            let mut times = &times[..];
            while let [first, rest @ ..] = times {
                let left = allocator.allowance() - unreported.iter().sum::<u64>();
                let count = if rows { left.min(times.len() as u64) } else { 0 };
                if count > 0 {
                    unreported[vc as usize] += count;
                    times = &times[count as usize..];
                } else {
                    report(allocator, &mut unreported);
                    allocator.on_cell(*first, vc, false, &PortState::default());
                    times = rest;
                }
            }
        } else {
            let rate = Rate::of_cells(rate);
            let mut rm = RmCell::forward(rate, rate, Rate::ZERO, RateCoding::Exact);
            if allocator.allowance() == unreported.iter().sum::<u64>() {
                report(allocator, &mut unreported);
            }
            allocator.on_cell(now, vc, true, &PortState::default());
            allocator.on_forward_rm(now, vc, &mut rm, &view);
            allocator.on_backward_rm(now, vc, &mut rm, &view);
            answers.push(rm.er().cells());
        }
    }
    answers
}

/// What a source sends, and its counters, if at every step so many data cells come and perhaps a BRM; before it chooses a cell it
/// sends a row, or `rows` is false.
fn drive_source(mut source: Source, steps: &[(u64, u32, u8, f64)], rows: bool) -> (Vec<Time>, Stats) {
    let (mut now, mut waits, mut sent) = (0, 0, Vec::new());
    for &(gap, data, flags, er) in steps {
        let until = now + gap * MICROSECOND / 16;
        waits += data;
        loop {
            if rows && let Some(row) = source.send_burst(now, waits, until) {
                waits -= row.count;
                let time = |place| row.first.plus_slots(row.spacing, place).ps();
                sent.extend((0..u64::from(row.count)).map(time));
            }
            let next = source.next_time(Waiting { data: waits > 0, brm: false }).max(now);
            if next >= until {
                break;
            }
            now = next;
            let choice = source.send(now, Waiting { data: waits > 0, brm: false });
            waits -= u32::from(choice == Choice::Data);
            sent.push(now);
        }
        now = until;
        if flags < 8 {
            let mut rm =
                RmCell::forward(Rate::of_cells(er), Rate::ZERO, Rate::ZERO, RateCoding::Exact).turned();
            if flags & 1 != 0 {
                rm.set_ci()
            }
            source.on_brm(&rm);
        }
    }
    (sent, *source.stats())
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn params() -> impl Strategy<Value = Params> {
    let factor = || prop_oneof![Just(0.0), Just(1.0), 0.0..1.0];
    let rates = (0.0..=1.0, 0.0..=1.0, 0.0..=1.0);
    (rates, factor(), factor(), factor(), 2u32..40, 1u32..5, any::<bool>()).prop_map(
        |((pcr, mcr, icr), rif, rdf, cdf, nrm, crm, exact)| {
            let pcr = 1.0 + LINK * pcr;
            Params {
                pcr: Some(Rate::of_cells(pcr)),
                mcr: Rate::of_cells(if mcr < 0.3 { 0.0 } else { pcr.min(LINK) * mcr }),
                icr: Some(Rate::of_cells(pcr * icr)),
                rif,
                rdf,
                cdf,
                nrm,
                crm: Some(crm),
                rate_coding: if exact { RateCoding::Exact } else { RateCoding::Float },
                ..Params::default()
            }
        },
    )
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_allocator_only_lowers_er_and_repeats_itself(steps in steps(), minima in minima()) {
        for params in allocators() {
            let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &minima.map(Some) };
            let new = || Allocator::new(&params, &port).unwrap();
            let erica = matches!(params.algorithm, AllocatorName::Erica | AllocatorName::EricaPlus);
            let keeps = erica.then_some(&minima[..]);
            let first = with_allocator!(&mut new(), allocator => drive(allocator, &steps, keeps))?;
            let again = with_allocator!(&mut new(), allocator => drive(allocator, &steps, keeps))?;
            prop_assert_eq!(first, again, "{:?}: the same cells, other answers", params.algorithm);
        }
    }

    #[test]
    fn a_row_counts_as_its_cells_do(steps in steps(), minima in minima()) {
        for params in allocators() {
            let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &minima.map(Some) };
            let new = || Allocator::new(&params, &port).unwrap();
            let rows = with_allocator!(&mut new(), allocator => drive_rows(allocator, &steps, true));
            let cells = with_allocator!(&mut new(), allocator => drive_rows(allocator, &steps, false));
            prop_assert_eq!(rows, cells, "{:?}: another answer to rows", params.algorithm);
        }
    }

    /// A share that is left of a VC's activity and too small for any sum keeps all VCs in the sums.
    #[test]
    fn vcs_that_were_not_seen_change_no_sum(steps in steps(), minima in minima(), cells in 1u32..4, bits in 0u8..8) {
        let port = Port { link: Rate::of_cells(LINK), capacity: u64::MAX, minima: &minima.map(Some) };
        let answers = |activity| {
            let mut params = AllocatorParams::of(AllocatorName::Erica);
            params.erica.interval.cells = Some(cells);
            params.erica.averaging.activity = activity;
            params.erica.averaging.immediate = bits & 1 != 0;
            params.erica.feedback.one_answer = bits & 2 != 0;
            if bits & 4 != 0 {
                params.erica.feedback.present_rate = PresentRate::Measured;
            }
            let mut allocator = Allocator::new(&params, &port).unwrap();
            let answers = with_allocator!(&mut allocator, allocator => drive(allocator, &steps, Some(&minima)))?;
            Ok::<_, TestCaseError>(answers.into_iter().map(f64::to_bits).collect::<Vec<_>>())
        };
        prop_assert_eq!(answers(0.0)?, answers(f64::MIN_POSITIVE)?);
    }

    #[test]
    fn a_source_sends_rows_as_it_sends_cells(
        params in params(),
        steps in prop::collection::vec((0u64..100_000, 0u32..40, 0u8..12, 0.0..4e5), 1..60),
    ) {
        let new = || Source::new(&params, Rate::of_cells(LINK)).unwrap();
        prop_assert_eq!(drive_source(new(), &steps, true), drive_source(new(), &steps, false));
    }

    #[test]
    fn a_source_keeps_its_rules(
        params in params(),
        steps in prop::collection::vec((0u64..50_000, any::<bool>(), any::<bool>(), 0u8..12, 0.0..4e5), 1..300),
    ) {
        let link = Rate::of_cells(LINK);
        let mut source = Source::new(&params, link).unwrap();
        let (low, high) = (params.mcr, params.pcr.unwrap().min(link));
        let (mut now, mut last): (Time, Option<Time>) = (0, None);
        for (gap, data, brm, flags, er) in steps {
            now += gap * MICROSECOND / 16;
            if flags < 8 {
                let mut rm = RmCell::forward(Rate::of_cells(er), Rate::ZERO, Rate::ZERO, RateCoding::Exact).turned();
                if flags & 1 != 0 { rm.set_ci() }
                if flags & 2 != 0 { rm.set_ni() }
                source.on_brm(&rm);
            }
            let (waiting, acr) = (Waiting { data, brm }, source.acr());
            let next = source.next_time(waiting);
            let choice = source.send(now, waiting);
            prop_assert_eq!(next <= now, choice != Choice::Nothing);
            prop_assert!(choice != Choice::Data || data);
            prop_assert!(choice != Choice::Brm || brm);
            if let Choice::Frm(rm) = choice {
                prop_assert!(rm.ccr() == params.rate_coding.carry(source.acr()));
            }
            if matches!(choice, Choice::Frm(_) | Choice::Data | Choice::Brm) {
                prop_assert!(last.is_some() || matches!(choice, Choice::Frm(_)), "the first cell is an FRM");
                let distance = SECOND as f64 / acr.cells();
                prop_assert!(last.is_none_or(|last| (now - last) as f64 > distance - 2.0));
                last = Some(now);
            }
            prop_assert!(low <= source.acr() && source.acr() <= high, "{} outside [{}, {}]", source.acr(), low, high);
        }
    }
}
