//! How exactly disciplines divide the line among VCs that always have something to send.

use celltrain_atm::{
    contract::{Category, Contract},
    quantity::CellRate,
    scheduler::{
        Discipline, DisciplineName, SchedulerParams, Share, Vcs, deficit_round_robin, scfq,
        weighted_round_robin, wfq,
    },
};
use celltrain_engine::quantity::BitRate;
use proptest::prelude::*;

use crate::model::{Port, Serve, discipline, of, service, weighted};

/// The VCs and sizes sent in `count` turns of the line; all VCs always have two units, whose sizes are taken from
/// `sizes` in turn.
fn busy(scheduler: impl Serve, vcs: usize, sizes: &[u32], count: usize) -> Vec<(u32, u32)> {
    let mut port = Port::new(scheduler, vcs);
    let mut size = sizes.iter().cycle();
    let mut arrive = |port: &mut Port<_>, vc| port.enqueue(vc, *size.next().unwrap());
    (0..vcs * 2).for_each(|unit| arrive(&mut port, (unit % vcs) as u32));
    let turn = |_| {
        let unit = port.next().unwrap().expect("all VCs have something to send");
        arrive(&mut port, unit.0);
        unit
    };
    (0..count).map(turn).collect()
}

/// Whether over every interval the service W of any two VCs in proportion to their weights w differs by no more than
/// `bound`: |W_i/w_i - W_j/w_j| <= bound(w_i, w_j) / (w_i w_j).
fn fair(sent: &[(u32, u32)], weights: &[u32], bound: impl Fn(i64, i64) -> i64) -> Result<(), String> {
    for (i, &first) in weights.iter().enumerate() {
        for (j, &second) in weights.iter().enumerate().skip(i + 1) {
            let (first, second) = (i64::from(first), i64::from(second));
            let (mut ahead, mut least, mut most) = (0, 0, 0);
            for &(vc, size) in sent {
                ahead += i64::from(size)
                    * if vc as usize == i {
                        second
                    } else if vc as usize == j {
                        -first
                    } else {
                        0
                    };
                (least, most) = (ahead.min(least), ahead.max(most));
            }
            if most - least > bound(first, second) {
                return Err(format!("VCs {i} and {j} are up to {} apart", most - least));
            }
        }
    }
    Ok(())
}

