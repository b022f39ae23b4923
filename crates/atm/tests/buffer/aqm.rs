//! CoDel and PIE against the pseudocode of their RFCs, written down a second time with queues of their own, and against numbers worked
//! by hand.

use std::collections::VecDeque;

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Departure, Fate, Reason, Verdict, View,
        codel::{self, Control, LongestFrame},
        pie::{self, Controller, Pie},
    },
    cell::Kind,
};
use celltrain_engine::{Time, quantity::Duration};
use proptest::prelude::*;

use crate::model::{context, contracts, filled};

const MILLISECOND: Time = 1_000_000_000;

/// RFC 8289 section 5, with packets that are all as large as the largest.
#[derive(Default)]
struct Rfc8289 {
    queue: VecDeque<Time>,
    first_above_time: Time,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
    dropped: Vec<Time>,
}

impl Rfc8289 {
    const TARGET: Time = 5 * MILLISECOND;
    const INTERVAL: Time = 100 * MILLISECOND;

    /// Section 5.6: the packet that leaves the queue, and whether it is "ok to drop".
    fn dodequeue(&mut self, now: Time) -> (Option<Time>, bool) {
        let Some(arrival) = self.queue.pop_front() else {
            self.first_above_time = 0;
            return (None, false);
        };
        let mut ok_to_drop = false;
        if now - arrival < Self::TARGET || self.queue.len() <= 1 {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + Self::INTERVAL;
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (Some(arrival), ok_to_drop)
    }

    fn control_law(time: Time, count: u64) -> Time {
        time + (Self::INTERVAL as f64 / (count as f64).sqrt()) as Time
    }

    /// Section 5.5: the packet that is sent, if any.
    fn dequeue(&mut self, now: Time) -> Option<Time> {
        let (mut packet, ok_to_drop) = self.dodequeue(now);
        if self.dropping {
            self.dropping &= ok_to_drop;
            while now >= self.drop_next && self.dropping {
                self.dropped.extend(packet);
                self.count += 1;
                let (next, ok_to_drop) = self.dodequeue(now);
                packet = next;
                if ok_to_drop {
                    self.drop_next = Self::control_law(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.dropped.extend(packet);
            (packet, _) = self.dodequeue(now);
            self.dropping = true;
            let delta = self.count - self.last_count;
            let recent = now < self.drop_next + 16 * Self::INTERVAL;
            self.count = if delta > 1 && recent { delta } else { 1 };
            self.drop_next = Self::control_law(now, self.count);
            self.last_count = self.count;
        }
        packet
    }
}

/// The same queue, served as a port serves it: the controller decides about each packet at the head.
struct Port {
    queue: VecDeque<Time>,
    control: Control,
    longest: LongestFrame,
    dropped: Vec<Time>,
}

impl Port {
    fn dequeue(&mut self, now: Time) -> Option<Time> {
        loop {
            let arrival = self.queue.pop_front()?;
            let packet = Cell { length: 1, ..Cell::default() };
            let short = self.longest.behind(&packet);
            let is_short = || self.queue.len() as u64 <= short;
            match self.control.on_head(now, now - arrival, is_short, false) {
                Fate::Send => return Some(arrival),
                Fate::Drop => self.dropped.push(arrival),
                Fate::Mark => panic!("nothing can be marked"),
            }
        }
    }
}

/// "if (sojourn_time_ < TARGET || bytes() <= maxpacket_)": bytes of however many packets (RFC 8289 section 5.5).
#[test]
fn a_queue_is_short_by_its_bytes() {
    let packet = |octets| Cell { length: 1, octets, ..Cell::default() };
    let mut longest = LongestFrame::default();
    assert_eq!(longest.behind(&packet(1500)), 1500);
    assert_eq!(longest.behind(&packet(40)), 1500, "37 ACKs behind one are short, and 38 are not");
    // Behind the first cell of a frame of 32 are the others, and a frame of as many.
    let mut longest = LongestFrame::default();
    let first = Cell { length: 32, ..Cell::default() };
    assert_eq!(longest.behind(&first), 31 + 32);
    assert_eq!(longest.behind(&Cell { length: 1, ..Cell::default() }), 32);
}

fn codel() -> Control {
    Control::new(&codel::Params::default())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 400,
        ..ProptestConfig::default()
    })]

    /// Phases of overload and of rest: packets come so many a millisecond, one leaves every millisecond.
    #[test]
    fn codel_drops_what_the_pseudocode_drops(phases in prop::collection::vec((0u64..5, 1u64..700), 1..12)) {
        let mut rfc = Rfc8289::default();
        let mut port =
            Port { queue: VecDeque::new(), control: codel(), longest: LongestFrame::default(), dropped: Vec::new() };
        // At time 0 nothing can have been above the target: the source uses 0 for "not".
        let mut now = MILLISECOND;
        for (burst, length) in phases {
            for step in 0..length {
                let arrivals = if step % 2 == 0 { burst } else { burst / 2 };
                for _ in 0..arrivals {
                    rfc.queue.push_back(now);
                    port.queue.push_back(now);
                }
                prop_assert_eq!(rfc.dequeue(now), port.dequeue(now), "at {}", now);
                prop_assert_eq!(&rfc.dropped, &port.dropped, "at {}", now);
                now += MILLISECOND;
            }
        }
    }
}

#[test]
fn codel_marks_at_intervals_that_shrink_with_the_square_root_of_their_number() {
    // RFC 8289 section 3.3: the next drop time decreases in inverse proportion to the square root of the number of drops.
    let mut control = codel();
    let mut marked = Vec::new();
    for now in 1..1000 * 10 {
        let now = now * MILLISECOND / 10;
        if control.on_head(now, 20 * MILLISECOND, || false, true) == Fate::Mark {
            marked.push(now as f64 / MILLISECOND as f64);
        }
    }
    // Above the target since 0.1 ms, for 100 ms; the law counts from the time before, 100 / sqrt(n) ms.
    let mut expected = vec![100.1];
    for n in 1.. {
        let next = expected[n - 1] + 100.0 / (n as f64).sqrt();
        if next >= 1000.0 {
            break;
        }
        expected.push(next);
    }
    assert_eq!(marked.len(), expected.len());
    for (marked, expected) in marked.iter().zip(expected) {
        assert!((marked - expected).abs() <= 0.1, "marked at {marked} ms, expected at {expected} ms");
    }
}

#[test]
fn codel_lets_a_short_queue_wait() {
    // RFC 8289 section 4.2: it does not drop when there is less than an MTU's worth of bytes behind.
    let mut control = codel();
    for now in 1..10_000 {
        assert_eq!(control.on_head(now * MILLISECOND, 50 * MILLISECOND, || true, false), Fate::Send);
    }
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() < 1e-15
}

#[test]
fn pie_computes_the_probability_of_its_pseudocode() {
    // RFC 8033 section 4.2, with 30 ms of delay from nothing: p = 0.125 (30 - 15) ms + 1.25 (30 - 0) ms = 0.039375, over 2048.
    let mut controller = Controller::new(&pie::Params::default());
    controller.update(0.030);
    let first = 0.039_375 / 2048.0;
    assert!(close(controller.probability(), first), "{}", controller.probability());
    // The delay stays: 0.125 (30 - 15) ms = 0.001875, over 128, since the probability is below 0.0001.
    controller.update(0.030);
    assert!(close(controller.probability(), first + 0.001_875 / 128.0));
    // The delay falls to nothing: 0.125 (0 - 15) ms + 1.25 (0 - 30) ms is negative, and so would be the probability.
    controller.update(0.0);
    assert!(close(controller.probability(), 0.0));
}

#[test]
fn pie_refuses_nothing_in_a_burst_and_nothing_of_a_short_queue() {
    // RFC 8033 section 4.4: MAX_BURST of 150 ms is ten updates of 15 ms.
    let mut controller = Controller::new(&pie::Params::default());
    for update in 0..10 {
        assert!(!controller.may_refuse(0.1, false), "after {update} updates");
        controller.update(0.1);
    }
    assert!(controller.may_refuse(0.1, false));
    // Section 4.1: not with two packets or fewer in the queue.
    assert!(!controller.may_refuse(0.1, true));
    // Nor where the delay was short at the last update while the probability is below 0.2.
    let probability = controller.probability();
    controller.update(0.005);
    assert!(probability < 0.2 && !controller.may_refuse(0.1, false));
}

#[test]
fn pie_decays_where_no_queue_is_left() {
    // RFC 8033 section 4.2: drop_prob_ * 0.98 when the delay is and was zero, beside the step of the controller.
    let mut controller = Controller::new(&pie::Params::default());
    (0..4000).for_each(|_| controller.update(0.05));
    let before = controller.probability();
    assert!(before > 0.1, "{before}");
    controller.update(0.0);
    let between = controller.probability();
    controller.update(0.0);
    let scale = if between < 0.1 { 2.0 } else { 1.0 };
    assert!(close(controller.probability(), ((between - 0.125 * 0.015 / scale) * 0.98).max(0.0)));
}

/// PIE in front of 155.52 Mbit/s, where a cell takes 2.7 us, that refuses every frame once an update has found `target` or more, and none
/// once one has found less: the probability is 1 or 0 after each.
fn all_or_nothing(target: Time) -> Pie {
    let params = pie::Params {
        target: Duration(target),
        update: Duration(MILLISECOND),
        alpha: 1e12,
        beta: 1e-12,
        max_burst: Duration(0),
        mean_packet: 0,
        ..pie::Params::default()
    };
    Pie::new(&params, &context(100, &contracts(2))).unwrap()
}

/// What becomes of `cell`, which finds room.
fn arrive(policy: &mut Pie, cell: Cell, now: Time) -> Verdict {
    policy.on_arrival(&cell, &View::new(&filled(100, &[]), cell.position == 0), now)
}

/// The cell at `position` of a frame of 30 of VC 0.
fn long(position: u16) -> Cell {
    Cell { position, length: 30, ..Cell::default() }
}

#[test]
fn pie_updates_by_the_queue_at_the_time_of_the_update_whatever_cells_of_a_frame_come_after_it() {
    // RFC 8033 section 4.2: the probability is adjusted every T_UPDATE, by the latency of that time. There is a cell in the buffer at 1 ms, and
    // twenty when the next frame comes, which would be 54 us.
    let mut policy = all_or_nothing(20 * MILLISECOND / 1000);
    for position in 0..20 {
        let now = if position == 0 { MILLISECOND - 1 } else { MILLISECOND + 1 };
        assert_eq!(arrive(&mut policy, long(position), now), Verdict::Accept);
    }
    let other = Cell { vc: 1, length: 1, ..Cell::default() };
    assert_eq!(arrive(&mut policy, other, MILLISECOND + 2), Verdict::Accept);
    // Nothing has left at 2 ms: 21 cells.
    assert_eq!(arrive(&mut policy, other, 2 * MILLISECOND), Verdict::Discard(Reason::FrameRefused));
}

#[test]
fn pie_finds_the_queue_empty_between_two_cells_of_a_frame() {
    // RFC 8033 section 4.2: the latency is zero at 1 ms and at 2 ms, and a cell is in the buffer at 3 ms, which is more than the target.
    let policy = all_or_nothing(2 * MILLISECOND / 1000);
    let other = Cell { vc: 1, length: 1, ..Cell::default() };
    let verdicts = [2, 3].map(|updates| {
        let mut policy = policy.clone();
        assert_eq!(arrive(&mut policy, long(0), 0), Verdict::Accept);
        policy.on_departure(Departure { cell: long(0), now: 2_726_337 });
        assert_eq!(arrive(&mut policy, long(1), 2 * MILLISECOND + 1), Verdict::Accept);
        arrive(&mut policy, other, updates * MILLISECOND + 2)
    });
    assert_eq!(verdicts, [Verdict::Accept, Verdict::Discard(Reason::FrameRefused)]);
}

#[test]
fn pie_counts_cells_that_belong_to_no_frame_in_the_delay() {
    // RFC 8033 section 4.3: the length of the queue over the rate, whatever is in the queue. Eight cells, 21.8 us, and after two have left 16.4 us.
    let rm = Cell::management(0, Kind::ForwardRm, 0, false);
    let other = Cell { vc: 1, length: 1, ..Cell::default() };
    let verdicts = [0, 2].map(|left| {
        let mut policy = all_or_nothing(20 * MILLISECOND / 1000);
        (0..7).for_each(|_| policy.on_frameless(&rm, true, 0));
        assert_eq!(arrive(&mut policy, other, 0), Verdict::Accept);
        (0..left).for_each(|_| policy.on_frameless(&rm, false, MILLISECOND - 1));
        arrive(&mut policy, other, MILLISECOND)
    });
    assert_eq!(verdicts, [Verdict::Discard(Reason::FrameRefused), Verdict::Accept]);
}
