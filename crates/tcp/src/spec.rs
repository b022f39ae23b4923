//! The `[tcp]` table of a scenario, and how it becomes [`Params`].

use std::fmt;

use celltrain_engine::{
    Time,
    quantity::{BitRate, Bytes, Duration},
    time::MICROSECOND,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    congestion::CongestionKind,
    params::{
        CongestionAvoidance, CubicAlpha, CubicArithmetic, FastRetransmitGuard, Halving, NewrenoFullAck,
        Params, RtoArithmetic,
    },
    recovery::RecoveryKind,
    segment::{IP_HEADER_BYTES, TCP_HEADER_BYTES, TIMESTAMPS_BYTES},
    stack::{Stack, UNSCALED_WINDOW_MAX},
};

/// Largest shift of window scaling (RFC 7323 section 2.3).
const WINDOW_SCALE_MAX: u8 = 14;
/// Largest initial window in segments (RFC 6928).
const INITIAL_WINDOW_MAX: u32 = 10;
/// Smallest tick that can be counted in, as SRTT is kept in eighths of it.
const TICK_MIN: Time = 8;
/// Smallest `rto-min`: a sender whose timer expires more often does little else.
const RTO_MIN_MIN: Time = MICROSECOND;
/// Largest IP packet in bytes (RFC 791).
const IP_PACKET_MAX: u64 = 65_535;

