//! The resolved parameters of one connection: what a sender and a receiver are built from.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    congestion::CongestionKind,
    recovery::RecoveryKind,
    segment::{Ecn, WINDOW_FIELD_MAX},
};

/// How Reno's window grows in congestion avoidance: both mean about one segment a round trip (RFC 5681
/// section 3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionAvoidance {
    /// One segment each time a whole window of bytes has been acknowledged: what RFC 5681 recommends.
    ByteCounting,
    /// MSS*MSS/cwnd for each ACK that advances, whatever it covers, so that delayed ACKs halve the growth:
    /// BSD's way. Fractions of a byte are carried over, as if cwnd were a real number.
    PerAck,
}

/// What is halved when a loss is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Halving {
    /// Half of the data in flight, to the byte (RFC 5681 equation 4); a repeated timeout of the same segment
    /// does not halve again.
    Flight,
    /// Half of min(cwnd, receive window) in whole segments, at every loss: 4.3BSD.
    Window,
    /// Half of the window in whole segments, however little of it is in use; a repeated timeout of the same segment does not halve again. What
    /// marks take off under DCTCP is in whole segments too: Linux.
    Segments,
}

/// What ends the first slow start before a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HystartVariant {
    /// HyStart++ (RFC 9406): round trips that grow from one round to the next slow it down, and end it after five rounds.
    #[serde(rename = "rfc-9406")]
    Rfc9406,
    /// Linux (Ha and Rhee 2011): a train of ACKs half as long as the shortest round trip and a millisecond, or round trips an eighth above it,
    /// 4 to 16 ms, end it at once.
    Linux,
}

/// How fast CUBIC's estimate of Reno's window grows once it has regained the window of the last reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicAlpha {
    /// By a segment a round trip, as Reno (RFC 9438 section 4.3).
    One,
    /// By 3(1 - beta)/(1 + beta) = 0.53 segments as before: Linux.
    Constant,
}

/// The arithmetic of CUBIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CubicArithmetic {
    /// As RFC 9438 writes it, to the byte.
    Exact,
    /// Windows and the estimate of Reno in whole segments, rounded down; the curve is looked at one smallest round trip ahead;
    /// while the window stands, its increment is computed 32 times a second at most; a loss reduces the window, not what is in
    /// flight; an undone loss restores the window alone; a timeout forgets the smallest round trip: Linux. Small windows therefore
    /// fall further and grow later.
    Segments,
}

/// When three duplicate ACKs do not count as a loss because they may echo an earlier recovery (RFC 6582
/// section 3.2 step 2; both variants: RFC 2582 section 5).
///
/// Before the first loss every third duplicate ACK counts. Step 1 sets `recover` to the initial send sequence number, the number of the
/// SYN. Read literally, step 2 then forbids the fast retransmit of the very first segment: the duplicate ACKs for it cover the SYN and not
/// more. But the guard is there for data that were sent again after an earlier loss, and there was none; RFC 5681 section 3.2 has no such
/// exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FastRetransmitGuard {
    /// Every third duplicate ACK counts.
    None,
    /// The ACK must cover everything that had been sent at the previous loss.
    LessCareful,
    /// The ACK must cover more than everything that had been sent at the previous loss.
    Careful,
}

/// The arithmetic by which round-trip measurements become a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoArithmetic {
    /// RFC 6298 section 2 without rounding worth mentioning, whatever the tick.
    Exact,
    /// Whole ticks, SRTT in eighths and the deviation in quarters of a tick (V. Jacobson, "Congestion Avoidance and
    /// Control", 1988, appendix A; BSD). The remainders that it drops keep the deviation from falling below half a tick,
    /// and below three quarters once two measurements differed: where round trips are shorter than a tick, the timeout is
    /// three or four ticks.
    Ticks,
    /// As `ticks`, but a measurement counts the ticks in it, one at least, where BSD counts the one in which it began as
    /// well: ns-2.
    ElapsedTicks,
}

/// How the window is reduced for a mark, and by a timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reductions {
    /// By a mark at once (RFC 3168 section 6.1.2), by a timeout to one segment (RFC 5681 section 3.1), and, where a retransmission
    /// was lost, the threshold once more (section 4.3).
    Standard,
    /// A mark reduces it over a round trip, in proportion to what arrives, as a loss does (RFC 6937). A loss meanwhile goes on with
    /// the same reduction, and a timeout within a reduction leaves the threshold. A timeout leaves a window of what it does not take for lost and
    /// one segment. A loss that proves to be none restores the threshold however late: Linux.
    Linux,
}

/// What NewReno's window becomes when everything is acknowledged that was outstanding at the loss (RFC 6582 section 3.2 step
/// 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NewrenoFullAck {
    /// The slow-start threshold, but no more than a segment above what is in flight, so that no burst follows: the first
    /// option of the RFC.
    Flight,
    /// What is left without the inflation by duplicate ACKs, whatever is in flight: ns-2.
    Deflated,
}

