//! Push-out: the thresholds, small cases worked by hand, and the meaning of the available buffer space.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, DiscardParams, Policy, PolicyName, PortState, PushOut, Reason, Snapshot, Verdict, View,
        abs_push_out::{self, AbsPushOut, Admission},
        abs_push_out_hardware::AbsPushOutHardware,
        epd,
        epd_push_out::{self, EpdPushOut, Until},
        push_out::{Limits, Sharing},
    },
    contract::Contract,
    quantity::{CellRate, Level},
    with_policy,
};
use celltrain_engine::{quantity::BitRate, random::Generator};

use crate::accounts::{LINE, Port, Traffic, context, generator};

/// VCs with a maximum frame size of `mfs` cells and these minimum rates in percent of the line; 0 is none.
pub(crate) fn contracts(mfs: u32, percent: &[u64]) -> Vec<Contract> {
    let mcr = |&percent: &u64| (percent > 0).then_some(CellRate(BitRate(LINE.0 / 100 * percent)));
    percent.iter().map(|percent| Contract { mfs, mcr: mcr(percent), ..Contract::default() }).collect()
}

fn thresholds(sharing: Sharing, percent: &[u64]) -> Vec<i64> {
    let vcs = contracts(8, percent);
    let limits = Limits::new(sharing, &context(200, &vcs)).unwrap();
    (0..vcs.len() as u32).map(|vc| limits.threshold(vc)).collect()
}

#[test]
fn thresholds_follow_the_formula() {
    // As printed, what is left is shared like the rates themselves, and the line rate cancels out.
    assert_eq!(thresholds(Sharing::Proportional, &[10, 30]), [50, 150]);
    // A part of 200 cells for each MCR, and half of the 60 % that are left.
    assert_eq!(thresholds(Sharing::Equal, &[10, 30]), [20 + 60, 60 + 60]);
    // With equal rates the two are the same.
    for sharing in [Sharing::Proportional, Sharing::Equal] {
        assert_eq!(thresholds(sharing, &[10, 10, 10, 10]), [50; 4]);
        assert_eq!(thresholds(sharing, &[0, 0]), [100; 2]);
    }
    assert_eq!(thresholds(Sharing::Proportional, &[0, 10]), [0, 200]);
    assert_eq!(thresholds(Sharing::Equal, &[0, 10]), [90, 110]);
    // More than the line: nothing is left to share equally.
    assert_eq!(thresholds(Sharing::Proportional, &[60, 60]), [100; 2]);
    let vcs = contracts(8, &[60, 60]);
    let error = Limits::new(Sharing::Equal, &context(200, &vcs)).unwrap_err();
    assert_eq!(error.key, "sharing");
}

/// B, the available buffer space.
fn available(port: &Port<AbsPushOut>) -> i64 {
    port.policy.rule().space().available(port.buffer.capacity(), port.buffer.occupancy())
}

/// Sends the cells `from..to` of a frame of `length` cells and returns the last answer and what was pushed out.
fn part<P: BufferPolicy>(
    port: &mut Port<P>,
    (vc, frame): (u32, u32),
    (from, to): (u16, u16),
    length: u16,
) -> (Verdict<u32>, Vec<(u32, u64)>) {
    let (mut last, mut pushed_out) = (Verdict::Accept, vec![]);
    for position in from..to {
        let fate = port.arrive(Cell { vc, frame, position, length, ..Cell::default() });
        last = fate.verdict;
        pushed_out.extend(fate.pushed_out);
    }
    (last, pushed_out)
}

const REFUSED: Verdict<u32> = Verdict::Discard(Reason::FrameRefused);
const BROKEN: Verdict<u32> = Verdict::Discard(Reason::FrameBroken);
const FULL: Verdict<u32> = Verdict::Discard(Reason::BufferFull);

