//! Startup and Drain (sections 5.3.1 and 5.3.2).

use celltrain_engine::{Time, time::NEVER};

use super::{Model, loss::too_much_lost, path::volume};
use crate::{delivery::Sample, event::BbrPhase, flow::Flow};

/// Growth of the delivery rate in a round that says that the pipe is not full, in percent of the rate before.
const FULL_BW_GROWTH: u64 = 125;
/// Rounds without it that say that the pipe is full.
const FULL_BW_ROUNDS: u32 = 3;
/// Ranges lost in a round that end Startup (BBRStartupFullLossCnt).
const STARTUP_FULL_LOSS_COUNT: u32 = 6;
/// Rounds after which Drain ends in any case.
const DRAIN_ROUNDS: u64 = 3;

impl Model {
    /// ResetFullBW (section 5.3.1.2), with `full_bw` as the rate to compare with.
    pub(super) const fn reset_full_bw(&mut self, full_bw: u64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    /// CheckFullBWReached (section 5.3.1.2). A round whose last ACK gives no reliable rate tells nothing.
    pub(super) fn check_full_bw_reached(&mut self, rs: &Sample) {
        if self.full_bw_now || !self.round_start || rs.app_limited || rs.rate == 0 {
            return;
        }
        if u128::from(rs.rate) * 100 >= u128::from(self.full_bw) * u128::from(FULL_BW_GROWTH) {
            return self.reset_full_bw(rs.rate);
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_BW_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// CheckStartupDone (section 5.3.1.1).
    pub(super) fn check_startup_done(&mut self, rs: &Sample) {
        if self.phase != BbrPhase::Startup {
            return;
        }
        self.check_startup_high_loss(rs);
        if self.full_bw_reached {
            self.phase = BbrPhase::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// CheckStartupHighLoss (section 5.3.1.3): a whole round of fast recovery in which more than 2 % and six ranges were lost.
    fn check_startup_high_loss(&mut self, rs: &Sample) {
        let round_of_losses =
            self.in_fast_recovery && self.loss_round_start && self.loss_ranges >= STARTUP_FULL_LOSS_COUNT;
        if round_of_losses && too_much_lost(rs.lost_since, rs.tx_in_flight) {
            self.leave_startup_for_congestion();
        }
    }

    /// What Startup found is safe: the volume that is known to be delivered (section 5.3.1.3).
    pub(super) fn leave_startup_for_congestion(&mut self) {
        self.saved.phase = Some(BbrPhase::Startup);
        self.full_bw_reached = true;
        let bdp = if self.min_rtt == NEVER { 0 } else { volume(self.bw, self.min_rtt) };
        self.inflight_longterm = bdp.max(self.inflight_latest);
    }

    /// CheckDrainDone (section 5.3.2).
    pub(super) fn check_drain_done(&mut self, now: Time, flow: &Flow, rs: &Sample) {
        let drained = rs.inflight <= self.inflight_of_bdp(flow);
        let late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.phase == BbrPhase::Drain && (drained || late) {
            self.start_probe_bw_down(now, rs.delivered_total);
        }
    }
}
