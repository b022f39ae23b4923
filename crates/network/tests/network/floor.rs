//! The tests of the bare loop that the benchmarks run beside the simulator.

#[expect(clippy::module_inception, reason = "both are called as the file of the loop")]
#[path = "../../../../benches/floor.rs"]
mod floor;