#[test]
fn epd_with_push_out_by_hand() {
    let params = epd_push_out::Params { threshold: Level::Cells(12), ..epd_push_out::Params::default() };
    // TL is 10 for each of two VCs; M is 4.
    let mut port = Port::<EpdPushOut>::new(&params, 20, &contracts(4, &[50, 50]));
    for frame in 0..3 {
        assert_eq!(part(&mut port, (0, frame), (0, 4), 4), (Verdict::Accept, vec![]));
    }
    // 12 cells, all of VC 0: VC 0 is refused, as 12 + 4 > 10; VC 1 pushes out the last frame of VC 0.
    assert_eq!(part(&mut port, (0, 3), (0, 4), 4), (REFUSED, vec![]));
    assert_eq!(part(&mut port, (1, 0), (0, 3), 4), (Verdict::Accept, vec![(0, 4)]));
    // 11 cells: below the threshold again. VC 0 begins a frame, which VC 1, whose frame ends meanwhile, pushes out
    // unfinished.
    assert_eq!(part(&mut port, (0, 4), (0, 2), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (1, 0), (3, 4), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (1, 1), (0, 1), 4), (Verdict::Accept, vec![(0, 2), (0, 4)]));
    // What is still to come of it is discarded, its end mark too.
    assert_eq!(part(&mut port, (0, 4), (2, 4), 4), (BROKEN, vec![]));
    // 4 cells of VC 0, of which one is in transmission, and 5 of VC 1: a frame of VC 0 passes below the threshold.
    assert_eq!(port.buffer.cells.len(), 9);
    assert_eq!(part(&mut port, (0, 5), (0, 3), 4), (Verdict::Accept, vec![]));
    // At the threshold VC 1 (5 + 4 <= 10) may push out the unfinished frame of VC 0, VC 0 has no further one: its first
    // is being sent.
    assert_eq!(part(&mut port, (1, 1), (1, 4), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (1, 2), (0, 1), 4), (REFUSED, vec![]));
    assert_eq!(port.buffer.last_frame(0), Some(3));
}

/// A frame whose end mark found no space ends in the queue all the same. What is pushed out then is not the frame that the VC is sending,
/// which stays refused.
#[test]
fn a_refused_frame_stays_refused_when_a_broken_one_before_it_is_pushed_out() {
    let params = epd_push_out::Params { threshold: Level::Cells(8), ..epd_push_out::Params::default() };
    // TL is 4 for each of two VCs; M is 4.
    let mut port = Port::<EpdPushOut>::new(&params, 9, &contracts(4, &[50, 50]));
    assert_eq!(part(&mut port, (0, 0), (0, 4), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (0, 1), (0, 3), 3), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (0, 2), (0, 2), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (0, 2), (2, 3), 4), (FULL, vec![]));
    assert_eq!(part(&mut port, (0, 2), (3, 4), 4), (BROKEN, vec![]));
    port.send();
    assert_eq!(part(&mut port, (0, 3), (0, 1), 4), (REFUSED, vec![]));
    assert_eq!(part(&mut port, (1, 0), (0, 1), 4), (Verdict::Accept, vec![(0, 2)]));
    assert_eq!(part(&mut port, (0, 3), (1, 4), 4), (REFUSED, vec![]));
}

/// Sections 4.1 and 4.2.1 of the push-out paper: EPD with push-out differs from the proposed scheme in the threshold.
#[test]
fn epd_with_push_out_until_there_is_room() {
    let params = |until| epd_push_out::Params {
        threshold: Level::Cells(12),
        until,
        ..epd_push_out::Params::default()
    };
    // TL is 9 for each of two VCs; M is 4.
    let filled = |until| {
        let mut port = Port::<EpdPushOut>::new(&params(until), 18, &contracts(4, &[50, 50]));
        for frame in 0..3 {
            assert_eq!(part(&mut port, (0, frame), (0, 4), 4), (Verdict::Accept, vec![]));
        }
        port
    };
    // At the threshold of 12 cells there is room for 4 more: nothing has to go, and VC 0 is refused all the same.
    let mut port = filled(Until::Room);
    assert_eq!(part(&mut port, (0, 3), (0, 4), 4), (REFUSED, vec![]));
    assert_eq!(part(&mut port, (1, 0), (0, 4), 4), (Verdict::Accept, vec![]));
    // 16 cells: for the next frame of VC 1 (4 + 4 <= 9) one of VC 0 goes.
    assert_eq!(part(&mut port, (1, 1), (0, 4), 4), (Verdict::Accept, vec![(0, 4)]));
    // 16 cells, and VC 1 has 8 of its 9.
    assert_eq!(part(&mut port, (1, 2), (0, 4), 4), (REFUSED, vec![]));
    // The other reading pushes out at the threshold.
    assert_eq!(part(&mut filled(Until::Threshold), (1, 0), (0, 4), 4), (Verdict::Accept, vec![(0, 4)]));
}

