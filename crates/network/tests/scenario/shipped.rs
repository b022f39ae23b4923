//! The scenarios that come with the project can be read, and the regression ones have something to guard.

use std::{fs, path::PathBuf};

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName, scheduler::DisciplineName};
use celltrain_network::{
    scenario::Scenario,
    table::{Column, Table},
};

use crate::common::{overrides, run, values};

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name)
}

fn scenarios(name: &str) -> Vec<(PathBuf, Scenario)> {
    let mut paths: Vec<_> = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let load = |path: PathBuf| {
        let scenario = Scenario::load(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        (path, scenario)
    };
    paths.into_iter().map(load).collect()
}

#[test]
fn teaching_scenarios_and_networks_have_flows() {
    for folder in ["teaching", "networks"] {
        let scenarios = scenarios(folder);
        assert!(!scenarios.is_empty());
        for (_, scenario) in scenarios {
            assert!(!scenario.graph().unwrap().flows.is_empty());
        }
    }
}

#[test]
fn fifty_connections_and_web_traffic_take_25_lines() {
    let path = folder("networks").join("web-beside-cubic-and-bbr.toml");
    assert!(fs::read_to_string(&path).unwrap().lines().filter(|line| !line.starts_with('#')).count() <= 25);
    let scenario = Scenario::load(&path, &[]).unwrap();
    let graph = scenario.graph().unwrap();
    let of_group = |group: u32| graph.flows.iter().filter(|flow| flow.group == group).count();
    assert_eq!([1, 2, 3].map(of_group), [25, 25, 5]);
}

/// What the comments of the file say: of five sources of one mean rate, the more irregular one needs the larger buffer.
#[test]
fn irregular_sources_of_one_mean_rate_need_larger_buffers() {
    let path = folder("networks").join("five-sources.toml");
    let scenario = Scenario::load(&path, &overrides(&[("duration", "400 ms")])).unwrap();
    let result = run(&scenario);
    let (ports, means) = (names(&result.ports), values(&result.ports, "occupancy_mean"));
    let mean = |sink: &str| {
        let port = format!("switch > {sink}");
        means[ports.iter().position(|name| *name == port).unwrap()]
    };
    let [cbr, bernoulli, poisson, mmpp, pareto] = ["sink1", "sink2", "sink3", "sink4", "sink5"].map(mean);
    assert!(cbr < bernoulli && bernoulli < poisson, "{cbr}, {bernoulli}, {poisson}");
    assert!(10.0 * poisson < mmpp.min(pareto), "{poisson}, {mmpp}, {pareto}");
}

/// What the comments of the file say: GCRA(1/PCR, 0) discards every other cell of a source at twice its peak rate, and the others lose
/// cells only without the policer.
#[test]
fn a_source_that_breaks_its_contract_harms_itself_alone() {
    let path = folder("networks").join("broken-contract.toml");
    let losses = |overrides: &[(String, String)]| {
        let scenario = Scenario::load(&path, overrides).unwrap();
        let result = run(&scenario);
        values(&result.flows, "cell_loss_ratio")
    };
    let policed = losses(&[]);
    assert_eq!(policed[..2], [0.0, 0.0]);
    assert!((policed[2] - 0.5).abs() < 1e-3, "{policed:?}");
    let free = losses(&overrides(&[("vc.policing", "none")]));
    assert!(free[0].max(free[1]) > 0.1, "{free:?}");
}

/// The first column: the names of the rows.
fn names(table: &Table) -> Vec<&str> {
    match &table.columns()[0].2 {
        Column::Text(names) => names.iter().collect(),
        _ => panic!("a table begins with names"),
    }
}

#[test]
fn every_policy_and_discipline_has_a_regression_scenario_of_its_name() {
    let scenarios = scenarios("regression");
    let find = |name: &str| {
        let path = folder("regression").join(format!("{name}.toml"));
        let found = scenarios.iter().find(|(found, _)| *found == path);
        &found.unwrap_or_else(|| panic!("no {path:?}")).1.spec().switch
    };
    for policy in PolicyName::ALL {
        assert_eq!(find(policy.name()).discard.policy, *policy);
    }
    for discipline in DisciplineName::ALL {
        assert_eq!(find(discipline.name()).scheduler.discipline, *discipline);
    }
}

#[test]
fn every_allocator_has_a_regression_scenario_of_its_name() {
    let scenarios = scenarios("regression");
    for allocator in AllocatorName::ALL {
        let path = folder("regression").join(format!("{}.toml", allocator.name()));
        let (_, scenario) =
            scenarios.iter().find(|(found, _)| *found == path).unwrap_or_else(|| panic!("no {path:?}"));
        let chosen = scenario.spec().switch.allocator.as_ref().map(|allocator| allocator.algorithm);
        assert_eq!(chosen, Some(*allocator), "{path:?}");
    }
}

#[test]
fn policies_discard_in_their_regression_scenarios() {
    for (path, scenario) in scenarios("regression") {
        let result = run(&scenario);
        let lost = result.summary.iter().find(|metric| metric.name == "cell_loss_ratio").unwrap().value;
        assert!(lost > 0.001, "{path:?} discards {lost} of the cells");
    }
}
