//! Loading and building can be stopped soon, wherever the time goes: questions are counted for the work between them.

use celltrain_network::{
    Experiment, Options,
    scenario::{Scenario, WORK_BETWEEN_POLLS},
};

fn scenario(topology: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"large\"\nduration = \"1 us\"\ntopology = {{ {topology} }}\n");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap()
}

/// How often `work` asks whether it is to stop, and whether it does as soon as the answer is yes at each of these times.
fn questions(mut work: impl FnMut(&mut dyn FnMut() -> bool) -> bool) -> u64 {
    let mut asked = 0;
    assert!(work(&mut || {
        asked += 1;
        false
    }));
    for last in [1, 2, asked / 2, asked - 1, asked] {
        let mut now = 0;
        let finished = work(&mut || {
            now += 1;
            now >= last
        });
        assert!(!finished && now == last, "went on after question {last} of {asked}");
    }
    asked
}

#[test]
fn the_network_of_many_flows_is_given_up_as_it_grows() {
    for (topology, route_links) in [
        // Three links there and three back for each flow.
        ("kind = \"n-source\", sources = 20000", 20_000 * 6),
        // Flow k of 400 crosses 402 - k links.
        ("kind = \"parking-lot\", switches = 401, sources = 1", 2 * (400 * 402 - 400 * 401 / 2)),
    ] {
        let scenario = scenario(topology);
        let asked = questions(|interrupt| scenario.graph_unless(interrupt).unwrap().is_some());
        // Routes are looked at twice: when they are made and when the ports are checked.
        assert!(asked >= 2 * route_links / WORK_BETWEEN_POLLS, "{asked} questions over {route_links} links");
    }
}

#[test]
fn the_processes_of_many_flows_are_given_up_as_they_are_made() {
    let scenario = scenario("kind = \"n-source\", sources = 5000");
    let experiment = Experiment::new(&scenario).unwrap();
    let build = |interrupt: &mut dyn FnMut() -> bool| {
        experiment.network_unless(1, 0, Options::default(), interrupt).is_some()
    };
    // 10 000 hosts and more ports than that.
    assert!(questions(build) >= 300);
}

#[test]
fn a_fast_link_makes_visits_short() {
    // In the 8 ms that a visit covers where links are slow, this source sends two thousand million cells.
    let text = "schema = 1\nname = \"fast\"\nduration = \"10 us\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
        link = { rate = \"100 Tbit/s\", delay = \"1 us\" }\ntraffic = { kind = \"cbr\", rate = \"100 Tbit/s\" }\n";
    let scenario = Scenario::from_toml(text, "test.toml", &[]).unwrap();
    let mut asked = 0;
    let run = Experiment::new(&scenario).unwrap().run(1, 0, Options::default(), &mut || {
        asked += 1;
        false
    });
    let cells = run.unwrap().cell_hops / 3;
    assert!(cells > 2_000_000 && asked >= cells / 250_000, "{asked} questions for {cells} cells");
}

#[test]
fn an_idle_port_catches_up_with_its_intervals_in_many_visits() {
    // One source sends 10 kB and is done: what remains of the 2 s are the two million intervals of the rate allocator.
    let text = "schema = 1\nname = \"idle\"\nduration = \"2 s\"\ntopology = { kind = \"n-source\", sources = 1 }\n\
        traffic = { kind = \"finite\", bytes = \"10 kB\" }\nvc.category = \"abr\"\n\
        switch.allocator = { algorithm = \"erica\", erica = { interval = { time = \"1 us\" } } }\n";
    let scenario = Scenario::from_toml(text, "test.toml", &[]).unwrap();
    let mut asked = 0;
    let run = Experiment::new(&scenario).unwrap().run(1, 0, Options::default(), &mut || {
        asked += 1;
        false
    });
    assert!(run.is_some() && asked >= 2_000_000 / 20_000, "{asked} questions over two million intervals");
}