#[test]
fn an_overflow_within_a_frame_pushes_others_out_where_asked() {
    for (until, last, pushed_out) in
        [(Until::Room, Verdict::Accept, vec![(1, 3)]), (Until::Threshold, FULL, vec![])]
    {
        let params =
            epd_push_out::Params { threshold: Level::Cells(16), until, ..epd_push_out::Params::default() };
        let mut port = Port::<EpdPushOut>::new(&params, 18, &contracts(4, &[50, 50]));
        for frame in 0..3 {
            assert_eq!(part(&mut port, (0, frame), (0, 4), 4), (Verdict::Accept, vec![]));
        }
        assert_eq!(part(&mut port, (1, 0), (0, 3), 4), (Verdict::Accept, vec![]));
        // At 15 cells, below the threshold, a frame of VC 0 begins; its last cell finds the buffer full.
        assert_eq!(part(&mut port, (0, 3), (0, 3), 4), (Verdict::Accept, vec![]));
        assert_eq!(part(&mut port, (0, 3), (3, 4), 4), (last, pushed_out));
    }
}

#[test]
fn push_out_takes_from_the_vc_furthest_above_its_threshold() {
    // Q = 24, M = 4: TL is 12, 6 and 6.
    let mut port =
        Port::<AbsPushOut>::new(&abs_push_out::Params::default(), 24, &contracts(4, &[50, 25, 25]));
    for frame in 0..3 {
        part(&mut port, (0, frame), (0, 4), 4);
        part(&mut port, (1, frame), (0, 4), 4);
    }
    // 12 and 12 cells: VC 1 is 6 above, VC 0 at its threshold. Its last frame makes space, and B = 4.
    assert_eq!(part(&mut port, (2, 0), (0, 4), 4), (Verdict::Accept, vec![(1, 4)]));
    assert_eq!(available(&port), 0);
    // VC 2 with 4 + 4 > 6 cells pushes nobody out: its first cell finds the buffer full.
    assert_eq!(part(&mut port, (2, 1), (0, 4), 4), (BROKEN, vec![]));
}

/// The illegal cells that policies see as frames of four cells come: three on VC 0, one on VC 1, two on VC 2, where TL is
/// 9, 9 and 2 cells. Then the first cell is sent.
fn illegal<P: BufferPolicy>(params: &P::Params) -> Vec<Option<u64>> {
    let mut port = Port::<P>::new(params, 20, &contracts(4, &[45, 45, 10]));
    let mut found = vec![port.illegal()];
    for (vc, frame) in [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)] {
        assert_eq!(part(&mut port, (vc, frame), (0, 4), 4), (Verdict::Accept, vec![]));
        found.push(port.illegal());
    }
    port.send();
    found.push(port.illegal());
    found
}

#[test]
fn cells_beyond_the_thresholds_are_illegal() {
    // 4, 8 and 12 cells of VC 0: three beyond 9. Four of VC 1 are within its 9, four of VC 2 two beyond its 2.
    let counted = [0, 0, 0, 3, 3, 5, 4].map(Some);
    let params = abs_push_out::Params::default();
    assert_eq!(illegal::<AbsPushOut>(&params), counted);
    assert_eq!(illegal::<AbsPushOutHardware>(&params), counted);
    let params = epd_push_out::Params { threshold: Level::Cells(18), ..epd_push_out::Params::default() };
    assert_eq!(illegal::<EpdPushOut>(&params), counted);
    // EPD gives nobody a part.
    let params = epd::Params { threshold: Level::Cells(18), ..epd::Params::default() };
    assert_eq!(illegal::<epd::Epd>(&params), [None; 7]);
}

#[test]
fn the_first_cell_reserves_and_the_last_gives_back() {
    let mut port = Port::<AbsPushOut>::new(&abs_push_out::Params::default(), 20, &contracts(8, &[50, 50]));
    part(&mut port, (0, 0), (0, 1), 3);
    assert_eq!(available(&port), 12);
    part(&mut port, (0, 0), (1, 3), 3);
    assert_eq!(available(&port), 17);
    // A frame of twelve cells: the reservation of eight is used up, then each cell takes one.
    part(&mut port, (1, 0), (0, 8), 12);
    assert_eq!(available(&port), 9);
    part(&mut port, (1, 0), (8, 11), 12);
    assert_eq!(available(&port), 6);
    part(&mut port, (1, 0), (11, 12), 12);
    assert_eq!(available(&port), 5);
    port.send();
    assert_eq!(available(&port), 6);
}

