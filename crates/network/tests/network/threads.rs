//! Which runs are shared out among threads, and that nothing comes of it but time.

use std::{env, process::Command};

use celltrain_network::Experiment;

use crate::common::{run_as, scenario, traced};

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
    // Nothing goes from one half of the tree to the other, so neither waits.
    assert!(threads_for(&fat_tree("1 Mbit/s", "5 us", "1000 s")) > 1);
    let sharing = |rate: &str, duration: &str, vc: &str| {
        format!(
            "duration = \"{duration}\"\n[topology]\nkind = \"n-source\"\nsources = 40\n[link]\nrate = \"{rate}\"\n\
             delay = \"1 ms\"\n[switch]\nbuffer = \"1000 cells\"\n{vc}[tcp]\nstack = \"sack\"\n"
        )
    };
    let pairs = |vc: &str| sharing("622.08 Mbit/s", "100 s", vc);
    assert!(threads_for(&pairs("")) > 1);
    assert_eq!(threads_for(&sharing("1 Mbit/s", "10000 s", "")), 1, "seldom anything happens");
    let abr = pairs("allocator.algorithm = \"erica\"\n[vc]\ncategory = \"abr\"\n");
    assert_eq!(threads_for(&abr), 1, "RM cells are rewritten on their way");
}

/// The size of a thread's stack unless it is told another.
const STACK: &str = "RUST_MIN_STACK";

/// A stack that no address space has room for: a process in which each thread is to have it gets none.
const NO_ROOM: usize = 1 << (usize::BITS - 2);

/// As [`run_on`], in three parts, and what is said of threads that could not be had.
fn in_three_parts(tables: &str) -> (Option<String>, String) {
    let mut result = run_as(&scenario(tables), traced(), |network| {
        network.set_partition((0..network.processes()).map(|process| process % 3).collect());
        network.record_events();
    });
    (result.fewer_threads.take(), format!("{result:?}"))
}

#[test]
fn without_further_threads_a_run_goes_on_in_its_own() {
    const NAME: &str = "threads::without_further_threads_a_run_goes_on_in_its_own";
    let tables = fat_tree("1 Gbit/s", "20 us", "5 ms");
    let no_room = NO_ROOM.to_string();
    if env::var(STACK).as_ref() == Ok(&no_room) {
        let (shortage, said) = in_three_parts(&tables);
        assert_eq!(said, run_on(&tables, 1).1);
        let sentence = shortage.expect("there is no other thread");
        assert!(
            sentence.starts_with("a run continued on one thread because the system provided no more ("),
            "{sentence}"
        );
        return;
    }
    assert_eq!(in_three_parts(&tables).0, None, "there are threads");
    let mut alone = Command::new(env::current_exe().expect("this program"));
    alone.args(["--exact", NAME, "--test-threads=1"]).env(STACK, no_room);
    let output = alone.output().expect("another process of this program");
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
}
