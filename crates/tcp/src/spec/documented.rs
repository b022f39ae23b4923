//! What the texts of keys say of presets is what the presets are.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::StackSpec;
use crate::stack::Stack;

/// What a table needs so that keys are of use which its preset does not look at; the first that helps counts.
const CHOICES: &[&str] = &[
    "",
    "congestion-control = 'reno'",
    "congestion-control = 'cubic'",
    "recovery = 'newreno'",
    "recovery = 'newreno'\ncongestion-control = 'reno'\necn = false\naccurate-ecn = false",
    "recovery = 'sack'",
    "recovery = 'go-back-n'",
    "recovery = 'rack'\ncongestion-control = 'cubic'",
    "timestamps = true\nhystart = true",
    "congestion-control = 'cubic'\ntimestamps = true\nhystart = true",
    "ecn = true",
    "tick = '10 ms'",
    "processing-delay = '1 ms'",
];

/// Keys whose text gives a rule instead of a value.
const RULES: &[&str] = &["ecn-control-packets"];

/// The complete table of a preset, with a choice.
fn table(stack: &str, choice: &str) -> Option<Table> {
    let spec: StackSpec = toml::from_str(&format!("stack = '{stack}'\n{choice}")).expect("a table");
    Some(Table::try_from(spec.complete().ok()?).expect("a table can be written"))
}

/// The value of a key under a preset, as texts have it; none where there is none, as of a limit.
fn value(stack: &str, key: &str) -> Option<String> {
    let found = CHOICES.iter().find_map(|choice| table(stack, choice)?.remove(key));
    found.map(|value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    })
}

/// A value in words, as that of a key under a preset.
fn in_words(words: &str, stack: &str) -> Option<String> {
    let window = || {
        let text = value(stack, "receive-window").expect("there is a window");
        text.parse::<celltrain_engine::quantity::Bytes>().expect("a size")
    };
    match words {
        "unlimited" | "it reads at once" | "as many as the window lets" => None,
        "64 KiB" => Some("65535 B".to_owned()), // as the text says
        "half the receive window" => Some(celltrain_engine::quantity::Bytes(window().0 / 2).to_string()),
        "its window" => Some(window().to_string()),
        "delayed-ack" => value(stack, "delayed-ack"),
        other => Some(other.to_owned()),
    }
}

/// The words of a value, without what explains it.
fn bare(text: &str) -> &str {
    let end = ["; ", ", ", ": ", " ("].iter().filter_map(|mark| text.find(mark)).min();
    text[..end.unwrap_or(text.len())].trim_end_matches('.').trim_matches('`')
}

/// The standard value that a text gives, and those of presets by their names.
fn said(text: &str) -> Option<(&str, BTreeMap<&str, &str>)> {
    let (_, values) = text.split_once("Standard: ")?;
    let mut presets = BTreeMap::new();
    for part in values.split("; ").skip(1) {
        let Some((names, of_them)) = part.split_once("`: ") else { continue };
        for name in names.split('`').filter(|name| !name.is_empty() && !matches!(*name, ", " | " and ")) {
            presets.insert(name, bare(of_them));
        }
    }
    Some((bare(values), presets))
}

/// Where a text names one preset that differs from the standard, it names all that do.
#[test]
fn texts_of_keys_say_what_presets_are() {
    let names = Stack::ALL.iter().map(|stack| Value::try_from(stack).expect("a name"));
    let names: Vec<String> = names.map(|name| name.as_str().expect("text").to_owned()).collect();
    let schema = serde_json::to_value(schemars::schema_for!(StackSpec)).expect("a schema is JSON");
    let mut checked = 0;
    for (key, property) in schema["properties"].as_object().expect("it has properties") {
        let text = property["description"].as_str().expect("a text").replace('\n', " ");
        let Some((standard, presets)) = said(&text) else { continue };
        if RULES.contains(&key.as_str()) {
            continue;
        }
        assert_eq!(value("newreno", key), in_words(standard, "newreno"), "{key}, standard");
        for (preset, words) in &presets {
            assert!(names.iter().any(|name| name == preset), "{key}: {preset} is no preset");
            assert_eq!(value(preset, key), in_words(words, preset), "{key}, {preset}");
            checked += 1;
        }
        let differing = names.iter().filter(|name| value(name, key) != in_words(standard, name));
        let silent: Vec<_> = differing.filter(|name| !presets.contains_key(name.as_str())).collect();
        assert!(presets.is_empty() || silent.is_empty(), "{key} does not name {silent:?}");
    }
    assert!(checked > 30, "{checked} values of presets");
}
