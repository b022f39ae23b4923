//! A scenario's tables before they have types: values that remember where they were written.

use toml::{
    Spanned,
    de::{self, DeTable, DeValue},
    map::Map,
};

use super::error::ScenarioError;

/// Where a value was written: a layer of the scenario and, if that is a file, a line from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) layer: usize,
    pub(super) line: Option<usize>,
}

/// A table: keys in the order of the file.
pub(super) type Table = Map<String, Node>;

/// A value and its origin.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) origin: Origin,
    pub(super) value: Value,
}

/// A TOML value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    String(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    /// No key of a scenario is a date; kept for the error message.
    Datetime(String),
    Array(Vec<Node>),
    Table(Table),
}

/// The key that says which of several forms a table has.
pub(super) const KIND: &str = "kind";

impl Node {
    /// Reads the text of the file `name`, layer number `layer`.
    pub(super) fn parse(text: &str, name: &str, layer: usize) -> Result<Self, ScenarioError> {
        let lines = Lines::new(text);
        let place = |message: String, offset: Option<usize>| {
            ScenarioError::new(name, offset.map(|offset| lines.at(offset)), "", &message)
        };
        let document = DeTable::parse(text)
            .map_err(|error| place(described(&error, text), error.span().map(|span| span.start)))?;
        let convert = Convert { lines: &lines, layer };
        let value =
            convert.table(document.get_ref()).map_err(|(message, offset)| place(message, Some(offset)))?;
        Ok(Self { origin: Origin { layer, line: None }, value })
    }

    /// Reads the value of an override; what is no TOML value is a string, so that `--set switch.buffer="500 cells"`
    /// needs no second pair of quotes.
    pub(super) fn parse_override(text: &str, layer: usize) -> Self {
        let origin = Origin { layer, line: None };
        let lines = Lines::none();
        let convert = Convert { lines: &lines, layer };
        let parsed = DeValue::parse(text).ok().and_then(|value| convert.value(&value).ok());
        Self { origin, value: parsed.unwrap_or_else(|| Value::String(text.to_owned())) }
    }

    /// An empty table.
    pub(super) fn empty(origin: Origin) -> Self {
        Self { origin, value: Value::Table(Table::new()) }
    }

    /// The table, if it is one.
    pub(super) fn table(&self) -> Option<&Table> {
        if let Value::Table(table) = &self.value { Some(table) } else { None }
    }

    /// Lays `over` on this value: tables merge key by key, everything else is replaced.
    ///
    /// A table of another `kind` replaces: the keys of a parking lot mean nothing to an N-source network.
    pub(super) fn merge(&mut self, over: Self) {
        let merges = match (&self.value, &over.value) {
            (Value::Table(below), Value::Table(above)) => same_kind(below, above),
            _ => false,
        };
        match (&mut self.value, over.value) {
            (Value::Table(below), Value::Table(above)) if merges => {
                self.origin = over.origin;
                for (key, node) in above {
                    match below.get_mut(&key) {
                        Some(existing) => existing.merge(node),
                        None => drop(below.insert(key, node)),
                    }
                }
            }
            (_, value) => *self = Self { origin: over.origin, value },
        }
    }

    /// The deepest value along `keys` that exists.
    pub(super) fn deepest<'a>(&self, keys: impl Iterator<Item = &'a str>) -> &Self {
        let mut node = self;
        for key in keys {
            let next = match &node.value {
                Value::Table(table) => table.get(key),
                Value::Array(nodes) => key.parse::<usize>().ok().and_then(|index| nodes.get(index)),
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node
    }
}

/// Whether two tables do not differ in `kind`.
fn same_kind(below: &Table, above: &Table) -> bool {
    match (below.get(KIND).map(|node| &node.value), above.get(KIND).map(|node| &node.value)) {
        (Some(Value::String(below)), Some(Value::String(above))) => below == above,
        _ => true,
    }
}

/// The parser's message on one line, where it writes what it expected on a second one. Which key stands there twice it does not say.
fn described(error: &de::Error, text: &str) -> String {
    let message = error.message().lines().collect::<Vec<_>>().join("; ");
    let place = error.span().and_then(|span| text.get(span)).filter(|place| !place.contains('\n'));
    match place {
        Some(key) if message == "duplicate key" => format!("{message} \"{key}\""),
        _ => message,
    }
}

/// Where the lines of a text begin.
struct Lines(Option<Vec<usize>>);

impl Lines {
    fn new(text: &str) -> Self {
        Self(Some(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at).collect()))
    }

    /// For a text that is no file.
    fn none() -> Self {
        Self(None)
    }

    fn at(&self, offset: usize) -> usize {
        self.0.as_ref().map_or(1, |newlines| newlines.partition_point(|newline| *newline < offset) + 1)
    }

    fn origin(&self, layer: usize, offset: usize) -> Origin {
        Origin { layer, line: self.0.as_ref().map(|_| self.at(offset)) }
    }
}

/// Turns the parser's values into nodes.
struct Convert<'a> {
    lines: &'a Lines,
    layer: usize,
}

/// What is wrong, and the offset in the text.
type ConvertError = (String, usize);

impl Convert<'_> {
    fn table(&self, table: &DeTable<'_>) -> Result<Value, ConvertError> {
        let mut nodes = Table::with_capacity(table.len());
        for (key, value) in table {
            let origin = self.lines.origin(self.layer, key.span().start);
            nodes.insert(key.get_ref().to_string(), Node { origin, value: self.value(value)? });
        }
        Ok(Value::Table(nodes))
    }

    fn value(&self, value: &Spanned<DeValue<'_>>) -> Result<Value, ConvertError> {
        let offset = value.span().start;
        Ok(match value.get_ref() {
            DeValue::String(text) => Value::String(text.to_string()),
            DeValue::Integer(integer) => {
                let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
                let limit = if integer.as_str().starts_with('-') {
                    format!("from {}", i64::MIN)
                } else {
                    format!("up to {}", i64::MAX)
                };
                let message = || format!("expected a whole number {limit}, found {integer}");
                Value::Integer(parsed.map_err(|_| (message(), offset))?)
            }
            DeValue::Float(float) => {
                Value::Float(float.as_str().parse().map_err(|_| (format!("{float} is no number"), offset))?)
            }
            DeValue::Boolean(boolean) => Value::Boolean(*boolean),
            DeValue::Datetime(date) => Value::Datetime(date.to_string()),
            DeValue::Array(values) => Value::Array(
                values
                    .iter()
                    .map(|value| {
                        let origin = self.lines.origin(self.layer, value.span().start);
                        Ok(Node { origin, value: self.value(value)? })
                    })
                    .collect::<Result<_, ConvertError>>()?,
            ),
            DeValue::Table(table) => self.table(table)?,
        })
    }
}
