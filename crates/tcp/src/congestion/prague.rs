//! Prague: DCTCP for the Internet. It sends ECT(1), answers marks by their share, and losses and classic marks as Reno does.
//!
//! What a scalable congestion control has to do is that of RFC 9331 section 4.3. The algorithm follows descriptions of
//! draft-briscoe-iccrg-prague-congestion-control, the text of which was not at hand: the names and numbers of the variant that
//! makes rates independent of round trips, with a reference of 25 ms, are those of its implementation for Linux. Left out are the
//! detection of classic queues (RFC 9331 section 4.3, item 3), which marks alone do not show, and windows below a segment
//! (item 5): marks stop at two segments, or at one that waits for the timer (`ecn-window-min`).

use celltrain_engine::{Time, time::MILLISECOND};

use super::{CongestionControl, Feedback, mark_share::MarkShare, reno::Reno, slow_start};
use crate::flow::Flow;

/// Flows whose round trips are shorter behave as if they were this long.
const REFERENCE_RTT: Time = 25 * MILLISECOND;

/// State of Prague.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prague {
    reno: Reno,
    marks: MarkShare,
    /// Whether anything has been marked yet.
    seen_mark: bool,
    /// When the next update of the estimate may come.
    update_at: Time,
    /// Of the bytes that the present ACK delivers, those that were marked.
    newly_marked: u64,
    /// When marks may reduce the window again.
    reduce_at: Time,
    /// The present time.
    now: Time,
    /// What has been earned towards the next byte.
    credit: f64,
}

/// The smoothed round trip, and the one that Prague behaves by.
fn round_trips(flow: &Flow) -> (Time, Time) {
    let srtt = flow.timer.estimator.srtt().unwrap_or(REFERENCE_RTT);
    (srtt, srtt.max(REFERENCE_RTT))
}

impl CongestionControl for Prague {
    // RFC 9331 §4.3: SHOULD keep the time between marks from growing with the rate of a flow
    /// Estimates the share of marks once a round trip, or once in the reference round trip if that is longer. The estimate begins with 1, as
    /// that of DCTCP does (RFC 8257 section 3.3), and stays there until the first mark, as in the implementation for Linux: a path without
    /// marks says nothing of a queue that marks. So the first mark halves the window, whenever it comes.
    fn on_feedback(&mut self, now: Time, flow: &Flow, feedback: Feedback) {
        (self.now, self.newly_marked) = (now, feedback.marked);
        self.seen_mark |= feedback.marked > 0;
        if !self.marks.note(&feedback) || now < self.update_at {
            return;
        }
        if self.seen_mark {
            self.marks.update();
        }
        self.marks.begin_window(flow.max);
        self.update_at = now + round_trips(flow).1;
    }

    fn sends_ect1(&self) -> bool {
        true
    }

    fn counts_marks(&self) -> bool {
        true
    }

    fn grows_beside_marks(&self, flow: &Flow) -> bool {
        flow.accurate_ecn
    }

    // RFC 9331 §4.3: MUST converge to a rate as independent of short round trips as stability permits
    /// Once a reference round trip, where that is longer than the flow's own. Classic marks are answered as Reno answers them.
    fn answers_mark(&self, now: Time, flow: &Flow) -> bool {
        !flow.accurate_ecn || now >= self.reduce_at
    }

    /// Additive increase by a segment a round trip. Within a reference round trip there are reference / srtt of them, of which each
    /// adds (srtt / reference)^2: as far as a flow would get whose round trip the reference is, relative to its window. Bytes that
    /// were marked add nothing, as in the implementation for Linux.
    fn on_ack(&mut self, now: Time, flow: &mut Flow, acked: u64) {
        let acked = acked.saturating_sub(std::mem::take(&mut self.newly_marked));
        if flow.cwnd < flow.ssthresh {
            return slow_start(now, flow, acked);
        }
        let (srtt, reference) = round_trips(flow);
        let scale = srtt as f64 / reference as f64;
        self.credit += acked as f64 * flow.mss as f64 / flow.cwnd as f64 * scale * scale;
        flow.cwnd += self.credit as u64;
        self.credit -= self.credit as u64 as f64;
    }

    // RFC 9331 §4.3: MUST react to losses so that it coexists with Reno
    fn on_loss(&mut self, flow: &Flow) -> u64 {
        self.reno.on_loss(flow)
    }

    // Not RFC 9331 §4.3: MUST detect queues that mark ECT(1) as they mark ECT(0) (marks alone do not show it)
    // Not RFC 9331 §4.3: SHOULD remain responsive below a window of one segment (one segment waits for the timer)
    fn on_mark(&mut self, flow: &Flow) -> u64 {
        if !flow.accurate_ecn {
            return self.reno.on_mark(flow);
        }
        self.reduce_at = self.now + round_trips(flow).1;
        self.marks.reduced(flow.cwnd)
    }

    fn on_timeout(&mut self, flow: &Flow) -> u64 {
        self.reno.on_timeout(flow)
    }

    fn on_repaired(&mut self, flow: &mut Flow) -> u64 {
        self.reno.on_repaired(flow)
    }

