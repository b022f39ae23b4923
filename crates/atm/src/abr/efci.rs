//! EFCI marking: the first ABR switch, which signals only whether its queue is long; sources find their rates by steps.
//!
//! Data cells are marked from the moment when the queue passes the upper level until it is below the lower one. The destination
//! copies the mark of the last data cell into the RM cell that it turns around. The source then lowers its rate by a share (RDF)
//! or raises it by a step (RIF).

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Port, PortView, RateAllocator};
use crate::{catalogue::ParamError, quantity::Level};

/// Parameters of EFCI marking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Length of the ABR queue above which data cells are marked.
    pub high: Level,
    /// Length below which marking stops; the same as `high` for none of the hysteresis.
    pub low: Level,
}

impl Default for Params {
    fn default() -> Self {
        Self { high: Level::Cells(300), low: Level::Cells(200) }
    }
}

/// Two levels of the ABR queue in cells, the lower first.
pub(super) fn levels(
    port: &Port<'_>,
    (low_key, low): (&'static str, Level),
    (high_key, high): (&'static str, Level),
) -> Result<(u64, u64), ParamError> {
    let cells = |key, level: Level| level.cells(port.capacity).map_err(|message| ParamError { key, message });
    let (low_cells, high_cells) = (cells(low_key, low)?, cells(high_key, high)?);
    if low_cells > high_cells {
        let message = format!("{low} is above \"{high_key}\" ({high})");
        return Err(ParamError { key: low_key, message });
    }
    Ok((low_cells, high_cells))
}

/// EFCI marking.
#[derive(Debug, Clone)]
pub struct Efci {
    low: u64,
    high: u64,
    marks: bool,
}

impl RateAllocator for Efci {
    type Params = Params;

    const SUMMARY: &'static str = "Marks data cells while the queue is long; allocates no rates.";
    const REFERENCE: &'static str = "ATM Forum TM 4.0, switch behaviour";

    fn new(params: &Params, port: &Port<'_>) -> Result<Self, ParamError> {
        let (low, high) = levels(port, ("low", params.low), ("high", params.high))?;
        Ok(Self { low, high, marks: false })
    }

    fn on_cell(&mut self, _: Time, _: u32, is_rm: bool, port: &impl PortView) -> bool {
        if port.queue() > self.high {
            self.marks = true;
        } else if port.queue() < self.low {
            self.marks = false;
        }
        self.marks && !is_rm
    }
}
