//! Discard policies that are others at some of their parameters.

use celltrain_atm::buffer::PolicyName;
use celltrain_network::scenario::Framing;
use toml::Table;

use super::{
    Apart, Equivalence, Pair,
    case::{Case, discard_everywhere, everywhere, without_own},
};
use crate::draw::{Draw, put};

/// Both policies at all ports of a scenario.
pub(super) fn both(case: &Case<'_>, one: &str, other: &str) -> Option<Pair> {
    let of = |discard: &str| {
        let mut text = case.text();
        discard_everywhere(&mut text, discard);
        text
    };
    Some(Pair { one: Some(of(one)), other: of(other) })
}

/// Part of a buffer.
pub(super) fn share(draw: &mut Draw) -> String {
    format!("{} %", draw.whole(1, 1000) as f64 / 10.0)
}

/// Two parts of a buffer, the smaller one first.
pub(super) fn low_high(draw: &mut Draw) -> [String; 2] {
    let [one, other] = [0, 0].map(|_| draw.whole(1, 1000));
    [one.min(other), one.max(other)].map(|share| format!("{} %", share as f64 / 10.0))
}

/// Which end marks pass.
pub(super) fn marks(draw: &mut Draw) -> &'static str {
    const MARKS: [&str; 3] = ["end-marks = \"broken\"", "end-marks = \"always\"", "end-marks = \"never\""];
    draw.pick::<&str>(&MARKS)
}

/// Buffers in which nothing is lost.
fn wide(case: &Case<'_>) -> Table {
    let mut text = case.text();
    let buffer = if case.carries(Framing::Packets) { "4294967296 packets" } else { "4294967296 cells" };
    put(&mut text, "switch.buffer", buffer);
    for key in ["vc-buffer", "memory"] {
        text["switch"].as_table_mut().expect("a table").remove(key);
    }
    ["buffer", "vc-buffer"].into_iter().for_each(|key| without_own(&mut text, key));
    text
}

/// Two policies in buffers in which nothing is lost.
fn in_wide_buffers(case: &Case<'_>, one: &str, other: &str) -> Option<Pair> {
    let of = |discard: &str| {
        let mut text = wide(case);
        discard_everywhere(&mut text, discard);
        text
    };
    Some(Pair { one: Some(of(one)), other: of(other) })
}

/// Any policy beside tail-drop where nothing is lost.
fn nothing_lost(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let policy = *draw.pick(PolicyName::ALL);
    let name = policy.name();
    let own = match name {
        "codel" | "cobalt" | "fq-codel" | "pie" | "dualpi2" => format!("{name}.target = \"100000 s\"\n"),
        _ => String::new(),
    };
    let suits = name != "dualpi2" || case.has_no_ecn();
    let discard = format!("policy = \"{name}\"\n{own}");
    suits.then(|| in_wide_buffers(case, "policy = \"tail-drop\"", &discard)).flatten()
}

fn codel_of_one(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let [target, interval] = [draw.duration(), draw.duration()];
    let ecn = draw.chance(0.5);
    let of = |name: &str| {
        format!(
            "policy = \"{name}\"\n{name} = {{ target = \"{target}\", interval = \"{interval}\", ecn = {ecn} }}"
        )
    };
    let mut pair = in_wide_buffers(case, &of("codel"), &of("fq-codel"))?;
    for text in pair.one.iter_mut().chain([&mut pair.other]) {
        everywhere(text, "scheduler", "discipline = \"fifo\"");
    }
    case.has_single_vcs().then_some(pair)
}

/// Policies that mark in place of discarding.
const MARKING: [&str; 9] =
    ["epd", "selective-drop", "fba", "red", "dynamic-threshold", "pie", "codel", "cobalt", "fq-codel"];

