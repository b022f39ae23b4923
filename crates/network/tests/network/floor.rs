//! The tests of the bare loop that the benchmarks run beside the simulator.

#[path = "../../../../benches/floor.rs"]
mod floor;
