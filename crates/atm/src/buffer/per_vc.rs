//! Two thresholds with per-VC accounting: above the high one, only VCs that hold more than their share are refused.
//!
//! Frames with CLP = 1 are refused as in [`super::double_epd`]. From the high threshold on, a frame with CLP = 0 is refused
//! only if its VC already holds more cells than max(2 MFS, K/N), where K is the size of the buffer and N the number of VCs.
//! Two frames of the maximum size are always allowed, so that many VCs can still send through a small buffer.
//!
//! A VC that keeps to its share does not pay for the VC that fills the buffer. The shares are equal and ignore the guaranteed
//! rates. The policy needs the number of cells of each VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PortContext, PortState, Reads, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
    view,
};
use crate::{Cell, quantity::Level};

/// Which VCs share the buffer: the N of K/N.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SharedBy {
    /// All VCs set up at the port (the paper's number of sources).
    #[default]
    SetUp,
    /// Those that have cells in the buffer.
    Active,
}

/// Parameters of the policy with per-VC accounting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames with CLP = 1 are refused (LBO; 50 % in Puangpronpitag et al., section 4.1).
    pub low: Level,
    /// Occupancy from which frames with CLP = 0 of VCs above their share are refused (HBO; 80 % in Puangpronpitag et
    /// al., section 4.1).
    pub high: Level,
    /// Which VCs share the buffer.
    pub shared_by: SharedBy,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            low: Level::Share(500_000),
            high: Level::Share(800_000),
            shared_by: SharedBy::default(),
            end_marks: EndMarks::default(),
        }
    }
}

/// The policy with two thresholds and per-VC accounting.
pub type PerVc = FramePolicy<WithinShare>;

/// Above the high threshold, admits frames of VCs within their share.
#[derive(Debug, Clone)]
pub struct WithinShare {
    low: u64,
    high: u64,
    shared_by: SharedBy,
    /// Two frames of the maximum size, by VC: what each may hold however many share the buffer.
    two_frames: Vec<u64>,
}

impl WithinShare {
    /// Y > max(2 MFS, K/N).
    fn is_exceeded<S: PortState>(&self, cell: &Cell, port: &View<'_, view::PerVc, S>) -> bool {
        let vcs = match self.shared_by {
            SharedBy::SetUp => self.two_frames.len() as u64,
            SharedBy::Active => port.active_vcs(),
        };
        let held = port.vc_occupancy(cell.vc);
        held > self.two_frames[cell.vc as usize]
            && u128::from(held) * u128::from(vcs) > u128::from(port.capacity())
    }
}

impl FrameRule for WithinShare {
    type Params = Params;
    type Needs = view::PerVc;

    const SUMMARY: &'static str = "Refuses new frames with CLP = 1 above a low threshold, and above a high one those of VCs that hold more than their share.";
    const REFERENCE: &'static str = "Puangpronpitag et al., sections 4.1 and 4.2";
    const PER_VC: &'static str =
        "the fate of the frame in progress, cells in the buffer, two frames of the maximum size";
    const LEVELS: Levels<Params> = |params| vec![("low", params.low), ("high", params.high)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        let two_frames = port.vcs.iter().map(|vc| 2 * port.longest_frame(vc)).collect();
        Ok(Self { low, high, shared_by: params.shared_by, two_frames })
    }

    fn reads(&self) -> Reads {
        Reads::CLP
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, view::PerVc, S>, _: Time) -> bool {
        let occupancy = port.occupancy();
        if cell.clp { occupancy < self.low } else { occupancy < self.high || !self.is_exceeded(cell, port) }
    }
}
