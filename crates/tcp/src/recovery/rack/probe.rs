//! The tail loss probe (RFC 8985 section 7): one segment that asks for an ACK when none has come for two round trips.

use std::ops::Range;

use celltrain_engine::{Time, time::SECOND};

use crate::{flow::Flow, segment::Segment};

/// State of the probe; names follow section 5.3.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    /// What had been sent when the probe left, until it is acknowledged (TLP.end_seq).
    end_seq: Option<u64>,
    is_retrans: bool,
    /// Round-trip samples when the last probe left.
    samples: u64,
    /// It may go now.
    pub(super) due: bool,
}

impl Probe {
    // RFC 8985 §7.2: SHOULD probe after 2 SRTT, 1 second without a sample, and not after the RTO
    /// When a probe is due that is scheduled now (section 7.2), with `flight` bytes under way.
    #[inline]
    pub(super) fn deadline(now: Time, flow: &Flow, flight: u64) -> Time {
        let interval = match flow.timer.estimator.srtt() {
            Some(srtt) if flight <= flow.mss => 2 * srtt + flow.params.delayed_ack_max,
            Some(srtt) => 2 * srtt,
            None => SECOND,
        };
        (now + interval).min(flow.timer.expiry_if_started(now))
    }

    /// Whether a probe is under way.
    pub(super) const fn is_out(&self) -> bool {
        self.end_seq.is_some()
    }

    /// Where the data end that a probe under way sends again, if it does.
    pub(super) const fn sent_again(&self) -> Option<u64> {
        if self.is_retrans { self.end_seq } else { None }
    }

    /// Whether a probe may go: none is under way, and a round trip was measured since the last (section 7.3).
    pub(super) const fn may_go(&self, flow: &Flow) -> bool {
        self.end_seq.is_none() && flow.stats.rtt_samples > self.samples
    }

    /// A probe leaves: the last segment again, or new data, up to `end`.
    pub(super) const fn on_sent(&mut self, flow: &Flow, end: u64, is_retrans: bool) {
        (self.end_seq, self.is_retrans, self.samples) = (Some(end), is_retrans, flow.stats.rtt_samples);
    }

    /// Forgets the probe: a recovery begins (section 7.1).
    pub(super) const fn reset(&mut self) {
        (self.end_seq, self.due) = (None, false);
    }

    // RFC 8985 §7.4.2: MUST assume a loss unless a duplicate is reported
    /// Reads an ACK, before the flow has taken it in; returns where the probe ends if it has repaired a loss that nothing else shows
    /// (section 7.4.2). A duplicate of other data than the probe says nothing about it.
    pub(super) fn read(
        &mut self,
        flow: &Flow,
        segment: &Segment,
        duplicate: Option<&Range<u64>>,
    ) -> Option<u64> {
        let end = self.end_seq.filter(|&end| segment.ack >= end)?;
        let duplicate = duplicate.is_some_and(|bytes| bytes.end == end);
        let repeated = segment.sack.is_empty() && flow.repeats_ack(segment);
        if !self.is_retrans || duplicate || segment.ack > end || repeated {
            self.end_seq = None;
        }
        (self.is_retrans && !duplicate && segment.ack > end).then_some(end)
    }
}
