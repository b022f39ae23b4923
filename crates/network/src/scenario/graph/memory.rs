//! The memory that the output ports of a switch share.

use celltrain_atm::quantity::{Capacity, Ratio, Unit};

use super::{
    super::{
        error::Problem,
        spec::{Framing, Spec},
    },
    link::Link,
    outline::Outline,
    ports::place,
};

/// Checks that the memory of a port's switch suits its link and its buffer, and that the port does not relay RM cells.
pub(super) fn check_memory(spec: &Spec, outline: &Outline, link: &Link) -> Result<(), Problem> {
    let Some(memory) = &link.memory else { return Ok(()) };
    if memory.alpha == Ratio::billionths(0) {
        let message = "at 0 no port may hold anything: give a ratio above 0";
        return Err(Problem::new("switch.memory.alpha", message));
    }
    let name = format!("\"{} > {}\"", outline.nodes[link.from].name, outline.nodes[link.to].name);
    let carries = match (memory.size.unit(), link.framing) {
        (Some(Unit::Cells), Framing::Packets) => Some("packets: give a number of packets or bytes"),
        (Some(Unit::Packets | Unit::Bytes), Framing::Cells) => Some("cells: give a number of cells"),
        _ => None,
    };
    if let Some(carries) = carries {
        let message = format!("\"{}\" does not suit the port {name}, which carries {carries}", memory.size);
        return Err(Problem::new("switch.memory.size", message));
    }
    for (limit, key) in [(link.buffer, "buffer"), (link.vc_buffer, "vc-buffer")] {
        if differ(memory.size, limit) {
            let message = format!(
                "\"{}\" is not counted as the {key} of the port {name} is, \"{limit}\": give both in one unit",
                memory.size
            );
            return Err(Problem::new("switch.memory.size", message));
        }
    }
    if link.allocator.is_some() {
        let key = place(spec, &outline.nodes, link, "allocator", |port| port.allocator.is_some());
        let message = "the ports of a switch that share its memory (switch.memory) relay no RM cells: leave one of the two out";
        return Err(Problem::new(key, message));
    }
    Ok(())
}

/// Whether two sizes are limits in different units.
fn differ(one: Capacity, other: Capacity) -> bool {
    one.unit().is_some() && other.unit().is_some() && one.unit() != other.unit()
}
