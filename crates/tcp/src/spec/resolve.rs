//! How a table becomes parameters.

use celltrain_engine::quantity::Duration;

use super::{
    StackError, StackSpec,
    check::{check, check_times},
    uses::{counts_duplicates, uses_sack},
};
use crate::{
    congestion::CongestionKind,
    params::{FastRetransmitGuard, Params, Reductions},
    recovery::RecoveryKind,
    segment::{IP_HEADER_BYTES, TCP_HEADER_BYTES, TIMESTAMPS_BYTES, WINDOW_FIELD_MAX},
    stack::Stack,
};

/// Largest shift of window scaling (RFC 7323 section 2.3).
const WINDOW_SCALE_MAX: u8 = 14;
/// Largest IP packet in bytes (RFC 791).
const IP_PACKET_MAX: u64 = 65_535;

impl StackSpec {
    /// The parameters of this table: the preset's, changed by every key that is given.
    ///
    /// # Errors
    /// If a value is out of range or contradicts another; the message says what to do.
    pub fn resolve(&self) -> Result<Params, StackError> {
        let mut params = self.stack.params();
        self.choose_algorithms(&mut params);
        self.override_growth(&mut params);
        self.override_recovery(&mut params);
        self.override_sending(&mut params);
        self.override_ecn(&mut params);
        self.override_acks(&mut params);
        self.override_times(&mut params);
        self.resolve_sizes(&mut params)?;
        self.check_combinations(&params)?;
        check_times(&params)?;
        Ok(params)
    }

    /// The two algorithms, and what follows from them unless it is given.
    fn choose_algorithms(&self, params: &mut Params) {
        set(&mut params.congestion_control, self.congestion_control);
        if params.congestion_control.sets_window() {
            // A model of the path has no slow start, and a rate.
            params.pacing = true;
            params.hystart = false;
            params.idle_restart = false;
        }
        if let Some(recovery) = self.recovery {
            params.recovery = recovery;
            params.sack = uses_sack(recovery);
            params.dsack = recovery == RecoveryKind::Rack;
            params.f_rto &= recovery == RecoveryKind::Rack;
            params.limited_transmit &= !matches!(recovery, RecoveryKind::TimeoutOnly | RecoveryKind::Rack);
            params.fast_retransmit_guard = match recovery {
                _ if self.stack == Stack::Ns2 => params.fast_retransmit_guard,
                RecoveryKind::NewReno | RecoveryKind::Tahoe => FastRetransmitGuard::Careful,
                _ => FastRetransmitGuard::None,
            };
        }
        if params.recovery != RecoveryKind::Rack || has_own_reductions(params.congestion_control) {
            params.reductions = Reductions::Standard;
        }
        set(&mut params.reductions, self.reductions);
        if params.reductions == Reductions::Linux {
            params.ecn_window_min = 2;
        }
    }

    fn override_growth(&self, params: &mut Params) {
        set(&mut params.initial_window, self.initial_window);
        set(&mut params.slow_start_limit, self.slow_start_limit);
        set(&mut params.hystart, self.hystart);
        set(&mut params.hystart_variant, self.hystart_variant);
        set(&mut params.congestion_avoidance, self.congestion_avoidance);
        set(&mut params.halving, self.halving);
        set(&mut params.cubic_fast_convergence, self.cubic_fast_convergence);
        set(&mut params.cubic_alpha, self.cubic_alpha);
        set(&mut params.cubic_arithmetic, self.cubic_arithmetic);
        set(&mut params.idle_restart, self.idle_restart);
        set(&mut params.idle_decay, self.idle_decay);
        params.idle_decay &= params.idle_restart;
    }