/// The longest row of units of one VC.
fn longest_row(sent: &[(u32, u32)]) -> usize {
    sent.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max().unwrap()
}

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn scfq_is_within_a_packet_of_each(
        weights in prop::collection::vec(1u32..20, 2..6),
        sizes in prop::collection::vec(40u32..1500, 1..20),
    ) {
        let sent = busy(discipline(&of(DisciplineName::Scfq), &weighted(&weights)), weights.len(), &sizes, 1000);
        // Golestani 1994: L_i/w_i + L_j/w_j for the largest packets L, if the VCs are always busy.
        let largest = i64::from(*sizes.iter().max().unwrap());
        fair(&sent, &weights, |first, second| largest * (first + second)).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn wfq_is_behind_the_fluid_system_by_at_most_a_packet(
        weights in prop::collection::vec(1u32..20, 2..6),
        sizes in prop::collection::vec(40u32..1500, 1..20),
    ) {
        let mut port = Port::new(discipline(&of(DisciplineName::Wfq), &weighted(&weights)), weights.len());
        let mut waiting = vec![0u64; weights.len()];
        for (vc, &size) in std::iter::zip((0..weights.len()).cycle(), sizes.iter().cycle()).take(1000) {
            port.enqueue(vc as u32, size);
            waiting[vc] += u64::from(size);
        }
        // Parekh and Gallager 1993, theorem 2. All VCs are busy in the fluid system, which gives each w_i/W of the line,
        // until the first has had all that waits, and perhaps all of them at once.
        let (all, largest) = (u64::from(weights.iter().sum::<u32>()), u64::from(*sizes.iter().max().unwrap()));
        let (mut total, mut served) = (0, vec![0u64; weights.len()]);
        while let Some((vc, size)) = port.next().unwrap() {
            total += u64::from(size);
            served[vc as usize] += u64::from(size);
            let shares = weights.iter().map(|&weight| total * u64::from(weight));
            if std::iter::zip(shares.clone(), &waiting).any(|(share, &waiting)| share > waiting * all) {
                break;
            }
            for (share, served) in std::iter::zip(shares, &served) {
                prop_assert!((served + largest) * all >= share, "{served} of {total}");
            }
        }
    }

    #[test]
    fn deficit_round_robin_is_within_a_quantum_and_a_packet_of_each(
        weights in prop::collection::vec(1u32..20, 2..6),
        sizes in prop::collection::vec(40u32..1500, 1..20),
        quantum in prop_oneof![Just(1u32), 40u32..3000],
    ) {
        let deficit_round_robin = deficit_round_robin::Params { quantum: Some(quantum), share: Share::Weight };
        let params = SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) };
        let sent = busy(discipline(&params, &weighted(&weights)), weights.len(), &sizes, 1000);
        // Shreedhar and Varghese 1996: the quantum of a weight of 1 and L_i/w_i + L_j/w_j for the largest packets L.
        let (largest, least) = (i64::from(*sizes.iter().max().unwrap()), i64::from(*weights.iter().min().unwrap()));
        let bound = |first: i64, second: i64| {
            (i64::from(quantum) * first * second + least - 1) / least + largest * (first + second)
        };
        fair(&sent, &weights, bound).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn weighted_round_robin_is_exact_over_cycles(
        weights in prop::collection::vec(1u32..20, 2..6), interleaved in any::<bool>(),
    ) {
        // The weights have no common divisor.
        let weights = [&[1], &weights[..]].concat();
        let weighted_round_robin = weighted_round_robin::Params { interleaved, share: Share::Weight };
        let params = SchedulerParams { weighted_round_robin, ..of(DisciplineName::WeightedRoundRobin) };
        let cycle = weights.iter().sum::<u32>() as usize;
        let sent = busy(discipline(&params, &weighted(&weights)), weights.len(), &[1], 10 * cycle);
        for cells in sent.chunks(cycle) {
            let count = |vc: usize| cells.iter().filter(|cell| cell.0 as usize == vc).count() as u32;
            prop_assert_eq!((0..weights.len()).map(count).collect::<Vec<_>>(), &weights[..]);
        }
        let mut sorted = weights;
        sorted.sort_unstable_by(|a, b| b.cmp(a));
        // Interleaved, the heaviest VC is alone only in the rounds that the second is no longer in.
        let longest = if interleaved { sorted[0] - sorted[1] + 1 } else { sorted[0] };
        prop_assert_eq!(longest_row(&sent), longest as usize);
    }

    #[test]
    fn round_robin_serves_busy_vcs_alike(vcs in 2usize..8) {
        let sent = busy(discipline(&of(DisciplineName::RoundRobin), &weighted(&vec![1; vcs])), vcs, &[1], 1000);
        fair(&sent, &vec![1; vcs], |_, _| 1).map_err(TestCaseError::fail)?;
    }
}

#[test]
fn the_bounds_notice_a_discipline_that_ignores_weights_or_sizes() {
    let weights = [1, 2];
    let sent = busy(discipline(&of(DisciplineName::RoundRobin), &weighted(&weights)), 2, &[1], 1000);
    assert!(fair(&sent, &weights, |first, second| first + second).unwrap_err().contains("apart"));
    // Large packets on VC 0, small ones on VC 1: fair by packets is unfair by bytes.
    let sent = busy(discipline(&of(DisciplineName::RoundRobin), &weighted(&[1, 1])), 2, &[1500, 40], 1000);
    assert!(fair(&sent, &[1, 1], |_, _| 2 * 1500 + 1500).unwrap_err().contains("apart"));
}

/// A VC that has waited long is not charged for a large packet that is pushed out, and virtual time does not go back for the small one behind
/// it: a VC that begins then is no better than one of the same weight that was always busy.
#[test]
fn virtual_time_does_not_go_back_for_what_is_pushed_out() {
    let mut port = Port::new(discipline(&of(DisciplineName::Scfq), &weighted(&[100, 1, 100])), 3);
    (0..200).for_each(|_| port.enqueue(0, 1500));
    port.enqueue(1, 1500);
    port.enqueue(1, 40);
    (0..99).for_each(|_| assert_eq!(port.next().unwrap().unwrap().0, 0));
    port.withdraw_before(1, 1);
    assert_eq!(port.next(), Ok(Some((1, 40))), "it is due at once");
    (0..100).for_each(|_| port.enqueue(2, 1500));
    let of_first = (0..20).filter(|_| port.next().unwrap().unwrap().0 == 0).count();
    assert!((9..=11).contains(&of_first), "{of_first} of 20");
}

