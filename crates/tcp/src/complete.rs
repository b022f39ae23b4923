//! A `[tcp]` table with nothing left to its preset.

use celltrain_engine::quantity::{BitRate, Bytes, Duration};

use crate::{
    params::Params,
    spec::{StackError, StackSpec, Uses},
};

impl StackSpec {
    /// This table with every value that is in force, so that it means the same whatever a preset says. Left out are keys that
    /// the chosen algorithms would refuse, and limits that there are not.
    ///
    /// # Errors
    /// As [`StackSpec::resolve`].
    pub fn complete(&self) -> Result<Self, StackError> {
        let params = self.resolve()?;
        let uses = Uses::of(&params);
        let limited = params.initial_ssthresh <= i64::MAX as u64;
        Ok(Self {
            mss: Some(Bytes(u64::from(params.mss))),
            receive_window: Some(Bytes(params.receive_window)),
            read_rate: params.read_rate.map(BitRate),
            window_scaling: Some(params.window_scale.is_some()),
            initial_window: Some(params.initial_window),
            initial_ssthresh: limited.then_some(Bytes(params.initial_ssthresh)),
            congestion_control: Some(params.congestion_control),
            recovery: Some(params.recovery),
            slow_start_limit: uses.slow_start_limit.then_some(params.slow_start_limit),
            hystart: Some(params.hystart),
            hystart_variant: uses.hystart_variant.then_some(params.hystart_variant),
            congestion_avoidance: uses.congestion_avoidance.then_some(params.congestion_avoidance),
            halving: uses.halving.then_some(params.halving),
            cubic_fast_convergence: uses.cubic.then_some(params.cubic_fast_convergence),
            cubic_alpha: uses.cubic.then_some(params.cubic_alpha),
            cubic_arithmetic: uses.cubic.then_some(params.cubic_arithmetic),
            reductions: uses.reductions.then_some(params.reductions),
            fast_retransmit_guard: uses.fast_retransmit_guard.then_some(params.fast_retransmit_guard),
            newreno_impatient: uses.newreno.then_some(params.newreno_impatient),
            newreno_full_ack: uses.newreno.then_some(params.newreno_full_ack),
            newreno_burst: params.newreno_burst.filter(|_| uses.newreno),
            recovery_exit_growth: uses.recovery_exit_growth.then_some(params.recovery_exit_growth),
            go_back_n_inflation: uses.go_back_n_inflation.then_some(params.go_back_n_inflation),
            proportional_rate_reduction: uses
                .proportional_rate_reduction
                .then_some(params.proportional_rate_reduction),
            limited_transmit: Some(params.limited_transmit),
            limited_transmit_resends: Some(params.limited_transmit_resends && params.limited_transmit),
            idle_restart: Some(params.idle_restart),
            idle_decay: Some(params.idle_decay),
            nagle: Some(params.nagle),
            nagle_minshall: Some(params.nagle_minshall),
            fin: Some(params.fin),
            pacing: Some(params.pacing),
            timestamps: Some(params.timestamps),
            sack: Some(params.sack),
            dsack: Some(params.dsack),
            f_rto: Some(params.f_rto),
            ecn: Some(params.ecn),
            accurate_ecn: Some(params.accurate_ecn),
            ecn_control_packets: uses.ecn_control_packets.then_some(params.ecn_control_packets),
            ecn_window_min: uses.ecn_window_min.then_some(params.ecn_window_min),
            syn_exchange: Some(params.syn_exchange),
            ..self.complete_times(&params, uses)
        })
    }

    /// The keys about time, and what hosts do with it.
    fn complete_times(&self, params: &Params, uses: Uses) -> Self {
        Self {
            stack: self.stack,
            ack_every: Some(params.ack_every),
            delayed_ack: Some(Duration(params.delayed_ack)),
            delayed_ack_max: Some(Duration(params.delayed_ack_max)),
            quick_acks: Some(params.quick_acks),
            quick_acks_growing: Some(params.quick_acks_growing),
            rto_min: Some(Duration(params.rto_min)),
            rto_variance_min: uses.rto_variance_min.then_some(Duration(params.rto_variance_min)),
            rto_max: Some(Duration(params.rto_max)),
            rto_initial: Some(Duration(params.rto_initial)),
            rto_arithmetic: Some(params.rto_arithmetic),
            tick: Some(Duration(params.tick)),
            tick_phase: Some(Duration(params.tick_phase)),
            timer_on_ticks: uses.timer_on_ticks.then_some(params.timer_on_ticks),
            processing_delay: Some(Duration(params.processing_delay)),
            processing_spread: Some(Duration(params.processing_spread)),
            acks_processed: uses.processing.then_some(params.acks_processed),
            send_queue: params.send_queue.filter(|_| uses.processing),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    #[test]
    fn a_complete_table_means_the_same_and_is_complete() {
        for &stack in Stack::ALL {
            let spec = StackSpec { stack, ..StackSpec::default() };
            let complete = spec.complete().unwrap_or_else(|error| panic!("{stack:?}: {error}"));
            assert_eq!(complete.resolve(), spec.resolve(), "{stack:?}");
            assert_eq!(complete.complete().as_ref(), Ok(&complete), "{stack:?}");
        }
    }

    /// The preset decides nothing any more, as far as presets differ in what the same algorithms use.
    #[test]
    fn a_complete_table_does_not_need_its_preset() {
        for &stack in Stack::ALL {
            let spec = StackSpec { stack, ..StackSpec::default() };
            let complete = spec.complete().unwrap_or_else(|error| panic!("{stack:?}: {error}"));
            let written = toml::to_string(&complete).expect("a table");
            for key in
                ["mss", "receive-window", "initial-window", "recovery", "rto-min", "delayed-ack", "tick"]
            {
                assert!(written.contains(&format!("{key} = ")), "{stack:?} lacks {key}:\n{written}");
            }
        }
    }
}
