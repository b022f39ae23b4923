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

/// Takes out the parameters of policies that a table has beside those of the policy it names: a grid over policies and
/// parameters has them everywhere.
fn forget_unused(value: &mut Value) {
    match value {
        Value::Object(settings) => {
            if let Some(Value::String(chosen)) = settings.get("policy").cloned() {
                let is_policy = |name: &str| PolicyName::ALL.iter().any(|policy| policy.info().name == name);
                settings.retain(|name, _| *name == chosen || !is_policy(name));
            }
            settings.values_mut().for_each(forget_unused);
        }
        Value::Array(elements) => elements.iter_mut().for_each(forget_unused),
        _ => {}
    }
}
