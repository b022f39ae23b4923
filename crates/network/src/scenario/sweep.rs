//! The schema of sweeps. They are read and run in Python; here is what an editor and the reference say of their keys.

#![expect(dead_code, reason = "nothing but the schema is made of these types")]

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// What a sweep varies and how often it runs each point. Only `celltrain sweep` looks at it: the other commands run the
/// scenario as it stands in the rest of the file. The table and those in it are written as `[sweep]`, `[sweep.grid]` and
/// `[sweep.zip]`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("anyOf" = [{ "required": ["grid"] }, { "required": ["zip"] }]))]
pub(super) struct Sweep {
    /// Parameters of which all combinations are run; the last varies fastest.
    grid: Option<Varied>,
    /// Parameters that vary together, so that all have equally many values.
    zip: Option<Varied>,
    /// Replications of a point, the scenario's own number by default. With `until`: replications between two looks.
    #[schemars(range(min = 1, max = 100_000))]
    replications: Option<u32>,
    /// Measure also what needs a trace, such as the synchronisation index.
    #[serde(default)]
    trace: bool,
    /// When the replications of a point are enough.
    until: Option<Until>,
}

/// Replications are added to a point until an interval of a mean is narrow enough.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Until {
    /// The summary metric that is looked at, such as `throughput`.
    metric: String,
    /// Half of the width of the interval over the mean, at most.
    rel_ci: Part,
    /// Confidence of the Student interval.
    #[serde(default = "default_confidence")]
    #[schemars(with = "Part", default = "default_confidence")]
    confidence: f64,
    /// Replications of a point, at most, precise or not.
    #[serde(default = "default_max_replications")]
    #[schemars(range(min = 2, max = 100_000))]
    max_replications: u32,
}

fn default_confidence() -> f64 {
    0.95
}

fn default_max_replications() -> u32 {
    100
}

/// A sweep in a file of its own, beside the scenario that it varies.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "celltrain sweep plan")]
pub(super) struct Plan {
    /// Path of the scenario file, relative to this file.
    scenario: String,
    /// Name of the sweep in results, the scenario's by default.
    name: Option<String>,
    /// Seed of every point, below 2^63, the scenario's own by default.
    #[schemars(range(max = i64::MAX))]
    seed: Option<u64>,
    /// What varies, and how often each point runs.
    sweep: Sweep,
}

/// Parameters by their dotted keys.
#[derive(Deserialize)]
struct Varied;

impl JsonSchema for Varied {
    fn schema_name() -> Cow<'static, str> {
        "Varied".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a table: for each key, written with dots and in quotes, a list of values or a range such as \
                `\"100 cells .. 800 cells step 100 cells\"` or `\"1 ms .. 64 ms times 2\"`",
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "not": { "enum": ["seed", "replications"] } },
            "additionalProperties": {
                "anyOf": [
                    { "type": "array", "minItems": 1, "items": { "type": ["string", "number", "boolean", "array"] } },
                    { "type": "string", "pattern": r"\.\..*\s(step|times)\s" },
                ],
            },
        })
    }
}

/// A part of one.
#[derive(Deserialize)]
struct Part;

impl JsonSchema for Part {
    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "a part of one such as `0.02`, or `\"2 %\"`",
            "anyOf": [
                { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
                { "type": "string", "pattern": r"^[0-9.eE+-]+\s*%\s*$" },
            ],
        })
    }
}