/// The TCP stack of a scenario: a preset and what differs from it.
///
/// Every key may be left out; the preset then decides. "Standard" is the value of the preset `newreno`; the
/// others are documented at `stack`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct StackSpec {
    /// The preset that decides whatever is not said here. Default: `newreno`.
    pub stack: Stack,
    /// Maximum segment size: payload of a full segment, in bytes, without headers and options (RFC 9293
    /// section 3.7.1). Standard: 1460 B.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<Bytes>,
    /// Receive buffer, all of which is advertised if the application reads at once (without `read-rate`). Above 64 KiB it
    /// needs `window-scaling`; 64 KiB itself is advertised as the 65535 B that the field holds (RFC 9293 section
    /// 3.1). Standard: 64 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// Rate at which the receiving application reads, so that the window may close; the sender then probes it (RFC 9293 section
    /// 3.8.6). Standard: it reads at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_rate: Option<BitRate>,
    /// Whether the window field is scaled, by the smallest shift that lets it hold the window (RFC 7323
    /// section 2). Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// Initial congestion window in segments, 1 to 10 (RFC 5681 section 3.1, RFC 6928). Standard: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<u32>,
    /// First slow-start threshold. Standard: unlimited (RFC 5681 section 3.1); `yats`: half the receive
    /// window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Bytes>,
    /// How the congestion window grows. Standard: `reno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_control: Option<CongestionKind>,
    /// What a loss does. Standard: `newreno`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryKind>,
    /// Full segments that one ACK may open the window by in slow start, at least 1 (RFC 5681 section 3.1; L in RFC 3465
    /// section 2.2). Standard: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_start_limit: Option<u32>,
    /// Whether the first slow start ends before a loss when round trips grow (HyStart++, RFC 9406). Needs `timestamps`, as it
    /// takes several samples from each round trip. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hystart: Option<bool>,
    /// How `congestion-control = "reno"` grows above the slow-start threshold (RFC 5681 section 3.1).
    /// Standard: `byte-counting`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub congestion_avoidance: Option<CongestionAvoidance>,
    /// What `congestion-control = "reno"` halves at a loss (RFC 5681 section 3.1). Standard: `flight`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halving: Option<Halving>,
    /// `congestion-control = "cubic"`: a flow that lost before it regained its old window aims lower (RFC
    /// 9438 section 4.7, which advises against it where there is one flow only). Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_fast_convergence: Option<bool>,
    /// `congestion-control = "cubic"`: how fast its estimate of Reno's window grows beyond the window of the last reduction
    /// (RFC 9438 section 4.3). Standard: `one`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_alpha: Option<CubicAlpha>,
    /// `congestion-control = "cubic"`: the precision of its windows. Standard: `exact`; `linux`: `segments`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cubic_arithmetic: Option<CubicArithmetic>,
    /// When three duplicate ACKs do not count, as they may echo an earlier loss (RFC 6582 section 3.2). Not
    /// for `recovery = "sack"`, `"rack"` and `"timeout-only"`. Default: `careful` with `recovery = "newreno"` and
    /// `"tahoe"`, `none` else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fast_retransmit_guard: Option<FastRetransmitGuard>,
    /// `recovery = "newreno"`: only the first partial ACK restarts the retransmission timer, so that many
    /// holes end in a timeout; otherwise each does ("impatient" and "slow-but-steady" in RFC 3782
    /// section 4).
    /// Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newreno_impatient: Option<bool>,
    /// `recovery = "newreno"`: the window when the recovery is over. Standard: `flight`; `ns-2`: `deflated`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newreno_full_ack: Option<NewrenoFullAck>,
    /// `recovery = "newreno"`: how many segments may follow one ACK in recovery, beside the retransmission that a partial ACK
    /// asks for, at least 1. Standard: as many as the window lets; `ns-2`: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub newreno_burst: Option<u32>,
    /// `recovery = "reno"` and `"newreno"`: the ACK that ends a recovery also grows the window, as every ACK does outside of
    /// recovery. Standard: false; `ns-2`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_exit_growth: Option<bool>,
    /// `recovery = "go-back-n"`: the window grows by a segment for each duplicate ACK in recovery, as Reno's.
    /// Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub go_back_n_inflation: Option<bool>,
    /// `recovery = "sack"`: the window falls to its half in proportion to what arrives, so that sending goes on, instead of
    /// at once (RFC 6937, slow-start reduction bound); `recovery = "rack"` always does so. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proportional_rate_reduction: Option<bool>,
    /// A new segment on each of the first two duplicate ACKs (RFC 3042). Not for `recovery = "rack"`, where what is reported
    /// makes room. Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Limited transmit also where the sender has gone back: it then sends again what was sent before. Needs
    /// `limited-transmit`. Standard: false; `ns-2`: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limited_transmit_resends: Option<bool>,
    /// Back to the initial window when nothing was sent for longer than the timeout (RFC 5681 section 4.1).
    /// Standard: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_restart: Option<bool>,
    /// Nagle's algorithm: no small segment while data is unacknowledged (RFC 9293 section 3.7.4). Greedy
    /// sources do not notice. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nagle: Option<bool>,
    /// Whether segments leave one by one, at twice the window per smoothed round trip in slow start and 1.2 times it later, and
    /// not as fast as ACKs allow. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Timestamps in every segment, 12 bytes; every new ACK then gives a round-trip sample (RFC 7323 section
    /// 3). Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Selective acknowledgements from the receiver (RFC 2018). Default: exactly with `recovery = "sack"` and `"rack"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the receiver reports what it receives again in the first block (D-SACK, RFC 2883). Needs `sack`. Default:
    /// exactly with `recovery = "rack"`, which learns from it that a retransmission was not needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Explicit congestion notification (RFC 3168), agreed in SYN and SYN|ACK if these are exchanged. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Whether SYN and SYN|ACK open the connection (RFC 9293 section 3.5); otherwise it is open from the
    /// start. Standard: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub syn_exchange: Option<bool>,
    /// Full segments after which an ACK goes at once (RFC 5681 section 4.2). Standard: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ack_every: Option<u32>,
    /// Longest time that an ACK waits for the next segment (RFC 5681 section 4.2); `"0 s"` acknowledges every
    /// segment at once. Standard: 200 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<Duration>,
    /// Smallest retransmission timeout (RFC 6298 rule 2.4), 1 us or more. Standard: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_min: Option<Duration>,
    /// Smallest value of the variance term, so that the timeout is at least this above the smoothed round-trip time: the
    /// 200 ms of Linux. Not for `rto-arithmetic = "ticks"`. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_variance_min: Option<Duration>,
    /// Largest retransmission timeout (RFC 6298 rule 2.5). Standard: 60 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_max: Option<Duration>,
    /// Retransmission timeout before the first sample (RFC 6298 rule 2.1). Standard: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_initial: Option<Duration>,
    /// How round-trip measurements become a timeout: `"ticks"` needs a `tick`. Standard: `exact`; `yats`: `ticks`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rto_arithmetic: Option<RtoArithmetic>,
    /// Tick of the clock that the retransmission timer and round-trip measurements use; `"0 s"` is exact (G
    /// in RFC 6298). Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick: Option<Duration>,
    /// How long before the start of the run that clock ticked last; less than `tick`. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tick_phase: Option<Duration>,
    /// Whether the retransmission timer expires at a tick of that clock, up to a tick early as BSD's does, or after
    /// exactly the timeout. Standard: true; `yats`: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_on_ticks: Option<bool>,
    /// Mean time that a host spends on each segment sent or received. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_delay: Option<Duration>,
    /// Largest deviation from `processing-delay`, uniformly distributed. Standard: 0 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processing_spread: Option<Duration>,
    /// Whether acknowledgements, too, take that time at the receiver that sends them and at the sender. Standard: true;
    /// `yats`: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acks_processed: Option<bool>,
    /// Segments of a sender that may be in the processor or wait for it at a time; the sender makes the next one when one
    /// is done. Needs `processing-delay`. Standard: unlimited; `yats`: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub send_queue: Option<u32>,
}

