//! What a sender sends nearly always, header prediction for the other direction: a full segment of new data, as the windows let it.

use celltrain_engine::Time;

use super::{Sender, State};
use crate::{
    flow::Flow,
    params::Params,
    recovery::Recovery,
    segment::{Flags, Outlet, Segment},
};

impl Sender {
    /// Whether nobody looks at each segment that leaves: no pacing, no samples of delivery rates, no ECN, no trace.
    pub(super) const fn is_plain(params: &Params, flow: &Flow) -> bool {
        !params.pacing
            && !params.ecn
            && !params.accurate_ecn
            && flow.delivery.is_none()
            && !flow.trace.is_on()
    }

    /// Whether an ACK is what comes nearly always: for new data, in an established connection, with nothing out of order or in question.
    #[inline]
    pub(super) fn predicts(&self, segment: &Segment) -> bool {
        self.plain
            && self.state == State::Established
            && segment.flags == Flags::ACK
            && segment.ack > self.flow.una
            && segment.ack <= self.flow.max
            && segment.sack.is_empty()
            && self.recovery.is_quiet()
    }

    /// What the general case comes to for such an ACK.
    #[inline]
    pub(super) fn take_predicted(&mut self, now: Time, segment: &Segment) {
        if let Some(timestamps) = segment.timestamps {
            self.peer_clock = self.peer_clock.max(timestamps.value);
        }
        let flow = &mut self.flow;
        let acked = segment.ack - flow.una;
        flow.stats.acks += 1;
        flow.set_receive_window(segment.window);
        flow.advance(segment.ack);
        self.measure(now, segment, acked);
        // The timer bounds the wait for a probe, which the recovery sets.
        let all = self.flow.flight() == 0;
        if !all {
            self.flow.timer.restart(now);
        }
        self.recovery.on_quiet_ack(now, &mut self.flow, &mut self.congestion, acked);
        if all {
            self.on_all_acknowledged(now);
        }
    }

    /// Sends up to `most` segments of those that are sent nearly always. Where more has to be looked at it sends none, and does not say that
    /// these are all.
    #[inline(always)]
    pub(super) fn send_run(&mut self, now: Time, most: u64, outlet: &mut impl Outlet) -> Run {
        let flow = &mut self.flow;
        let (mss, first) = (flow.mss, flow.nxt);
        let predicted = self.plain
            && self.state == State::Established
            && first == flow.max
            && flow.una < first
            && !flow.closed
            && !flow.resend_first;
        let Some(edge) = self.recovery.edge_of_new(flow).filter(|_| predicted) else {
            return Run { segments: 0, is_all: false };
        };
        let segments = (edge.min(flow.offered).saturating_sub(first) / mss).min(most);
        if segments > 0 {
            self.recovery.on_run(now, flow, segments);
            flow.stats.segments += segments;
            flow.stats.bytes += segments * mss;
            if !flow.params.timestamps {
                flow.timer.time_segment(now, first + mss);
            }
            flow.nxt = first + segments * mss;
            flow.max = flow.nxt;
            if flow.allowance > 0 {
                flow.count_limited(&(first..flow.max));
            }
            flow.timer.start(now);
            self.last_sent = now;
            let (len, header) = (flow.params.mss, self.header(now));
            for number in 0..segments {
                let seq = first + number * mss;
                outlet.send(|segment| *segment = Segment { seq, len, flags: Flags::ACK, ..header });
            }
        }
        Run { segments, is_all: self.flow.holds_part_back(edge) }
    }
}

/// Segments sent one after another.
pub(super) struct Run {
    pub(super) segments: u64,
    /// Whether nothing else may go now.
    pub(super) is_all: bool,
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::{MICROSECOND, MILLISECOND};
    use proptest::prelude::*;

    use super::*;
    use crate::{RecoveryKind, Stack, StackSpec};

    /// Segments that have left.
    struct Left(Vec<Segment>);

    impl Outlet for Left {
        fn send(&mut self, write: impl FnOnce(&mut Segment)) {
            let mut segment = Segment::default();
            write(&mut segment);
            self.0.push(segment);
        }
    }

