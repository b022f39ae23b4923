//! Differential fair buffer allocation: between two thresholds, VCs beyond a weighted share are refused at random.
//!
//! Below the low threshold L every frame is admitted, and from the high threshold H on none is. Between them frames with
//! CLP = 1 are refused. A frame with CLP = 0 is admitted if its VC holds no more than its share X W_i/W of the X cells in the
//! buffer, where W_i is its minimum cell rate and W the sum of all. Otherwise it is refused with a probability that grows with
//! the excess of the VC and with the occupancy. With f = W_i/W and Y cells of the VC in the buffer the probability is
//! Z (α (Y - X f)/(X (1 - f)) + (1 - α)(X - L)/(H - L)). If no VC has a guarantee, all shares are equal.
//!
//! Early refusals at random make TCP connections back off one at a time and keep the occupancy near the low threshold, so one
//! FIFO can meet guarantees as long as their sum leaves headroom. The policy needs the number of cells of each VC, and a
//! random number for each frame of a VC beyond its share.

use celltrain_engine::{Time, random::Generator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, Reads, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
    share::Shares,
};
use crate::{
    Cell,
    quantity::{Level, Ratio},
};

/// Parameters of DFBA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// L, the occupancy from which frames are refused at random (50 % in ATM Forum 98-0405, unconfirmed).
    pub low: Level,
    /// H, the occupancy from which all frames are refused (90 % in ATM Forum 98-0405, unconfirmed).
    pub high: Level,
    /// Weight of the VC's excess over its share against the occupancy in the probability, from 0 to 1 (0.5 in ATM Forum
    /// 98-0405, unconfirmed).
    pub alpha: Ratio,
    /// Z, the factor of the whole probability, for all VCs. Without it each VC has 1 - W_i/W: the larger the guarantee,
    /// the fewer refusals (ATM Forum 98-0405, unconfirmed).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scale: Option<Ratio>,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            low: Level::Share(500_000),
            high: Level::Share(900_000),
            alpha: Ratio::billionths(500_000_000),
            scale: None,
            end_marks: EndMarks::default(),
        }
    }
}

/// The DFBA policy.
pub type Dfba = FramePolicy<AtRandom>;

/// The probability of refusal between the thresholds.
#[derive(Debug, Clone)]
pub struct Curve {
    /// L, in the buffer's units.
    pub low: u64,
    /// H, in the buffer's units.
    pub high: u64,
    /// Weight of the VC's excess.
    pub alpha: f64,
    /// Z, if it is the same for all VCs.
    pub scale: Option<f64>,
}

impl Curve {
    /// The probability P that a frame with CLP = 0 is refused while its VC holds `held` of `occupancy` cells, from L on
    /// and below H, and its weight is `weight` of `total`: with f = W_i/W, zero if Y <= X f, else Z (α (Y - X f)/(X
    /// (1 - f)) + (1 - α)(X - L)/(H - L)).
    ///
    /// It is above 1 where Z is: such a frame is refused for certain.
    #[must_use]
    pub fn probability(&self, held: u64, occupancy: u64, weight: u128, total: u128) -> f64 {
        // A VC with all the weight never holds more than its share: beyond this point f < 1.
        if u128::from(held) * total <= u128::from(occupancy) * weight {
            return 0.0;
        }
        let (held, x, fraction) = (held as f64, occupancy as f64, weight as f64 / total as f64);
        let excess = (held - x * fraction) / (x * (1.0 - fraction));
        let filled = (occupancy - self.low) as f64 / (self.high - self.low) as f64;
        let scale = self.scale.unwrap_or(1.0 - fraction);
        scale * (self.alpha * excess + (1.0 - self.alpha) * filled)
    }
}

/// Admits frames by their priority, their VC's share, and at random.
#[derive(Debug, Clone)]
pub struct AtRandom {
    curve: Curve,
    shares: Shares,
    generator: Generator,
}

impl FrameRule for AtRandom {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str = "Between two thresholds, refuses new frames with CLP = 1, and at random those of VCs beyond a share of the buffer in proportion to their guarantees.";
    const REFERENCE: &'static str = "Goyal, Jain et al., ATM Forum 98-0405";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer, its weight";
    const LEVELS: Levels<Params> = |params| vec![("low", params.low), ("high", params.high)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.alpha > Ratio::ONE {
            let message = format!("a weight lies between 0 and 1, found {}", params.alpha.as_f64());
            return Err(ParamError { key: "alpha", message });
        }
        Ok(())
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        Self::check(params)?;
        let (alpha, scale) = (params.alpha.as_f64(), params.scale.map(Ratio::as_f64));
        Ok(Self {
            curve: Curve { low, high, alpha, scale },
            shares: Shares::new(port),
            generator: port.generator.clone(),
        })
    }

    fn reads(&self) -> Reads {
        Reads::BOTH
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let occupancy = port.occupancy();
        if occupancy < self.curve.low || occupancy >= self.curve.high || cell.clp {
            return occupancy < self.curve.low;
        }
        let (weight, total) = self.shares.of(cell.vc);
        let refused = self.curve.probability(port.vc_occupancy(cell.vc), occupancy, weight, total);
        refused <= 0.0 || self.generator.unit() >= refused
    }
}
