//! A policy written in the scenario: a rule in a small language says which frames to admit.
//!
//! The rule is evaluated at the first cell of each frame for which the buffer has space, before that cell is counted. The frame is
//! admitted if the rule is true. The rest of a frame is handled as in [`super::ppd`]. The rule reads what a switch with per-VC accounting
//! has. The language has whole numbers and truth values, no loops, and no operation that can fail.
//!
//! EPD is `occupancy < high`. A rule close to ESPD, whose VCs give way one by one, is
//! `if refused { occupancy < low } else { occupancy < high }`.

use std::sync::Arc;

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PerVc, PortContext, PortState, Reads, View,
    frame::{EndMarks, FramePolicy, FrameRule, Levels},
};
use crate::{
    Cell,
    quantity::Level,
    rule::{Kind, Known, Rule},
};

/// What a rule may name, in the order in which [`Scripted::admits`] gives the values.
pub const KNOWN: [Known; 14] = [
    number("occupancy"),
    number("capacity"),
    number("low"),
    number("high"),
    number("vc_occupancy"),
    number("active_vcs"),
    number("vcs"),
    number("low_priority_occupancy"),
    number("longest_frame"),
    number("weight"),
    truth("low_priority"),
    truth("capable"),
    truth("last"),
    truth("refused"),
];

const fn number(name: &'static str) -> Known {
    Known { name, kind: Kind::Number }
}

const fn truth(name: &'static str) -> Known {
    Known { name, kind: Kind::Truth }
}

/// The text of a rule.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "a rule", extend("examples" = [
    "occupancy < high",
    "if refused { occupancy < low } else { occupancy < high }",
    "occupancy < low || vc_occupancy * active_vcs <= occupancy",
    "let share = capacity / max(vcs, 1);\nvc_occupancy < share && (occupancy < high || !low_priority && !last)",
]))]
pub struct RuleText(pub String);

/// Parameters of a policy that is written in the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// An expression that is true for frames to admit. In the buffer's units: `occupancy`, `capacity`, the thresholds `low` and `high`,
    /// `vc_occupancy` (of the VC), `low_priority_occupancy` (of CLP = 1). Counts: `active_vcs` (VCs with something in the buffer), `vcs` (all
    /// of the port), the VC's `longest_frame` and `weight`. True or false: `low_priority` (the frame has CLP = 1), `capable` (its transport
    /// answers congestion marks), `last` (its first cell is also its last), `refused` (the rule was false for the VC's previous frame; one that
    /// found the buffer full does not count).
    pub rule: RuleText,
    /// What the rule calls `low`.
    pub low: Level,
    /// What the rule calls `high`.
    pub high: Level,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
    /// Mark the frames of ECN-capable transports that the rule does not admit, instead of refusing them (RFC 3168).
    pub ecn: bool,
}

impl Default for Params {
    /// EPD.
    fn default() -> Self {
        Self {
            rule: RuleText("occupancy < high".to_owned()),
            low: Level::Share(500_000),
            high: Level::Share(800_000),
            end_marks: EndMarks::default(),
            ecn: false,
        }
    }
}

impl Params {
    /// Whether the rule asks if a transport answers congestion marks.
    #[must_use]
    pub fn reads_ecn(&self) -> bool {
        self.rule.0.contains("capable")
    }
}

/// The policy that follows a rule of the scenario.
pub type Script = FramePolicy<Scripted>;

/// Admits the frames for which a rule of the scenario is true.
#[derive(Debug, Clone)]
pub struct Scripted {
    rule: Arc<Rule>,
    low: i64,
    high: i64,
    marks: bool,
    /// Whether the rule names a priority.
    reads_clp: bool,
    vcs: Vec<OfVc>,
    /// Room for the values of what the rule names.
    values: Vec<i64>,
}

/// What is kept of a VC.
#[derive(Debug, Clone)]
struct OfVc {
    longest_frame: i64,
    weight: i64,
    /// Whether the rule refused its frame before.
    refused: bool,
}

/// A number of units as rules know it; that of an unlimited buffer is the largest.
fn clamped(units: u64) -> i64 {
    i64::try_from(units).unwrap_or(i64::MAX)
}

fn compiled(rule: &RuleText) -> Result<Rule, ParamError> {
    Rule::compile(&rule.0, &KNOWN).map_err(|error| ParamError { key: "rule", message: error.to_string() })
}

