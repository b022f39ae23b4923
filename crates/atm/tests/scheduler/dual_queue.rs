//! The dual queue worked out by hand (RFC 9332, sections 2.2 and 4.2.2, appendix A.2).

use std::collections::VecDeque;

use celltrain_atm::scheduler::{Discipline, DisciplineName, Queues, SchedulerParams, dual_queue};
use celltrain_engine::Instant;

use crate::model::{discipline, of, weighted};

/// A packet: its size, and whether it is one of low latency.
type Packet = (u32, bool);

const L: bool = true;
const C: bool = false;

/// The packets of each VC.
struct Store(Vec<VecDeque<Packet>>);

impl Queues for Store {
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        Some(self.0[vc as usize].get(place)?.0)
    }

    fn is_low_latency(&self, vc: u32, place: usize) -> bool {
        self.0[vc as usize].get(place).is_some_and(|packet| packet.1)
    }
}

/// A link of three VCs, of which C gets a quarter at least.
struct Link {
    scheduler: Discipline,
    store: Store,
}

impl Link {
    fn new() -> Self {
        let params = SchedulerParams {
            dual_queue: dual_queue::Params { classic_share: 0.25 },
            ..of(DisciplineName::DualQueue)
        };
        let scheduler = discipline(&params, &weighted(&[1; 3]));
        Self { scheduler, store: Store(vec![VecDeque::new(); 3]) }
    }

    fn enqueue(&mut self, vc: u32, packet: Packet) {
        self.store.0[vc as usize].push_back(packet);
        self.scheduler.enqueue(vc, packet.0, Instant::default(), &self.store);
    }

    fn next(&mut self) -> Option<(u32, Packet)> {
        let vc = self.scheduler.next(Instant::default(), &self.store)?;
        Some((vc, self.store.0[vc as usize].pop_front().expect("the VC has a packet")))
    }

    /// As `next`, of which the policy drops what was chosen.
    fn drop_next(&mut self) {
        let (vc, (size, _)) = self.next().expect("a packet waits");
        self.scheduler.refund(vc, size, &self.store);
    }

    fn withdraw(&mut self, vc: u32) {
        let (size, _) = self.store.0[vc as usize].pop_back().expect("the VC has a packet");
        self.scheduler.withdraw(vc, size, 0, Instant::default(), &self.store);
    }

    /// The kinds of the next packets.
    fn kinds(&mut self, packets: usize) -> Vec<bool> {
        (0..packets).map_while(|_| self.next()).map(|(_, packet)| packet.1).collect()
    }
}

/// L sends packets of 1000 bytes, C of 500. What C is owed, in bytes, before each choice: 0, 250, then 500, which is its packet: it goes,
/// and 500 x 3/4 are taken off. 125, 375, 625: C. 250, 500: C. So C sends 1000 of 4000 bytes in each round of five packets.
#[test]
fn the_classic_queue_gets_its_share_of_a_link_that_both_want() {
    let mut link = Link::new();
    for _ in 0..20 {
        link.enqueue(0, (1000, L));
        link.enqueue(1, (500, C));
    }
    assert_eq!(link.kinds(10), [L, L, C, L, L, C, L, C, L, L]);
    let sent: Vec<_> = (0..15).map(|_| link.next().unwrap().1).collect();
    let bytes = |kind| sent.iter().filter(|packet| packet.1 == kind).map(|packet| packet.0).sum::<u32>();
    assert_eq!((bytes(L), bytes(C)), (9000, 3000));
}

/// "The credit indicating which queue should transmit is only changed if there are packets in both queues" (appendix A.2): what L sends
/// alone is not held against it.
#[test]
fn what_is_sent_without_contention_earns_nothing() {
    let mut link = Link::new();
    (0..50).for_each(|_| link.enqueue(0, (1000, L)));
    assert_eq!(link.kinds(40), [L; 40]);
    link.enqueue(1, (500, C));
    // Owed 0 and 250 as from the start; C alone is not charged either.
    assert_eq!(link.kinds(3), [L, L, C]);
    assert_eq!(link.kinds(8), [L; 8]);
    link.enqueue(1, (500, C));
    link.enqueue(1, (500, C));
    assert_eq!(link.kinds(1), [C]);
    link.enqueue(0, (1000, L));
    // 125 of the first contention is left, and C is owed 375 after this packet.
    assert_eq!(link.kinds(2), [L, C]);
}

/// "The WRR credit is reset in favour of the L queue when the link is idle" (appendix A.2).
#[test]
fn an_idle_link_forgets_what_the_classic_queue_is_owed() {
    for (idle, expected) in [(false, [L, C, L]), (true, [L, L, C])] {
        let mut link = Link::new();
        (0..2).for_each(|_| link.enqueue(0, (1000, L)));
        link.enqueue(1, (500, C));
        assert_eq!(link.kinds(1), [L]);
        // Without the rest of L the classic packet goes: it is still owed 250.
        link.withdraw(0);
        assert_eq!(link.kinds(1), [C]);
        if idle {
            assert_eq!(link.next(), None);
        }
        (0..3).for_each(|_| link.enqueue(0, (1000, L)));
        link.enqueue(1, (500, C));
        assert_eq!(link.kinds(3), expected);
    }
}

/// What the policy drops at the head has not been sent, and changes nothing.
#[test]
fn a_drop_gives_back_what_it_was_charged() {
    let mut link = Link::new();
    for _ in 0..20 {
        link.enqueue(0, (1000, L));
        link.enqueue(1, (500, C));
    }
    (0..3).for_each(|_| link.drop_next());
    assert_eq!(link.kinds(2), [L, L]);
    link.drop_next();
    assert_eq!(link.kinds(4), [C, L, L, C]);
}

/// "As ATM demands", a VC keeps its order: a packet takes the turn of the kind in whose queue its VC is the first.
#[test]
fn a_vc_with_packets_of_both_kinds_keeps_their_order() {
    let mut link = Link::new();
    for packet in [(501, C), (502, L), (503, C)] {
        link.enqueue(0, packet);
    }
    link.enqueue(1, (504, L));
    let sent: Vec<_> = std::iter::from_fn(|| link.next()).map(|(_, packet)| packet.0).collect();
    assert_eq!(sent, [501, 504, 502, 503]);
}

/// The packet that is pushed out is the last of its VC, and so is the turn that goes with it, whichever queue that is in.
#[test]
fn a_push_out_takes_the_last_turn_of_the_vc() {
    for (last, expected) in [(C, [0, 1, 2]), (L, [1, 2, 0])] {
        let mut link = Link::new();
        link.enqueue(0, (500, !last));
        link.enqueue(1, (500, L));
        link.enqueue(2, (500, L));
        link.enqueue(0, (500, last));
        link.withdraw(0);
        let vcs: Vec<_> = std::iter::from_fn(|| link.next()).map(|(vc, _)| vc).collect();
        assert_eq!(vcs, expected, "{last}");
    }
}