    /// A sender to which so many bytes are offered, the last of them if it is `closed`, and the same that predicts nothing.
    fn senders(params: &Params, offered: u64, closed: bool) -> [Sender; 2] {
        let mut predicting = Sender::new(params);
        predicting.offer(0, offered);
        if closed {
            predicting.close(0);
        }
        let mut other = predicting.clone();
        other.plain = false;
        [predicting, other]
    }

    #[test]
    fn a_full_segment_behind_others_is_predicted() {
        for stack in [Stack::Linux, Stack::Reno] {
            let mut params =
                StackSpec { stack, ..StackSpec::default() }.resolve().expect("a preset is possible");
            (params.syn_exchange, params.pacing) = (false, false);
            params.initial_window = 4;
            let [mut sender, _] = senders(&params, 3_000_000, false);
            assert!(sender.poll_segment(0).is_some());
            assert_eq!(sender.send_run(0, 2, &mut Segment::default()).segments, 2, "{stack:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        /// Whatever ACKs come, and whenever the timer expires, a sender that predicts sends what one does that does not, and knows the
        /// same afterwards; so does one that sends all at once.
        #[test]
        fn a_predicted_segment_is_what_the_general_case_sends(
            stack in prop::sample::select(Stack::ALL),
            recovery in prop::option::of(prop::sample::select(RecoveryKind::ALL)),
            windows in prop::option::of((1_u64..4, 0_u64..3)),
            offered in prop_oneof![Just(3_000_000_u64), 0_u64..50_000],
            closed in any::<bool>(),
            acks in prop::collection::vec((0u64..4, 0u64..6, 0u64..3, 1u64..40, 0u8..30), 1..120),
        ) {
            let mut params = StackSpec { stack, ..StackSpec::default() }.resolve().expect("a preset is possible");
            params.syn_exchange = false;
            (params.ecn, params.accurate_ecn, params.pacing) = (false, false, false);
            if let Some(recovery) = recovery.filter(|_| !params.congestion_control.samples()) {
                params.recovery = recovery;
            }
            if let Some((halves, more)) = windows {
                params.receive_window = u64::from(params.mss) * (halves + 1) / 2 + more;
            }
            let [mut predicting, mut other] = senders(&params, offered, closed);
            let mut now = 0;
            for (full, odd, above, wait, event) in acks {
                let window = predicting.window();
                let mss = u64::from(params.mss);
                let (una, max) = (predicting.flow.una, predicting.flow.max);
                now += wait * MILLISECOND / 4;
                if event == 0 {
                    now = predicting.next_timeout().unwrap_or(now).max(now);
                    [&mut predicting, &mut other].into_iter().for_each(|sender| sender.on_timeout(now));
                } else {
                    let ack = (una + full * mss + odd / 5 * 100).min(max);
                    let rwnd = if event == 1 { window.rwnd / 2 + mss } else { params.receive_window };
                    let mut segment = Segment { ack, window: rwnd, flags: Flags::ACK, ..Segment::default() };
                    if params.timestamps {
                        let echo = now.saturating_sub(300 * MICROSECOND);
                        segment.timestamps = Some(crate::Timestamps { value: now, echo });
                    }
                    if params.sack && above > 0 && ack + (above + 1) * mss <= max {
                        segment.sack.push(ack, ack + mss..ack + (above + 1) * mss);
                    }
                    [&mut predicting, &mut other].into_iter().for_each(|sender| sender.on_segment(now, &segment));
                }
                let (mut at_once, mut left) = (predicting.clone(), Left(Vec::new()));
                at_once.send_all(now, &mut left);
                let mut all = left.0.into_iter();
                loop {
                    let segments = [&mut predicting, &mut other].map(|sender| sender.poll_segment(now));
                    prop_assert_eq!(segments[0], segments[1]);
                    prop_assert_eq!(segments[0], all.next());
                    if segments[0].is_none() {
                        break;
                    }
                }
                prop_assert_eq!(format!("{predicting:?}"), format!("{at_once:?}"));
                other.plain = predicting.plain;
                prop_assert_eq!(format!("{predicting:?}"), format!("{other:?}"));
                other.plain = false;
            }
        }
    }
}
