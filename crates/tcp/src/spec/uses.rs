//! Which keys of a table are of use, as only some algorithms look at them.

use crate::{
    congestion::CongestionKind,
    params::{Params, RtoArithmetic},
    recovery::RecoveryKind,
};

/// Whether what these parameters choose looks at a key, or at several alike. Others are refused where they are given, and left out of a
/// complete table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uses {
    pub(crate) slow_start_limit: bool,
    pub(crate) congestion_avoidance: bool,
    pub(crate) halving: bool,
    /// All keys that begin with `cubic`.
    pub(crate) cubic: bool,
    pub(crate) hystart_variant: bool,
    pub(crate) reductions: bool,
    pub(crate) fast_retransmit_guard: bool,
    /// All keys that begin with `newreno`.
    pub(crate) newreno: bool,
    pub(crate) recovery_exit_growth: bool,
    pub(crate) go_back_n_inflation: bool,
    pub(crate) proportional_rate_reduction: bool,
    pub(crate) ecn_control_packets: bool,
    pub(crate) ecn_window_min: bool,
    pub(crate) rto_variance_min: bool,
    pub(crate) timer_on_ticks: bool,
    /// `acks-processed` and `send-queue`.
    pub(crate) processing: bool,
}

impl Uses {
    pub(crate) fn of(params: &Params) -> Self {
        let (control, recovery) = (params.congestion_control, params.recovery);
        let models = control.sets_window();
        Self {
            slow_start_limit: !models,
            congestion_avoidance: matches!(control, CongestionKind::Reno | CongestionKind::Dctcp),
            halving: matches!(control, CongestionKind::Reno | CongestionKind::Dctcp | CongestionKind::Prague),
            cubic: control == CongestionKind::Cubic,
            hystart_variant: params.hystart,
            reductions: recovery == RecoveryKind::Rack && !models,
            fast_retransmit_guard: counts_duplicates(recovery),
            newreno: recovery == RecoveryKind::NewReno,
            recovery_exit_growth: matches!(recovery, RecoveryKind::Reno | RecoveryKind::NewReno),
            go_back_n_inflation: recovery == RecoveryKind::GoBackN,
            proportional_rate_reduction: recovery == RecoveryKind::Sack,
            ecn_control_packets: params.ecn && !params.accurate_ecn,
            ecn_window_min: params.ecn,
            rto_variance_min: params.rto_arithmetic == RtoArithmetic::Exact,
            timer_on_ticks: params.tick > 0,
            processing: params.processing_delay > 0,
        }
    }
}

/// Whether a recovery counts duplicate ACKs, so that the guard against those of an earlier one is of use.
pub(super) const fn counts_duplicates(recovery: RecoveryKind) -> bool {
    !matches!(recovery, RecoveryKind::Sack | RecoveryKind::Rack | RecoveryKind::TimeoutOnly)
}

/// Whether a recovery works with selective acknowledgements.
pub(super) fn uses_sack(recovery: RecoveryKind) -> bool {
    matches!(recovery, RecoveryKind::Sack | RecoveryKind::SackPipe | RecoveryKind::Rack)
}
