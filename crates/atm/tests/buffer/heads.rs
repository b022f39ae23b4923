//! What is a frame at the head of a queue, and which frames are in one queue: policies that decide by the time that frames have waited.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Fate, FirstFrames, Head, PortState, Snapshot, Verdict, View,
        cobalt::{self, Cobalt},
        codel::{self, Codel},
        dualpi2::{self, Dualpi2},
        fq_codel::FqCodel,
    },
    cell::Ecn,
    contract::{Category, Contract},
    scheduler::Side,
};
use celltrain_engine::{Time, time::MILLISECOND};

use crate::model::{context, contracts, is_queued};

const MS: Time = MILLISECOND;

/// A cell of a frame of two.
fn cell(vc: u32, frame: u32, position: u16) -> Cell {
    Cell { vc, frame, position, length: 2, ..Cell::default() }
}

/// A buffer with a hundred cells for each of three VCs.
fn busy() -> Snapshot {
    Snapshot::of(u64::MAX, &[100; 3])
}

/// VCs of two categories: the first is urgent.
fn two_categories() -> Vec<Contract> {
    [Category::Cbr, Category::Ubr, Category::Ubr]
        .map(|category| Contract { category, ..Contract::default() })
        .to_vec()
}

fn arrive<P: BufferPolicy>(policy: &mut P, now: Time, cell: &Cell, first: bool) {
    assert!(is_queued(policy.on_arrival(cell, &busy().view(first), now)));
}

/// What becomes of a cell at the head that came at `arrival`; `first`: whether it began a frame then.
fn depart<P: BufferPolicy<Needs = celltrain_atm::buffer::Dequeue>>(
    policy: &mut P,
    now: Time,
    cell: &Cell,
    arrival: Time,
    first: bool,
) -> Fate {
    policy.on_head(Head { cell: *cell, sojourn: now - arrival, now }, &busy().view(first))
}

/// Whose end mark was lost is one frame with the next: it has one fate, and the frame behind that has its own.
#[test]
fn a_frame_without_end_mark_shares_the_fate_of_the_next() {
    let mut policy = Codel::new(&codel::Params::default(), &context(u64::MAX, &contracts(1))).unwrap();
    // Late from 0 on: the first drop is an interval later, and the next frame goes.
    assert_eq!(depart(&mut policy, 20 * MS, &cell(0, 0, 0), 0, true), Fate::Send);
    assert_eq!(depart(&mut policy, 21 * MS, &cell(0, 0, 1), 0, false), Fate::Send);
    assert_eq!(depart(&mut policy, 121 * MS, &cell(0, 1, 0), 100 * MS, true), Fate::Drop);
    for position in 0..2 {
        assert_eq!(depart(&mut policy, 121 * MS, &cell(0, 2, position), 100 * MS, false), Fate::Drop);
    }
    // An end mark alone belongs to no frame that was dropped.
    assert_eq!(depart(&mut policy, 122 * MS, &cell(0, 3, 1), 100 * MS, false), Fate::Send);
    assert_eq!(depart(&mut policy, 123 * MS, &cell(0, 4, 0), 100 * MS, true), Fate::Send);
}

/// What becomes of packets of low latency at 60 ms if a classic frame has waited since 0, by hand in `dualpi2_steps`.
fn marks_at_60_ms(policy: &mut Dualpi2) -> Vec<Fate> {
    let packet = Cell { vc: 2, length: 1, ecn: Ecn::LowLatency, ..Cell::default() };
    (0..6).for_each(|_| arrive(policy, 60 * MS, &packet, true));
    (0..6).map(|_| depart(policy, 60 * MS, &packet, 60 * MS, true)).collect()
}

const BY_HAND: [Fate; 6] = [Fate::Send, Fate::Send, Fate::Mark, Fate::Send, Fate::Send, Fate::Mark];

