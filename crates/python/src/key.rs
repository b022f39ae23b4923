//! What the results of a scenario depend on, as a hash.

use celltrain_atm::buffer::PolicyName;
use celltrain_network::scenario::Scenario;
use serde_json::Value;

use crate::fnv::Fnv;

/// Settings that choose among the runs of a scenario and change none of them.
const OF_THE_EXPERIMENT: [&str; 2] = ["seed", "replications"];

/// A hash of every setting that is in force: equal for scenarios whose runs are the same and that bear one name.
pub(crate) fn key(scenario: &Scenario) -> String {
    let mut resolved = scenario.to_json();
    if let Value::Object(settings) = &mut resolved {
        settings.retain(|name, _| !OF_THE_EXPERIMENT.contains(&name.as_str()));
    }
    forget_unused(&mut resolved);
    let mut hash = Fnv::new();
    hash.add(resolved.to_string().as_bytes());
    hash.digits()
}

/// A key by which a table chooses among algorithms, and whether a name is one of theirs.
type Choice = (&'static str, fn(&str) -> bool);

/// Every such key.
const CHOICES: [Choice; 1] =
    [("policy", |name| PolicyName::ALL.iter().any(|policy| policy.info().name == name))];

/// Takes out the parameters of algorithms that a table has beside those of the one it chooses: a grid over algorithms and
/// their parameters has them everywhere.
fn forget_unused(value: &mut Value) {
    match value {
        Value::Object(settings) => {
            for (key, is_choice) in CHOICES {
                if let Some(Value::String(chosen)) = settings.get(key).cloned() {
                    settings.retain(|name, _| *name == chosen || !is_choice(name));
                }
            }
            settings.values_mut().for_each(forget_unused);
        }
        Value::Array(elements) => elements.iter_mut().for_each(forget_unused),
        _ => {}
    }
}
