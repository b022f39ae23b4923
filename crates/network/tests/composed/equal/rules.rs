//! Policies as rules in the scenario: docs/how-to/write-a-policy.md.

use super::{
    Apart, Equivalence, Pair,
    case::Case,
    policies::{both, low_high, marks, share},
};
use crate::draw::Draw;

/// A policy and the rule that it is.
fn rule(case: &Case<'_>, policy: &str, levels: &str, more: &str, rule: &str) -> Option<Pair> {
    both(case, policy, &format!("policy = \"script\"\nscript = {{ {levels}{more}, rule = \"{rule}\" }}"))
}

fn marks_and_ecn(draw: &mut Draw) -> String {
    format!("{}, ecn = {}", marks(draw), draw.chance(0.5))
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "epd as a rule",
        because: "docs/how-to/write-a-policy.md: EPD is `occupancy < high`",
        words: |case, draw| {
            let (level, more) = (share(draw), marks_and_ecn(draw));
            let epd = format!("policy = \"epd\"\nepd = {{ threshold = \"{level}\", {more} }}");
            rule(case, &epd, &format!("low = \"0 %\", high = \"{level}\", "), &more, "occupancy < high")
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "ppd as a rule",
        because: "docs/reference/policies.md, script: the rest of a frame is handled as in ppd",
        words: |case, draw| {
            let more = marks(draw);
            rule(case, &format!("policy = \"ppd\"\nppd = {{ {more} }}"), "", more, "true")
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "double-epd as a rule",
        because: "docs/how-to/write-a-policy.md: two priorities are `if low_priority { occupancy < low } else { occupancy < high }`",
        words: |case, draw| {
            let ([low, high], more) = (low_high(draw), marks(draw));
            let levels = format!("low = \"{low}\", high = \"{high}\", ");
            let double = format!("policy = \"double-epd\"\ndouble-epd = {{ {levels}{more} }}");
            rule(
                case,
                &double,
                &levels,
                more,
                "if low_priority { occupancy < low } else { occupancy < high }",
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "selective-drop as a rule",
        because: "docs/reference/policies.md, selective-drop: above R a frame is refused if its VC holds Y > Z X/N",
        words: |case, draw| {
            let (level, more, scale) = (share(draw), marks_and_ecn(draw), draw.whole(1, 300));
            let z = scale as f64 / 100.0;
            let drop = format!(
                "policy = \"selective-drop\"\nselective-drop = {{ threshold = \"{level}\", scale = {z:.2}, {more} }}"
            );
            let words = format!("occupancy <= low || 100 * vc_occupancy * active_vcs <= {scale} * occupancy");
            rule(case, &drop, &format!("low = \"{level}\", high = \"100 %\", "), &more, &words)
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "fba as a rule",
        because: "docs/reference/policies.md, fba: above R a frame is refused if its VC holds Y > Z (X/N) (K - R)/(X - R)",
        words: |case, draw| {
            let (level, more, scale) = (share(draw), marks_and_ecn(draw), draw.whole(1, 300));
            let z = scale as f64 / 100.0;
            let fba =
                format!("policy = \"fba\"\nfba = {{ threshold = \"{level}\", scale = {z:.2}, {more} }}");
            // Products of numbers without limit would be rounded.
            let limited = case.ports().all(|(_, link)| link.buffer.units() < 1 << 20);
            let words = format!(
                "occupancy <= low || 100 * vc_occupancy * active_vcs * (occupancy - low) <= {scale} * occupancy * (capacity - low)"
            );
            let levels = format!("low = \"{level}\", high = \"100 %\", ");
            limited.then(|| rule(case, &fba, &levels, &more, &words)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "wba as a rule",
        because: "docs/reference/policies.md, wba: above R frames with CLP = 1 are refused, and those of a VC that holds Y > Z X W_i/W; if none has a guarantee, all shares are equal",
        words: |case, draw| {
            let (level, more, scale) = (share(draw), marks(draw), draw.whole(1, 300));
            let z = scale as f64 / 100.0;
            let wba =
                format!("policy = \"wba\"\nwba = {{ threshold = \"{level}\", scale = {z:.2}, {more} }}");
            let words = format!(
                "occupancy <= low || !low_priority && 100 * vc_occupancy * vcs <= {scale} * occupancy"
            );
            let levels = format!("low = \"{level}\", high = \"100 %\", ");
            case.has_no_guarantee().then(|| rule(case, &wba, &levels, more, &words)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "dynamic-threshold as a rule",
        because: "docs/reference/policies.md, dynamic-threshold: a frame is admitted while its VC holds Y < alpha (B - X)",
        words: |case, draw| {
            let (more, eighths) = (marks_and_ecn(draw), draw.whole(1, 64));
            let alpha = eighths as f64 / 8.0;
            let dynamic = format!(
                "policy = \"dynamic-threshold\"\ndynamic-threshold = {{ alpha = {alpha:?}, {more} }}"
            );
            let words = format!("8 * vc_occupancy < {eighths} * (capacity - occupancy)");
            let limited = case.ports().all(|(_, link)| link.buffer.units() < 1 << 40);
            limited.then(|| rule(case, &dynamic, "", &more, &words)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "epd-per-vc as a rule",
        because: "docs/reference/policies.md, epd-per-vc: a VC that has less than its part by weight of the threshold may begin a frame above it",
        words: |case, draw| {
            let (level, more) = (share(draw), marks(draw));
            let policy =
                format!("policy = \"epd-per-vc\"\nepd-per-vc = {{ threshold = \"{level}\", {more} }}");
            let alike = case.graph.flows.iter().all(|flow| flow.contract.weight == 1);
            let levels = format!("low = \"{level}\", high = \"100 %\", ");
            let words = "occupancy < low || vc_occupancy * vcs < low";
            alike.then(|| rule(case, &policy, &levels, more, words)).flatten()
        },
        apart: Apart::REASONS,
    },
];
