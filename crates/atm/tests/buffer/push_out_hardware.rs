//! Push-out with tracking of the available buffer space: the hardware's stacks against the search over counters.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Departure, PortContext, PortState, PushOut, Reason, Removed, Snapshot, Verdict, View,
        abs_push_out::{self, AbsPushOut},
        abs_push_out_hardware::AbsPushOutHardware,
        push_out::Limits,
    },
    catalogue::ParamError,
    contract::Contract,
};
use celltrain_engine::Time;

use crate::{
    accounts::{Port, Traffic, context},
    push_out::contracts,
};

const MFS: u32 = 8;
const CAPACITY: u64 = 80;

fn vcs() -> Vec<Contract> {
    contracts(MFS, &[10, 20, 20, 25, 25])
}

/// The hardware, and at each of its choices what the search would have chosen in the same state.
#[derive(Debug, Clone)]
struct Compared {
    hardware: AbsPushOutHardware,
    limits: Limits,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    /// Push-out from the VC that the search finds.
    same: u64,
    /// Push-out from another VC.
    other: u64,
    /// Push-out though there is space already: more than M cells are to go.
    beyond: u64,
    /// No push-out because no stack holds an illegal frame; the search takes the VC least below its threshold.
    none: u64,
}

impl BufferPolicy for Compared {
    type Params = abs_push_out::Params;
    type Needs = PushOut;

    const SUMMARY: &'static str = "Compares two descriptions of a policy.";
    const REFERENCE: &'static str = "none";

    fn new(params: &Self::Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self {
            hardware: AbsPushOutHardware::new(params, port)?,
            limits: Limits::new(params.sharing, port)?,
            counts: Counts::default(),
        })
    }

    fn on_arrival<S: PortState>(
        &mut self,
        cell: &Cell,
        port: &View<'_, PushOut, S>,
        now: Time,
    ) -> Verdict<u32> {
        let space = self.hardware.rule().space().available(port.capacity(), port.occupancy()) > 0;
        let found = self.limits.most_over(port, cell.vc);
        let calls = port.is_first() && self.limits.has_room(cell.vc, port.vc_occupancy(cell.vc) as i64);
        let verdict = self.hardware.on_arrival(cell, port, now);
        match verdict {
            Verdict::PushOut(_) if space => self.counts.beyond += 1,
            Verdict::PushOut(vc) if Some(vc) == found => self.counts.same += 1,
            Verdict::PushOut(_) => self.counts.other += 1,
            Verdict::Discard(Reason::FrameRefused) if calls && !space && found.is_some() => {
                self.counts.none += 1;
            }
            _ => {}
        }
        verdict
    }

    fn on_departure(&mut self, departure: Departure) {
        self.hardware.on_departure(departure);
    }

    fn on_push_out(&mut self, removed: Removed) {
        self.hardware.on_push_out(removed);
    }
}

fn traffic(replication: u64) -> Traffic {
    Traffic::new(replication, vcs().len(), (1, MFS as u16))
}

/// Counts the hardware's choices in 20 runs of 2000 slots, in each of which up to `most` VCs send a cell.
fn counted(capacity: u64, vcs: &[Contract], lengths: (u16, u16), most: u64) -> Counts {
    let mut counts = Counts::default();
    for replication in 0..20 {
        let mut port = Port::<Compared>::new(&abs_push_out::Params::default(), capacity, vcs);
        let mut traffic = Traffic::new(replication, vcs.len(), lengths);
        for _ in 0..2000 {
            traffic.slot(most, 1).into_iter().for_each(|cell| drop(port.arrive(cell)));
            port.send();
        }
        let Counts { same, other, beyond, none } = port.policy.counts;
        counts.same += same;
        counts.other += other;
        counts.beyond += beyond;
        counts.none += none;
    }
    counts
}

#[test]
fn the_stacks_choose_as_the_search_does_or_for_a_known_reason() {
    // The explanation page on push-out quotes these.
    let counts = counted(CAPACITY, &vcs(), (1, MFS as u16), 4);
    assert_eq!(counts, Counts { same: 779, other: 293, beyond: 1925, none: 0 });
    // Ten VCs with equal guarantees and frames of equal length, as in the source's first network.
    let counts = counted(200, &contracts(12, &[10; 10]), (12, 12), 4);
    assert_eq!(counts, Counts { same: 182, other: 130, beyond: 465, none: 0 });
}

