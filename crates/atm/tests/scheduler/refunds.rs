//! What a policy drops at the head of a queue is not sent: a discipline that counts what VCs send does not charge it (RFC 8290 counts what is
//! sent, and a drop must not change the shares of those who are not dropped).

use celltrain_atm::scheduler::{DisciplineName, SchedulerParams, weighted_round_robin};

use crate::model::{Port, discipline, of, weighted};

/// Disciplines that divide by what was sent.
const COUNTING: [DisciplineName; 6] = [
    DisciplineName::RoundRobin,
    DisciplineName::WeightedRoundRobin,
    DisciplineName::DeficitRoundRobin,
    DisciplineName::Scfq,
    DisciplineName::Wfq,
    DisciplineName::FlowQueue,
];

/// The load that VCs of these weights send, all of which always have something to send, where so many of eight units of VC 0 are dropped;
/// `size` is that of unit number n of a VC.
fn sent(params: &SchedulerParams, weights: &[u32], dropped: u32, size: impl Fn(u32) -> u32) -> Vec<u64> {
    let mut port = Port::new(discipline(params, &weighted(weights)), weights.len());
    let (mut numbers, mut sent) = (vec![0; weights.len()], vec![0; weights.len()]);
    let mut heads = 0;
    while sent.iter().sum::<u64>() < 100_000 {
        for (vc, number) in numbers.iter_mut().enumerate() {
            while port.store.0[vc].len() < 20 {
                port.enqueue(vc as u32, size(*number));
                *number += 1;
            }
        }
        let (vc, load) = port.next().unwrap().expect("all VCs have something to send");
        heads += u32::from(vc == 0);
        if vc == 0 && heads % 8 < dropped {
            port.scheduler.refund(vc, load, &port.store);
        } else {
            sent[vc as usize] += u64::from(load);
        }
    }
    sent
}

#[test]
fn drops_at_the_head_change_no_shares() {
    for name in COUNTING {
        for dropped in [1, 4, 7] {
            let equal = sent(&of(name), &[1, 1], dropped, |_| 1);
            assert!(equal[0].abs_diff(equal[1]) < 200, "{name:?}, {dropped} of eight: {equal:?}");
        }
    }
    let bursts = weighted_round_robin::Params { interleaved: false, ..Default::default() };
    let bursts = SchedulerParams { weighted_round_robin: bursts, ..of(DisciplineName::WeightedRoundRobin) };
    let weighted_shares =
        [DisciplineName::WeightedRoundRobin, DisciplineName::Scfq, DisciplineName::Wfq].map(of);
    for params in weighted_shares.into_iter().chain([bursts]) {
        for dropped in [1, 4, 7] {
            let weighted = sent(&params, &[3, 1], dropped, |_| 1);
            assert!(weighted[0].abs_diff(3 * weighted[1]) < 100, "{params:?}, {dropped}: {weighted:?}");
        }
    }
}

#[test]
fn nor_do_drops_of_packets_of_all_sizes() {
    for name in [
        DisciplineName::DeficitRoundRobin,
        DisciplineName::Scfq,
        DisciplineName::Wfq,
        DisciplineName::FlowQueue,
    ] {
        for dropped in [1, 4, 7] {
            let sent = sent(&of(name), &[1, 1], dropped, |number| 1 + number * 7 % 30);
            assert!(sent[0].abs_diff(sent[1]) < 500, "{name:?}, {dropped} of eight: {sent:?}");
        }
    }
}

/// A VC of which nothing is left but what was dropped has left its turn: it begins anew, without credit.
#[test]
fn a_vc_whose_last_unit_is_dropped_keeps_nothing() {
    for name in COUNTING {
        let mut port = Port::new(discipline(&of(name), &weighted(&[1, 1])), 2);
        for _ in 0..100 {
            port.enqueue(0, 1);
            let (vc, load) = port.next().unwrap().expect("a unit waits");
            port.scheduler.refund(vc, load, &port.store);
        }
        let mut order = Vec::new();
        (0..64).for_each(|_| port.enqueue(1, 1));
        (0..64).for_each(|_| port.enqueue(0, 1));
        while let Some((vc, _)) = port.next().unwrap() {
            order.push(vc);
        }
        let first = order[..64].iter().filter(|&&vc| vc == 0).count();
        assert!((31..=33).contains(&first), "{name:?}: {first} of 64");
    }
}