/// RFC 9332, section 4.1: `cq.time()` is the delay of the queue, whose first packet still waits whatever has left for another VC.
#[test]
fn the_first_frame_waits_until_it_leaves_itself() {
    let dualpi2 = |contracts: &[Contract]| {
        Dualpi2::new(&dualpi2::Params::default(), &context(u64::MAX, contracts)).unwrap()
    };
    // A frame that came without a first cell of its own leaves before it.
    let mut glued = dualpi2(&contracts(3));
    for (frame, position, first) in [(0, 0, true), (1, 0, false), (1, 1, false)] {
        arrive(&mut glued, 0, &cell(0, frame, position), first);
    }
    arrive(&mut glued, 0, &cell(1, 0, 0), true);
    for (frame, position, first) in [(0, 0, true), (1, 0, false), (1, 1, false)] {
        assert_eq!(depart(&mut glued, MS, &cell(0, frame, position), 0, first), Fate::Send);
    }
    assert_eq!(marks_at_60_ms(&mut glued), BY_HAND);
    // A frame of which a policer has taken the first cell is a frame, too.
    let mut beheaded = dualpi2(&contracts(3));
    arrive(&mut beheaded, 0, &cell(1, 0, 1), true);
    assert_eq!(marks_at_60_ms(&mut beheaded), BY_HAND);
    // A later frame of another VC, or of another category, leaves before it.
    for contracts in [contracts(3), two_categories()] {
        let mut overtaken = dualpi2(&contracts);
        arrive(&mut overtaken, 0, &cell(1, 0, 0), true);
        for frame in 0..50 {
            let now = u64::from(frame) * MS;
            arrive(&mut overtaken, now, &cell(0, frame, 0), true);
            assert_eq!(depart(&mut overtaken, now + MS / 2, &cell(0, frame, 0), now, true), Fate::Send);
        }
        assert_eq!(marks_at_60_ms(&mut overtaken), BY_HAND);
    }
}

/// How many of the frames of VC 1 are dropped in a second that have all waited 50 ms, where between them frames of VC 0 have waited
/// for nothing.
fn dropped<P: BufferPolicy<Needs = celltrain_atm::buffer::Dequeue>>(mut policy: P) -> usize {
    let fates = (100..1100).map(|at| {
        let now = at * MS;
        assert_eq!(depart(&mut policy, now, &cell(0, at as u32, 0), now, true), Fate::Send);
        depart(&mut policy, now, &cell(1, at as u32, 0), now - 50 * MS, true)
    });
    fates.filter(|&fate| fate == Fate::Drop).count()
}

#[test]
fn each_category_has_a_state_of_its_own() {
    for (contracts, expected) in [(contracts(3), 0..1), (two_categories(), 20..60)] {
        let context = context(u64::MAX, &contracts);
        let codel = dropped(Codel::new(&codel::Params::default(), &context).unwrap());
        let cobalt = dropped(Cobalt::new(&cobalt::Params::default(), &context).unwrap());
        assert!(expected.contains(&codel) && expected.contains(&cobalt), "{codel}, {cobalt}");
    }
}

/// A frame overflows the buffer with any of its cells, once. A limit of its VC is no overflow.
#[test]
fn cobalt_hears_of_overflows_of_the_buffer_alone() {
    // The frame at hand begins with room or without; its second cell finds the buffer, or the part of its VC, full or not.
    for (first, second, limited, expected) in [
        (false, false, false, Fate::Send),
        (true, true, false, Fate::Drop),
        (false, true, false, Fate::Drop),
        (true, true, true, Fate::Send),
        (false, true, true, Fate::Send),
    ] {
        let mut policy = Cobalt::new(&cobalt::Params::default(), &context(100, &contracts(1))).unwrap();
        for (position, full) in [(0, first), (1, second)] {
            let held = if full && !limited { 100 } else { 50 };
            let port = Snapshot { limited: full && limited, ..Snapshot::of(100, &[held]) };
            let _ = policy.on_arrival(&cell(0, 1, position), &port.view(position == 0), 50 * MS);
        }
        // After an overflow the next drop is due at once.
        let fate = depart(&mut policy, 51 * MS, &cell(0, 0, 0), 0, true);
        assert_eq!(fate, expected, "first {first}, second {second}, limited {limited}");
    }
}