#[test]
fn a_frame_that_overflows_alone_is_pushed_out_whole() {
    // One VC, Q = 10, M = 4, nothing is sent but the first cell. B = 2 admits a frame of 4 that does not fit.
    let mut port = Port::<AbsPushOut>::new(&abs_push_out::Params::default(), 10, &contracts(4, &[100]));
    part(&mut port, (0, 0), (0, 4), 4);
    part(&mut port, (0, 1), (0, 4), 4);
    assert_eq!(part(&mut port, (0, 2), (0, 2), 4), (Verdict::Accept, vec![]));
    assert_eq!(part(&mut port, (0, 2), (2, 4), 4), (BROKEN, vec![(0, 2)]));
    assert_eq!(available(&port), 2);
    // With a whole frame's space asked for it is refused at once.
    let params = abs_push_out::Params { admission: Admission::WholeFrame, ..abs_push_out::Params::default() };
    let mut port = Port::<AbsPushOut>::new(&params, 10, &contracts(4, &[100]));
    part(&mut port, (0, 0), (0, 4), 4);
    part(&mut port, (0, 1), (0, 4), 4);
    assert_eq!(part(&mut port, (0, 2), (0, 4), 4), (REFUSED, vec![]));
}

/// B as the paper keeps it: counted up and down. It knows frames of at most M cells that begin and end as they should.
struct Counted {
    space: i64,
    /// By VC, cells that have arrived of the admitted frame in progress.
    arrived: BTreeMap<u32, i64>,
    frame: i64,
}

impl Counted {
    fn arrive(&mut self, cell: &Cell, accepted: bool, pushed_out: &[(u32, u64)], unfinished: &[bool]) {
        for (&(vc, count), &unfinished) in pushed_out.iter().zip(unfinished) {
            self.space += count as i64;
            if unfinished {
                self.space += self.frame - self.arrived.remove(&vc).unwrap();
            }
        }
        if !accepted {
            return;
        }
        if cell.position == 0 {
            self.space -= self.frame;
        }
        let arrived = self.arrived.entry(cell.vc).or_insert(0);
        *arrived += 1;
        if cell.is_last() {
            self.space += self.frame - *arrived;
            self.arrived.remove(&cell.vc);
        }
    }
}

const MFS: u32 = 8;
const VCS: usize = 5;

/// Runs `slots` slots in each of which up to `most` VCs send `speed` cells; `check` sees the port and each arrival.
/// Returns the cells discarded.
fn run<P: BufferPolicy>(
    port: &mut Port<P>,
    traffic: &mut Traffic,
    (slots, most, speed): (usize, u64, usize),
    mut check: impl FnMut(&Port<P>, Option<&Cell>),
) -> Vec<(Cell, Verdict<u32>)> {
    let mut lost = Vec::new();
    for _ in 0..slots {
        for cell in traffic.slot(most, speed) {
            let before = port.buffer.cells.clone();
            let fate = port.arrive(cell);
            if !fate.is_accepted() {
                lost.push((cell, fate.verdict));
            }
            if !fate.pushed_out.is_empty() {
                let gone = before.iter().filter(|cell| !port.buffer.cells.contains(cell));
                lost.extend(gone.map(|&cell| (cell, Verdict::Discard(Reason::PushedOut))));
            }
            check(port, Some(&cell));
        }
        port.send();
        check(port, None);
    }
    lost
}