/// VC 1 has a whole frame in the buffer, and VC 2 the rest of a broken one and two whole ones. None has a part of the buffer but VC 0.
#[test]
fn what_is_left_of_a_broken_frame_hides_no_whole_one() {
    let contracts = contracts(4, &[100, 0, 0]);
    let mut policy =
        AbsPushOutHardware::new(&abs_push_out::Params::default(), &context(40, &contracts)).unwrap();
    let cell = |vc, frame, position, length| Cell { vc, frame, position, length, ..Cell::default() };
    let arrive = |policy: &mut AbsPushOutHardware, cell: Cell, state: &Snapshot| {
        policy.on_arrival(&cell, &state.view(cell.position == 0), 0)
    };
    let room = Snapshot::of(40, &[0, 2, 4]);
    let full = Snapshot { limited: true, ..room.clone() };
    for (cell, state, verdict) in [
        (cell(2, 0, 0, 4), &room, Verdict::Accept),
        (cell(2, 0, 1, 4), &room, Verdict::Accept),
        (cell(2, 0, 2, 4), &full, Verdict::Discard(Reason::BufferFull)),
        (cell(2, 0, 3, 4), &full, Verdict::Discard(Reason::FrameBroken)),
        (cell(2, 1, 0, 2), &room, Verdict::Accept),
        (cell(2, 1, 1, 2), &room, Verdict::Accept),
        (cell(2, 2, 0, 2), &room, Verdict::Accept),
        (cell(2, 2, 1, 2), &room, Verdict::Accept),
        (cell(1, 0, 0, 2), &room, Verdict::Accept),
        (cell(1, 0, 1, 2), &room, Verdict::Accept),
    ] {
        assert_eq!(arrive(&mut policy, cell, state), verdict, "{cell:?}");
    }
    // VC 2 has the most illegal frames while its broken one is sent, and when it has been.
    let full = Snapshot { last_frames: vec![None, Some(2), Some(2)], ..full };
    for position in [0, 1] {
        policy.on_departure(Departure { cell: cell(2, 0, position, 4), now: 0 });
        let mut policy = policy.clone();
        assert_eq!(arrive(&mut policy, cell(0, 0, 0, 4), &full), Verdict::PushOut(2), "cell {position}");
    }
}

/// Push-out goes on until B > 0 (section 3.2, step 2), where one M for all VCs makes more than M cells enough (section 3.3).
///
/// VC 0 owns all of the buffer of 10 cells, and its frames have one cell. VC 2 has nine frames of a cell in it; the first cell of a frame
/// of VC 1 is the tenth and reserves seven more: B = 10 - 10 - 7 = -7. Two cells are more than the M of VC 0, and leave B = -5. The stack
/// of VC 2 is the higher one, of 9, 8, … and at last 2 frames against 1, until its eighth frame makes B = 1. Its first is in transmission.
#[test]
fn what_is_pushed_out_makes_space_whatever_the_maximum_frame_of_the_vc() {
    let mut vcs = contracts(8, &[100, 0, 0]);
    vcs[0].mfs = 1;
    let mut port = Port::<AbsPushOutHardware>::new(&abs_push_out::Params::default(), 10, &vcs);
    let cell = |vc, frame, length| Cell { vc, frame, length, ..Cell::default() };
    for frame in 0..9 {
        assert!(port.arrive(cell(2, frame, 1)).is_accepted());
    }
    assert!(port.arrive(cell(1, 0, 8)).is_accepted());
    let space = |port: &Port<AbsPushOutHardware>| {
        port.policy.rule().space().available(port.buffer.capacity(), port.buffer.occupancy())
    };
    assert_eq!(space(&port), -7);
    let fate = port.arrive(cell(0, 0, 1));
    assert_eq!(fate.pushed_out, [(2, 1); 8]);
    assert!(fate.is_accepted());
    assert_eq!(space(&port), 0);
}

/// Cells that meet another verdict at one port than at the other, all cells, and for counters and stacks the frames
/// pushed out and the cells sent for each VC.
#[derive(Debug, PartialEq, Eq)]
struct Apart {
    different: usize,
    cells: usize,
    pushed_out: [usize; 2],
    sent: [Vec<usize>; 2],
}

#[test]
fn the_two_part_ways_cell_by_cell_and_send_equally_much() {
    let params = abs_push_out::Params::default();
    let mut apart = Apart { different: 0, cells: 0, pushed_out: [0; 2], sent: [vec![0; 5], vec![0; 5]] };
    for replication in 0..20 {
        let mut search = Port::<AbsPushOut>::new(&params, CAPACITY, &vcs());
        let mut stacks = Port::<AbsPushOutHardware>::new(&params, CAPACITY, &vcs());
        let mut traffic = traffic(replication);
        for _ in 0..2000 {
            for cell in traffic.slot(4, 1) {
                apart.cells += 1;
                let fates = [search.arrive(cell), stacks.arrive(cell)];
                apart.different += usize::from(fates[0].verdict != fates[1].verdict);
                for (count, fate) in apart.pushed_out.iter_mut().zip(&fates) {
                    *count += fate.pushed_out.len();
                }
            }
            search.send();
            stacks.send();
        }
        for (sent, buffer) in apart.sent.iter_mut().zip([&search.buffer, &stacks.buffer]) {
            buffer.sent.iter().for_each(|cell| sent[cell.vc as usize] += 1);
        }
    }
    // The explanation page on push-out quotes these.
    let sent = [vec![5168, 8133, 8026, 9311, 9353], vec![3936, 7940, 8186, 9840, 10089]];
    assert_eq!(apart, Apart { different: 26_614, cells: 80_041, pushed_out: [1268, 2997], sent });
}
