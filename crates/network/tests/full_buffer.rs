//! A buffer of a few cells is full when it is, to the fraction of a picosecond.

use celltrain_network::{
    run::{Experiment, Options},
    scenario::Scenario,
};

/// Cells of a source at 40 Mbit/s and of TCP meet a backlog of a whole slot, or of a fraction of a picosecond more.
const NETWORK: &str = r#"
schema = 1
name = "full buffer"
duration = "4 ms"
tie-break = "port-id"
topology = { kind = "parking-lot", switches = 2, sources = 2 }
link = { rate = "155.52 Mbit/s", delay = "0 s", exit.rate = "149.76 Mbit/s" }
switch = { buffer = "2 cells", discard.policy = "ppd" }
traffic = { kind = "greedy", start = "0 ms .. 1 ms" }
[[flow]]
name = "1"
traffic = { kind = "cbr", rate = "40 Mbit/s", frame = 7 }
"#;

#[test]
fn no_cell_enters_a_buffer_that_a_fraction_of_a_picosecond_fills() {
    let scenario = Scenario::from_toml(NETWORK, "test.toml", &[]).unwrap();
    let experiment = Experiment::new(&scenario).unwrap();
    for seed in 1..=10 {
        // The port checks at the end that its buffer was never too full.
        let result = experiment.run(seed, 0, Options::default(), &mut || false).unwrap();
        assert!(result.ports.counts("occupancy_max").iter().max() >= Some(&2), "the buffer is used up");
    }
}
