//! EPD with hysteresis: once a high threshold is reached, new frames are refused until the queue has drained to a low one.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Occupancy, ParamError, PortContext, PortState, View,
    frame::{FramePolicy, FrameRule, Levels},
};
use crate::{Cell, quantity::Level};

/// Parameters of EPD with hysteresis.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which new frames are refused.
    pub high: Level,
    /// Occupancy below which they are admitted again.
    pub low: Level,
}

impl Default for Params {
    fn default() -> Self {
        Self { high: Level::Share(900_000), low: Level::Share(800_000) }
    }
}

/// The policy.
pub type Hysteresis = FramePolicy<UntilDrained>;

/// Refuses frames from the high threshold on until the queue is below the low one.
#[derive(Debug, Clone)]
pub struct UntilDrained {
    high: u64,
    low: u64,
    /// Whether the queue has reached the high threshold and not yet drained to the low one.
    refusing: bool,
}

impl FrameRule for UntilDrained {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str =
        "Refuses new frames from a high threshold on until the queue is below a low one.";
    const REFERENCE: &'static str = "docs/how-to/add-a-discard-policy.md";
    const LEVELS: Levels<Params> = |params| vec![("low", params.low), ("high", params.high)];

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        Ok(Self { high, low, refusing: false })
    }

    fn admits<S: PortState>(&mut self, _: &Cell, port: &View<'_, Occupancy, S>, _: Time) -> bool {
        let bound = if self.refusing { self.low } else { self.high };
        self.refusing = port.occupancy() >= bound;
        !self.refusing
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{quantity::BitRate, random::Randomness};

    use super::{
        super::{BufferPolicy, Snapshot, Verdict},
        *,
    };
    use crate::{contract::Contract, quantity::Unit};

    #[test]
    fn admits_again_only_below_the_low_threshold() {
        let port = PortContext {
            capacity: 100,
            unit: Unit::Cells,
            rate: BitRate(155_520_000),
            overhead: 0,
            vcs: &[Contract::default()],
            generator: Randomness { seed: 1, replication: 0 }.named("test"),
        };
        let mut policy = Hysteresis::new(&Params::default(), &port).unwrap();
        let first = Cell { length: 12, ..Cell::default() };
        let admitted = [89, 90, 85, 80, 79, 85].map(|occupancy| {
            let port = Snapshot::of(100, &[occupancy]);
            policy.on_arrival(&first, &port.view(true), 0) == Verdict::Accept
        });
        assert_eq!(admitted, [true, false, false, false, true, true]);
    }
}
