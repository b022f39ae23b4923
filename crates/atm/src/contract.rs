//! The traffic contract of a VC: what its user and the network agree on.

use celltrain_engine::{
    quantity::{BitRate, Duration},
    time::SECOND,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{catalogue::ParamError, cell::CELL_BITS, quantity::CellRate};

/// The smallest rate that a contract may name.
pub const MIN_RATE: CellRate = CellRate(BitRate(1_000));
/// The longest tolerance of a contract, and the longest time that a burst may be ahead of the minimum rate: a million
/// seconds, so that times stay far from the end of their range.
pub const MAX_TOLERANCE: Duration = Duration(1_000_000 * SECOND);

/// `[vc]`: the contract of a VC.
///
/// A flow's cells travel under it in the direction of the data; acknowledgements go back under the default contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Contract {
    /// Service category. At a switch port a category is served only while those before it have nothing to
    /// send.
    pub category: Category,
    /// Peak cell rate: the host keeps the VC at it unless `spacing` says otherwise, and a policer enforces it. The line rate if not given.
    /// On packet-framed links it counts what these add to each packet (`overhead`), unlike `traffic.rate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcr: Option<CellRate>,
    /// What the host spaces at the peak rate.
    pub spacing: Spacing,
    /// Minimum cell rate: what the network guarantees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcr: Option<CellRate>,
    /// Sustainable cell rate: what the VC may send in the long run, which a policer of cells enforces, with bursts of `mbs` cells at the peak
    /// rate and the tolerance `cdvt-pcr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scr: Option<CellRate>,
    /// Maximum burst size in cells: how many cells at the peak rate still count as sent at the minimum rate, or at the sustainable rate. Twice
    /// the maximum frame size less one lets whole frames sent at the minimum rate pass.
    #[schemars(range(min = 1))]
    pub mbs: u32,
    /// Maximum frame size in cells. To policies of a buffer of packets it is one packet, and of one in bytes 48 B for each of the cells.
    #[schemars(range(min = 1))]
    pub mfs: u32,
    /// Tolerance of the peak rate (cell delay variation tolerance).
    pub cdvt_pcr: Duration,
    /// Tolerance of the minimum rate.
    pub cdvt_mcr: Duration,
    /// Share in what is divided by weight: schedulers and virtual queues.
    #[schemars(range(min = 1, max = 1_000_000))]
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
            spacing: Spacing::default(),
            mcr: None,
            scr: None,
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

impl Contract {
    /// The peak rate on a line of `line`: the line rate if the contract names none.
    #[must_use]
    pub fn peak_rate(&self, line: BitRate) -> BitRate {
        self.pcr.map_or(line, |CellRate(rate)| rate)
    }

    /// Checks the contract of a VC that enters the network on a line of `line`.
    ///
    /// # Errors
    /// The first term that has no meaning, contradicts another one, or is missing where policing needs it.
    pub fn check(&self, line: BitRate) -> Result<(), ParamError> {
        for (key, count) in [("weight", self.weight), ("mbs", self.mbs), ("mfs", self.mfs)] {
            if count == 0 {
                return refuse(key, "expected 1 or more, found 0");
            }
        }
        for (key, tolerance) in [("cdvt-pcr", self.cdvt_pcr), ("cdvt-mcr", self.cdvt_mcr)] {
            if tolerance > MAX_TOLERANCE {
                return refuse(key, format!("expected at most {MAX_TOLERANCE}, found {tolerance}"));
            }
        }
        self.check_rates(line)?;
        self.check_policing()
    }

    /// The peak rate, where the host keeps to it.
    #[must_use]
    pub fn shaped_rate(&self) -> Option<CellRate> {
        self.pcr.filter(|_| self.spacing != Spacing::None)
    }

    fn check_rates(&self, line: BitRate) -> Result<(), ParamError> {
        for (key, rate) in [("pcr", self.pcr), ("mcr", self.mcr), ("scr", self.scr)] {
            if let Some(rate) = rate.filter(|rate| rate.0 < MIN_RATE.0) {
                return refuse(
                    key,
                    format!("expected {MIN_RATE} or more, or no `{key}` at all, found {rate}"),
                );
            }
        }
        self.check_bursts("mcr", "minimum", self.mcr, line)?;
        self.check_bursts("scr", "sustainable", self.scr, line)
    }

    /// Checks a rate that bursts at the peak rate may exceed for a time.
    fn check_bursts(
        &self,
        key: &'static str,
        name: &str,
        rate: Option<CellRate>,
        line: BitRate,
    ) -> Result<(), ParamError> {
        let (Some(rate), peak) = (rate, self.peak_rate(line)) else { return Ok(()) };
        if rate.0 > peak {
            let what = if self.pcr.is_some() { "peak cell rate" } else { "rate of the line" };
            return refuse(key, format!("the {name} cell rate ({rate}) is above the {what} ({peak})"));
        }
        let ahead = u128::from(self.mbs) * u128::from(CELL_BITS) * u128::from(SECOND) / u128::from(rate.0.0);
        if ahead > u128::from(MAX_TOLERANCE.0) {
            let message = format!(
                "a burst of {} cells takes longer than {MAX_TOLERANCE} at the {name} cell rate ({rate})",
                self.mbs
            );
            return refuse("mbs", message);
        }
        Ok(())
    }

    fn check_policing(&self) -> Result<(), ParamError> {
        let by_frames = matches!(self.policing, Policing::Tag | Policing::DiscardFrames);
        if self.category == Category::Abr && self.policing != Policing::None {
            let message = "a VC of ABR is not policed: its source keeps to the rates that the network allows";
            return refuse("policing", message);
        }
        if self.category == Category::Abr && self.clp {
            let message = "the data cells of ABR have CLP = 0: leave `clp` out, or choose another category";
            return refuse("clp", message);
        }
        if by_frames && self.mcr.is_none() {
            let message = "policing by frames needs a minimum cell rate to measure them by: give `mcr`";
            return refuse("mcr", message);
        }
        if self.policing == Policing::TagCells && self.scr.is_none() {
            let message =
                "tagging cells needs a sustainable cell rate beyond which they are tagged: give `scr`";
            return refuse("scr", message);
        }
        if self.policing == Policing::DiscardFrames && self.clp {
            let message = "every frame would be discarded: frames that the user marks (`clp = true`) have no part in the \
                           minimum cell rate";
            return refuse("policing", message);
        }
        Ok(())
    }
}

fn refuse(key: &'static str, message: impl Into<String>) -> Result<(), ParamError> {
    Err(ParamError { key, message: message.into() })
}

/// What the host spaces at the peak cell rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Cells: one every 1/PCR. What is sent faster waits in the host, without limit (a traffic shaper).
    #[default]
    Cells,
    /// Frames: TCP makes its next segment when the cells of the last one have had their time at the peak rate; these go at
    /// the line rate. So nothing waits between TCP and the network, and connections that share the VC take turns. A policer
    /// of cells needs a tolerance for that. Bare cells, and packets on packet-framed links, are spaced as with `cells`.
    Frames,
    /// Nothing: cells and packets go at the line rate when their sources send them. A source faster than the contract allows breaks it,
    /// and a policer is there to see that.
    None,
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

impl Category {
    /// Its name in scenarios and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cbr => "cbr",
            Self::Vbr => "vbr",
            Self::Abr => "abr",
            Self::Gfr => "gfr",
            Self::Ubr => "ubr",
        }
    }
}

/// What the first switch on a VC's way does about what is beyond the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policing {
    /// Nothing.
    #[default]
    None,
    /// Tags whole frames beyond the minimum rate with CLP = 1 (GFR.2: the frame-based GCRA), and discards the rest of a
    /// frame that exceeds the peak rate or the maximum frame size or changes its CLP. The last cell of a frame passes, unless the first did
    /// not. A frame exceeds its size with the cell that would leave no room for the last one. Each cell that keeps to the peak rate counts
    /// against it, also if it is discarded.
    Tag,
    /// Discards whole frames beyond the minimum rate, and the rest of a frame as `tag` does.
    DiscardFrames,
    /// Discards cells beyond the peak rate, and beyond the sustainable rate if there is one (the conformance definitions CBR.1 and VBR.1).
    DiscardCells,
    /// Discards cells beyond the peak rate, and tags those beyond the sustainable rate with CLP = 1 (the conformance definition VBR.3).
    /// Cells that the user marks have no part in the sustainable rate.
    TagCells,
}
