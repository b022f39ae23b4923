//! Quantities of cells, as scenario files write them: `"2000 cells"`, `"unlimited"`, `"95 %"`.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// The largest buffer a scenario may ask for, in cells: 2^32, half a year of an OC-3.
pub const MAX_CELLS: u64 = 1 << 32;

/// A buffer's size in cells: `"2000 cells"` or `"unlimited"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Capacity(pub Option<u64>);

/// A level of a buffer: a number of cells or a share of the capacity, `"1900 cells"` or `"95 %"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Level {
    /// A number of cells.
    Cells(u64),
    /// Millionths of the capacity.
    Share(u64),
}

fn number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], text[end..].trim()))
}

fn whole_cells(text: &str) -> Option<u64> {
    let (digits, unit) = number(text)?;
    let cells = digits.replace('_', "").parse().ok()?;
    (matches!(unit, "cells" | "cell") && cells <= MAX_CELLS).then_some(cells)
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self(None));
        }
        match whole_cells(text) {
            Some(cells) if cells > 0 => Ok(Self(Some(cells))),
            _ => Err(format!(
                "expected a buffer size such as \"2000 cells\" (1 to {MAX_CELLS}) or \"unlimited\", found \"{text}\""
            )),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(cells) => write!(formatter, "{cells} cells"),
            None => formatter.write_str("unlimited"),
        }
    }
}

impl Capacity {
    /// The capacity in cells; an unlimited buffer holds more than any run can fill.
    #[must_use]
    pub fn cells(self) -> u64 {
        self.0.unwrap_or(u64::MAX)
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("expected a level such as \"95 %\" or \"1900 cells\", found \"{text}\"");
        if let Some(cells) = whole_cells(text) {
            return Ok(Self::Cells(cells));
        }
        let (digits, unit) = number(text).ok_or_else(error)?;
        let percent: f64 = digits.parse().map_err(|_| error())?;
        if unit != "%" || !(0.0..=100.0).contains(&percent) {
            return Err(error());
        }
        Ok(Self::Share((percent * 10_000.0).round() as u64))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cells(cells) => write!(formatter, "{cells} cells"),
            Self::Share(millionths) => write!(formatter, "{} %", *millionths as f64 / 10_000.0),
        }
    }
}

impl Level {
    /// This level in cells of a buffer of `capacity` cells, rounded down.
    ///
    /// # Errors
    /// A share of an unlimited buffer and a level above the capacity have no meaning.
    pub fn cells(self, capacity: u64) -> Result<u64, String> {
        match self {
            Self::Cells(cells) if cells <= capacity => Ok(cells),
            Self::Cells(cells) => Err(format!("{cells} cells is above the buffer of {capacity} cells")),
            Self::Share(_) if capacity == u64::MAX => {
                Err(format!("\"{self}\" of an unlimited buffer has no meaning: give a number of cells"))
            }
            Self::Share(millionths) => Ok((u128::from(capacity) * u128::from(millionths) / 1_000_000) as u64),
        }
    }
}

macro_rules! string_form {
    ($name:ident, $pattern:literal, $description:literal, $example:literal) => {
        impl TryFrom<String> for $name {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> Self {
                value.to_string()
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string", "pattern": $pattern, "description": $description, "examples": [$example],
                })
            }
        }
    };
}

string_form!(Capacity, "^([0-9_]+ ?cells?|unlimited)$", "a buffer size in cells", "2000 cells");
string_form!(Level, "^([0-9_]+ ?cells?|[0-9.]+ ?%)$", "a level of the buffer", "95 %");