/// Why a `[tcp]` table cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackError {
    /// The key to change, as scenario files write it.
    pub key: &'static str,
    /// What is wrong and what to do.
    pub message: String,
}

impl fmt::Display for StackError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.key, self.message)
    }
}

impl std::error::Error for StackError {}

/// Fails with `message` at `key` unless `condition` holds.
fn check(condition: bool, key: &'static str, message: impl FnOnce() -> String) -> Result<(), StackError> {
    if condition { Ok(()) } else { Err(StackError { key, message: message() }) }
}

impl StackSpec {
    /// The parameters of this table: the preset's, changed by every key that is given.
    ///
    /// # Errors
    /// If a value is out of range or contradicts another; the message says what to do.
    pub fn resolve(&self) -> Result<Params, StackError> {
        let mut params = self.stack.params();
        self.override_algorithms(&mut params);
        self.override_times(&mut params);
        self.resolve_sizes(&mut params)?;
        self.check_combinations(&params)?;
        check_times(&params)?;
        Ok(params)
    }

    fn override_algorithms(&self, params: &mut Params) {
        fn set<T: Copy>(field: &mut T, value: Option<T>) {
            *field = value.unwrap_or(*field);
        }
        set(&mut params.initial_window, self.initial_window);
        set(&mut params.congestion_control, self.congestion_control);
        if let Some(recovery) = self.recovery {
            params.recovery = recovery;
            // These follow the recovery unless they are given.
            params.sack = uses_sack(recovery);
            params.dsack = recovery == RecoveryKind::Rack;
            params.limited_transmit &= !matches!(recovery, RecoveryKind::TimeoutOnly | RecoveryKind::Rack);
            params.fast_retransmit_guard = match recovery {
                _ if self.stack == Stack::Ns2 => params.fast_retransmit_guard,
                RecoveryKind::Newreno | RecoveryKind::Tahoe => FastRetransmitGuard::Careful,
                _ => FastRetransmitGuard::None,
            };
        }
        set(&mut params.congestion_avoidance, self.congestion_avoidance);
        set(&mut params.halving, self.halving);
        set(&mut params.cubic_fast_convergence, self.cubic_fast_convergence);
        set(&mut params.cubic_alpha, self.cubic_alpha);
        set(&mut params.cubic_arithmetic, self.cubic_arithmetic);
        set(&mut params.hystart, self.hystart);
        set(&mut params.slow_start_limit, self.slow_start_limit);
        set(&mut params.fast_retransmit_guard, self.fast_retransmit_guard);
        set(&mut params.newreno_impatient, self.newreno_impatient);
        set(&mut params.newreno_full_ack, self.newreno_full_ack);
        params.newreno_burst = self.newreno_burst.or(params.newreno_burst);
        set(&mut params.recovery_exit_growth, self.recovery_exit_growth);
        set(&mut params.go_back_n_inflation, self.go_back_n_inflation);
        set(&mut params.proportional_rate_reduction, self.proportional_rate_reduction);
        set(&mut params.limited_transmit, self.limited_transmit);
        set(&mut params.limited_transmit_resends, self.limited_transmit_resends);
        set(&mut params.idle_restart, self.idle_restart);
        set(&mut params.nagle, self.nagle);
        set(&mut params.pacing, self.pacing);
        set(&mut params.timestamps, self.timestamps);
        set(&mut params.sack, self.sack);
        set(&mut params.dsack, self.dsack);
        set(&mut params.ecn, self.ecn);
        set(&mut params.syn_exchange, self.syn_exchange);
        set(&mut params.rto_arithmetic, self.rto_arithmetic);
        set(&mut params.timer_on_ticks, self.timer_on_ticks);
        set(&mut params.acks_processed, self.acks_processed);
        params.send_queue = self.send_queue.or(params.send_queue);
        if self.delayed_ack == Some(Duration(0)) {
            params.ack_every = 1;
        }
        set(&mut params.ack_every, self.ack_every);
    }

