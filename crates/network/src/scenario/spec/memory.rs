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
    /// Priority flow control: the switch pauses links from which it holds too much, and loses nothing for want of room; its discard
    /// policies still decide. A port may then hold whatever is free, so that `alpha` has no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<PauseSpec>,
}

/// `[switch.memory.pause]`: priority flow control with one class (IEEE 802.1Qbb).
///
/// The switch counts what it holds of the memory by the link on which it came. Above `xoff` it sends a pause to the port at the other
/// end of that link, which ends the unit that it is transmitting and stops; at `xon` it lets it go on. Either takes the delay of the link.
/// What arrives until then needs headroom: 2 × delay × rate + 2 units for each link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PauseSpec {
    /// A link is paused while the switch holds more of what came on it, until it holds no more than `xon`.
    pub xoff: Capacity,
    /// At this level the link may transmit again; at most `xoff`.
    pub xon: Capacity,
}

fn one() -> Ratio {
    Ratio::ONE
}
