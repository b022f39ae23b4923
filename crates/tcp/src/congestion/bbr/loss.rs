//! Losses and marks, and what is undone when there were none (sections 5.5.10 and 5.5.11).

use celltrain_engine::Time;

use super::{
    Model,
    path::{BETA, scale},
};
use crate::{
    delivery::{Lost, Sample},
    event::BbrPhase,
    flow::Flow,
};

/// The loss rate of a round trip that says that too much was in flight, in percent (BBR.LossThresh).
const LOSS_THRESH: u64 = 2;

/// What there was before a loss (section 2.15).
#[derive(Debug, Clone, Default)]
pub(super) struct Saved {
    /// The phase that the loss ended.
    pub(super) phase: Option<BbrPhase>,
    bw_shortterm: u64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

/// IsInflightTooHigh (section 5.5.10.2): `lost` bytes since `in_flight` were in the network.
pub(super) const fn too_much_lost(lost: u64, in_flight: u64) -> bool {
    lost * 100 > in_flight * LOSS_THRESH
}

/// InflightAtLoss (section 5.5.10.2): what was in flight when losses crossed the threshold, somewhere in this segment.
fn inflight_at_loss(lost: &Lost) -> u64 {
    let size = lost.end - lost.start;
    let inflight_before = lost.tx_in_flight - size;
    let lost_before = lost.lost_since - size;
    let prefix = (inflight_before * LOSS_THRESH).saturating_sub(lost_before * 100) / (100 - LOSS_THRESH);
    inflight_before + prefix
}

impl Model {
    /// NoteLoss (section 5.5.10.2).
    pub(super) fn note_loss(&mut self, flow: &Flow, delivered: u64) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = delivered;
            self.save_state_upon_loss(flow);
        }
        self.is_loss_in_round = true;
    }

    /// HandleLostPacket (section 5.5.10.2).
    pub(super) fn handle_lost_packet(&mut self, now: Time, flow: &Flow, lost: &Lost) {
        self.note_loss(flow, lost.delivered_total);
        self.loss_ranges += u32::from(lost.start != self.last_lost_end || self.loss_ranges == 0);
        self.last_lost_end = lost.end;
        if self.is_bw_probe_sample && too_much_lost(lost.lost_since, lost.tx_in_flight) {
            self.handle_inflight_too_high(flow, inflight_at_loss(lost), lost.app_limited);
            self.stop_probing(now, lost.delivered_total);
        }
    }

    /// HandleInflightTooHigh (section 5.5.10.2), up to the change of phase.
    fn handle_inflight_too_high(&mut self, flow: &Flow, inflight: u64, app_limited: bool) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !app_limited {
            self.inflight_longterm = inflight.max(scale(self.target_inflight(flow), BETA));
        }
    }

    fn stop_probing(&mut self, now: Time, delivered: u64) {
        if self.phase == BbrPhase::ProbeBwUp {
            self.saved.phase = Some(BbrPhase::ProbeBwUp);
            self.start_probe_bw_down(now, delivered);
        }
    }

    /// An echoed congestion mark. The draft leaves the response open and demands that marks be treated as congestion (section
    /// 3.7): here as losses above the threshold, once a round trip, as classic ECN asks for (RFC 3168 section 5).
    pub(super) fn handle_mark(&mut self, now: Time, flow: &Flow, rs: &Sample) {
        self.note_loss(flow, rs.delivered_total);
        if self.phase == BbrPhase::Startup {
            self.leave_startup_for_congestion();
        } else if self.is_bw_probe_sample {
            self.handle_inflight_too_high(flow, rs.tx_in_flight, rs.app_limited);
            self.stop_probing(now, rs.delivered_total);
        }
    }

    /// OnEnterFastRecovery and OnEnterRTO, up to the window (section 5.6.4.4).
    pub(super) fn enter_recovery(&mut self, flow: &Flow, fast: bool) {
        self.save_state_upon_loss(flow);
        (self.in_recovery, self.in_fast_recovery) = (true, fast);
    }

    /// Recovery is over: the window is what it was before (section 5.6.4.4).
    pub(super) fn leave_recovery(&mut self, flow: &mut Flow) {
        (self.in_recovery, self.in_fast_recovery) = (false, false);
        self.restore_cwnd(flow);
    }

    /// SaveStateUponLoss (section 5.5.11.1).
    fn save_state_upon_loss(&mut self, flow: &Flow) {
        self.save_cwnd(flow);
        self.saved = Saved {
            phase: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// SaveCwnd (section 5.6.4.4).
    pub(super) fn save_cwnd(&mut self, flow: &Flow) {
        let modulated = self.in_recovery || self.phase == BbrPhase::ProbeRtt;
        self.prior_cwnd = flow.cwnd.max(if modulated { self.prior_cwnd } else { 0 });
    }

    /// RestoreCwnd (section 5.6.4.4).
    pub(super) fn restore_cwnd(&self, flow: &mut Flow) {
        flow.cwnd = flow.cwnd.max(self.prior_cwnd);
    }

    /// HandleSpuriousLossDetection (section 5.5.11.2). What has been counted as lost stays counted, though nothing was: the bytes
    /// (C.lost) and the ranges of the present round. The draft takes nothing off these counts, and neither does BBRv3 for Linux
    /// (`bbr_undo_cwnd`). So a segment that was in flight meanwhile may still show more than 2 % lost.
    pub(super) fn handle_spurious_loss(&mut self, flow: &mut Flow) {
        self.leave_recovery(flow);
        self.is_loss_in_round = false;
        self.reset_full_bw(0);
        self.bw_shortterm = self.bw_shortterm.max(self.saved.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.saved.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.saved.inflight_longterm);
        let probing_rtt = self.phase == BbrPhase::ProbeRtt;
        match self.saved.phase.take() {
            Some(BbrPhase::Startup) if self.phase != BbrPhase::Startup => {
                self.full_bw_reached = false;
                if !probing_rtt {
                    self.phase = BbrPhase::Startup;
                }
            }
            Some(BbrPhase::ProbeBwUp) if self.phase != BbrPhase::ProbeBwUp && !probing_rtt => {
                self.start_probe_bw_refill(flow.delivered());
            }
            _ => {}
        }
    }
}
