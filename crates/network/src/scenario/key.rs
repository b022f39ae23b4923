//! What the results of a scenario depend on, as a hash.

use serde_json::Value;

/// Settings that choose among the runs of a scenario and change none of them.
const OF_THE_EXPERIMENT: [&str; 2] = ["seed", "replications"];

/// A hash of a scenario with every value that is in force: two spellings of one scenario have one key, and a default that a later
/// version changes changes it.
pub(super) fn key(mut resolved: Value) -> String {
    if let Value::Object(settings) = &mut resolved {
        settings.retain(|name, _| !OF_THE_EXPERIMENT.contains(&name.as_str()));
    }
    // FNV-1a, 64 bits.
    let hash = resolved.to_string().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