    fn override_recovery(&self, params: &mut Params) {
        set(&mut params.fast_retransmit_guard, self.fast_retransmit_guard);
        if !counts_duplicates(params.recovery) {
            params.fast_retransmit_guard = FastRetransmitGuard::None;
        }
        set(&mut params.newreno_impatient, self.newreno_impatient);
        set(&mut params.newreno_full_ack, self.newreno_full_ack);
        params.newreno_burst = self.newreno_burst.or(params.newreno_burst);
        set(&mut params.recovery_exit_growth, self.recovery_exit_growth);
        set(&mut params.go_back_n_inflation, self.go_back_n_inflation);
        set(&mut params.proportional_rate_reduction, self.proportional_rate_reduction);
        set(&mut params.limited_transmit, self.limited_transmit);
        set(&mut params.limited_transmit_resends, self.limited_transmit_resends);
        set(&mut params.sack, self.sack);
        set(&mut params.dsack, self.dsack);
        set(&mut params.f_rto, self.f_rto);
    }

    fn override_sending(&self, params: &mut Params) {
        set(&mut params.nagle, self.nagle);
        set(&mut params.nagle_minshall, self.nagle_minshall);
        params.nagle_minshall &= params.nagle || self.nagle_minshall.is_some();
        set(&mut params.fin, self.fin);
        set(&mut params.pacing, self.pacing);
        set(&mut params.timestamps, self.timestamps);
        set(&mut params.syn_exchange, self.syn_exchange);
        set(&mut params.rto_arithmetic, self.rto_arithmetic);
        set(&mut params.timer_on_ticks, self.timer_on_ticks);
        set(&mut params.acks_processed, self.acks_processed);
        params.send_queue = self.send_queue.or(params.send_queue);
    }

    fn override_ecn(&self, params: &mut Params) {
        set(&mut params.ecn, self.ecn);
        set(&mut params.accurate_ecn, self.accurate_ecn);
        // RFC 8257 section 3.6, and what Linux does for a congestion control that needs ECN.
        let needs_ecn = params.ecn && params.congestion_control == CongestionKind::Dctcp;
        params.ecn_control_packets = self.ecn_control_packets.unwrap_or(needs_ecn && !params.accurate_ecn);
        set(&mut params.ecn_window_min, self.ecn_window_min);
    }

    fn override_acks(&self, params: &mut Params) {
        if let Some(delay) = self.delayed_ack {
            // A time that is given stands.
            params.delayed_ack_max = delay.ps();
        }
        if self.delayed_ack == Some(Duration(0)) {
            params.ack_every = 1;
            params.quick_acks = 0;
        }
        set(&mut params.ack_every, self.ack_every);
        set(&mut params.quick_acks, self.quick_acks);
        params.quick_acks_growing =
            self.quick_acks_growing.unwrap_or(params.quick_acks_growing && params.quick_acks > 0);
    }

    fn override_times(&self, params: &mut Params) {
        for (field, value) in [
            (&mut params.delayed_ack, self.delayed_ack),
            (&mut params.delayed_ack_max, self.delayed_ack_max),
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
        if self.initial_window.is_none() {
            let most = self.stack.initial_window_max(params.mss);
            params.initial_window = params.initial_window.min(most);
        }

        let window = self.receive_window.map_or(params.receive_window, |bytes| bytes.0);
        let scaling = self.window_scaling.unwrap_or(params.window_scale.is_some());
        let unscaled_name = WINDOW_FIELD_MAX + 1;
        check(scaling || window <= unscaled_name, "receive-window", || {
            format!(
                "{window} B exceeds the 16-bit window field; set window-scaling = true, or give 64 KiB at most"
            )
        })?;
        let window = if scaling { window } else { window.min(WINDOW_FIELD_MAX) };
        let scale = (0..=WINDOW_SCALE_MAX).find(|scale| window >> scale <= WINDOW_FIELD_MAX);
        check(scale.is_some(), "receive-window", || {
            let largest = WINDOW_FIELD_MAX << WINDOW_SCALE_MAX;
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
}

/// A value that is given goes before that of the preset.
fn set<T: Copy>(field: &mut T, value: Option<T>) {
    *field = value.unwrap_or(*field);
}

/// Whether a congestion control says itself how a mark reduces the window.
fn has_own_reductions(control: CongestionKind) -> bool {
    control.sets_window() || control == CongestionKind::Prague
}