/// VC 0 is in a queue of its own, the others share one. Categories and queues were found empty so often.
struct Hashed(Snapshot, u64);

impl Hashed {
    fn together(&self, vc: u32, shared: bool) -> Vec<u32> {
        if shared && vc > 0 { vec![1, 2] } else { vec![vc] }
    }
}

impl PortState for Hashed {
    fn capacity(&self) -> u64 {
        self.0.capacity()
    }
    fn occupancy(&self) -> u64 {
        self.0.occupancy()
    }
    fn is_full(&self) -> bool {
        self.0.is_full()
    }
    fn is_vc_full(&self) -> bool {
        self.0.limited
    }
    fn is_packet(&self) -> bool {
        true
    }
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.0.vc_occupancy(vc)
    }
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.0.clp_occupancy(clp)
    }
    fn active_vcs(&self) -> u64 {
        self.0.active_vcs()
    }
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.0.last_frame(vc)
    }
    fn is_too_large(&self) -> bool {
        false
    }
    fn queue_of(&self, vc: u32, _: Side) -> u32 {
        vc.min(1)
    }
    fn waiting_frames(&self, vc: u32, shared: bool) -> u64 {
        self.waiting_load(vc, shared)
    }
    fn waiting_load(&self, vc: u32, shared: bool) -> u64 {
        self.together(vc, shared).into_iter().map(|vc| self.0.vc_occupancy(vc)).sum()
    }
    fn holds_more(&self, load: u64) -> bool {
        self.occupancy() > load
    }
    fn empty_looks(&self, _: u32) -> u64 {
        self.1
    }
    fn empty_turns(&self, _: u32) -> Option<u64> {
        Some(self.1)
    }
}

/// RFC 8290 section 4.1: the queue with most bytes gives way, whichever VCs they are of, with half of its packets and what arrives among them.
#[test]
fn vcs_in_one_queue_give_way_together() {
    let mut policy = FqCodel::new(&codel::Params::default(), &context(100, &contracts(3))).unwrap();
    let packet = |vc| Cell { vc, length: 1, ..Cell::default() };
    let mut victim = |vc, held: [u64; 3], limited| {
        let port = Hashed(Snapshot { packets: true, limited, ..Snapshot::of(100, &held) }, 0);
        match policy.on_arrival(&packet(vc), &View::new(&port, true), 0) {
            Verdict::PushOut(victim) => victim,
            other => panic!("{other:?}"),
        }
    };
    for vc in 0..3 {
        let FirstFrames { vc: of, count, shared } = victim(vc, [40, 30, 30], false);
        assert!(of > 0 && shared, "VC {of} gives way to VC {vc}");
        assert_eq!(count, if vc == 0 { 30 } else { 31 });
    }
    assert_eq!(victim(1, [60, 20, 20], false), FirstFrames { vc: 0, count: 30, shared: true });
    // At the limit of a VC only its own make room.
    assert_eq!(victim(1, [60, 20, 20], true), FirstFrames { vc: 1, count: 11, shared: false });
}

#[test]
fn vcs_in_one_queue_share_a_state_of_codel() {
    // Frames have waited too long from 0 on, those of VCs 1 and 2 in turns.
    for (then, expected) in [(0, Fate::Send), (1, Fate::Drop), (2, Fate::Drop)] {
        let mut policy = FqCodel::new(&codel::Params::default(), &context(300, &contracts(3))).unwrap();
        let port = Hashed(busy(), 0);
        let mut head = |vc, now: Time| {
            let head = Head { cell: Cell { vc, length: 1, ..Cell::default() }, sojourn: 20 * MS, now };
            policy.on_head(head, &View::new(&port, true))
        };
        assert_eq!(head(1, 20 * MS), Fate::Send);
        assert_eq!(head(then, 121 * MS), expected, "VC {then}");
    }
}

/// A packet of VC 0 that has waited for 20 ms.
fn late(now: Time) -> Head {
    Head { cell: Cell { length: 1, ..Cell::default() }, sojourn: 20 * MS, now }
}

