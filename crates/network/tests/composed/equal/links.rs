//! Links that say what they are, and changes that change nothing.

use celltrain_engine::quantity::{Delay, Duration};
use celltrain_network::scenario::{Framing, Link};
use toml::{Table, Value};

use super::{
    Apart, Equivalence, Pair,
    case::{Case, entries, value},
};
use crate::draw::{Draw, put, tables};

impl Case<'_> {
    /// A link as `[[topology.link]]` says it.
    pub(super) fn words_of(&self, link: &Link) -> Table {
        let mut words = Table::new();
        put(&mut words, "from", self.name(link.from));
        put(&mut words, "to", self.name(link.to));
        words.extend(self.settings_of(link));
        words
    }

    /// All that is said of a link between its ends.
    fn settings_of(&self, link: &Link) -> Table {
        let mut words = Table::new();
        put(&mut words, "rate", value(&link.rate));
        put(&mut words, "delay", value(&Delay(self.propagation(link))));
        put(&mut words, "framing", value(&link.framing));
        put(&mut words, "overhead", value(&link.overhead));
        put(&mut words, "loss", link.loss);
        put(&mut words, "loss-unit", value(&link.loss_unit));
        let parts = [
            ("burst-loss", link.burst_loss.as_deref().map(value)),
            ("reorder", link.reorder.as_deref().map(value)),
            ("dark", link.dark.as_deref().map(value)),
            ("delay-changes", (!link.delay_changes.is_empty()).then(|| value(&link.delay_changes))),
            ("rate-changes", (!link.rate_changes.is_empty()).then(|| value(&link.rate_changes))),
        ];
        words.extend(parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))));
        words
    }

    /// The delay of the link alone, without that of the switch to which it goes.
    pub(super) fn propagation(&self, link: &Link) -> Duration {
        Duration(link.delay.0 - if self.is_host(link.to) { 0 } else { self.spec.switch.delay.0 })
    }
}

/// Says of each link what `words` says, which is not said of it yet.
pub(super) fn of_links(case: &Case<'_>, words: impl Fn(&Link) -> Option<Table>) -> Option<Pair> {
    let mut text = case.text();
    let exceptions = entries(&mut text, "link-override");
    let said = |exceptions: &[Value], link: &Link| {
        let [from, to] = [link.from, link.to].map(|node| Some(case.name(node)));
        exceptions.iter().any(|other| {
            let [one, other] = ["from", "to"].map(|key| other.get(key).and_then(Value::as_str));
            [(from, to), (to, from)].contains(&(one, other))
        })
    };
    let before = exceptions.len();
    for link in case.graph.links.iter().filter(|link| !case.is_parallel(link)) {
        let twin = case.graph.links.iter().find(|other| (other.from, other.to) == (link.to, link.from));
        // What is said of a link holds for both of its directions.
        let alike = twin.is_none_or(|twin| case.settings_of(twin) == case.settings_of(link));
        if !alike || said(exceptions, link) {
            continue;
        }
        if let Some(own) = words(link) {
            let mut entry = Table::new();
            put(&mut entry, "from", case.name(link.from));
            put(&mut entry, "to", case.name(link.to));
            put(&mut entry, "link", own);
            exceptions.push(Value::Table(entry));
        }
    }
    (exceptions.len() > before).then(|| Pair::with(text)).flatten()
}

/// Adds to changes of a value those that repeat it, at random times.
fn with_repetitions<V: Copy>(
    draw: &mut Draw,
    end: Duration,
    first: V,
    changes: &[(Duration, V)],
) -> Vec<(Duration, V)> {
    let mut all = changes.to_vec();
    for _ in 0..draw.whole(1, 3) {
        let at = Duration(draw.whole(1, end.0.max(2) - 1));
        let place = all.partition_point(|change| change.0 < at);
        if all.get(place).is_some_and(|change| change.0 == at) {
            continue;
        }
        let now = place.checked_sub(1).map_or(first, |before| all[before].1);
        all.insert(place, (at, now));
    }
    all
}

fn changes<V: serde::Serialize>(key: &str, changes: &[(Duration, V)]) -> Value {
    let entry = |(at, now): &(Duration, V)| {
        let mut entry = Table::new();
        put(&mut entry, "at", value(at));
        put(&mut entry, key, value(now));
        entry
    };
    tables(changes.iter().map(entry).collect())
}

fn same_rates(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let key = draw.whole(0, 1 << 40).to_string();
    of_links(case, |link| {
        let draw = &mut draw.beside(&format!("{key} {} {}", link.from, link.to));
        let now: Vec<_> = link.rate_changes.iter().map(|change| (change.at, change.rate)).collect();
        let all = with_repetitions(draw, case.spec.duration, link.rate, &now);
        let mut own = Table::new();
        put(&mut own, "rate-changes", changes("rate", &all));
        put(&mut own, "rate", value(&link.rate));
        draw.chance(0.5).then_some(own)
    })
}

fn same_delays(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let key = draw.whole(0, 1 << 40).to_string();
    of_links(case, |link| {
        let draw = &mut draw.beside(&format!("{key} {} {}", link.from, link.to));
        let now: Vec<_> = link.delay_changes.iter().map(|change| (change.at, change.delay)).collect();
        let first = Delay(case.propagation(link));
        let all = with_repetitions(draw, case.spec.duration, first, &now);
        let mut own = Table::new();
        put(&mut own, "delay-changes", changes("delay", &all));
        put(&mut own, "delay", value(&first));
        (keeps_its_draws(link) && draw.chance(0.5)).then_some(own)
    })
}

