//! Short flows.

use celltrain_engine::quantity::{Bytes, Duration};

use super::{
    super::{
        error::Problem,
        spec::{GroupSpec, Pairs, ShortFlows},
    },
    limits::{MAX_DURATION, MIN_PERIOD},
    range::{Checked, within},
};
use crate::traffic::sizes::MAX_SIZE;

/// The most flows under way at once between two hosts.
const MOST_ACTIVE: u32 = 100_000;

/// Checks what is said about short flows under `key`.
pub(super) fn check(key: &str, form: &ShortFlows) -> Checked {
    within(&format!("{key}.most-active"), form.most_active, 1, MOST_ACTIVE)?;
    if !form.trace.is_empty() {
        return trace(key, form);
    }
    let Some(size) = &form.size else {
        return Err(Problem::new(format!("{key}.size"), "this key is required without a trace"));
    };
    size.check().map_err(|(part, message)| Problem::new(format!("{key}.size.{part}"), message))?;
    match (form.load, form.every) {
        (Some(load), None) if load > 0.0 && load <= 10.0 => Ok(()),
        (Some(load), None) => {
            let message = format!("expected a number above 0, up to 10, found {load}");
            Err(Problem::new(format!("{key}.load"), message))
        }
        (None, Some(every)) => within(&format!("{key}.every"), every, MIN_PERIOD, MAX_DURATION),
        (Some(_), Some(_)) => Err(Problem::new(
            format!("{key}.every"),
            "give `load` or `every`, not both: either says how often flows arrive",
        )),
        (None, None) => {
            Err(Problem::new(format!("{key}.load"), "give `load` or `every`: how often do flows arrive?"))
        }
    }
}

fn trace(key: &str, form: &ShortFlows) -> Checked {
    let other =
        [("size", form.size.is_some()), ("load", form.load.is_some()), ("every", form.every.is_some())];
    if let Some((name, _)) = other.iter().find(|(_, given)| *given) {
        let message = "a trace says when flows arrive and how large they are: leave this out";
        return Err(Problem::new(format!("{key}.{name}"), message));
    }
    in_order(&format!("{key}.trace"), form.trace.iter().map(|flow| (flow.at, flow.bytes)))
}

/// Checks the short flows that a group lists, and that nothing else says which flows it has.
pub(super) fn transfers(key: &str, group: &GroupSpec) -> Checked {
    if group.transfers.is_empty() {
        return Ok(());
    }
    let other = [
        ("from", group.from.is_some()),
        ("to", group.to.is_some()),
        ("pairs", group.pairs != Pairs::default()),
        ("senders", group.senders.is_some()),
        ("flows", group.flows != 1),
        ("traffic", group.traffic.is_some()),
    ];
    if let Some((name, _)) = other.iter().find(|(_, given)| *given) {
        let message = "the transfers say which hosts send, when and how much: leave this out";
        return Err(Problem::new(format!("{key}.{name}"), message));
    }
    in_order(&format!("{key}.transfers"), group.transfers.iter().map(|flow| (flow.at, flow.bytes)))
}

/// Checks the times and sizes of short flows under `key`.
fn in_order(key: &str, flows: impl Iterator<Item = (Duration, Bytes)>) -> Checked {
    let mut before = Duration(0);
    for (index, (at, bytes)) in flows.enumerate() {
        within(&format!("{key}.{index}.at"), at, before, MAX_DURATION)?;
        within(&format!("{key}.{index}.bytes"), bytes, Bytes(1), MAX_SIZE)?;
        before = at;
    }
    Ok(())
}
