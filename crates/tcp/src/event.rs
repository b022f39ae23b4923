//! What happened to a sender, and why.

use celltrain_engine::Time;
use serde::Serialize;

/// Something that happened to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Event {
    /// When, in picoseconds.
    pub at: Time,
    /// What, with its cause.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// What a sender took for the sign of a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossSign {
    /// The third duplicate ACK in a row.
    ThirdDuplicateAck,
    /// A segment sent later has arrived, and the time for reordering has passed (RFC 8985).
    LaterDelivered,
    /// Enough data above the hole reported by SACK (RFC 6675, IsLost).
    SackedAbove,
}

/// Why the retransmission timer expired and nothing else found the loss before, as far as the sender knows. What was lost, data or their
/// ACKs, it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeoutCause {
    /// The SYN, or the answer to it, was not acknowledged.
    SynUnanswered,
    /// The first unacknowledged segment had been sent again, and that was not acknowledged for a whole timeout either.
    RetransmissionUnanswered,
    /// The first unacknowledged segment had been sent again less than a timeout ago: the timer had run since before, while earlier losses
    /// were repaired.
    RecoveryTooLong,
    /// No more than three segments were outstanding: too few for three duplicate ACKs.
    FewOutstanding,
    /// More were outstanding, and no duplicate ACK came: the others were lost too, or all ACKs.
    NoDuplicateAcks,
    /// More were outstanding, and one or two duplicate ACKs came.
    FewDuplicateAcks,
    /// Three duplicate ACKs or more came, and the recovery did not take them for a loss: it ignores them, or those in a window that had had
    /// one.
    DuplicateAcksIgnored,
}

/// Why a recovery ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExitCause {
    /// An ACK for new data; the algorithm asks for no more.
    NewAck,
    /// An ACK for everything that was outstanding when the recovery began.
    FullAck,
    /// The retransmission timer expired.
    Timeout,
}

/// The phases of BBR (draft-ietf-ccwg-bbr section 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BbrPhase {
    /// Doubles its rate each round trip to find the bandwidth.
    Startup,
    /// Drains the queue that this has left.
    Drain,
    /// Sends more slowly than the network delivers.
    ProbeBwDown,
    /// Sends as fast as it delivers.
    ProbeBwCruise,
    /// Fills the pipe again before it probes.
    ProbeBwRefill,
    /// Sends faster, to find more bandwidth.
    ProbeBwUp,
    /// Keeps little in flight, to see the shortest round trip.
    ProbeRtt,
}