    fn override_times(&self, params: &mut Params) {
        for (field, value) in [
            (&mut params.delayed_ack, self.delayed_ack),
            (&mut params.rto_min, self.rto_min),
            (&mut params.rto_variance_min, self.rto_variance_min),
            (&mut params.rto_max, self.rto_max),
            (&mut params.rto_initial, self.rto_initial),
            (&mut params.tick, self.tick),
            (&mut params.tick_phase, self.tick_phase),
            (&mut params.processing_delay, self.processing_delay),
            (&mut params.processing_spread, self.processing_spread),
        ] {
            *field = value.map_or(*field, Duration::ps);
        }
    }

    fn resolve_sizes(&self, params: &mut Params) -> Result<(), StackError> {
        let mss = self.mss.map_or(u64::from(params.mss), |bytes| bytes.0);
        let options = if params.timestamps { TIMESTAMPS_BYTES } else { 0 };
        let mss_max = IP_PACKET_MAX - u64::from(IP_HEADER_BYTES + TCP_HEADER_BYTES + options);
        check((1..=mss_max).contains(&mss), "mss", || {
            format!("{mss} B is no segment size; give 1 B to {mss_max} B, which an IP packet can hold")
        })?;
        params.mss = mss as u32;

        let window = self.receive_window.map_or(params.receive_window, |bytes| bytes.0);
        let scaling = self.window_scaling.unwrap_or(params.window_scale.is_some());
        let unscaled_name = UNSCALED_WINDOW_MAX + 1;
        check(scaling || window <= unscaled_name, "receive-window", || {
            format!(
                "{window} B exceeds the 16-bit window field; set window-scaling = true, or give 64 KiB at most"
            )
        })?;
        let window = if scaling { window } else { window.min(UNSCALED_WINDOW_MAX) };
        let scale = (0..=WINDOW_SCALE_MAX).find(|scale| window >> scale <= UNSCALED_WINDOW_MAX);
        check(scale.is_some(), "receive-window", || {
            let largest = UNSCALED_WINDOW_MAX << WINDOW_SCALE_MAX;
            format!("{window} B is more than window scaling can say; give {largest} B at most")
        })?;
        check(window >= mss, "receive-window", || {
            format!("{window} B does not hold one segment; give at least the mss, {mss} B, or a smaller mss")
        })?;
        params.receive_window = window;
        params.read_rate = self.read_rate.map(|rate| rate.0).or(params.read_rate);
        check(params.read_rate != Some(0), "read-rate", || {
            "an application that never reads stops the flow; give more than 0, or leave this out".into()
        })?;
        params.window_scale = scale.filter(|_| scaling);
        params.initial_ssthresh = match self.initial_ssthresh {
            Some(bytes) => bytes.0,
            None if self.stack == Stack::Yats => window / 2,
            None => params.initial_ssthresh,
        };
        check(params.initial_ssthresh >= 2 * mss, "initial-ssthresh", || {
            format!("{} B is less than two segments; give at least {} B", params.initial_ssthresh, 2 * mss)
        })
    }

