//! What the push-out policies share: a VC's part of the buffer, and which VC is furthest above its own.
//!
//! In a FIFO a VC is served in proportion to what it has in the buffer. A part of the buffer for each VC is therefore a
//! rate for each VC, and pushing out frames of whoever is above its part turns a FIFO into a server of guaranteed
//! rates.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ParamError, PortContext, PortState, PushOut, View};

/// How the buffer is divided among VCs: the guaranteed rates, and who gets the rest.
///
/// The threshold of VC i is `TL_i` = (MCR_i + (W - S) w_i) Q / W, where Q is the buffer, W the line rate and S the sum
/// of the MCRs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// `w_i` = MCR_i / S, as the formula is printed: the whole buffer in proportion to the MCRs. If no VC has one, in
    /// equal parts.
    #[default]
    Proportional,
    /// `w_i` = 1 / n, as the name of the method says (minimum rate plus equal sharing): the MCR's part, and an equal
    /// part of the rest.
    Equal,
}

/// The thresholds of all VCs.
#[derive(Debug, Clone)]
pub struct Limits {
    /// `TL_i` in the units of the buffer, rounded down.
    thresholds: Vec<i64>,
    /// M: the maximum frame size of each VC, in these units.
    frames: Vec<i64>,
}

impl Limits {
    /// The thresholds of the port's VCs, all that are set up.
    ///
    /// # Errors
    /// Equal sharing of what is left of the line when the MCRs add up to more than the line.
    pub fn new(sharing: Sharing, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let rates: Vec<_> =
            port.vcs.iter().map(|contract| contract.mcr.map_or(0, |mcr| u128::from(mcr.0.0))).collect();
        let (line, sum, vcs) = (u128::from(port.rate.0), rates.iter().sum::<u128>(), rates.len() as u128);
        let left = line.checked_sub(sum);
        if sharing == Sharing::Equal && left.is_none() {
            let message = format!(
                "the minimum cell rates of the VCs add up to {sum} bit/s on a line of {line} bit/s: \
                 nothing is left to share equally"
            );
            return Err(ParamError { key: "sharing", message });
        }
        let threshold = |&rate: &u128| {
            let (parts, of) = match (sharing, left) {
                (Sharing::Equal, Some(left)) => (rate * vcs + left, line * vcs),
                _ if sum > 0 => (rate, sum),
                _ => (1, vcs),
            };
            i64::try_from(u128::from(port.capacity) * parts / of).unwrap_or(i64::MAX)
        };
        Ok(Self {
            thresholds: rates.iter().map(threshold).collect(),
            frames: port.vcs.iter().map(|contract| port.longest_frame(contract).cast_signed()).collect(),
        })
    }

    /// `TL` of a VC, in the units of the buffer.
    #[must_use]
    pub fn threshold(&self, vc: u32) -> i64 {
        self.thresholds[vc as usize]
    }

    /// M of a VC, its maximum frame size in the units of the buffer.
    #[must_use]
    pub fn frame(&self, vc: u32) -> i64 {
        self.frames[vc as usize]
    }

    /// Whether a frame more leaves a VC of `cells` within its threshold.
    #[must_use]
    pub fn has_room(&self, vc: u32, cells: i64) -> bool {
        cells.saturating_add(self.frame(vc)) <= self.threshold(vc)
    }

    /// Illegal cells: those that VCs have in the buffer beyond their thresholds.
    #[must_use]
    pub fn illegal<S: PortState>(&self, port: &View<'_, PushOut, S>) -> u64 {
        let beyond = |vc| port.vc_occupancy(vc).saturating_sub(self.threshold(vc) as u64);
        port.busy_vcs(self.thresholds.len()).map(beyond).sum()
    }

    /// The VC, other than `except`, that is furthest above its threshold (or least below it) and has a frame that can
    /// be pushed out; among equals the one with the lowest label.
    #[must_use]
    pub fn most_over<S: PortState>(&self, port: &View<'_, PushOut, S>, except: u32) -> Option<u32> {
        let over = |&vc: &u32| (port.vc_occupancy(vc) as i64 - self.threshold(vc), Reverse(vc));
        candidates(self.thresholds.len(), port, except).max_by_key(over)
    }
}

/// The VCs other than `except` that have a frame that can be pushed out, in any order.
pub(super) fn candidates<S: PortState>(
    vcs: usize,
    port: &View<'_, PushOut, S>,
    except: u32,
) -> impl Iterator<Item = u32> {
    port.busy_vcs(vcs).filter(move |&vc| vc != except && port.last_frame(vc).is_some())
}