/// The parameters of one connection, every one decided. Made by [`crate::StackSpec::resolve`].
///
/// Windows are in bytes of payload, times in picoseconds. [`crate::StackSpec`] documents each field and its
/// source.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Params {
    /// Maximum segment size: payload bytes of a full segment.
    pub mss: u32,
    /// Receive buffer, which is the advertised window of an application that reads at once.
    pub receive_window: u64,
    /// Rate at which the application reads, in bit/s; `None` reads at once.
    pub read_rate: Option<u64>,
    /// Shift of the window field; `None` without window scaling.
    pub window_scale: Option<u8>,
    /// Initial window in segments.
    pub initial_window: u32,
    /// First slow-start threshold.
    pub initial_ssthresh: u64,
    /// Window growth.
    pub congestion_control: CongestionKind,
    /// What a loss does.
    pub recovery: RecoveryKind,
    /// Bytes that one ACK may open the window by in slow start, in segments.
    pub slow_start_limit: u32,
    /// The first slow start is watched, and may end before a loss.
    pub hystart: bool,
    /// What ends it.
    pub hystart_variant: HystartVariant,
    /// Reno's growth above the slow-start threshold.
    pub congestion_avoidance: CongestionAvoidance,
    /// What a loss halves.
    pub halving: Halving,
    /// CUBIC: fast convergence.
    pub cubic_fast_convergence: bool,
    /// CUBIC: growth of its estimate of Reno beyond the old window.
    pub cubic_alpha: CubicAlpha,
    /// CUBIC: the precision of its windows.
    pub cubic_arithmetic: CubicArithmetic,
    /// How marks and timeouts reduce the window.
    pub reductions: Reductions,
    /// Guard against a second fast retransmit for one loss.
    pub fast_retransmit_guard: FastRetransmitGuard,
    /// NewReno: restart the timer at the first partial ACK only.
    pub newreno_impatient: bool,
    /// NewReno: the window when the recovery is over.
    pub newreno_full_ack: NewrenoFullAck,
    /// NewReno: segments that may follow one ACK in recovery, beside the retransmission; `None` without a limit.
    pub newreno_burst: Option<u32>,
    /// Reno and NewReno: the ACK that ends a recovery also grows the window.
    pub recovery_exit_growth: bool,
    /// Go-back-N: whether the window grows by a segment for each duplicate ACK, as Reno's does.
    pub go_back_n_inflation: bool,
    /// SACK recovery: sends in proportion to what arrives.
    pub proportional_rate_reduction: bool,
    /// New data on the first two duplicate ACKs.
    pub limited_transmit: bool,
    /// Limited transmit sends again, too, what had been sent before the sender went back.
    pub limited_transmit_resends: bool,
    /// Restart from the initial window after an idle period.
    pub idle_restart: bool,
    /// Halve the window for each timeout of an idle period, down to the initial window, in place of that at once.
    pub idle_decay: bool,
    /// Nagle's algorithm.
    pub nagle: bool,
    /// Of what is unacknowledged, Nagle's algorithm waits for small segments alone.
    pub nagle_minshall: bool,
    /// A finite transfer ends with a FIN.
    pub fin: bool,
    /// Segments leave at a rate.
    pub pacing: bool,
    /// Timestamps option in every segment.
    pub timestamps: bool,
    /// SACK blocks in ACKs.
    pub sack: bool,
    /// Reports of duplicates in ACKs.
    pub dsack: bool,
    /// Detection of spurious timeouts by the ACKs for new data.
    pub f_rto: bool,
    /// ECN-capable transport.
    pub ecn: bool,
    /// ECN feedback counts marks.
    pub accurate_ecn: bool,
    /// SYN, SYN|ACK, pure ACKs, window probes, FINs without data and retransmissions are ECN-capable too.
    pub ecn_control_packets: bool,
    /// Segments below which marks do not reduce the window.
    pub ecn_window_min: u32,
    /// Open the connection with SYN and SYN|ACK.
    pub syn_exchange: bool,
    /// Full segments that one ACK may cover.
    pub ack_every: u32,
    /// Longest time that an ACK may wait; 0 acknowledges every segment at once.
    pub delayed_ack: Time,
    /// What that time may grow to where segments arrive further apart; `delayed_ack` if it stands.
    pub delayed_ack_max: Time,
    /// Segments acknowledged at once at the start; 0 for none.
    pub quick_acks: u32,
    /// So are those that let the receive window of Linux grow.
    pub quick_acks_growing: bool,
    /// Smallest retransmission timeout.
    pub rto_min: Time,
    /// Largest retransmission timeout.
    pub rto_max: Time,
    /// Retransmission timeout before the first sample.
    pub rto_initial: Time,
    /// Smallest value of the variance term of the retransmission timeout.
    pub rto_variance_min: Time,
    /// How measurements become a timeout.
    pub rto_arithmetic: RtoArithmetic,
    /// Tick of the timer clock; 0 for an exact clock.
    pub tick: Time,
    /// How long before time 0 the timer clock ticked last.
    pub tick_phase: Time,
    /// Whether the retransmission timer expires at ticks.
    pub timer_on_ticks: bool,
    /// Mean time the host spends on a segment; the host model applies it.
    pub processing_delay: Time,
    /// Largest deviation from that mean, uniformly distributed.
    pub processing_spread: Time,
    /// Whether acknowledgements take that time too.
    pub acks_processed: bool,
    /// Segments of a sender that may be in the processor or wait for it at a time; the host model applies it.
    pub send_queue: Option<u32>,
}

impl Params {
    /// The window that a receiver advertises while nothing waits in its buffer: the whole buffer, as out-of-order data lie within the window; the
    /// field holds 16 bits, shifted.
    pub(crate) fn advertised_window(&self) -> u64 {
        let shift = self.window_scale.unwrap_or(0);
        (self.receive_window >> shift).min(WINDOW_FIELD_MAX) << shift
    }

    /// What packets without new data have where ECN is `agreed` on, or asked for.
    pub(crate) const fn control_ecn(&self, agreed: bool) -> Ecn {
        if agreed && self.ecn_control_packets { Ecn::Ect0 } else { Ecn::NotEct }
    }
}
