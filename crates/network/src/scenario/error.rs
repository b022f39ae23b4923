//! What is wrong with a scenario, and where.

use std::fmt;

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

/// The valid name that `name` most probably stands for, if any is near.
pub(super) fn nearest<'a>(name: &str, valid: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    // A third of the letters may be wrong; a long text is no mistyped name and would be slow to compare.
    let limit = (name.chars().count() / 3).max(1);
    if limit > 20 {
        return None;
    }
    // A name is often cut down to its noun: "window" for "receive-window".
    let is_noun_of =
        |candidate: &&str| candidate.strip_suffix(name).is_some_and(|before| before.ends_with('-'));
    // Capitals matter only between names that are equally near: "epd" is known as EPD.
    let small = name.to_lowercase();
    let distances =
        |candidate: &str| (edit_distance(&small, &candidate.to_lowercase()), edit_distance(name, candidate));
    valid
        .clone()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= 4 * limit)
        .map(|candidate| (distances(candidate), candidate))
        .filter(|((distance, _), _)| *distance <= limit)
        .min_by_key(|(distances, _)| *distances)
        .map(|(_, candidate)| candidate)
        .or_else(|| valid.clone().find(|candidate| has_same_words(name, candidate)))
        .or_else(|| valid.clone().find(is_noun_of))
}

/// Whether two names have the same words in another order, as "drop-tail" and "tail-drop".
fn has_same_words(a: &str, b: &str) -> bool {
    let words = |name: &str| {
        let mut words: Vec<_> = name.split(['-', '_', ' ']).map(str::to_lowercase).collect();
        words.sort_unstable();
        words
    };
    a.len() == b.len() && words(a) == words(b)
}

/// Letters to insert, delete, replace or swap with their neighbour to make `b` of `a` (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{ScenarioError, edit_distance, nearest, suggestion};

    #[test]
    fn errors_fit_a_terminal() {
        let error = ScenarioError::new("a.toml", Some(3), "na\u{1b}me", &"é\n".repeat(1_000_000));
        let text = error.to_string();
        assert!(text.starts_with("a.toml:3: na\\u{1b}me: é\\né\\n") && text.ends_with('…'), "{text}");
        assert!(text.chars().count() < 4_000);
    }

    #[test]
    fn distances_count_letters_and_swaps() {
        assert_eq!(edit_distance("high", "high"), 0);
        assert_eq!(edit_distance("hihg", "high"), 1);
        assert_eq!(edit_distance("", "low"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn only_near_names_are_suggested() {
        assert_eq!(nearest("thresold", ["threshold", "end-marks"].into_iter()), Some("threshold"));
        assert_eq!(nearest("marks", ["threshold", "end-marks"].into_iter()), Some("end-marks"));
        assert_eq!(nearest("drop-tail", ["tail-drop", "ppd"].into_iter()), Some("tail-drop"));
        assert_eq!(nearest("Drop_tail", ["tail", "tail-drop"].into_iter()), Some("tail-drop"));
        assert_eq!(nearest("drop-liat", ["tail-drop"].into_iter()), None);
        assert_eq!(nearest("colour", ["threshold", "end-marks"].into_iter()), None);
        assert_eq!(nearest("CBR", ["bursty", "cbr"].into_iter()), Some("cbr"));
        assert_eq!(nearest("hostA", ["hosta", "HostA", "hostB"].into_iter()), Some("hosta"));
        assert_eq!(nearest("HOSTB", ["hosta", "hostB"].into_iter()), Some("hostB"));
        assert_eq!(nearest(&"x".repeat(1 << 20), ["threshold"].into_iter()), None);
    }

    #[test]
    fn a_suggestion_lists_what_is_valid() {
        let valid = ["high", "low"].into_iter();
        assert_eq!(suggestion("hihg", "keys", valid.clone()), "; did you mean \"high\"? (keys: high, low)");
        assert_eq!(suggestion("colour", "keys", valid), " (keys: high, low)");
    }
}