/// What becomes of packets of VC 0 that have waited too long, at 20 and 121 ms, if its category or queue was found empty so often between;
/// and at 222 ms.
fn fates_if_empty<P: BufferPolicy<Needs = celltrain_atm::buffer::Dequeue>>(
    policy: &mut P,
    times: u64,
) -> [Fate; 3] {
    [(20, 7), (121, 7 + times), (222, 7 + times)]
        .map(|(at, times)| policy.on_head(late(at * MS), &View::new(&Hashed(busy(), times), true)))
}

/// "queue is empty - we can't be above TARGET" (RFC 8289 section 5.6): the interval begins anew.
#[test]
fn what_was_found_empty_has_not_been_above_the_target() {
    let (params, two) = (codel::Params::default(), two_categories());
    for (times, expected) in
        [(0, [Fate::Send, Fate::Drop, Fate::Send]), (1, [Fate::Send, Fate::Send, Fate::Drop])]
    {
        let mut codel = Codel::new(&params, &context(300, &two)).unwrap();
        assert_eq!(fates_if_empty(&mut codel, times), expected, "{times}");
        let mut fq_codel = FqCodel::new(&params, &context(300, &contracts(3))).unwrap();
        assert_eq!(fates_if_empty(&mut fq_codel, times), expected, "{times}");
    }
}

/// Where a queue that empties has no turn, what arrives next finds that it is empty: the rest of a frame, too.
#[test]
fn what_arrives_finds_its_queue_empty() {
    for (waits, first, expected) in [(1, true, Fate::Drop), (0, true, Fate::Send), (0, false, Fate::Send)] {
        let mut policy = FqCodel::new(&codel::Params::default(), &context(u64::MAX, &contracts(3))).unwrap();
        assert_eq!(policy.on_head(late(20 * MS), &busy().view(true)), Fate::Send);
        let packet = Cell { length: 1, ..Cell::default() };
        let port = Snapshot::of(u64::MAX, &[waits, 100, 0]);
        assert!(is_queued(policy.on_arrival(&packet, &port.view(first), 101 * MS)));
        assert_eq!(policy.on_head(late(121 * MS), &busy().view(true)), expected);
    }
}

/// "when testing for queue occupancy before dropping, the total occupancy of all queues sharing the same output link SHOULD be used" (RFC 8289
/// section 4.4).
#[test]
fn a_packet_alone_in_its_queue_is_dropped_if_others_let_it_wait() {
    for (others, expected) in [(0, Fate::Send), (100, Fate::Drop)] {
        let mut policy = FqCodel::new(&codel::Params::default(), &context(300, &contracts(3))).unwrap();
        let port = Snapshot::of(300, &[1, others, 0]);
        assert_eq!(policy.on_head(late(20 * MS), &port.view(true)), Fate::Send);
        assert_eq!(policy.on_head(late(121 * MS), &port.view(true)), expected, "beside {others}");
    }
}

/// Behind the last frame of the buffer nothing waits: it is not dropped, and keeps the mark that CoDel gives it where BLUE would drop it.
#[test]
fn cobalt_sends_the_last_frame_marked() {
    let last = Snapshot::of(300, &[0; 3]);
    let mut policy =
        Cobalt::new(&cobalt::Params { ecn: true, ..cobalt::Params::default() }, &context(100, &contracts(3)))
            .unwrap();
    let packet = Cell { length: 1, ecn: Ecn::Capable, ..Cell::default() };
    // Overflows, until BLUE drops all.
    for time in 1..300 {
        let full = Snapshot::of(100, &[100, 0, 0]);
        assert!(!is_queued(policy.on_arrival(&packet, &full.view(true), time * 10 * MS)));
    }
    let head = |ecn| Head { cell: Cell { ecn, ..packet }, ..late(3000 * MS) };
    assert_eq!(policy.on_head(head(Ecn::Capable), &last.view(true)), Fate::Mark);
    assert_eq!(policy.on_head(head(Ecn::Capable), &busy().view(true)), Fate::Drop);
    assert_eq!(policy.on_head(head(Ecn::default()), &last.view(true)), Fate::Send);
}
