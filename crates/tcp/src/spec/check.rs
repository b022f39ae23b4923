//! What cannot be, and what to do about it.

use celltrain_engine::{Time, quantity::Duration, time::MICROSECOND};

use super::{StackError, StackSpec, Uses, uses::uses_sack};
use crate::{
    congestion::CongestionKind,
    params::{CubicAlpha, CubicArithmetic, Params, Reductions, RtoArithmetic},
    recovery::RecoveryKind,
};

/// Largest initial window in segments (RFC 6928).
const INITIAL_WINDOW_MAX: u32 = 10;
/// Smallest tick that can be counted in, as SRTT is kept in eighths of it.
const TICK_MIN: Time = 8;
/// Smallest `rto-min`: a sender whose timer expires more often does little else.
const RTO_MIN_MIN: Time = MICROSECOND;

/// Fails with `message` at `key` unless `condition` holds.
pub(super) fn check(
    condition: bool,
    key: &'static str,
    message: impl FnOnce() -> String,
) -> Result<(), StackError> {
    if condition { Ok(()) } else { Err(StackError { key, message: message() }) }
}

/// Fails at the first of `keys` that is given, unless they are `used`: only `by` uses them.
fn only(used: bool, by: &str, keys: &[(bool, &'static str)]) -> Result<(), StackError> {
    let unused = keys.iter().find(|(given, _)| *given && !used);
    unused.map_or(Ok(()), |(_, key)| {
        check(false, key, || format!("only {by} uses it; leave it out or choose that"))
    })
}

impl StackSpec {
    /// Refuses keys that the chosen algorithms would ignore, and values that contradict each other.
    pub(super) fn check_combinations(&self, params: &Params) -> Result<(), StackError> {
        check_growth(params)?;
        check_recovery(params)?;
        check_acks(params)?;
        check_samples(params)?;
        check_ecn(params)?;
        self.check_model(params)?;
        self.check_uses(params)
    }

    /// Refuses keys that nothing would look at.
    fn check_uses(&self, params: &Params) -> Result<(), StackError> {
        let uses = Uses::of(params);
        only(
            uses.processing,
            "a host with a processing-delay",
            &[
                (self.send_queue.is_some_and(|limit| limit > 0), "send-queue"),
                (self.acks_processed.is_some(), "acks-processed"),
            ],
        )?;
        only(
            uses.timer_on_ticks,
            "a clock with a tick",
            &[(self.timer_on_ticks.is_some(), "timer-on-ticks")],
        )?;
        self.check_uses_of_recovery(params, uses)?;
        self.check_uses_of_control(params, uses)?;
        self.check_uses_of_ecn(uses)?;
        only(
            params.quick_acks > 0,
            "quick-acks = 1 or more",
            &[(self.quick_acks_growing == Some(true), "quick-acks-growing")],
        )?;
        only(
            uses.rto_variance_min,
            "rto-arithmetic = \"exact\"",
            &[(self.rto_variance_min.is_some(), "rto-variance-min")],
        )?;
        only(params.nagle, "nagle = true", &[(self.nagle_minshall == Some(true), "nagle-minshall")])
    }

    /// As [`check_uses`](Self::check_uses), of what a loss does.
    fn check_uses_of_recovery(&self, params: &Params, uses: Uses) -> Result<(), StackError> {
        only(
            uses.newreno,
            "recovery = \"newreno\"",
            &[
                (self.newreno_impatient.is_some(), "newreno-impatient"),
                (self.newreno_full_ack.is_some(), "newreno-full-ack"),
                (self.newreno_burst.is_some(), "newreno-burst"),
            ],
        )?;
        only(
            uses.recovery_exit_growth,
            "recovery = \"reno\" or \"newreno\"",
            &[(self.recovery_exit_growth.is_some(), "recovery-exit-growth")],
        )?;
        only(
            uses.go_back_n_inflation,
            "recovery = \"go-back-n\"",
            &[(self.go_back_n_inflation.is_some(), "go-back-n-inflation")],
        )?;
        only(
            uses.proportional_rate_reduction,
            "recovery = \"sack\"",
            &[(self.proportional_rate_reduction.is_some(), "proportional-rate-reduction")],
        )?;
        only(
            uses.fast_retransmit_guard,
            "a recovery that counts duplicate ACKs",
            &[(self.fast_retransmit_guard.is_some(), "fast-retransmit-guard")],
        )?;
        only(
            params.limited_transmit,
            "limited-transmit = true",
            &[(self.limited_transmit_resends == Some(true), "limited-transmit-resends")],
        )
    }

    /// As [`check_uses`](Self::check_uses), of how the window grows.
    fn check_uses_of_control(&self, params: &Params, uses: Uses) -> Result<(), StackError> {
        only(
            uses.congestion_avoidance,
            "congestion-control = \"reno\" or \"dctcp\"",
            &[(self.congestion_avoidance.is_some(), "congestion-avoidance")],
        )?;
        only(
            uses.halving,
            "congestion-control = \"reno\", \"dctcp\" or \"prague\"",
            &[(self.halving.is_some(), "halving")],
        )?;
        only(
            uses.cubic,
            "congestion-control = \"cubic\"",
            &[
                (self.cubic_fast_convergence.is_some(), "cubic-fast-convergence"),
                (self.cubic_alpha.is_some(), "cubic-alpha"),
                (self.cubic_arithmetic.is_some(), "cubic-arithmetic"),
            ],
        )?;
        only(uses.hystart_variant, "hystart = true", &[(self.hystart_variant.is_some(), "hystart-variant")])?;
        only(params.idle_restart, "idle-restart = true", &[(self.idle_decay == Some(true), "idle-decay")])
    }

    /// As [`check_uses`](Self::check_uses), of congestion marks.
    fn check_uses_of_ecn(&self, uses: Uses) -> Result<(), StackError> {
        only(uses.ecn_window_min, "ecn = true", &[(self.ecn_window_min.is_some(), "ecn-window-min")])?;
        only(
            uses.ecn_control_packets,
            "ecn = true without accurate-ecn",
            &[(self.ecn_control_packets.is_some(), "ecn-control-packets")],
        )
    }

    /// Refuses what a congestion control with a model of the path has no use for.
    fn check_model(&self, params: &Params) -> Result<(), StackError> {
        let name = params.congestion_control.name();
        for (given, key, reason) in [
            (!params.pacing, "pacing", "sets the rate of sending"),
            (params.hystart, "hystart", "has no slow start"),
            (params.idle_restart, "idle-restart", "goes on from its model after idle periods"),
            (self.slow_start_limit.is_some(), "slow-start-limit", "has no slow start"),
            (self.reductions.is_some(), "reductions", "sets its window from its model"),
        ] {
            let refused = given && params.congestion_control.sets_window();
            check(!refused, key, || format!("congestion-control = \"{name}\" {reason}; leave this out"))?;
        }
        Ok(())
    }
}

/// Refuses windows that would never open, and what would end their growth unseen.
fn check_growth(params: &Params) -> Result<(), StackError> {
    check((1..=INITIAL_WINDOW_MAX).contains(&params.initial_window), "initial-window", || {
        format!("{} segments; give 1 to {INITIAL_WINDOW_MAX}", params.initial_window)
    })?;
    check(!params.hystart || params.timestamps, "hystart", || {
        "one sample a round trip does not show a queue; set timestamps = true, or leave this out".into()
    })?;
    check(params.slow_start_limit >= 1, "slow-start-limit", || {
        "0 would never open the window; give 1 or more".into()
    })?;
    let segments = params.cubic_arithmetic == CubicArithmetic::Segments
        && params.congestion_control == CongestionKind::Cubic;
    check(!segments || params.cubic_alpha == CubicAlpha::Constant, "cubic-arithmetic", || {
        "\"segments\" is that of Linux, whose estimate of Reno stays slow; set cubic-alpha = \"constant\" with it".into()
    })
}

// RFC 8985 §4: MUST use SACK with RACK
// RFC 8985 §9.2: MUST NOT mix RFC 6675 with RACK
/// Refuses what a recovery cannot do, or has no use for.
fn check_recovery(params: &Params) -> Result<(), StackError> {
    let recovery = params.recovery;
    check(params.sack == uses_sack(recovery), "sack", || {
        let what = if params.sack { "the sender would ignore" } else { "the sender waits for" };
        format!(
            "{what} selective acknowledgements; leave this key out, or choose recovery = \"sack\", \"rack\" or \
             \"sack-pipe\" with it"
        )
    })?;
    check(params.sack || !params.dsack, "dsack", || {
        "duplicates are reported in SACK blocks; choose recovery = \"sack\", \"rack\" or \"sack-pipe\", or leave this out".into()
    })?;
    check(!params.f_rto || recovery == RecoveryKind::Rack, "f-rto", || {
        "only recovery = \"rack\" keeps account of what was sent again; choose it, or leave this out".into()
    })?;
    check(params.reductions == Reductions::Standard || recovery == RecoveryKind::Rack, "reductions", || {
        "\"linux\" reduces in proportion to what arrives, which only recovery = \"rack\" counts here; choose it, or leave this out".into()
    })?;
    check(!params.limited_transmit || recovery != RecoveryKind::Rack, "limited-transmit", || {
        "recovery = \"rack\" sends whatever its count of the network allows; leave this out".into()
    })?;
    check(!params.limited_transmit || recovery != RecoveryKind::TimeoutOnly, "limited-transmit", || {
        "recovery = \"timeout-only\" ignores duplicate ACKs; leave this out or choose another recovery".into()
    })?;
    check(params.newreno_burst != Some(0), "newreno-burst", || {
        "0 would send nothing new in a recovery; give 1 or more, or leave this out".into()
    })
}

/// Refuses a congestion control that asks for samples beside a recovery that cannot give them.
fn check_samples(params: &Params) -> Result<(), StackError> {
    let control = params.congestion_control;
    check(!control.samples() || params.recovery == RecoveryKind::Rack, "congestion-control", || {
        format!(
            "\"{}\" measures what becomes of each transmission, which only recovery = \"rack\" knows; set that, or \
             choose another congestion control",
            control.name()
        )
    })
}

/// Refuses ways to acknowledge that cannot be.
fn check_acks(params: &Params) -> Result<(), StackError> {
    check(params.quick_acks == 0 || params.delayed_ack > 0, "quick-acks", || {
        "without delayed ACKs every segment is acknowledged at once; set delayed-ack, or leave this out"
            .into()
    })?;
    let (least, most) = (Duration(params.delayed_ack), Duration(params.delayed_ack_max));
    check(params.delayed_ack <= params.delayed_ack_max, "delayed-ack-max", || {
        format!("{most} is less than delayed-ack; give {least} at least, or leave this out")
    })?;
    check(params.delayed_ack > 0 || params.delayed_ack_max == 0, "delayed-ack-max", || {
        "no ACK is delayed; set delayed-ack, or leave this out".into()
    })
}

/// Refuses answers to marks that cannot be, a congestion control without the ECN feedback that it needs, and accurate feedback where it says
/// nothing.
fn check_ecn(params: &Params) -> Result<(), StackError> {
    check((1..=2).contains(&params.ecn_window_min), "ecn-window-min", || {
        format!("{} segments; give 1 or 2", params.ecn_window_min)
    })?;
    let one = params.ecn && params.ecn_window_min == 1;
    check(params.reductions == Reductions::Standard || !one, "ecn-window-min", || {
        "reductions = \"linux\" leaves two segments; set reductions = \"standard\", or leave this out".into()
    })?;
    check(params.ecn || params.congestion_control != CongestionKind::Dctcp, "congestion-control", || {
        "\"dctcp\" answers marks; set ecn = true, and a buffer that marks".into()
    })?;
    let counts = matches!(params.recovery, RecoveryKind::Rack | RecoveryKind::Sack);
    check(
        params.accurate_ecn || params.congestion_control != CongestionKind::Prague,
        "congestion-control",
        || "\"prague\" counts marks; set ecn = true and accurate-ecn = true, or stack = \"prague\"".into(),
    )?;
    check(!params.accurate_ecn || params.ecn, "accurate-ecn", || {
        "without ECN there are no marks to count; set ecn = true, or leave this out".into()
    })?;
    check(!params.accurate_ecn || counts, "accurate-ecn", || {
        "the sender compares marks with what each ACK reports as delivered; choose recovery = \"rack\" or \"sack\", or \
         leave this out"
            .into()
    })
}

/// Refuses times that contradict each other.
pub(super) fn check_times(params: &Params) -> Result<(), StackError> {
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
        || {
            let arithmetic = match params.rto_arithmetic {
                RtoArithmetic::ElapsedTicks => "elapsed-ticks",
                RtoArithmetic::Ticks | RtoArithmetic::Exact => "ticks",
            };
            format!("\"{arithmetic}\" counts in a tick of {}; give a tick, or \"exact\"", ms(params.tick))
        },
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