/// Any policy that handles the end marks of discarded frames, with two ways to do so.
fn end_marks(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let policy = *draw.pick(PolicyName::ALL);
    let name = policy.name();
    let (one, other) = (marks(draw), marks(draw));
    let of = |marks: &str| format!("policy = \"{name}\"\n{name} = {{ {marks} }}");
    let suits = one != other && case.carries(Framing::Packets);
    suits.then(|| both(case, &of(one), &of(other))).flatten()
}

/// A level as a share of the buffer of each port, and in cells.
fn in_cells(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let share = draw.whole(1, 1000);
    let name = *draw.pick(&["epd", "selective-drop", "fba", "wba", "epd-per-vc", "epd-push-out"]);
    let of = |level: &str| format!("policy = \"{name}\"\n{name} = {{ threshold = \"{level}\" }}");
    let mut one = case.text();
    discard_everywhere(&mut one, &of(&format!("{} %", share as f64 / 10.0)));
    let mut other = one.clone();
    for (_, link) in case.ports() {
        let level = (link.buffer.units() as u128 * u128::from(share) / 1000).max(1);
        let discard: Table = of(&format!("{level} cells")).parse().ok()?;
        case.of_port(&mut other, link, "discard", discard.into());
    }
    let limited = case.ports().all(|(_, link)| link.buffer.units() < 1 << 32);
    (limited && case.carries(Framing::Cells)).then_some(Pair { one: Some(one), other })
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "marks that nobody answers",
        because: "docs/reference/policies.md, ecn: mark the frames of ECN-capable transports",
        words: |case, draw| {
            let name = *draw.pick(&MARKING);
            let of = |ecn| format!("policy = \"{name}\"\n{name} = {{ ecn = {ecn} }}");
            case.has_no_ecn().then(|| both(case, &of(false), &of(true))).flatten()
        },
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "end marks of packets",
        because: "docs/reference/policies.md, end-marks: a frame of one cell is refused whole",
        words: end_marks,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "a share in cells",
        because: "docs/reference/policies.md: a share is rounded down to whole units, and is one unit at least",
        words: in_cells,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "red whose average stays low is epd",
        because: "docs/reference/policies.md, red: below `min` every frame is admitted, and from `epd` on none is; the average moves by w",
        words: |case, draw| {
            let (level, marks) = (share(draw), marks(draw));
            both(
                case,
                &format!("policy = \"epd\"\nepd = {{ threshold = \"{level}\", {marks} }}"),
                &format!("policy = \"red\"\nred = {{ epd = \"{level}\", weight = 1e-9, {marks} }}"),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "policies where nothing is lost",
        because: "docs/reference/policies.md: levels are shares of the buffer, which is never filled to any of them",
        words: nothing_lost,
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "an interval that is longer than the run",
        because: "docs/reference/policies.md: CoDel drops only what comes after an interval of late frames (RFC 8289), in cobalt, too, whose BLUE waits for the buffer to overflow",
        words: |case, draw| {
            let (target, ecn, name) =
                (draw.duration(), draw.chance(0.5), *draw.pick(&["codel", "cobalt", "fq-codel"]));
            let policy = format!(
                "policy = \"{name}\"\n{name} = {{ target = \"{target}\", interval = \"100000 s\", ecn = {ecn} }}"
            );
            in_wide_buffers(case, "policy = \"tail-drop\"", &policy)
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "fq-codel with one VC is codel",
        because: "docs/reference/policies.md, fq-codel: CoDel in a queue for each VC (RFC 8290); only a full buffer drops otherwise",
        words: codel_of_one,
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "push-out with one VC",
        because: "docs/reference/policies.md, abs-push-out: VCs below their part push out frames of others",
        words: |case, draw| {
            let (marks, admission) = (marks(draw), *draw.pick(&["any-space", "whole-frame"]));
            let sharing = *draw.pick(&["proportional", "equal"]);
            let of = |name: &str| {
                format!(
                    "policy = \"{name}\"\n{name} = {{ {marks}, admission = \"{admission}\", sharing = \"{sharing}\" }}"
                )
            };
            let pair = || both(case, &of("abs-push-out"), &of("abs-push-out-hardware"));
            case.has_single_vcs().then(pair).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "epd at the buffer is ppd",
        because: "docs/reference/policies.md: EPD refuses a frame whose first cell finds R or more cells in the buffer, and goes on as PPD",
        words: |case, draw| {
            let (marks, ecn) = (marks(draw), draw.chance(0.5));
            both(
                case,
                &format!("policy = \"ppd\"\nppd = {{ {marks} }}"),
                &format!("policy = \"epd\"\nepd = {{ threshold = \"100 %\", {marks}, ecn = {ecn} }}"),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "espd-original without limits is espd",
        because: "docs/reference/policies.md, espd-original: without a limit and a timer this is espd",
        words: |case, draw| {
            let [low, high] = low_high(draw);
            let of = |name| format!("policy = \"{name}\"\n{name} = {{ low = \"{low}\", high = \"{high}\" }}");
            both(case, &of("espd"), &of("espd-original"))
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "double-epd with one threshold is epd",
        because: "docs/reference/policies.md, double-epd: frames with CLP = 1 are refused from the low threshold on, others from the high one on",
        words: |case, draw| {
            let (level, marks) = (share(draw), marks(draw));
            both(
                case,
                &format!("policy = \"epd\"\nepd = {{ threshold = \"{level}\", {marks} }}"),
                &format!(
                    "policy = \"double-epd\"\ndouble-epd = {{ low = \"{level}\", high = \"{level}\", {marks} }}"
                ),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "double-epd without CLP = 1 is epd",
        because: "docs/reference/policies.md, double-epd: frames with CLP = 0 are refused from the high threshold on",
        words: |case, draw| {
            let ([low, high], marks) = (low_high(draw), marks(draw));
            let suits = case.has_no_low_priority();
            let epd = format!("policy = \"epd\"\nepd = {{ threshold = \"{high}\", {marks} }}");
            let double = format!(
                "policy = \"double-epd\"\ndouble-epd = {{ low = \"{low}\", high = \"{high}\", {marks} }}"
            );
            suits.then(|| both(case, &epd, &double)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "dfba with one threshold is epd",
        because: "docs/reference/policies.md, dfba: below L every frame is admitted, and from H on none is",
        words: |case, draw| {
            let (level, marks) = (share(draw), marks(draw));
            both(
                case,
                &format!("policy = \"epd\"\nepd = {{ threshold = \"{level}\", {marks} }}"),
                &format!("policy = \"dfba\"\ndfba = {{ low = \"{level}\", high = \"{level}\", {marks} }}"),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "per-vc with a high threshold at the buffer is double-epd",
        because: "docs/reference/policies.md, per-vc: frames with CLP = 1 are refused as in double-epd, shares count from the high threshold on",
        words: |case, draw| {
            let (low, marks) = (share(draw), marks(draw));
            let of = |name| {
                format!("policy = \"{name}\"\n{name} = {{ low = \"{low}\", high = \"100 %\", {marks} }}")
            };
            both(case, &of("double-epd"), &of("per-vc"))
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "shares that nobody exceeds are ppd",
        because: "docs/reference/policies.md: a frame is refused if its VC holds Y > Z X/N (selective-drop), times (K - R)/(X - R) (fba); Y <= X and X <= K",
        words: |case, draw| {
            let (level, marks, name) = (share(draw), marks(draw), *draw.pick(&["selective-drop", "fba"]));
            both(
                case,
                &format!("policy = \"ppd\"\nppd = {{ {marks} }}"),
                &format!(
                    "policy = \"{name}\"\n{name} = {{ threshold = \"{level}\", scale = 1000000.0, {marks} }}"
                ),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "wba with a share that nobody exceeds is ppd",
        because: "docs/reference/policies.md, wba: a frame with CLP = 0 is refused if its VC holds Y > Z X W_i/W; if none has a guarantee, all shares are equal",
        words: |case, draw| {
            let (level, marks) = (share(draw), marks(draw));
            let suits = case.has_no_low_priority() && case.has_no_guarantee();
            let wba =
                format!("policy = \"wba\"\nwba = {{ threshold = \"{level}\", scale = 1000000.0, {marks} }}");
            suits.then(|| both(case, &format!("policy = \"ppd\"\nppd = {{ {marks} }}"), &wba)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "dynamic-threshold with a limit that is never reached is ppd",
        because: "docs/reference/policies.md, dynamic-threshold: a frame is admitted while its VC holds Y < alpha (B - X)",
        words: |case, draw| {
            let marks = marks(draw);
            both(
                case,
                &format!("policy = \"ppd\"\nppd = {{ {marks} }}"),
                &format!(
                    "policy = \"dynamic-threshold\"\ndynamic-threshold = {{ alpha = 1000000.0, {marks} }}"
                ),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "a target that no delay reaches is ppd",
        because: "docs/reference/policies.md: nothing is dropped that has waited for less than `target` (codel, RFC 8289); the probability does not grow below it (pie, RFC 8033)",
        words: |case, draw| {
            let (marks, ecn, name) =
                (marks(draw), draw.chance(0.5), *draw.pick(&["codel", "pie", "dualpi2"]));
            let times = match name {
                // A queue of low latency has a threshold of its own.
                "dualpi2" if !case.has_no_ecn() => return None,
                "dualpi2" => "longest-round-trip = \"100000 s\"".to_owned(),
                _ => format!("ecn = {ecn}"),
            };
            both(
                case,
                &format!("policy = \"ppd\"\nppd = {{ {marks} }}"),
                &format!("policy = \"{name}\"\n{name} = {{ target = \"100000 s\", {times}, {marks} }}"),
            )
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "tail-drop of packets is ppd",
        because: "docs/reference/scenario.md, framing: a buffer takes a packet or discards it as a whole",
        words: |case, draw| {
            let marks = marks(draw);
            let ppd = format!("policy = \"ppd\"\nppd = {{ {marks} }}");
            case.carries(Framing::Packets).then(|| both(case, "policy = \"tail-drop\"", &ppd)).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "policies of shares with one VC are epd",
        because: "docs/reference/policies.md: a share of the threshold is the threshold divided by the number of VCs set up at the port; a virtual queue of the only VC holds what is in the buffer",
        words: |case, draw| {
            let (level, marks) = (share(draw), marks(draw));
            let names = ["epd-per-vc", "virtual-queuing", "improved-virtual-queuing", "epd-push-out"];
            let name = *draw.pick(&names);
            let of = |name| format!("policy = \"{name}\"\n{name} = {{ threshold = \"{level}\", {marks} }}");
            // A virtual queue holds no RM cells.
            let suits = case.has_single_vcs() && case.graph.flows.iter().all(|flow| flow.abr.is_none());
            suits.then(|| both(case, &of("epd"), &of(name))).flatten()
        },
        apart: Apart::REASONS,
    },
    Equivalence {
        name: "per-vc with one VC is double-epd",
        because: "docs/reference/policies.md, per-vc: a frame with CLP = 0 is refused only if its VC holds more cells than K/N",
        words: |case, draw| {
            let ([low, high], marks) = (low_high(draw), marks(draw));
            let double = format!(
                "policy = \"double-epd\"\ndouble-epd = {{ low = \"{low}\", high = \"100 %\", {marks} }}"
            );
            let per_vc =
                format!("policy = \"per-vc\"\nper-vc = {{ low = \"{low}\", high = \"{high}\", {marks} }}");
            case.has_single_vcs().then(|| both(case, &double, &per_vc)).flatten()
        },
        apart: Apart::REASONS,
    },
];
