//! The memory of switches.

use celltrain_atm::quantity::{Capacity, Ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[switch.memory]`: one memory for all output ports of a switch, with dynamic thresholds (Choudhury and Hahne 1998).
///
/// A port accepts a unit while it holds less than `alpha` times what is free of the memory, and the unit fits into it. Its discard policy
/// decides within that limit. With n ports at their limit each holds alpha B/(1 + n alpha) of a memory of size B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MemorySpec {
    /// Size of the memory of each switch, in what its buffers are counted in.
    pub size: Capacity,
    /// Multiple of the free memory that a port may hold, above 0. Analyses take 1; products use powers of two from 1/128 to 8.
    #[serde(default = "one")]
    pub alpha: Ratio,
}

fn one() -> Ratio {
    Ratio::ONE
}
