//! The scenarios that come with the project can be read, and the regression ones have something to guard.

use std::{fs, path::PathBuf};

use celltrain_atm::buffer::PolicyName;
use celltrain_network::{
    run::{Experiment, Options},
    scenario::Scenario,
};

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
fn teaching_scenarios_have_a_network() {
    let scenarios = scenarios("teaching");
    assert!(!scenarios.is_empty());
    for (_, scenario) in scenarios {
        assert!(!scenario.graph().unwrap().flows.is_empty());
    }
}

#[test]
fn every_policy_has_a_regression_scenario_of_its_name() {
    let scenarios = scenarios("regression");
    for policy in PolicyName::ALL {
        let path = folder("regression").join(format!("{}.toml", policy.name()));
        let (_, scenario) =
            scenarios.iter().find(|(found, _)| *found == path).unwrap_or_else(|| panic!("no {path:?}"));
        assert_eq!(scenario.spec().switch.discard.policy, *policy, "{path:?}");
    }
}

#[test]
fn policies_discard_in_their_regression_scenarios() {
    for (path, scenario) in scenarios("regression") {
        let result =
            Experiment::new(&scenario).unwrap().run(1, 0, Options::default(), &mut || false).unwrap();
        let lost = result.summary.iter().find(|metric| metric.name == "cell_loss_ratio").unwrap().value;
        assert!(lost > 0.001, "{path:?} discards {lost} of the cells");
    }
}
