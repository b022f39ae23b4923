//! A buffer of a few cells is full when it is, to the fraction of a picosecond.

use celltrain_network::{Experiment, Options};

use crate::common::{load, metric, numbers, run_plain};

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
    let scenario = load(NETWORK, &[]);
    let experiment = Experiment::new(&scenario).unwrap();
    for seed in 1..=10 {
        // The port checks at the end that its buffer was never too full.
        let result = experiment.run(seed, 0, Options::default(), &mut || false).unwrap();
        assert!(result.ports.counts("occupancy_max").iter().max() >= Some(&2), "the buffer is used up");
    }
}

/// A buffer of one cell in front of a slower trunk, so that the end of a frame is mostly lost and no frame is complete for long.
const BROKEN: &str = r#"
schema = 1
name = "broken frames"
duration = "100 ms"
topology = { kind = "n-source", sources = 1 }
link = { rate = "155.52 Mbit/s", delay = "0 s", trunk.rate = "10 Mbit/s" }
switch.buffer = "1 cells"
traffic = { kind = "poisson", rate = "8 Mbit/s", frame = 5 }
"#;

/// ITU-T I.356 section 6.3: the cell loss ratio is that of lost cells to all that were transmitted, whatever frames they belong to. The ratio of
/// the run is about "these + cells that reached hosts", as that of its one flow: what is still on the last link has not.
#[test]
fn cells_of_a_frame_that_is_not_complete_have_arrived() {
    for (warm_up, delay) in [("0 s", "0 s"), ("33 ms", "0 s"), ("0 s", "20 ms"), ("70 ms", "20 ms")] {
        let text = format!("warm-up = \"{warm_up}\"{BROKEN}");
        let result = run_plain(&text, &[("link.delay", delay)]);
        let of_all = metric(&result, "cell_loss_ratio");
        let of_flow = numbers(&result.flows, "cell_loss_ratio")[0];
        assert!(of_flow > 0.5 && (of_flow - of_all).abs() < 1e-12, "{of_flow} of the flow, {of_all} of all");
        let useless = result.flows.counts("cells_useless")[0];
        assert!(useless > 0, "frames are broken");
    }
}