    // RFC 8985 §4: MUST use SACK with RACK
    // RFC 8985 §9.2: MUST NOT mix RFC 6675 with RACK
    /// Refuses keys that the chosen algorithms would ignore, and values that contradict each other.
    fn check_combinations(&self, params: &Params) -> Result<(), StackError> {
        let recovery = params.recovery;
        check((1..=INITIAL_WINDOW_MAX).contains(&params.initial_window), "initial-window", || {
            format!("{} segments; give 1 to {INITIAL_WINDOW_MAX}", params.initial_window)
        })?;
        check(!params.hystart || params.timestamps, "hystart", || {
            "one sample a round trip does not show a queue; set timestamps = true, or leave this out".into()
        })?;
        check(params.slow_start_limit >= 1, "slow-start-limit", || {
            "0 would never open the window; give 1 or more".into()
        })?;
        let segments = params.cubic_arithmetic == CubicArithmetic::Segments;
        check(!segments || params.cubic_alpha == CubicAlpha::Constant, "cubic-arithmetic", || {
            "\"segments\" is that of Linux, whose estimate of Reno stays slow; set cubic-alpha = \"constant\" with it".into()
        })?;
        check(params.sack == uses_sack(recovery), "sack", || {
            let what = if params.sack { "the sender would ignore" } else { "the sender waits for" };
            format!(
                "{what} selective acknowledgements; leave this key out, or choose recovery = \"sack\" or \"rack\" with \
                 it"
            )
        })?;
        check(params.sack || !params.dsack, "dsack", || {
            "duplicates are reported in SACK blocks; choose recovery = \"sack\" or \"rack\", or leave this out".into()
        })?;
        check(!params.limited_transmit || recovery != RecoveryKind::Rack, "limited-transmit", || {
            "recovery = \"rack\" sends whatever its count of the network allows; leave this out".into()
        })?;
        check(!params.limited_transmit || recovery != RecoveryKind::TimeoutOnly, "limited-transmit", || {
            "recovery = \"timeout-only\" ignores duplicate ACKs; leave this out or choose another recovery"
                .into()
        })?;
        check(
            self.limited_transmit_resends != Some(true) || params.limited_transmit,
            "limited-transmit-resends",
            || "it widens limited transmit; set limited-transmit = true, or leave this out".into(),
        )?;
        check(params.newreno_burst != Some(0), "newreno-burst", || {
            "0 would send nothing new in a recovery; give 1 or more, or leave this out".into()
        })?;
        let counts = !uses_sack(recovery) || recovery == RecoveryKind::SackPipe;
        let guarded = counts && recovery != RecoveryKind::TimeoutOnly;
        let reno_growth = params.congestion_control != CongestionKind::Cubic;
        check(
            params.ecn || params.congestion_control != CongestionKind::Dctcp,
            "congestion-control",
            || "\"dctcp\" answers marks; set ecn = true, and a buffer that marks".into(),
        )?;
        for (given, used, key, by) in [
            (
                self.send_queue.is_some_and(|limit| limit > 0),
                params.processing_delay > 0,
                "send-queue",
                "a host with a processing-delay",
            ),
            (
                self.acks_processed.is_some(),
                params.processing_delay > 0,
                "acks-processed",
                "a host with a processing-delay",
            ),
            (self.timer_on_ticks.is_some(), params.tick > 0, "timer-on-ticks", "a clock with a tick"),
            (
                self.newreno_impatient.is_some(),
                recovery == RecoveryKind::Newreno,
                "newreno-impatient",
                "recovery = \"newreno\"",
            ),
            (
                self.newreno_full_ack.is_some(),
                recovery == RecoveryKind::Newreno,
                "newreno-full-ack",
                "recovery = \"newreno\"",
            ),
            (
                self.newreno_burst.is_some(),
                recovery == RecoveryKind::Newreno,
                "newreno-burst",
                "recovery = \"newreno\"",
            ),
            (
                self.recovery_exit_growth.is_some(),
                matches!(recovery, RecoveryKind::Reno | RecoveryKind::Newreno),
                "recovery-exit-growth",
                "recovery = \"reno\" or \"newreno\"",
            ),
            (
                self.go_back_n_inflation.is_some(),
                recovery == RecoveryKind::GoBackN,
                "go-back-n-inflation",
                "recovery = \"go-back-n\"",
            ),
            (
                self.proportional_rate_reduction.is_some(),
                recovery == RecoveryKind::Sack,
                "proportional-rate-reduction",
                "recovery = \"sack\"",
            ),
            (
                self.fast_retransmit_guard.is_some(),
                guarded,
                "fast-retransmit-guard",
                "a recovery that counts duplicate ACKs",
            ),
            (
                self.congestion_avoidance.is_some(),
                reno_growth,
                "congestion-avoidance",
                "congestion-control = \"reno\"",
            ),
            (self.halving.is_some(), reno_growth, "halving", "congestion-control = \"reno\""),
            (
                self.cubic_fast_convergence.is_some(),
                !reno_growth,
                "cubic-fast-convergence",
                "congestion-control = \"cubic\"",
            ),
            (self.cubic_alpha.is_some(), !reno_growth, "cubic-alpha", "congestion-control = \"cubic\""),
            (
                self.cubic_arithmetic.is_some(),
                !reno_growth,
                "cubic-arithmetic",
                "congestion-control = \"cubic\"",
            ),
            (
                self.rto_variance_min.is_some(),
                params.rto_arithmetic == RtoArithmetic::Exact,
                "rto-variance-min",
                "rto-arithmetic = \"exact\"",
            ),
        ] {
            check(!given || used, key, || format!("only {by} uses it; leave it out or choose that"))?;
        }
        Ok(())
    }
}

