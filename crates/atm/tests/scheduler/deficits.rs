//! Deficit round robin worked out by hand, with a quantum of 500 bytes; and the quantum where none is given.

use celltrain_atm::{
    contract::Category,
    scheduler::{Discipline, DisciplineName, SchedulerParams, ServiceTime, Share, Vcs, deficit_round_robin},
};

use crate::model::{Port, SLOT, discipline, of, weighted};

/// A port of three VCs with equal shares.
fn port() -> Port<Discipline> {
    let deficit_round_robin = deficit_round_robin::Params { share: Share::Weight, quantum: Some(500) };
    let params = SchedulerParams { deficit_round_robin, ..of(DisciplineName::DeficitRoundRobin) };
    Port::new(discipline(&params, &weighted(&[1; 3])), 3)
}

fn enqueue(port: &mut Port<Discipline>, units: &[(u32, u32)]) {
    units.iter().for_each(|&(vc, size)| port.enqueue(vc, size));
}

/// The VCs of all units that wait, in the order in which they are sent.
fn order(port: &mut Port<Discipline>) -> Vec<u32> {
    std::iter::from_fn(|| port.next().unwrap()).map(|(vc, _)| vc).collect()
}

#[test]
fn what_a_large_packet_leaves_is_kept() {
    let mut port = port();
    enqueue(&mut port, &[(0, 200), (0, 750), (1, 400), (1, 600), (2, 500), (2, 500)]);
    // VC 0 keeps 300 and VC 1 100, which with the next quantum is enough for 750 and just enough for 600.
    assert_eq!(order(&mut port), [0, 1, 2, 0, 1, 2]);
}

#[test]
fn a_vc_with_nothing_to_send_keeps_nothing() {
    let mut port = port();
    port.enqueue(0, 200);
    assert_eq!(order(&mut port), [0]);
    // With the 300 that VC 0 did not use it could send its packet in its first turn.
    port.enqueue(0, 700);
    port.enqueue(1, 400);
    assert_eq!(order(&mut port), [1, 0]);
}

#[test]
fn a_vc_that_leaves_the_round_ends_its_turn() {
    let mut port = port();
    enqueue(&mut port, &[(0, 200), (1, 400), (2, 100)]);
    assert_eq!(order(&mut port), [0, 1, 2]);
    // As well if its last packet is pushed out in the middle of its turn.
    enqueue(&mut port, &[(0, 200), (0, 200), (1, 400), (2, 100)]);
    assert_eq!(port.next(), Ok(Some((0, 200))));
    port.withdraw(0);
    assert_eq!(order(&mut port), [1, 2]);
}

/// RFC 8290 section 5.2.4: a quantum is about the largest packet, so that it passes in one turn. On a link of cells these are the 32 that carry
/// it: a VC that counted 1500 cells would hold the link for as many packets.
#[test]
fn without_a_quantum_a_turn_is_a_packet_in_bytes_or_in_cells() {
    for name in [DisciplineName::DeficitRoundRobin, DisciplineName::FlowQueue] {
        let turns = |service: ServiceTime, size: u32| {
            let contracts = weighted(&[1; 2]);
            let vcs = Vcs::of(Category::default(), &contracts, service);
            let mut port = Port::new(Discipline::new(&of(name), vcs).unwrap(), 2);
            (0..2).for_each(|vc| (0..100).for_each(|_| port.enqueue(vc, size)));
            order(&mut port)
        };
        let cells = turns(ServiceTime::of_cells(SLOT), 1);
        assert!(
            cells[..32].iter().all(|&vc| vc == 0) && cells[32..64].iter().all(|&vc| vc == 1),
            "{cells:?}"
        );
        let packets = turns(ServiceTime::of_packets(SLOT, 0), 1500);
        assert!(packets[..3].contains(&1), "{packets:?}");
    }
}
