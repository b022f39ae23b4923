//! The traffic contract of a VC: what its user and the network agree on.

use celltrain_engine::quantity::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::CellRate;

/// `[vc]`: the contract of a VC.
///
/// A flow's cells travel under it in the direction of the data; acknowledgements go back under the default contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Contract {
    /// Service category. At a port that queues by VC, a category is served only while those before it have nothing to send.
    pub category: Category,
    /// Peak cell rate: the host spaces the VC's cells at it, and a policer enforces it. The line rate if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcr: Option<CellRate>,
    /// Minimum cell rate: what the network guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcr: Option<CellRate>,
    /// Maximum burst size in cells: how many cells at the peak rate still count as sent at the minimum rate. Twice the maximum
    /// frame size less one lets whole frames sent at the minimum rate pass.
    pub mbs: u32,
    /// Maximum frame size in cells.
    pub mfs: u32,
    /// Tolerance of the peak rate (cell delay variation tolerance).
    pub cdvt_pcr: Duration,
    /// Tolerance of the minimum rate.
    pub cdvt_mcr: Duration,
    /// Share in what is divided by weight: schedulers and virtual queues.
    #[schemars(range(min = 1))]
    pub weight: u32,
    /// Whether the user marks all frames of the VC as low priority (CLP = 1).
    pub clp: bool,
    /// What the first switch does about cells and frames beyond the contract.
    pub policing: Policing,
}

impl Default for Contract {
    /// No guarantee, no policing.
    fn default() -> Self {
        Self {
            category: Category::default(),
            pcr: None,
            mcr: None,
            mbs: 64,
            mfs: 32,
            cdvt_pcr: Duration(0),
            cdvt_mcr: Duration(0),
            weight: 1,
            clp: false,
            policing: Policing::default(),
        }
    }
}

/// Service categories (ATM Forum TM 4.1), in the order of their priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// Constant bit rate.
    Cbr,
    /// Variable bit rate.
    Vbr,
    /// Available bit rate: the network tells the source its rate.
    Abr,
    /// Guaranteed frame rate.
    Gfr,
    /// Unspecified bit rate: no guarantee.
    #[default]
    Ubr,
}

/// What the first switch on a VC's way does about what is beyond the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policing {
    /// Nothing.
    #[default]
    None,
    /// Tags whole frames beyond the minimum rate with CLP = 1 (GFR.2: the frame-based GCRA).
    Tag,
    /// Discards whole frames beyond the minimum rate.
    DiscardFrames,
    /// Discards cells beyond the peak rate (GCRA).
    DiscardCells,
}