#[test]
fn round_robin_is_max_min_fair() {
    // VC 0 asks for a tenth of the line, less than a third of it, and gets it; VCs 1 and 2 ask for all and share the
    // rest.
    let mut port = Port::new(discipline(&of(DisciplineName::RoundRobin), &weighted(&[1; 3])), 3);
    let mut cells = [0; 3];
    for slot in 0..10_000 {
        for vc in 0..3 {
            if vc > 0 || slot % 10 == 0 {
                port.enqueue(vc, 1);
            }
        }
        cells[port.next().unwrap().unwrap().0 as usize] += 1;
    }
    assert_eq!(cells, [1000, 4500, 4500]);
}

/// All weighted disciplines, with `share`.
fn sharing(share: Share) -> Vec<SchedulerParams> {
    let params = SchedulerParams {
        weighted_round_robin: weighted_round_robin::Params { share, interleaved: true },
        deficit_round_robin: deficit_round_robin::Params { share, quantum: Some(1) },
        scfq: scfq::Params { share },
        wfq: wfq::Params { share },
        ..SchedulerParams::default()
    };
    [
        DisciplineName::WeightedRoundRobin,
        DisciplineName::DeficitRoundRobin,
        DisciplineName::Scfq,
        DisciplineName::Wfq,
    ]
    .map(|discipline| SchedulerParams { discipline, ..params.clone() })
    .into()
}

fn guaranteed(rates: &[Option<u64>]) -> Vec<Contract> {
    let contract = |rate: &Option<u64>| Contract {
        mcr: rate.map(|rate| CellRate(BitRate(rate))),
        weight: 7,
        ..Contract::default()
    };
    rates.iter().map(contract).collect()
}

#[test]
fn minimum_rates_are_shares() {
    let rates = guaranteed(&[Some(10_000_000), Some(25_000_000)]);
    for (by_weight, by_rate) in std::iter::zip(sharing(Share::Weight), sharing(Share::Mcr)) {
        let sent = busy(discipline(&by_rate, &rates), 2, &[1], 700);
        assert_eq!(sent, busy(discipline(&by_weight, &weighted(&[2, 5])), 2, &[1], 700), "{by_rate:?}");
        assert_eq!(sent.iter().filter(|cell| cell.0 == 0).count(), 200, "{by_rate:?}");
        let none = busy(discipline(&by_rate, &guaranteed(&[None, None])), 2, &[1], 700);
        assert_eq!(none, busy(discipline(&by_weight, &weighted(&[1, 1])), 2, &[1], 700), "{by_rate:?}");
    }
}

#[test]
fn shares_that_make_no_sense_are_refused() {
    let refused = |params: &SchedulerParams, contracts: &[Contract]| {
        let error = Discipline::new(params, Vcs::of(Category::default(), contracts, service())).unwrap_err();
        (error.key, error.message)
    };
    for params in sharing(Share::Mcr) {
        let (key, message) = refused(&params, &guaranteed(&[Some(1_000_000), None]));
        assert_eq!(key, "share");
        assert!(message.starts_with("VC 1 has no minimum cell rate while VC 0 has one"), "{message}");
        assert!(message.contains("mcr = "), "{message}");
    }
    for params in sharing(Share::Weight) {
        let (key, message) = refused(&params, &weighted(&[1, 0]));
        assert!(key == "share" && message.starts_with("VC 1 has no share"), "{message}");
    }
    discipline(&of(DisciplineName::WeightedRoundRobin), &weighted(&[1, 10_000]));
    let (key, message) = refused(&of(DisciplineName::WeightedRoundRobin), &weighted(&[1, 10_001]));
    assert!(key == "share" && message.starts_with("VC 1 would have 10001 cells a cycle"), "{message}");
    let by_rate = SchedulerParams { wfq: wfq::Params { share: Share::Mcr }, ..of(DisciplineName::Wfq) };
    let (key, message) = refused(&by_rate, &guaranteed(&[Some(1), Some(1 << 63)]));
    assert!(key == "share" && message.starts_with("the shares sum to more than 2^63"), "{message}");
    let deficit_round_robin = deficit_round_robin::Params { quantum: Some(0), share: Share::Weight };
    let params = SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) };
    assert_eq!(refused(&params, &weighted(&[1])).0, "quantum");
}