#[test]
fn space_is_what_the_paper_counts() {
    for replication in 0..30 {
        let mut port = Port::<AbsPushOut>::new(
            &abs_push_out::Params { admission: Admission::WholeFrame, ..abs_push_out::Params::default() },
            50,
            &contracts(MFS, &[10, 20, 20, 25, 25]),
        );
        let mut counted = Counted { space: 50, arrived: BTreeMap::new(), frame: i64::from(MFS) };
        let mut traffic = Traffic::new(replication, VCS, (1, MFS as u16));
        let mut pushes = 0;
        for _ in 0..400 {
            for cell in traffic.slot(4, 1) {
                // A frame that is pushed out is unfinished if the end mark of its VC's last cell is still to come.
                let before = port.buffer.clone();
                let fate = port.arrive(cell);
                let mut last = before.clone();
                let mut unfinished = vec![];
                for &(vc, _) in &fate.pushed_out {
                    let end = last.cells.iter().rfind(|cell| cell.vc == vc).copied().unwrap();
                    unfinished.push(!end.is_last());
                    last.cells.retain(|cell| (cell.vc, cell.frame) != (vc, end.frame));
                }
                pushes += fate.pushed_out.len();
                counted.arrive(&cell, fate.is_accepted(), &fate.pushed_out, &unfinished);
                assert_eq!(available(&port), counted.space, "{cell:?}");
            }
            counted.space += i64::from(!port.buffer.cells.is_empty());
            port.send();
            assert_eq!(available(&port), counted.space);
        }
        assert!(pushes > 0, "nothing was pushed out in replication {replication}");
    }
}

/// Runs frames of at most M cells against a policy: how many were broken, lost cells after others had been sent, and
/// how many cells within a frame found the buffer full.
fn broken<P: BufferPolicy>(params: &P::Params, capacity: u64, speed: usize) -> (usize, usize) {
    let (mut stumps, mut full) = (0, 0);
    for replication in 0..20 {
        let mut port = Port::<P>::new(params, capacity, &contracts(MFS, &[10, 20, 20, 25, 25]));
        let mut traffic = Traffic::new(replication, VCS, (1, MFS as u16));
        let lost = run(&mut port, &mut traffic, (1000, 5, speed), |_, _| {});
        full += lost.iter().filter(|(cell, verdict)| cell.position > 0 && *verdict == FULL).count();
        stumps += port.stumps(&lost.into_iter().map(|(cell, _)| cell).collect::<Vec<_>>());
    }
    (stumps, full)
}

#[test]
fn with_space_for_whole_frames_none_overflows_however_fast_they_come() {
    let params = abs_push_out::Params { admission: Admission::WholeFrame, ..abs_push_out::Params::default() };
    for capacity in [8, 17, 30, 100] {
        let mut port = Port::<AbsPushOut>::new(&params, capacity, &contracts(MFS, &[10, 20, 20, 25, 25]));
        let mut traffic = Traffic::new(0, VCS, (1, MFS as u16));
        let lost = run(&mut port, &mut traffic, (300, 5, 3), |port, _| {
            assert!(available(port) >= 0, "more is reserved than there is");
        });
        assert!(lost.len() > 100, "the buffer is never short of space");
        for speed in [1, 3] {
            assert_eq!(broken::<AbsPushOut>(&params, capacity, speed), (0, 0));
            assert_eq!(broken::<AbsPushOutHardware>(&params, capacity, speed), (0, 0));
        }
    }
}

#[test]
fn as_published_no_frame_overflows_that_comes_no_faster_than_the_line() {
    // B > 0 leaves at most M - 1 cells too few, and as many are sent while a frame of M cells comes in.
    let params = abs_push_out::Params::default();
    for capacity in [1, 2, 8, 9, 17, 30, 100] {
        assert_eq!(broken::<AbsPushOut>(&params, capacity, 1), (0, 0), "{capacity}");
        assert_eq!(broken::<AbsPushOutHardware>(&params, capacity, 1), (0, 0), "{capacity}");
    }
    // Three times as fast the smallest buffers overflow with nothing to push out; in others push-out saves every frame.
    assert!(broken::<AbsPushOut>(&params, 10, 3).0 > 0);
    for capacity in [20, 40, 100] {
        assert_eq!(broken::<AbsPushOut>(&params, capacity, 3), (0, 0), "{capacity}");
    }
}

#[test]
fn epd_breaks_no_frame_if_every_vc_has_a_frame_of_room_above_the_threshold() {
    let broken = |excess: u64| {
        let params = epd::Params { threshold: Level::Cells(80 - excess), ..epd::Params::default() };
        broken::<epd::Epd>(&params, 80, 1).0
    };
    let (one, all) = (broken(u64::from(MFS)), broken(u64::from(MFS) * VCS as u64));
    assert!(one > 20, "with room for one frame only {one} frames are broken");
    assert_eq!(all, 0);
}

