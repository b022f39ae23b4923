//! EPRCA: enhanced proportional rate control. The switch keeps a mean of the rates that sources declare. While its queue is long,
//! it limits the VCs above the mean to a little less than the mean, or all VCs to a fraction of it.
//!
//! The mean is exponential and moves with each forward RM cell. It starts at the link rate divided by the number of ABR
//! VCs of the port. The state is one number per port, and nothing per VC.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Port, PortView, Rate, RateAllocator, RmCell, efci::levels, within};
use crate::{catalogue::ParamError, quantity::Level};

/// Parameters of EPRCA. The structure (two thresholds, a mean, factors of it) is that of the published descriptions; all
/// values are from memory of the literature and unconfirmed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Length of the ABR queue above which it is congested (QT; the default is unconfirmed).
    pub congested: Level,
    /// Length above which it is very congested (DQT; the default is unconfirmed).
    pub very_congested: Level,
    /// Weight of a new rate in the mean of rates (AV; the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub averaging: f64,
    /// Share of the mean above which a source's rate counts as high (DPF; the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub down_pressure: f64,
    /// Share of the mean that a source of high rate gets under congestion (ERF; the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub explicit_reduction: f64,
    /// Share of the mean that every source gets under heavy congestion (MRF; the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub major_reduction: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            congested: Level::Cells(100),
            very_congested: Level::Cells(1000),
            averaging: 1.0 / 16.0,
            down_pressure: 7.0 / 8.0,
            explicit_reduction: 15.0 / 16.0,
            major_reduction: 1.0 / 4.0,
        }
    }
}

/// The EPRCA switch.
#[derive(Debug, Clone)]
pub struct Eprca {
    params: Params,
    congested: u64,
    very_congested: u64,
    /// The mean of the rates in cells a second (MACR). It starts at an equal share of the link.
    mean: f64,
}

impl RateAllocator for Eprca {
    type Params = Params;

    const SUMMARY: &'static str =
        "Holds sources to a fraction of the mean of their rates while the queue is long.";
    const REFERENCE: &'static str = "Roberts, ATM Forum 94-0735; formulas and values unconfirmed";

    fn check(params: &Params) -> Result<(), ParamError> {
        within("averaging", params.averaging, 0.0, 1.0)?;
        within("down-pressure", params.down_pressure, 0.0, 1.0)?;
        within("explicit-reduction", params.explicit_reduction, 0.0, 1.0)?;
        within("major-reduction", params.major_reduction, 0.0, 1.0)
    }

    fn new(params: &Params, port: &Port<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let (congested, very_congested) =
            levels(port, ("congested", params.congested), ("very-congested", params.very_congested))?;
        Ok(Self { params: params.clone(), congested, very_congested, mean: port.equal_share() })
    }

    fn on_cell(&mut self, _: Time, _: u32, _: bool, _: &impl PortView) -> bool {
        false
    }

    fn allowance(&self) -> u64 {
        u64::MAX
    }

    fn on_forward_rm(&mut self, _: Time, _: u32, rm: &mut RmCell, _: &impl PortView) {
        self.mean += self.params.averaging * (rm.ccr().cells() - self.mean);
    }

    fn on_backward_rm(&mut self, _: Time, _: u32, rm: &mut RmCell, port: &impl PortView) {
        if port.queue() > self.very_congested {
            rm.lower_er(Rate::of_cells(self.mean * self.params.major_reduction));
        } else if port.queue() > self.congested && rm.ccr().cells() > self.mean * self.params.down_pressure {
            rm.lower_er(Rate::of_cells(self.mean * self.params.explicit_reduction));
        }
    }
}