/// Whether a link draws the same if it is impaired in one more way. One that loses at random alone draws for each of its ways anew.
fn keeps_its_draws(link: &Link) -> bool {
    link.loss == 0.0 || link.is_impaired()
}

/// Values that are replaced at the start, and at the end.
fn replaced(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let key = draw.whole(0, 1 << 40).to_string();
    of_links(case, |link| {
        let draw = &mut draw.beside(&format!("{key} {} {}", link.from, link.to));
        let now = link.rate_changes.iter().map(|change| (change.at, change.rate));
        let end = (case.spec.duration, link.rate);
        let all: Vec<_> = [(Duration(0), link.rate)].into_iter().chain(now).chain([end]).collect();
        let mut own = Table::new();
        put(&mut own, "rate", draw.bit_rate());
        put(&mut own, "rate-changes", changes("rate", &all));
        if link.delay_changes.is_empty() && !link.varies {
            put(&mut own, "delay", draw.delay());
            put(&mut own, "delay-changes", changes("delay", &[(Duration(0), Delay(case.propagation(link)))]));
        }
        draw.chance(0.5).then_some(own)
    })
}

/// All packets are held back.
fn all_held_back(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let key = draw.whole(0, 1 << 40).to_string();
    let suits = |link: &Link| {
        let draw = &mut draw.beside(&format!("{key} {} {}", link.from.min(link.to), link.from.max(link.to)));
        // What is lost counts when it would have come.
        let plain = link.loss == 0.0 && !link.is_impaired() && case.graph.losses.is_empty();
        let later = Duration(draw.whole(1, case.spec.duration.0.min(1 << 40)));
        (plain && link.framing == Framing::Packets && draw.chance(0.5)).then_some(later)
    };
    let one = of_links(case, |link| {
        let later = suits(link)?;
        let mut own = Table::new();
        put(&mut own, "delay", value(&Delay(Duration(case.propagation(link).0 + later.0))));
        Some(own)
    })?;
    let other = of_links(case, |link| {
        let later = suits(link)?;
        let mut own = Table::new();
        put(&mut own, "reorder.share", 1.0);
        put(&mut own, "reorder.delay", value(&later));
        Some(own)
    })?;
    Some(Pair { one: Some(one.other), other: other.other })
}

/// Impairments that never come.
fn harmless(case: &Case<'_>, draw: &mut Draw) -> Option<Pair> {
    let key = draw.whole(0, 1 << 40).to_string();
    of_links(case, |link| {
        let draw = &mut draw.beside(&format!("{key} {} {}", link.from, link.to));
        let mut own = Table::new();
        if keeps_its_draws(link) && link.burst_loss.is_none() && draw.chance(0.5) {
            for (key, probability) in [("p", 0.1), ("r", 0.2), ("loss-good", 0.0), ("loss-bad", 0.0)] {
                put(&mut own, &format!("burst-loss.{key}"), probability);
            }
        }
        if keeps_its_draws(link) && link.dark.is_none() && draw.chance(0.5) {
            put(&mut own, "dark.from", value(&Duration(case.spec.duration.0 + 1)));
            put(&mut own, "dark.length", "1 s");
        }
        if keeps_its_draws(link)
            && link.reorder.is_none()
            && link.framing == Framing::Packets
            && draw.chance(0.5)
        {
            put(&mut own, "reorder.share", 0.0);
            put(&mut own, "reorder.delay", "1 ms");
        }
        if link.loss == 0.0 && link.burst_loss.is_none() && draw.chance(0.5) {
            put(&mut own, "loss", 0.0);
            put(&mut own, "loss-unit", "cell");
        }
        (!own.is_empty()).then_some(own)
    })
}

pub(super) const ALL: &[Equivalence] = &[
    Equivalence {
        name: "links that say what they are",
        because: "docs/reference/scenario.md, link-override.link: what is different",
        words: |case, _| of_links(case, |link| Some(case.settings_of(link))),
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "changes to the same rate",
        because: "docs/reference/scenario.md, rate-changes: line rate from then on",
        words: same_rates,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "changes to the same delay",
        because: "docs/reference/scenario.md, delay-changes: propagation delay from then on",
        words: same_delays,
        apart: Apart::Fingerprint(&[]),
    },
    Equivalence {
        name: "a link that holds all packets back is a longer one",
        because: "docs/reference/scenario.md, reorder.delay: how much later they arrive",
        words: all_held_back,
        apart: Apart::Fingerprint(&["held_back", "round_trip", "delay_variation"]),
    },
    Equivalence {
        name: "values that are replaced at the start and at the end",
        because: "docs/explanation/links.md: a change at 0 s replaces the value at the start, and one at the end of the run has no effect",
        words: replaced,
        apart: Apart::Nothing,
    },
    Equivalence {
        name: "impairments that never come",
        because: "docs/reference/scenario.md, burst-loss, dark, reorder, loss: probabilities of 0, and periods after the end",
        words: harmless,
        apart: Apart::Fingerprint(&[]),
    },
];
