//! ABR through the network: what allocators achieve, from sources that always have something to send.

use celltrain_network::RunResult;

use crate::common::{names, run, value};

/// Cells a second of an OC-3.
const OC3: f64 = 155.52e6 / 424.0;

/// Sources that offer the link rate for ever, whatever their ABR source lets through.
const PERSISTENT: &str = "[traffic]\nkind = \"cbr\"\nrate = \"155.52 Mbit/s\"\n";

/// Rates of ABR connections without TCP, which follow the explicit rate at once.
fn abr(allocator: &str, more: &str) -> String {
    format!(
        "[switch]\nbuffer = \"unlimited\"\nallocator.algorithm = \"{allocator}\"\n[vc]\ncategory = \"abr\"\n\
         [abr]\nrif = 1\nicr = \"10 Mbit/s\"\nsource-buffer = \"100 cells\"\n{more}{PERSISTENT}"
    )
}

/// Two switches and a trunk under `allocator`.
fn pairs(sources: u32, allocator: &str, more: &str) -> RunResult {
    let head = format!(
        "duration = \"200 ms\"\nwarm-up = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = {sources}\n\
         [link]\ndelay = \"100 us\"\n"
    );
    run(&(head + &abr(allocator, more)))
}

/// Cells a second of a flow, RM cells included.
fn rate(result: &RunResult, flow: &str, seconds: f64) -> f64 {
    value(&result.flows, flow, "cells_sent") / seconds
}

fn discarded(result: &RunResult) -> f64 {
    names(&result.ports).iter().map(|port| value(&result.ports, port, "cells_discarded")).sum()
}

#[test]
fn one_source_settles_at_the_target_utilisation() {
    let result = pairs(1, "erica", "");
    let share = rate(&result, "1", 0.1) / OC3;
    assert!((share - 0.9).abs() < 0.005, "{share}");
    assert!((value(&result.ports, "switch1 > switch2", "utilisation") - 0.9).abs() < 0.005);
    assert_eq!(discarded(&result), 0.0);
}
