//! Tables of numbers that stand in CSV files: a key that takes an array also takes the path of a file with its elements.
//!
//! The file is read once, when all layers of the scenario are known; resolved scenarios hold what it said, so that they need it no more.

use std::path::Path;

use celltrain_engine::quantity::{Duration, QuantityError};
use serde::de::Unexpected;

use super::{
    file::read_text,
    meant::Number,
    tree::{Node, Origin, Table, Value},
};

/// What the columns of a file become.
#[derive(Debug, Clone, Copy)]
enum Row {
    /// An array of numbers.
    Numbers,
    /// A time, whose unit is the second if it has none; whether each is no earlier than the one before.
    Time { ascending: bool },
    /// A table of quantities: the keys, and the units of numbers without one (none: a name).
    Quantities(&'static [(&'static str, Option<&'static str>)]),
}

/// A key that may name a file, and its columns.
const KEYS: [(&str, usize, Row); 5] = [
    ("times", 1, Row::Time { ascending: true }),
    ("gaps", 1, Row::Time { ascending: false }),
    ("points", 2, Row::Numbers),
    ("trace", 2, Row::Quantities(&[("at", Some("s")), ("bytes", Some("B"))])),
    (
        "transfers",
        4,
        Row::Quantities(&[("at", Some("s")), ("from", None), ("to", None), ("bytes", Some("B"))]),
    ),
];

/// The last parts of the keys that take the path of a file.
pub fn file_keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, ..)| *name)
}

/// The folder of each layer: paths are relative to that of the layer which says them.
pub(super) type Folders<'a> = dyn Fn(usize) -> &'a Path + 'a;

/// What is wrong with a file, and where it is named.
pub(super) struct Fault {
    pub(super) origin: Origin,
    pub(super) key: String,
    pub(super) message: String,
}

/// Puts the elements of files where `node` and what is in it name them.
pub(super) fn embed(node: &mut Node, folders: &Folders<'_>) -> Result<(), Fault> {
    match &mut node.value {
        Value::Table(table) => table.iter_mut().try_for_each(|(key, node)| {
            within(key, embed_as(key, node, folders)).and_then(|()| within(key, embed(node, folders)))
        }),
        Value::Array(nodes) => nodes
            .iter_mut()
            .enumerate()
            .try_for_each(|(index, node)| within(&index.to_string(), embed(node, folders))),
        _ => Ok(()),
    }
}

fn within(key: &str, result: Result<(), Fault>) -> Result<(), Fault> {
    result.map_err(|fault| {
        let key = if fault.key.is_empty() { key.to_owned() } else { format!("{key}.{}", fault.key) };
        Fault { key, ..fault }
    })
}

/// As [`embed`], for the value of `key` itself.
pub(super) fn embed_as(key: &str, node: &mut Node, folders: &Folders<'_>) -> Result<(), Fault> {
    let Some(&(_, columns, row)) = KEYS.iter().find(|(name, ..)| *name == key) else { return Ok(()) };
    let Value::String(path) = &node.value else { return Ok(()) };
    let (origin, path) = (node.origin, folders(node.origin.layer).join(path));
    let fault = |message: String| Fault { origin, key: String::new(), message };
    let named = |message: String| fault(format!("\"{}\": {message}", path.display()));
    let text = read_text(&path).map_err(named)?;
    let (mut rows, mut latest) = (Vec::new(), Duration(0));
    for (place, (line, fields)) in lines(&text).enumerate() {
        let at_line = |message: String| fault(format!("\"{}\", line {line}: {message}", path.display()));
        if fields.len() != columns {
            let expected = if columns == 1 { "one column".to_owned() } else { format!("{columns} columns") };
            let message = format!("expected {expected}, found {}", fields.len());
            return Err(at_line(message));
        }
        match read_row(row, &fields, origin, &mut latest) {
            Ok(value) => rows.push(Node { origin, value }),
            // Names of columns.
            Err(_) if place == 0 && !fields.iter().any(|field| begins_number(field)) => {}
            Err(message) => return Err(at_line(message)),
        }
    }
    if rows.is_empty() {
        return Err(named("has no line with numbers".to_owned()));
    }
    node.value = Value::Array(rows);
    Ok(())
}

/// The lines that say something, with their numbers: not those that are empty or begin with `#`. Spreadsheets put a byte order mark before
/// them.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let said = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    said.map(|(number, line)| (number, line.split(',').map(str::trim).collect()))
}

/// The text of a quantity, with `unit` behind a number that has none.
fn with_unit(field: &str, unit: &str) -> String {
    if is_number(field) { format!("{field} {unit}") } else { field.to_owned() }
}

fn is_number(field: &str) -> bool {
    field.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Whether a field is meant as a number, or as one with a unit: then its line is no line of names. Quotes do not make it a name, and
/// neither does a number that is not finite, such as `nan`.
fn begins_number(field: &str) -> bool {
    let field = field.trim_matches(['"', '\'']);
    field.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter))
        || field.parse::<f64>().is_ok()
}

fn read_row(row: Row, fields: &[&str], origin: Origin, latest: &mut Duration) -> Result<Value, String> {
    match row {
        Row::Time { ascending } => {
            let text = with_unit(fields[0], "s");
            let time: Duration = text.parse().map_err(|fault: QuantityError| {
                let found = fields[0];
                fault.with_form(|| {
                    format!("expected a time, in seconds or with a unit such as \"1 ms\", found \"{found}\"")
                })
            })?;
            if ascending && time < *latest {
                return Err(format!("expected {latest} or later, as the line before, found {time}"));
            }
            *latest = time;
            Ok(Value::String(text))
        }
        Row::Numbers => {
            let number = |field: &&str| match field.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(Node { origin, value: Value::Float(value) }),
                _ => {
                    let advice = Number::of(Unexpected::Str(field)).map(|meant| meant.advice(None, None));
                    Err(format!("expected a number, found \"{field}\"{}", advice.unwrap_or_default()))
                }
            };
            Ok(Value::Array(fields.iter().map(number).collect::<Result<_, _>>()?))
        }
        Row::Quantities(keys) => {
            let mut table = Table::new();
            for ((key, unit), field) in std::iter::zip(keys, fields) {
                let text = match unit {
                    Some(unit)
                        if !is_number(field)
                            && !field
                                .starts_with(|letter: char| letter.is_ascii_digit() || letter == '.') =>
                    {
                        return Err(format!(
                            "expected a number, of {unit} or with its unit, found \"{field}\""
                        ));
                    }
                    Some(unit) => with_unit(field, unit),
                    None => (*field).to_owned(),
                };
                table.insert((*key).to_owned(), Node { origin, value: Value::String(text) });
            }
            Ok(Value::Table(table))
        }
    }
}