/// Whether a recovery works with selective acknowledgements.
pub(crate) fn uses_sack(recovery: RecoveryKind) -> bool {
    matches!(recovery, RecoveryKind::Sack | RecoveryKind::SackPipe | RecoveryKind::Rack)
}

/// Refuses times that contradict each other.
fn check_times(params: &Params) -> Result<(), StackError> {
    let ms = |time: u64| format!("{}", Duration(time));
    check(params.rto_min >= RTO_MIN_MIN, "rto-min", || {
        format!("{} is less than {}; give at least a round trip", ms(params.rto_min), ms(RTO_MIN_MIN))
    })?;
    check(params.rto_min <= params.rto_max, "rto-min", || {
        format!(
            "{} is above rto-max; give {} at most, or raise rto-max",
            ms(params.rto_min),
            ms(params.rto_max)
        )
    })?;
    check((1..=params.rto_max).contains(&params.rto_initial), "rto-initial", || {
        format!("{} must be positive and at most rto-max, {}", ms(params.rto_initial), ms(params.rto_max))
    })?;
    check(
        params.rto_arithmetic == RtoArithmetic::Exact || params.tick >= TICK_MIN,
        "rto-arithmetic",
        || format!("\"ticks\" counts in a tick of {}; give a tick, or \"exact\"", ms(params.tick)),
    )?;
    check(params.tick_phase < params.tick.max(1), "tick-phase", || {
        format!("{} must be less than the tick, {}", ms(params.tick_phase), ms(params.tick))
    })?;
    check(params.ack_every >= 1, "ack-every", || "0 would never acknowledge; give 1 or more".into())?;
    check(params.ack_every == 1 || params.delayed_ack > 0, "ack-every", || {
        format!(
            "an ACK for every {} segments needs a timer for the last ones; set delayed-ack, or ack-every = 1",
            params.ack_every
        )
    })?;
    check(params.send_queue != Some(0), "send-queue", || "0 would never send; give 1 or more".into())?;
    check(params.processing_spread <= params.processing_delay, "processing-spread", || {
        format!(
            "{} is above processing-delay; the time must not become negative",
            ms(params.processing_spread)
        )
    })
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MILLISECOND;

    use super::*;

    fn resolve(table: &str) -> Result<Params, StackError> {
        toml::from_str::<StackSpec>(table).unwrap_or_else(|error| panic!("{table}: {error}")).resolve()
    }

    #[test]
    fn every_preset_is_possible_and_survives_being_written() {
        for &stack in Stack::ALL {
            let spec = StackSpec { stack, ..StackSpec::default() };
            let params = spec.resolve().unwrap_or_else(|error| panic!("{stack:?}: {error}"));
            let text = toml::to_string(&spec).expect("a stack can be written");
            assert_eq!(toml::from_str::<StackSpec>(&text).expect("and read").resolve(), Ok(params));
        }
    }

    #[test]
    fn keys_change_the_preset() {
        let params = resolve("stack = 'opnet-1998'\nmss = '1500 B'\nrto-min = '20 ms'").unwrap();
        assert_eq!((params.mss, params.rto_min), (1500, 20 * MILLISECOND));
        assert_eq!(params.recovery, RecoveryKind::GoBackN);
        assert_eq!(params.delayed_ack, 12_500_000_000);
        let yats = resolve("stack = 'yats'\nreceive-window = '32 KiB'").unwrap();
        assert_eq!(yats.initial_ssthresh, 16 << 10, "half the window that is used");
    }

    #[test]
    fn dependent_values_follow_the_recovery() {
        let params = resolve("recovery = 'sack'").unwrap();
        assert!(params.sack && params.limited_transmit);
        let params = resolve("stack = 'sack'\nrecovery = 'timeout-only'").unwrap();
        assert!(!params.sack && !params.limited_transmit);
        let guard = |table| resolve(table).unwrap().fast_retransmit_guard;
        assert_eq!(guard("recovery = 'reno'"), FastRetransmitGuard::None);
        assert_eq!(guard("stack = 'reno'\nrecovery = 'newreno'"), FastRetransmitGuard::Careful);
        assert_eq!(resolve("delayed-ack = '0 s'").unwrap().ack_every, 1);
    }

    #[test]
    fn windows_fit_the_field() {
        assert_eq!(resolve("receive-window = '64 KiB'").unwrap().receive_window, 65_535);
        let params = resolve("receive-window = '64 KiB'\nwindow-scaling = true").unwrap();
        assert_eq!((params.receive_window, params.window_scale), (65_536, Some(1)));
        assert_eq!(
            resolve("receive-window = '32 KiB'\nwindow-scaling = true").unwrap().window_scale,
            Some(0)
        );
        assert_eq!(resolve("stack = 'osu'").unwrap().window_scale, Some(4), "a factor of 16");
    }

    #[test]
    fn impossible_combinations_say_what_to_do() {
        for (table, key, advice) in [
            ("mss = '0 B'", "mss", "give 1 B"),
            ("mss = '65496 B'", "mss", "65495 B"),
            ("timestamps = true\nmss = '65484 B'", "mss", "65483 B"),
            ("receive-window = '65 KiB'", "receive-window", "window-scaling = true"),
            ("receive-window = '2 GB'\nwindow-scaling = true", "receive-window", "1073725440 B at most"),
            ("receive-window = '1000 B'", "receive-window", "at least the mss"),
            ("initial-ssthresh = '1 KiB'", "initial-ssthresh", "at least 2920 B"),
            ("initial-window = 0", "initial-window", "1 to 10"),
            ("initial-window = 11", "initial-window", "1 to 10"),
            ("recovery = 'rack'\nlimited-transmit = true", "limited-transmit", "leave this out"),
            ("recovery = 'rack'\nproportional-rate-reduction = true", "proportional-rate-reduction", "sack"),
            ("dsack = true", "dsack", "rack"),
            ("sack = true", "sack", "recovery = \"sack\""),
            ("recovery = 'sack'\nsack = false", "sack", "leave this key out"),
            ("recovery = 'timeout-only'\nlimited-transmit = true", "limited-transmit", "another recovery"),
            ("recovery = 'reno'\nnewreno-impatient = true", "newreno-impatient", "newreno"),
            ("proportional-rate-reduction = true", "proportional-rate-reduction", "sack"),
            ("go-back-n-inflation = true", "go-back-n-inflation", "go-back-n"),
            ("recovery = 'sack'\nfast-retransmit-guard = 'none'", "fast-retransmit-guard", "duplicate ACKs"),
            ("stack = 'cubic'\nhalving = 'window'", "halving", "reno"),
            ("stack = 'cubic'\ncongestion-avoidance = 'per-ack'", "congestion-avoidance", "reno"),
            ("cubic-fast-convergence = false", "cubic-fast-convergence", "cubic"),
            ("cubic-alpha = 'constant'", "cubic-alpha", "cubic"),
            ("cubic-arithmetic = 'segments'", "cubic-arithmetic", "cubic"),
            ("stack = 'linux'\ncubic-alpha = 'one'", "cubic-arithmetic", "cubic-alpha"),
            ("newreno-full-ack = 'deflated'\nrecovery = 'reno'", "newreno-full-ack", "newreno"),
            ("newreno-burst = 0", "newreno-burst", "1 or more"),
            ("newreno-burst = 2\nrecovery = 'reno'", "newreno-burst", "newreno"),
            ("recovery-exit-growth = true\nstack = 'sack'", "recovery-exit-growth", "reno"),
            (
                "limited-transmit-resends = true\nlimited-transmit = false",
                "limited-transmit-resends",
                "limited-transmit",
            ),
            ("congestion-control = 'dctcp'", "congestion-control", "ecn = true"),
            ("read-rate = '0 bit/s'", "read-rate", "more than 0"),
            ("hystart = true", "hystart", "timestamps = true"),
            ("slow-start-limit = 0", "slow-start-limit", "1 or more"),
            ("stack = 'yats'\nrto-variance-min = '1 s'", "rto-variance-min", "exact"),
            ("rto-min = '999999 ps'", "rto-min", "999.999 ns is less than 1 us"),
            ("rto-min = '2 s'\nrto-max = '1500 ms'", "rto-min", "raise rto-max"),
            ("rto-initial = '61 s'", "rto-initial", "rto-max, 60 s"),
            ("rto-initial = '0 s'", "rto-initial", "positive"),
            ("rto-arithmetic = 'ticks'", "rto-arithmetic", "give a tick"),
            ("stack = 'yats'\ntick = '0 s'", "rto-arithmetic", "exact"),
            ("tick-phase = '1 ms'", "tick-phase", "less than the tick"),
            ("ack-every = 0", "ack-every", "1 or more"),
            ("ack-every = 2\ndelayed-ack = '0 s'", "ack-every", "set delayed-ack"),
            ("send-queue = 0", "send-queue", "1 or more"),
            ("send-queue = 2", "send-queue", "processing-delay"),
            ("acks-processed = false", "acks-processed", "processing-delay"),
            ("timer-on-ticks = false", "timer-on-ticks", "a tick"),
            ("processing-spread = '1 ms'", "processing-spread", "negative"),
        ] {
            let error = resolve(table).expect_err(table);
            assert_eq!(error.key, key, "{table}");
            assert!(error.message.contains(advice), "{table}: {}", error.message);
        }
    }

    #[test]
    fn unknown_keys_and_missing_units_are_refused() {
        for table in ["mms = '500 B'", "mss = 500", "rto-min = '50'", "stack = 'windows'"] {
            assert!(toml::from_str::<StackSpec>(table).is_err(), "{table}");
        }
    }

    #[test]
    fn schema_describes_every_key() {
        let schema = serde_json::to_value(schemars::schema_for!(StackSpec)).expect("a schema is JSON");
        let properties = schema["properties"].as_object().expect("it has properties");
        assert!(properties.len() > 25);
        for (key, property) in properties {
            assert!(property["description"].is_string(), "{key} is described");
        }
    }
}