impl FrameRule for Scripted {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str = "Refuses the frames for which a rule in the scenario is false.";
    const REFERENCE: &'static str = "docs/how-to/write-a-policy.md";
    const PER_VC: &'static str =
        "the fate of the frame in progress, cells in the buffer, whether its previous frame was refused";
    const LEVELS: Levels<Params> = |params| vec![("low", params.low), ("high", params.high)];
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        compiled(&params.rule).map(|_| ())
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let (low, high) = port.low_high(params.low, params.high)?;
        let rule = compiled(&params.rule)?;
        let vcs = port.vcs.iter().map(|vc| OfVc {
            longest_frame: clamped(port.longest_frame(vc)),
            weight: vc.weight.into(),
            refused: false,
        });
        let (low, high) = (clamped(low), clamped(high));
        Ok(Self {
            rule: Arc::new(rule),
            low,
            high,
            marks: params.ecn,
            reads_clp: params.rule.0.contains("low_priority"),
            vcs: vcs.collect(),
            values: Vec::new(),
        })
    }

    fn reads(&self) -> Reads {
        Reads { clp: self.reads_clp, mcr: false }
    }

    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        let vcs = self.vcs.len() as u64;
        let vc = &mut self.vcs[cell.vc as usize];
        self.values.clear();
        self.values.extend([
            clamped(port.occupancy()),
            clamped(port.capacity()),
            self.low,
            self.high,
            clamped(port.vc_occupancy(cell.vc)),
            clamped(port.active_vcs()),
            clamped(vcs),
            clamped(port.clp_occupancy(true)),
            vc.longest_frame,
            vc.weight,
            i64::from(cell.clp),
            i64::from(cell.ecn.is_capable()),
            i64::from(cell.is_last()),
            i64::from(vc.refused),
        ]);
        let admits = self.rule.holds(&mut self.values);
        vc.refused = !admits;
        admits
    }

    fn marks(&self) -> bool {
        self.marks
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{quantity::BitRate, random::Randomness};

    use super::*;
    use crate::{
        buffer::{BufferPolicy, Reason, Snapshot, Verdict},
        cell::Ecn,
        contract::Contract,
        quantity::Unit,
    };

    fn context(vcs: &[Contract]) -> PortContext<'_> {
        let generator = Randomness { seed: 1, replication: 0 }.named("script");
        PortContext {
            capacity: 100,
            unit: Unit::Cells,
            rate: BitRate(1_000_000),
            overhead: 0,
            vcs,
            generator,
        }
    }

    /// The policy of `rule` at a port of three VCs.
    fn policy(rule: &str) -> Result<Script, ParamError> {
        let contract = |mfs, weight| Contract { mfs, weight, ..Contract::default() };
        let contracts = [contract(32, 1), contract(20, 3), contract(32, 1)];
        let params = Params {
            rule: RuleText(rule.to_owned()),
            low: Level::Share(300_000),
            high: Level::Cells(60),
            ..Params::default()
        };
        Script::new(&params, &context(&contracts))
    }

    fn ask(policy: &mut Script, cell: Cell, by_vc: &[u64]) -> Verdict {
        let port = Snapshot { low_priority: 5, ..Snapshot::of(100, by_vc) };
        policy.on_arrival(&cell, &port.view(cell.position == 0), 0)
    }

    fn first(vc: u32) -> Cell {
        Cell { vc, length: 3, ..Cell::default() }
    }

    #[test]
    fn every_name_stands_for_its_value() {
        let cell = Cell { clp: true, ecn: Ecn::Capable, ..first(1) };
        for rule in [
            "occupancy == 52",
            "capacity == 100",
            "low == 30",
            "high == 60",
            "vc_occupancy == 12",
            "active_vcs == 2",
            "vcs == 3",
            "low_priority_occupancy == 5",
            "longest_frame == 20",
            "weight == 3",
            "low_priority",
            "capable",
            "!last",
            "!refused",
        ] {
            let mut policy = policy(rule).unwrap();
            assert_eq!(ask(&mut policy, cell, &[40, 12, 0]), Verdict::Accept, "{rule}");
        }
        let single = Cell { length: 1, ..first(0) };
        assert_eq!(
            ask(&mut policy("last && !low_priority && !capable").unwrap(), single, &[0]),
            Verdict::Accept
        );
    }

    #[test]
    fn the_documentation_names_what_a_rule_may_name() {
        let schema = schemars::schema_for!(Params).to_value();
        let text = schema["properties"]["rule"]["description"].as_str().unwrap();
        for known in KNOWN {
            assert!(text.contains(&format!("`{}`", known.name)), "{}", known.name);
        }
        for example in schema["$defs"]["RuleText"]["examples"].as_array().unwrap() {
            policy(example.as_str().unwrap()).unwrap();
        }
    }

    /// The rest of a refused frame is refused with it, and the rule is not asked about it.
    #[test]
    fn a_rule_is_asked_once_a_frame() {
        let mut policy = policy("occupancy < 50").unwrap();
        assert_eq!(ask(&mut policy, first(0), &[50]), Verdict::Discard(Reason::FrameRefused));
        let next = Cell { position: 1, ..first(0) };
        assert_eq!(ask(&mut policy, next, &[0]), Verdict::Discard(Reason::FrameRefused));
        assert_eq!(ask(&mut policy, first(1), &[49]), Verdict::Accept);
        assert_eq!(ask(&mut policy, Cell { position: 1, ..first(1) }, &[90]), Verdict::Accept);
    }

    #[test]
    fn a_vc_that_was_refused_is_remembered() {
        let mut policy = policy("if refused { occupancy < low } else { occupancy < high }").unwrap();
        let refused = Verdict::Discard(Reason::FrameRefused);
        assert_eq!(ask(&mut policy, first(0), &[60]), refused);
        assert_eq!(ask(&mut policy, first(0), &[40]), refused);
        assert_eq!(ask(&mut policy, first(1), &[40]), Verdict::Accept, "the others go on");
        assert_eq!(ask(&mut policy, first(0), &[29]), Verdict::Accept);
        assert_eq!(ask(&mut policy, first(0), &[40]), Verdict::Accept);
    }

    #[test]
    fn a_rule_that_means_nothing_is_refused() {
        let error = policy("occupancy < threshold").unwrap_err();
        assert_eq!(error.key, "rule");
        assert!(
            error.message.starts_with("line 1, column 13: there is no `threshold`; known are `occupancy`, ")
        );
    }
}
