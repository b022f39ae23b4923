//! Which runs are shared out among threads, and that nothing comes of it but time.

use celltrain_network::Experiment;

use crate::common::{scenario, traced};

/// A fat tree of 16 hosts with links of `rate` and `delay`, for `duration`.
fn fat_tree(rate: &str, delay: &str, duration: &str) -> String {
    format!(
        "duration = \"{duration}\"\nwarm-up = \"1 ms\"\nsample = \"1 ms\"\n[topology]\nkind = \"fat-tree\"\nk = 4\n\
         [link]\nframing = \"packets\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n[switch]\nbuffer = \"100 packets\"\n\
         [tcp]\nstack = \"linux\"\nrto-min = \"5 ms\"\nrto-variance-min = \"1 ms\"\n"
    )
}

/// On how many threads of `threads` a run of what `tables` describe is run, and everything that it says.
fn run_on(tables: &str, threads: usize) -> (usize, String) {
    let scenario = scenario(tables);
    let experiment = Experiment::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    let mut network = experiment.network(1, 0, traced());
    let used = experiment.use_threads(&mut network, threads);
    network.record_events();
    let result = experiment.run_network(network, &mut || false).expect("nothing interrupts");
    (used, format!("{result:?}"))
}

#[test]
fn a_large_network_runs_on_as_many_threads_as_there_are_and_says_the_same() {
    let tables = fat_tree("10 Gbit/s", "20 us", "30 ms");
    let (alone, usual) = run_on(&tables, 1);
    assert_eq!(alone, 1);
    for threads in [2, 4] {
        let (used, said) = run_on(&tables, threads);
        assert_eq!(used, threads);
        assert!(said == usual, "{threads} threads");
    }
}

/// On how many threads of eight a run of what `tables` describe would be run.
fn threads_for(tables: &str) -> usize {
    let scenario = scenario(tables);
    let experiment = Experiment::new(&scenario).unwrap_or_else(|error| panic!("{error}"));
    experiment.use_threads(&mut experiment.network(1, 0, traced()), 8)
}

#[test]
fn what_would_not_gain_runs_on_one_thread() {
    assert!(threads_for(&fat_tree("10 Gbit/s", "5 us", "10 s")) > 1);
    assert_eq!(threads_for(&fat_tree("10 Gbit/s", "5 us", "2 ms")), 1, "it is over soon");
    assert_eq!(threads_for(&fat_tree("1 Mbit/s", "5 us", "1000 s")), 1, "seldom anything happens");
    let pairs = |vc: &str| {
        format!(
            "duration = \"100 s\"\n[topology]\nkind = \"n-source\"\nsources = 40\n[link]\nrate = \"622.08 Mbit/s\"\n\
             delay = \"1 ms\"\n[switch]\nbuffer = \"1000 cells\"\n{vc}[tcp]\nstack = \"sack\"\n"
        )
    };
    assert!(threads_for(&pairs("")) > 1);
    let abr = pairs("allocator.algorithm = \"erica\"\n[vc]\ncategory = \"abr\"\n");
    assert_eq!(threads_for(&abr), 1, "RM cells are rewritten on their way");
}