    /// The estimate of marks goes on, and what was earned: neither has to do with losses.
    fn on_spurious(&mut self, _now: Time, _flow: &mut Flow) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stack, StackSpec, congestion::Congestion};

    const MSS: u64 = 1000;

    /// A flow of 100 segments whose round trip is `rtt`.
    fn flow(rtt: Time) -> Flow {
        let spec = StackSpec { stack: Stack::Prague, ..StackSpec::default() };
        let mut params = spec.resolve().expect("the preset is possible");
        params.mss = MSS as u32;
        let mut flow = Flow::new(params);
        flow.timer.estimator.sample(rtt);
        (flow.cwnd, flow.ssthresh) = (100 * MSS, 50 * MSS);
        flow
    }

    /// An ACK of a whole window at `now`, of which `marked` segments are marked.
    fn round(prague: &mut Prague, flow: &mut Flow, now: Time, marked: u64) {
        flow.una = flow.max;
        flow.max += 100 * MSS;
        let feedback = Feedback { ack: flow.una + 1, delivered: 100 * MSS, marked: marked * MSS };
        prague.on_feedback(now, flow, feedback);
    }

    /// By hand: alpha (1 - 1/16) + share / 16, once a round trip of at least 25 ms.
    #[test]
    fn alpha_follows_the_share_of_marks_once_a_round_trip() {
        // In 40 ms of short round trips there is one update, at 30 ms, which has seen three windows.
        for (rtt, updates) in [(50, 4), (25, 4), (10, 1)] {
            let (mut prague, mut flow) = (Prague::default(), flow(rtt * MILLISECOND));
            round(&mut prague, &mut flow, 0, 0);
            let mut expected = 1.0;
            (1..=4).for_each(|n| round(&mut prague, &mut flow, n * rtt * MILLISECOND, 20));
            (0..updates).for_each(|_| expected = expected * 15.0 / 16.0 + 0.2 / 16.0);
            let alpha = prague.marks.alpha();
            assert!((alpha - expected).abs() < 1e-12, "{rtt} ms: {alpha} {expected}");
        }
    }

    /// Without a mark there is no update, so that the first one halves the window but for its own update: 1 - (15/16 + 0.2/16) / 2.
    #[test]
    fn the_first_mark_halves_the_window() {
        let (mut prague, mut flow) = (Prague::default(), flow(50 * MILLISECOND));
        (0..40).for_each(|n| round(&mut prague, &mut flow, n * 50 * MILLISECOND, 0));
        assert!((prague.marks.alpha() - 1.0).abs() < f64::EPSILON, "{}", prague.marks.alpha());
        round(&mut prague, &mut flow, 40 * 50 * MILLISECOND, 20);
        assert_eq!(prague.on_mark(&flow), 52_500);
        round(&mut prague, &mut flow, 41 * 50 * MILLISECOND, 0);
        let alpha = prague.marks.alpha();
        assert!((alpha - 0.95 * 15.0 / 16.0).abs() < 1e-12, "after a mark there is: {alpha}");
    }

    /// Half of the share of marks is taken off; no more before a round trip of at least 25 ms is over.
    #[test]
    fn marks_reduce_by_their_share_and_losses_by_half() {
        let (mut prague, mut flow) =
            (Prague { marks: MarkShare::of(0.1), ..Prague::default() }, flow(10 * MILLISECOND));
        prague.now = 7 * MILLISECOND;
        assert!(prague.answers_mark(7 * MILLISECOND, &flow));
        assert_eq!(prague.on_mark(&flow), 95 * MSS);
        assert!(
            !prague.answers_mark(31 * MILLISECOND, &flow) && prague.answers_mark(32 * MILLISECOND, &flow)
        );
        flow.max = flow.una + 100 * MSS;
        assert_eq!(prague.on_loss(&flow), 50 * MSS);
        flow.accurate_ecn = false;
        assert_eq!(prague.on_mark(&flow), 50 * MSS, "a classic mark");
        assert!(prague.answers_mark(8 * MILLISECOND, &flow));
    }

    /// Half of what 100 segments acknowledge was marked: the window grows by what it grows for 50 segments without marks.
    #[test]
    fn marked_bytes_do_not_open_the_window() {
        let grown = |segments: u64, marked: u64| {
            let (mut prague, mut flow) = (Prague::default(), flow(50 * MILLISECOND));
            for _ in 0..segments / 2 {
                let feedback = Feedback { ack: flow.una, delivered: 2 * MSS, marked: marked * MSS };
                prague.on_feedback(0, &flow, feedback);
                prague.on_ack(0, &mut flow, 2 * MSS);
            }
            flow.cwnd - 100 * MSS
        };
        assert_eq!(grown(100, 2), 0);
        let (mut congestion, mut flow) = (Congestion::Prague(Box::default()), flow(50 * MILLISECOND));
        (flow.accurate_ecn, flow.echoed, flow.max) = (true, true, flow.una + 100 * MSS);
        let feedback = Feedback { ack: flow.una, delivered: 2 * MSS, marked: MSS };
        (0..100).for_each(|_| {
            congestion.on_feedback(0, &flow, feedback);
            congestion.on_ack(0, &mut flow, 2 * MSS);
        });
        assert!(
            flow.cwnd > 100 * MSS,
            "an ACK of which one segment was marked opens the window for the other"
        );
        assert!(grown(100, 0) > 900 && grown(100, 1).abs_diff(grown(100, 0) / 2) <= 5);
    }

    #[test]
    fn short_round_trips_grow_by_the_square_of_their_length() {
        for (rtt, grown) in [(100, 995), (25, 995), (5, 39)] {
            let (mut prague, mut flow) = (Prague::default(), flow(rtt * MILLISECOND));
            (0..100).for_each(|_| prague.on_ack(0, &mut flow, MSS));
            assert_eq!(flow.cwnd - 100 * MSS, grown, "{rtt} ms");
        }
    }
}
