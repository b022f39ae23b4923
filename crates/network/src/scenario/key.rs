//! What the results of a scenario depend on, as a hash.

use celltrain_atm::{abr::AllocatorName, buffer::PolicyName, scheduler::DisciplineName};
use serde_json::Value;

/// Settings that choose among the runs of a scenario and change none of them.
const OF_THE_EXPERIMENT: [&str; 2] = ["seed", "replications"];

/// A hash of the settings of a scenario that are in force: equal for scenarios whose runs are the same and that bear one name.
pub(super) fn key(mut resolved: Value) -> String {
    if let Value::Object(settings) = &mut resolved {
        settings.retain(|name, _| !OF_THE_EXPERIMENT.contains(&name.as_str()));
    }
    forget_unused(&mut resolved);
    // FNV-1a, 64 bits.
    let hash = resolved.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// A key by which a table chooses among algorithms, and whether a name is one of theirs.
type Choice = (&'static str, fn(&str) -> bool);

/// Every such key.
const CHOICES: [Choice; 3] = [
    ("policy", |name| PolicyName::ALL.iter().any(|policy| policy.name() == name)),
    ("discipline", |name| DisciplineName::ALL.iter().any(|discipline| discipline.name() == name)),
    ("algorithm", |name| AllocatorName::ALL.iter().any(|algorithm| algorithm.name() == name)),
];

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
