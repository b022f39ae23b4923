//! What a receiver does with the segment that comes nearly always: header prediction (RFC 7323 section 5.6).

use celltrain_engine::Time;

use super::Receiver;
use crate::segment::{Ecn, Flags, Segment};

impl Receiver {
    /// Whether a segment is what comes nearly always: data that are next in order, without a FIN or a mark, with nothing held above
    /// them.
    #[inline]
    pub(super) fn predicts(&self, segment: &Segment) -> bool {
        segment.seq == self.next
            && segment.flags == Flags::ACK
            && segment.ecn != Ecn::Ce
            && segment.len > 0
            && u64::from(segment.len) <= self.window
            && self.out_of_order.is_empty()
            && self.fin.is_none()
    }

    /// As [`take_predicted`](Self::take_predicted), by a receiver that has to look further.
    // Kept out of the way of those that need not.
    #[inline(never)]
    pub(super) fn take_special(&mut self, now: Time, segment: &Segment) {
        let urgent = self.note_special(now, segment, false);
        self.take_predicted(now, segment, urgent);
    }

    /// What the general case comes to for such a segment; it is acknowledged at once if that is `urgent`.
    #[inline]
    pub(super) fn take_predicted(&mut self, now: Time, segment: &Segment, urgent: bool) {
        let len = u64::from(segment.len);
        self.next += len;
        self.unacknowledged += len;
        self.stats.segments += 1;
        self.stats.delivered_bytes += len;
        self.stats.distinct_bytes += len;
        self.stats.distinct_full_segments += u64::from(segment.len == self.params.mss);
        if urgent { self.acknowledge() } else { self.delay_ack(now) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{CongestionKind, Stack, StackSpec};

    /// A segment that begins `back` bytes before or `ahead` behind what is expected next.
    fn segment(next: u64, (back, ahead, len): (u64, u64, u32), bits: u8) -> Segment {
        Segment {
            seq: next.saturating_sub(back) + ahead,
            len,
            flags: Flags::ACK | if bits & 1 > 0 { Flags::CWR } else { Flags::NONE },
            ecn: if bits & 4 > 0 { Ecn::Ce } else { Ecn::Ect0 },
            ..Segment::default()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn prediction_changes_nothing(
            stack in prop::sample::select(Stack::ALL),
            // Receivers that have to look further: with an application that reads slowly, or that echo each mark.
            read_rate in prop::option::of(1_000_000u64..1_000_000_000),
            dctcp in prop::bool::weighted(0.2),
            // Most of them are predicted: in order, without bits.
            arrivals in prop::collection::vec((
                prop_oneof![5 => Just((0, 0)), 1 => (0u64..3000, 0u64..3000)],
                prop_oneof![3 => Just(None), 1 => (0u32..1500).prop_map(Some)],
                prop_oneof![9 => Just(0u8), 1 => 0u8..8],
                0u64..50_000_000_000,
                prop::bool::weighted(0.9),
            ), 1..60),
        ) {
            let mut params = StackSpec { stack, ..StackSpec::default() }.resolve().expect("a preset is possible");
            params.read_rate = read_rate;
            if dctcp {
                (params.congestion_control, params.ecn, params.accurate_ecn) = (CongestionKind::Dctcp, true, false);
            }
            let (mut receiver, mut now, mut predicted) = (Receiver::new(&params), 0, 0);
            for ((back, ahead), len, bits, gap, polls) in std::iter::once(((0, 0), None, 0, 0, true)).chain(arrivals) {
                now += gap;
                let mut segment = segment(receiver.next, (back, ahead, len.unwrap_or(params.mss)), bits);
                // Nothing may follow a FIN.
                let ends = bits & 2 > 0 && (back, ahead) == (0, 0) && receiver.out_of_order.is_empty();
                segment.flags |= if ends { Flags::FIN } else { Flags::NONE };
                let mut other = receiver.clone();
                predicted += u32::from(receiver.predicts(&segment));
                receiver.on_segment(now, &segment);
                other.note_timestamps(&segment);
                other.on_other(now, &segment);
                prop_assert_eq!(format!("{receiver:?}"), format!("{other:?}"));
                if polls {
                    let _ = receiver.poll_segment(now);
                }
                if ends {
                    break;
                }
            }
            prop_assert!(predicted > 0);
        }
    }
}