/// The kinds of events. Positions are byte offsets, windows are in bytes, times in picoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventKind {
    /// A data segment left.
    Sent {
        /// First byte.
        seq: u64,
        /// Bytes of payload.
        len: u32,
        /// Whether part of it was sent before.
        retransmission: bool,
    },
    /// An ACK advanced the window.
    Acknowledged {
        /// Everything below is acknowledged.
        ack: u64,
        /// Congestion window after it.
        cwnd: u64,
        /// Slow-start threshold after it.
        ssthresh: u64,
    },
    /// A duplicate ACK arrived.
    DuplicateAck {
        /// The byte that the receiver waits for.
        ack: u64,
        /// The how manieth in a row.
        count: u32,
    },
    /// A duplicate ACK let a new segment go (RFC 3042).
    LimitedTransmit {
        /// First byte of the segment.
        seq: u64,
    },
    /// A loss was found without a timeout, and the window reduced.
    FastRetransmit {
        /// First byte of the segment taken for lost.
        seq: u64,
        /// How the loss showed.
        cause: LossSign,
        /// Recovery lasts until this byte.
        recover: u64,
        /// Congestion window after the reduction.
        cwnd: u64,
        /// Slow-start threshold after the reduction.
        ssthresh: u64,
    },
    /// No ACK came for two round trips, and a segment was sent to ask for one (RFC 8985 section 7).
    LossProbe {
        /// First byte of the segment.
        seq: u64,
    },
    /// The receiver's window is closed and was probed (RFC 9293 section 3.8.6.1).
    WindowProbe {
        /// The byte sent, which had been acknowledged.
        seq: u64,
    },
    /// The probe repaired a loss, and the window was reduced for it (RFC 8985 section 7.4.2).
    ProbeRepaired {
        /// Everything below is acknowledged.
        ack: u64,
        /// Congestion window after it.
        cwnd: u64,
        /// Slow-start threshold after it.
        ssthresh: u64,
    },
    /// What was sent again had not been lost: the windows are what they were before (RFC 3522, RFC 3708).
    ReductionUndone {
        /// Everything below is acknowledged.
        ack: u64,
        /// Congestion window after it.
        cwnd: u64,
        /// Slow-start threshold after it.
        ssthresh: u64,
    },
    /// An ACK that ends in the middle of what was outstanding: the next hole is lost too (RFC 6582).
    PartialAck {
        /// Everything below is acknowledged.
        ack: u64,
        /// Recovery lasts until this byte.
        recover: u64,
    },
    /// Recovery ended.
    RecoveryExited {
        /// Why.
        cause: ExitCause,
        /// Everything below is acknowledged.
        ack: u64,
        /// Congestion window after it.
        cwnd: u64,
    },
    /// The retransmission timer expired.
    Timeout {
        /// First unacknowledged byte.
        seq: u64,
        /// Why no ACK came before.
        cause: TimeoutCause,
        /// The how manieth expiry since the last ACK for new data.
        consecutive: u32,
        /// Bytes sent and not cumulatively acknowledged.
        outstanding: u64,
        /// Duplicate ACKs since the last ACK for new data.
        duplicates: u32,
        /// The timeout that expired.
        rto: Time,
        /// How many times as long it was as what the measured round trips give: it doubles at each expiry, and stays so until a segment that
        /// was sent once gives a measurement (Karn's algorithm, RFC 6298 sections 3 and 5).
        backoff: u64,
        /// The timeout after backoff.
        next_rto: Time,
        /// Slow-start threshold after the reduction; none before the connection is established, when nothing is reduced.
        #[serde(skip_serializing_if = "Option::is_none")]
        ssthresh: Option<u64>,
    },
    /// A round trip was measured.
    RttSample {
        /// The measurement.
        rtt: Time,
        /// Smoothed round-trip time after it.
        srtt: Time,
        /// Round-trip time variation after it.
        rttvar: Time,
        /// Retransmission timeout after it.
        rto: Time,
    },
    /// Nothing was sent for longer than the timeout: the window starts again (RFC 5681 section 4.1).
    IdleRestart {
        /// How long nothing was sent.
        idle: Time,
        /// Congestion window after it.
        cwnd: u64,
    },
    /// Round trips grew, and the first slow start ended without a loss (RFC 9406).
    SlowStartExited {
        /// Everything below is acknowledged.
        ack: u64,
        /// Congestion window and slow-start threshold after it.
        cwnd: u64,
    },
    /// BBR entered a phase.
    PhaseEntered {
        /// Which.
        phase: BbrPhase,
        /// Estimated bandwidth, in bit/s.
        bandwidth: u64,
        /// Shortest round trip.
        min_rtt: Time,
        /// Congestion window.
        cwnd: u64,
        /// Long-term bound of what is in flight, if there is one.
        inflight_longterm: Option<u64>,
        /// Short-term bound of what is in flight, if there is one.
        inflight_shortterm: Option<u64>,
    },
    /// The receiver echoed a congestion mark and the window was reduced (RFC 3168).
    EcnReduction {
        /// The acknowledgement number of the echo.
        ack: u64,
        /// Congestion window after it.
        cwnd: u64,
        /// Slow-start threshold after it.
        ssthresh: u64,
    },
}

/// Collects events, or nothing while it is off.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trace(Option<Vec<Event>>);

impl Trace {
    /// Switches collecting on or off. Switching off forgets what was collected.
    pub(crate) fn set(&mut self, on: bool) {
        match (on, &self.0) {
            (true, None) => self.0 = Some(Vec::new()),
            (false, _) => self.0 = None,
            (true, Some(_)) => {}
        }
    }

    /// Whether events are collected.
    pub(crate) const fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Records an event, which is only made when somebody asked for it.
    #[inline]
    pub(crate) fn record(&mut self, at: Time, kind: impl FnOnce() -> EventKind) {
        if let Some(events) = &mut self.0 {
            events.push(Event { at, kind: kind() });
        }
    }

    /// When the byte `seq` was last sent, and whether that was for the second time or later; as far as it is known.
    pub(crate) fn last_sent(&self, seq: u64) -> Option<(Time, bool)> {
        self.0.iter().flatten().rev().find_map(|event| match event.kind {
            EventKind::Sent { seq: first, len, retransmission }
                if first <= seq && seq < first + u64::from(len) =>
            {
                Some((event.at, retransmission))
            }
            _ => None,
        })
    }

    /// Hands over what was collected.
    pub(crate) fn take(&mut self) -> Vec<Event> {
        self.0.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
