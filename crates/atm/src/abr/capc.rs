//! CAPC: congestion avoidance using proportional control. One explicit rate for all VCs moves in proportion to the distance of
//! the load from its target.
//!
//! The rate starts at the link rate divided by the number of ABR VCs of the port. After each interval it is
//! multiplied by a factor that is linear in the distance from the target load, within limits. It stays between a cell per second and
//! the link rate. While the queue is long, RM cells also carry CI. The state is one number per port, and nothing per VC.

use celltrain_engine::{Time, quantity::Duration, time::MILLISECOND};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Port, PortView, Rate, RateAllocator, RmCell,
    interval::{self, Interval},
    within,
};
use crate::{catalogue::ParamError, quantity::Level};

/// The rate is never moved below one cell a second, from where factors could not bring it back.
const LEAST: f64 = 1.0;

/// Parameters of CAPC. Formulas and values are unconfirmed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Share of what VBR leaves of the link that is to be used (the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub target_utilisation: f64,
    /// Time over which the load is measured, 1 us or more (the default is unconfirmed).
    pub interval: Duration,
    /// Slope of increases (Rup; values from 0.025 to 0.1 are quoted, unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub up: f64,
    /// Slope of decreases (Rdn; values from 0.2 to 0.8 are quoted, unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub down: f64,
    /// The largest factor of an increase (ERU; the default is unconfirmed).
    #[schemars(range(min = 1, max = 10))]
    pub most_up: f64,
    /// The smallest factor of a decrease (ERF; the default is unconfirmed).
    #[schemars(range(min = 0, max = 1))]
    pub most_down: f64,
    /// Length of the ABR queue above which CI is set (the default is unconfirmed).
    pub congested: Level,
    /// Whether RM cells count as input.
    pub count_rm_cells: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target_utilisation: 0.95,
            interval: Duration(MILLISECOND),
            up: 0.1,
            down: 0.8,
            most_up: 1.5,
            most_down: 0.5,
            congested: Level::Cells(50),
            count_rm_cells: true,
        }
    }
}

/// The CAPC switch.
#[derive(Debug, Clone)]
pub struct Capc {
    params: Params,
    congested: u64,
    link: f64,
    interval: Interval,
    /// The rate for every VC in cells a second (ERS). It starts at an equal share of the link.
    rate: f64,
}

impl Params {
    fn interval(&self) -> Result<Interval, ParamError> {
        Interval::new(&interval::Params { cells: None, time: self.interval })
    }
}

impl RateAllocator for Capc {
    type Params = Params;

    const SUMMARY: &'static str =
        "Moves one rate for all VCs in proportion to the distance from the target load.";
    const REFERENCE: &'static str =
        "Barnhart 1994; Kalyanaraman 1997, section 4.7; formulas and values unconfirmed";

    fn check(params: &Params) -> Result<(), ParamError> {
        within("target-utilisation", params.target_utilisation, 0.0, 1.0)?;
        within("up", params.up, 0.0, 1.0)?;
        within("down", params.down, 0.0, 1.0)?;
        within("most-up", params.most_up, 1.0, 10.0)?;
        within("most-down", params.most_down, 0.0, 1.0)?;
        params.interval().map(|_| ())
    }

    fn new(params: &Params, port: &Port<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let congested = params
            .congested
            .cells(port.capacity)
            .map_err(|message| ParamError { key: "congested", message })?;
        Ok(Self {
            congested,
            link: port.link.cells(),
            interval: params.interval()?,
            rate: port.equal_share().max(LEAST),
            params: params.clone(),
        })
    }

    fn on_cell(&mut self, now: Time, _: u32, is_rm: bool, _: &impl PortView) -> bool {
        if self.params.count_rm_cells || !is_rm {
            self.interval.count(now);
        }
        false
    }

    fn allowance(&self) -> u64 {
        self.interval.left()
    }

    fn on_cells(&mut self, _: u32, cells: u64) {
        self.interval.count_all(cells);
    }

    fn on_backward_rm(&mut self, _: Time, _: u32, rm: &mut RmCell, port: &impl PortView) {
        rm.lower_er(Rate::of_cells(self.rate));
        if port.queue() > self.congested {
            rm.set_ci();
        }
    }

    fn next_interval(&self) -> Time {
        self.interval.end()
    }

    fn on_interval(&mut self, now: Time, port: &impl PortView) {
        let measured = self.interval.finish(now, port);
        let Params { target_utilisation, up, down, most_up, most_down, .. } = self.params;
        let room = target_utilisation * (self.link * measured.seconds - measured.priority_cells);
        let load = if room > 0.0 { measured.cells / room } else { f64::INFINITY };
        let factor = if load < 1.0 {
            most_up.min(1.0 + (1.0 - load) * up)
        } else {
            // Without room the load is infinite and with a slope of 0 the product is not a number: `max` ignores it.
            most_down.max(1.0 - (load - 1.0) * down)
        };
        self.rate = (self.rate * factor).clamp(LEAST, self.link.max(LEAST));
    }
}