#[test]
fn space_keeps_its_meaning_whatever_arrives() {
    for replication in 0..30 {
        for admission in [Admission::AnySpace, Admission::WholeFrame] {
            let params = abs_push_out::Params { admission, ..abs_push_out::Params::default() };
            let vcs = contracts(MFS, &[10, 20, 20, 25, 25]);
            let mut port = Port::<AbsPushOut>::new(&params, 40, &vcs);
            // Frames up to twice as long as agreed, and every third end mark is lost: frames grow together.
            let mut traffic = Traffic::new(replication, VCS, (1, 2 * MFS as u16)).losing_ends(3);
            let mut arrived = [0; VCS];
            let mut admitted = 0;
            let least = if admission == Admission::WholeFrame { 0 } else { 1 - i64::from(MFS) };
            let speed = 1 + 2 * (replication as usize % 2);
            run(&mut port, &mut traffic, (400, 5, speed), |port, cell| {
                if let Some(cell) = cell {
                    let count = &mut arrived[cell.vc as usize];
                    *count = if port.buffer.is_first() { 1 } else { *count + 1 };
                    if cell.is_last() {
                        *count = 0;
                    }
                    // A frame is admitted to what is free and not reserved: all of it, or its first cell at the least.
                    if port.buffer.is_first() && port.buffer.cells.back() == Some(cell) {
                        admitted += 1;
                        assert!(available(port) >= least, "admitted without space");
                    }
                }
                // At most what the frames in progress have not used of their reservations is reserved, and never more
                // than that is missing from the free cells.
                let free = 40 - port.buffer.cells.len() as i64;
                let reserved = free - available(port);
                let unused = |&count: &i64| if count > 0 { (i64::from(MFS) - count).max(0) } else { 0 };
                let most: i64 = arrived.iter().map(unused).sum();
                assert!((0..=most).contains(&reserved), "{reserved} cells are reserved, {most} can be");
            });
            assert!(admitted > 20, "only {admitted} frames are admitted");
        }
    }
}

#[test]
fn when_all_frames_have_ended_everything_is_available() {
    let params = abs_push_out::Params::default();
    let mut port = Port::<AbsPushOut>::new(&params, 40, &contracts(MFS, &[10, 20, 20, 25, 25]));
    let mut traffic = Traffic::new(0, VCS, (1, 2 * MFS as u16)).losing_ends(3);
    let mut ended = [true; VCS];
    run(&mut port, &mut traffic, (400, 5, 1), |_, cell| {
        if let Some(cell) = cell {
            ended[cell.vc as usize] = cell.is_last();
        }
    });
    for vc in (0..VCS as u32).filter(|&vc| !ended[vc as usize]).collect::<Vec<_>>() {
        while !traffic_ends(&mut port, &mut traffic, vc) {}
    }
    while !port.buffer.cells.is_empty() {
        port.send();
    }
    assert_eq!(available(&port), 40);
}

/// Sends a cell of `vc`; returns whether it was the last of its frame.
fn traffic_ends<P: BufferPolicy>(port: &mut Port<P>, traffic: &mut Traffic, vc: u32) -> bool {
    let cell = traffic.cell_of(vc);
    port.arrive(cell);
    cell.is_last()
}

#[test]
fn a_vc_at_a_limit_of_its_own_pushes_nobody_out() {
    // A frame of another VC could be pushed out, but no room below the limit would come of it.
    for policy in [PolicyName::EpdPushOut, PolicyName::AbsPushOut] {
        for limited in [false, true] {
            let state = AtLimit {
                snapshot: Snapshot {
                    last_frames: vec![None, Some(4)],
                    limited: true,
                    ..Snapshot::of(100, &[0, 100])
                },
                limited,
            };
            let contracts = contracts(8, &[0, 0]);
            let mut policy = Policy::new(&DiscardParams::of(policy), &context(100, &contracts)).unwrap();
            let pushes = with_policy!(&mut policy, policy => {
                let verdict = policy.on_arrival(&Cell { length: 4, ..Cell::default() }, &View::new(&state, true), 0);
                !matches!(verdict, Verdict::Accept | Verdict::Mark | Verdict::Discard(_))
            });
            assert_eq!(pushes, !limited);
        }
    }
}

