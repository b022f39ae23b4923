//! Samples of given flights and ACKs.

use celltrain_engine::time::MILLISECOND as MS;

use super::*;
use crate::segment::SackBlocks;

/// The clock of a stack of `table`.
fn clock(table: &str) -> Clock {
    Clock::new(&toml::from_str::<crate::StackSpec>(table).unwrap().resolve().unwrap())
}

fn exact() -> Clock {
    clock("")
}

fn ack(ack: u64, sack: Option<Range<u64>>) -> Segment {
    let mut blocks = SackBlocks::default();
    if let Some(block) = sack {
        blocks.push(ack, block);
    }
    Segment { ack, sack: blocks, ..Segment::default() }
}

/// Sends segments of 1000 bytes from `first` on, one every `gap`, from `start` on.
fn send(delivery: &mut Delivery, start: Time, gap: Time, first: u64, count: u64) {
    for number in 0..count {
        let seq = first + 1000 * number;
        delivery.on_sent(start + gap * number, &(seq..seq + 1000), 1000, 1 << 30);
    }
}

#[test]
fn the_slower_of_sending_and_delivering_counts() {
    // Section 4.1.1.2.4. Ten segments at once, delivered one every 10 ms from 100 ms on: each sample spans from time 0 on.
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, 0, 0, 10);
    for number in 1..=10 {
        let now = (90 + 10 * number) * MS;
        delivery.on_ack(now, &ack(1000 * number, None));
        let sample = delivery.sample(now, exact(), None, false).unwrap();
        assert_eq!(sample.rate, 8 * 1000 * number * 1000 / (90 + 10 * number));
        assert_eq!((sample.acked, sample.inflight), (1000, 1000 * (10 - number)));
        assert_eq!(sample.rtt, Some(now));
    }
    // Ten more, one every 20 ms, whose ACKs are held back and come together: the rate of sending counts.
    send(&mut delivery, 200 * MS, 20 * MS, 10_000, 10);
    delivery.on_ack(480 * MS, &ack(20_000, None));
    let sample = delivery.sample(480 * MS, exact(), None, false).unwrap();
    assert_eq!((sample.delivered, sample.prior_delivered), (10_000, 10_000));
    assert_eq!(sample.rate, 8 * 10_000 * 1000 / 280, "280 ms of ACKs, 180 ms of sending");
}

#[test]
fn compressed_acks_do_not_raise_the_rate() {
    // Section 4.1.1.2.2: a train sent over 100 ms whose ACKs arrive within a moment, after another that was delivered late.
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, 0, 0, 1);
    send(&mut delivery, 10 * MS, 10 * MS, 1000, 10);
    delivery.on_ack(110 * MS, &ack(1000, None));
    delivery.sample(110 * MS, exact(), None, false);
    delivery.on_ack(111 * MS, &ack(11_000, None));
    let sample = delivery.sample(111 * MS, exact(), None, false).unwrap();
    assert_eq!(sample.delivered, 11_000);
    assert_eq!(sample.rate, 8 * 11_000 * 1000 / 111, "since time 0, not since the last ACK");
}

/// Section 2.2 of the draft: C.delivered "SHOULD include spurious retransmissions that have been acknowledged as delivered". RS.newly_acked does not.
#[test]
fn what_was_delivered_twice_counts_twice() {
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, 0, 0, 3);
    // A probe that was not needed.
    delivery.on_sent(50 * MS, &(2000..3000), 1000, 1 << 30);
    delivery.on_ack(100 * MS, &ack(3000, None));
    let sample = delivery.sample(100 * MS, exact(), None, false).unwrap();
    assert_eq!((sample.acked, sample.delivered_total), (3000, 3000));
    send(&mut delivery, 110 * MS, 0, 3000, 2);
    let mut segment = Segment { ack: 3000, ..Segment::default() };
    segment.sack.push_duplicate(3000, &(2000..3000));
    delivery.on_ack(120 * MS, &segment);
    assert_eq!(delivery.sample(120 * MS, exact(), None, false), None);
    assert_eq!((delivery.delivered(), delivery.inflight()), (4000, 2000));
    delivery.on_ack(210 * MS, &ack(5000, None));
    let sample = delivery.sample(210 * MS, exact(), None, false).unwrap();
    assert_eq!((sample.acked, sample.delivered, sample.delivered_total), (2000, 3000, 6000));
}

