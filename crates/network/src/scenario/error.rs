//! What is wrong with a scenario, and where.

use std::fmt;

use celltrain_engine::names::nearest;

/// An error in a scenario: file, line, key, what was expected and the nearest valid name.
///
/// It reads `espd.toml:14: switch.discard.espd.hihg: unknown key "hihg"; did you mean "high"? (keys: high, low)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or `--set key=value` for an override.
    pub source: String,
    /// The line in the file, from 1.
    pub line: Option<usize>,
    /// The dotted key; empty if the whole file is at fault.
    pub key: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ScenarioError {
    /// An error whose texts fit a terminal, whatever stood in the file.
    pub(super) fn new(source: &str, line: Option<usize>, key: &str, message: &str) -> Self {
        Self { source: printable(source), line, key: printable(key), message: printable(message) }
    }
}

/// The most characters of each text of an error.
const MAX_CHARACTERS: usize = 2_000;

/// A text without control characters and of limited length.
fn printable(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
    let mut printable: String = text.chars().take(MAX_CHARACTERS).map(escape).collect();
    if text.chars().nth(MAX_CHARACTERS).is_some() {
        printable.push('…');
    }
    printable
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(formatter, ": {}", self.key)?;
        }
        write!(formatter, ": {}", self.message)
    }
}

impl std::error::Error for ScenarioError {}

/// What is wrong with the value of a key; its place is found later.
#[derive(Debug)]
pub(super) struct Problem {
    /// The dotted key.
    pub(super) key: String,
    /// What is wrong and what would be right.
    pub(super) message: String,
}

impl Problem {
    pub(super) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// The most names an error lists.
const LISTED_NAMES: usize = 40;

/// `; did you mean "high"? (keys: high, low)`, with `what` for `keys`.
pub(crate) fn suggestion<'a>(name: &str, what: &str, valid: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut text = String::new();
    if let Some(near) = nearest(name, valid.clone()) {
        text += &format!("; did you mean \"{near}\"?");
    }
    text + &known(what, valid)
}

/// ` (keys: high, low)`, with `what` for `keys`; nothing where there are none.
pub(super) fn known<'a>(what: &str, valid: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut listed: Vec<_> = valid.clone().take(LISTED_NAMES).collect();
    if valid.count() > LISTED_NAMES {
        listed.push("…");
    }
    if listed.is_empty() { String::new() } else { format!(" ({what}: {})", listed.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::{ScenarioError, suggestion};

    #[test]
    fn errors_fit_a_terminal() {
        let error = ScenarioError::new("a.toml", Some(3), "na\u{1b}me", &"é\n".repeat(1_000_000));
        let text = error.to_string();
        assert!(text.starts_with("a.toml:3: na\\u{1b}me: é\\né\\n") && text.ends_with('…'), "{text}");
        assert!(text.chars().count() < 4_000);
    }

    #[test]
    fn a_suggestion_lists_what_is_valid() {
        let valid = ["high", "low"].into_iter();
        assert_eq!(suggestion("hihg", "keys", valid.clone()), "; did you mean \"high\"? (keys: high, low)");
        assert_eq!(suggestion("colour", "keys", valid), " (keys: high, low)");
    }
}