/// What becomes of the third cell of a frame of VC 0 that finds no room although the buffer has some: in a memory that ports share, or
/// with its VC at a limit of its own. VC 1 has no part of the buffer and a whole frame there.
fn within_a_frame<P: BufferPolicy<Needs = PushOut>>(
    params: &P::Params,
    limited: bool,
    last_frames: [Option<u64>; 2],
) -> Verdict<u32> {
    let contracts = contracts(8, &[100, 0]);
    let mut policy = P::new(params, &context(100, &contracts)).unwrap();
    let mut held = [0, 0];
    for (vc, position) in [(1, 0), (1, 1), (1, 2), (1, 3), (0, 0), (0, 1)] {
        let cell = Cell { vc, position, length: 4, ..Cell::default() };
        let verdict = policy.on_arrival(&cell, &Snapshot::of(100, &held).view(position == 0), 0);
        assert_eq!(verdict, Verdict::Accept);
        held[vc as usize] += 1;
    }
    let snapshot = Snapshot { last_frames: last_frames.to_vec(), limited: true, ..Snapshot::of(100, &held) };
    let cell = Cell { position: 2, length: 4, ..Cell::default() };
    policy.on_arrival(&cell, &View::new(&AtLimit { snapshot, limited }, false), 0)
}

#[test]
fn a_cell_within_a_frame_that_finds_a_shared_memory_full_pushes_others_out() {
    let epd = epd_push_out::Params { until: Until::Room, ..epd_push_out::Params::default() };
    let abs = abs_push_out::Params::default();
    let both = [Some(2), Some(4)];
    for limited in [false, true] {
        let of_all = |frames| {
            [
                within_a_frame::<EpdPushOut>(&epd, limited, frames),
                within_a_frame::<AbsPushOut>(&abs, limited, frames),
                within_a_frame::<AbsPushOutHardware>(&abs, limited, frames),
            ]
        };
        let own = Verdict::PushOut(0);
        // Other VCs make no room below a limit of this one. Then the frame at hand is lost, and takes no more of the line.
        let expected = if limited { [FULL, own, own] } else { [Verdict::PushOut(1); 3] };
        assert_eq!(of_all(both), expected);
        assert_eq!(of_all([Some(2), None]), [FULL, own, own]);
        assert_eq!(of_all([None, None]), [FULL; 3]);
    }
}

/// A port where the VC of the unit at hand may be at a limit of its own.
struct AtLimit {
    snapshot: Snapshot,
    limited: bool,
}

impl PortState for AtLimit {
    fn is_vc_full(&self) -> bool {
        self.limited
    }
    fn capacity(&self) -> u64 {
        self.snapshot.capacity()
    }
    fn occupancy(&self) -> u64 {
        self.snapshot.occupancy()
    }
    fn is_full(&self) -> bool {
        self.snapshot.is_full()
    }
    fn is_packet(&self) -> bool {
        self.snapshot.is_packet()
    }
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.snapshot.vc_occupancy(vc)
    }
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.snapshot.clp_occupancy(clp)
    }
    fn active_vcs(&self) -> u64 {
        self.snapshot.active_vcs()
    }
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.snapshot.last_frame(vc)
    }
    fn is_too_large(&self) -> bool {
        self.snapshot.is_too_large()
    }
    fn waiting_frames(&self, vc: u32, _: bool) -> u64 {
        self.snapshot.waiting_frames(vc, false)
    }
    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        self.snapshot.waiting_load(vc, false)
    }
    fn holds_more(&self, load: u64) -> bool {
        self.snapshot.holds_more(load)
    }
}

/// A port that keeps a list of the VCs that have something in its buffer.
struct Listing {
    state: AtLimit,
    busy: Vec<u32>,
}