#[test]
fn losses_and_reports_move_what_is_in_flight() {
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, MS, 0, 5);
    delivery.on_ack(100 * MS, &ack(0, Some(2000..4000)));
    delivery.on_lost(0);
    delivery.on_lost(0);
    delivery.on_lost(1000);
    let losses = delivery.take_losses();
    assert_eq!(losses.iter().map(|lost| lost.lost_since).collect::<Vec<_>>(), [1000, 2000]);
    assert_eq!(losses.iter().map(|lost| lost.tx_in_flight).collect::<Vec<_>>(), [1000, 2000]);
    let sample = delivery.sample(100 * MS, exact(), None, false).unwrap();
    assert_eq!((sample.acked, sample.lost, sample.inflight), (2000, 2000, 1000));
    assert_eq!((sample.tx_in_flight, sample.lost_since), (4000, 2000));
    delivery.on_sent(101 * MS, &(0..1000), 1000, 2000);
    assert_eq!(delivery.inflight(), 2000);
    delivery.forgive();
    assert_eq!(delivery.inflight(), 3000);
    // The retransmission is ambiguous; a timestamp says that it arrived.
    delivery.on_ack(190 * MS, &ack(1000, Some(2000..4000)));
    assert_eq!(delivery.clone().sample(190 * MS, exact(), None, false).unwrap().rtt, None);
    let sample = delivery.sample(190 * MS, exact(), Some(101 * MS), true).unwrap();
    assert_eq!((sample.rtt, sample.acked, sample.marked), (Some(89 * MS), 1000, 1000));
    assert!(sample.cwnd_limited, "2000 bytes filled the window of 2000");
}

#[test]
fn a_gap_left_by_the_application_marks_a_flight() {
    // Section 4.1.1.3: until what is sent after the gap has been acknowledged.
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, 0, 0, 2);
    delivery.check_app_limited(false, 10_000);
    assert!(!delivery.is_app_limited());
    delivery.check_app_limited(true, 2000);
    assert!(!delivery.is_app_limited(), "the window is full");
    delivery.check_app_limited(true, 10_000);
    send(&mut delivery, MS, 0, 2000, 2);
    let limited = [1000, 2000, 3000, 4000].map(|edge| {
        delivery.on_ack(100 * MS, &ack(edge, None));
        delivery.sample(100 * MS, exact(), None, false).unwrap().app_limited
    });
    assert_eq!(limited, [false, false, true, true]);
    assert!(!delivery.is_app_limited());
}

#[test]
fn rounds_are_counted_in_data() {
    let mut delivery = Delivery::default();
    let mut rounds = Vec::new();
    for round in 0..4 {
        send(&mut delivery, round * 100 * MS, 0, 3000 * round, 3);
        for segment in 1..=3 {
            let now = (round * 100 + 50) * MS;
            delivery.on_ack(now, &ack(3000 * round + 1000 * segment, None));
            rounds.push(delivery.sample(now, exact(), None, false).unwrap().rounds);
        }
    }
    assert_eq!(rounds, [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4]);
}

/// Section 4.2: a round trip counts if it is known which of two transmissions arrived. Timestamps are readings of the stack's clock,
/// which may be behind the time or, with a phase, before it.
#[test]
fn a_timestamp_tells_transmissions_apart_by_its_own_clock() {
    // Sent at 60 and at 90 ms, sent again at 140 ms; a clock that ticks at 0, 100, 200, or, half a tick on, at 50, 150, 250.
    for (table, sent, echo, known) in [
        ("", 60, 140, true),
        ("", 60, 60, false),
        ("tick = '100 ms'", 60, 100, true),
        ("tick = '100 ms'", 60, 0, false),
        ("tick = '100 ms'\ntick-phase = '50 ms'", 40, 100, true),
        // Both readings are 100 ms: either may have arrived.
        ("tick = '100 ms'\ntick-phase = '50 ms'", 60, 100, false),
        ("tick = '100 ms'\ntick-phase = '50 ms'\nrto-arithmetic = 'elapsed-ticks'", 60, 100, false),
    ] {
        let mut delivery = Delivery::default();
        send(&mut delivery, sent * MS, 0, 0, 1);
        delivery.on_lost(0);
        delivery.on_sent(140 * MS, &(0..1000), 1000, 1 << 30);
        delivery.on_ack(200 * MS, &ack(1000, None));
        let sample = delivery.sample(200 * MS, clock(table), Some(echo * MS), false).unwrap();
        assert_eq!(sample.rtt, known.then_some(60 * MS), "{table}, sent at {sent}, echo {echo}");
    }
}

/// A block that comes again and has grown reports what is new in it, also where it has grown together with another.
#[test]
fn blocks_that_grow_report_what_is_new() {
    let mut delivery = Delivery::default();
    send(&mut delivery, 0, MS, 0, 10);
    for (block, acked) in [(2000..4000, 2000), (2000..4000, 0), (7000..8500, 1000), (2000..9000, 4000)] {
        delivery.on_ack(100 * MS, &ack(0, Some(block.clone())));
        let sample = delivery.sample(100 * MS, exact(), None, false);
        assert_eq!(sample.map_or(0, |sample| sample.acked), acked, "{block:?}");
    }
    assert_eq!(delivery.inflight(), 3000);
}