impl PortState for Listing {
    fn busy_vcs(&self) -> Option<&[u32]> {
        Some(&self.busy)
    }
    fn is_vc_full(&self) -> bool {
        self.state.is_vc_full()
    }
    fn capacity(&self) -> u64 {
        self.state.capacity()
    }
    fn occupancy(&self) -> u64 {
        self.state.occupancy()
    }
    fn is_full(&self) -> bool {
        self.state.is_full()
    }
    fn is_packet(&self) -> bool {
        self.state.is_packet()
    }
    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.state.vc_occupancy(vc)
    }
    fn clp_occupancy(&self, clp: bool) -> u64 {
        self.state.clp_occupancy(clp)
    }
    fn active_vcs(&self) -> u64 {
        self.state.active_vcs()
    }
    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.state.last_frame(vc)
    }
    fn is_too_large(&self) -> bool {
        self.state.is_too_large()
    }
    fn waiting_frames(&self, vc: u32, _: bool) -> u64 {
        self.state.waiting_frames(vc, false)
    }
    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        self.state.waiting_load(vc, false)
    }
    fn holds_more(&self, load: u64) -> bool {
        self.state.holds_more(load)
    }
}

/// A full buffer of few or many of `vcs` VCs, most of which have equally much there, with a list of them in no order.
fn listing(vcs: usize, generator: &mut Generator) -> Listing {
    let mut by_vc = vec![0; vcs];
    let mut busy: Vec<u32> = Vec::new();
    for _ in 0..=generator.below(vcs as u64) {
        let vc = generator.below(vcs as u64) as usize;
        by_vc[vc] += 1;
        if by_vc[vc] == 1 {
            busy.insert(generator.below(busy.len() as u64 + 1) as usize, vc as u32);
        }
    }
    let removable = |&held: &u64| (held > generator.below(2)).then_some(1);
    let last_frames = by_vc.iter().map(removable).collect();
    let snapshot = Snapshot { last_frames, packets: true, limited: true, ..Snapshot::of(4000, &by_vc) };
    Listing { state: AtLimit { snapshot, limited: false }, busy }
}

/// Policies that push out choose the same VC from a list of those that have something in the buffer as from all.
#[test]
fn a_list_of_busy_vcs_changes_no_choice() {
    let mut generator = generator(0, "listing");
    // Every other VC has a part of the buffer.
    let contracts = contracts(8, &[0, 1].repeat(20));
    let names = [PolicyName::FqCodel, PolicyName::EpdPushOut, PolicyName::AbsPushOut];
    for name in names {
        let policy = Policy::new(&DiscardParams::of(name), &context(4000, &contracts)).unwrap();
        let mut pushed = 0;
        for _ in 0..500 {
            let port = listing(contracts.len(), &mut generator);
            let packet = Cell { vc: generator.below(40) as u32, length: 1, octets: 1500, ..Cell::default() };
            let (mut policy, mut other) = (policy.clone(), policy.clone());
            let listed = with_policy!(&mut policy, policy => {
                let verdict = policy.on_arrival(&packet, &View::new(&port, true), 0);
                format!("{verdict:?}, {:?}", policy.illegal(&View::new(&port, true)))
            });
            let all = with_policy!(&mut other, policy => {
                let verdict = policy.on_arrival(&packet, &View::new(&port.state, true), 0);
                format!("{verdict:?}, {:?}", policy.illegal(&View::new(&port.state, true)))
            });
            assert_eq!(listed, all, "{name:?}, busy: {:?}", port.busy);
            pushed += u32::from(all.starts_with("PushOut"));
        }
        assert!(pushed > 50, "{name:?} pushes out {pushed} times");
    }
}

#[test]
fn a_packet_takes_the_place_of_as_many_others_as_it_needs() {
    // A buffer of bytes has some left, below every threshold, but not for a packet as long as this one.
    for policy in [PolicyName::EpdPushOut, PolicyName::AbsPushOut] {
        let state = Snapshot {
            last_frames: vec![None, Some(1)],
            packets: true,
            limited: true,
            ..Snapshot::of(5000, &[0, 3900])
        };
        let contracts = contracts(8, &[0, 0]);
        let mut policy = Policy::new(&DiscardParams::of(policy), &context(5000, &contracts)).unwrap();
        let packet = Cell { length: 1, octets: 1500, ..Cell::default() };
        let pushes = with_policy!(&mut policy, policy => {
            let verdict = policy.on_arrival(&packet, &View::new(&state, true), 0);
            !matches!(verdict, Verdict::Accept | Verdict::Mark | Verdict::Discard(_))
        });
        assert!(pushes, "the packet would be discarded, and so would all that was pushed out for it");
    }
}
