//! Sizes of buffers, levels of them, rates of cells and ratios, as scenario files write them: `"2000 cells"`,
//! `"unlimited"`, `"95 %"`, `"10000 cells/s"`, `0.8`.

use std::{cmp::Ordering, fmt, str::FromStr};

use celltrain_engine::{
    quantity::{BitRate, Bytes},
    string_form,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cell::CELL_BITS;

/// The largest buffer a scenario may ask for, in cells or packets: 2^32 cells are three hours of an OC-3.
pub const MAX_CELLS: u64 = 1 << 32;

/// A buffer's size: `"2000 cells"` in front of a cell-framed link, `"8 packets"` or `"64 kB"` in front of a packet-framed
/// one, or `"unlimited"`, whose unit means nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity(pub Option<u64>, pub Unit);

/// A level of a buffer: a number of its units or a share of its size, `"1900 cells"` or `"95 %"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A number of cells.
    Cells(u64),
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
    /// Millionths of the capacity.
    Share(u64),
}

/// What a buffer's size is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Cells.
    Cells,
    /// Packets.
    Packets,
    /// Bytes of packets.
    Bytes,
}

impl fmt::Display for Unit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Cells => "cells",
            Self::Packets => "packets",
            Self::Bytes => "bytes",
        })
    }
}

fn number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], text[end..].trim()))
}

/// Reads a number of cells, packets or bytes.
fn amount(text: &str) -> Option<(u64, Unit)> {
    if let Ok(Bytes(bytes)) = text.parse() {
        return Some((bytes, Unit::Bytes));
    }
    let (digits, name) = number(text)?;
    let unit = match name {
        "cells" | "cell" => Unit::Cells,
        "packets" | "packet" => Unit::Packets,
        _ => return None,
    };
    let count = digits.replace('_', "").parse().ok()?;
    (count <= MAX_CELLS).then_some((count, unit))
}

/// Writes what [`amount`] reads.
fn write_amount(formatter: &mut fmt::Formatter<'_>, count: u64, unit: Unit) -> fmt::Result {
    match unit {
        Unit::Bytes => fmt::Display::fmt(&Bytes(count), formatter),
        unit => write!(formatter, "{count} {unit}"),
    }
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        match amount(text) {
            Some((count, unit)) if count > 0 => Ok(Self(Some(count), unit)),
            _ => Err(format!(
                "expected a buffer size such as \"2000 cells\", \"8 packets\" (1 to {MAX_CELLS}), \"64 kB\" or \"unlimited\", found \"{text}\""
            )),
        }
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(count) => write_amount(formatter, count, self.1),
            None => formatter.write_str("unlimited"),
        }
    }
}

impl Capacity {
    /// As much as ever arrives.
    pub const UNLIMITED: Self = Self(None, Unit::Cells);

    /// The size in its unit; an unlimited buffer holds more than any run can fill.
    #[must_use]
    pub fn units(self) -> u64 {
        self.0.unwrap_or(u64::MAX)
    }

    /// What a packet of `octets` takes of it, in its unit.
    #[inline]
    #[must_use]
    pub fn of_packet(self, octets: u32) -> u32 {
        if self.1 == Unit::Bytes { octets } else { 1 }
    }

    /// What it is counted in, if it has a limit.
    #[must_use]
    pub fn unit(self) -> Option<Unit> {
        self.0.map(|_| self.1)
    }
}

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("expected a level such as \"95 %\" or \"1900 cells\", found \"{text}\"");
        if let Some((count, unit)) = amount(text) {
            return Ok(match unit {
                Unit::Cells => Self::Cells(count),
                Unit::Packets => Self::Packets(count),
                Unit::Bytes => Self::Bytes(count),
            });
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
        match *self {
            Self::Cells(count) => write_amount(formatter, count, Unit::Cells),
            Self::Packets(count) => write_amount(formatter, count, Unit::Packets),
            Self::Bytes(count) => write_amount(formatter, count, Unit::Bytes),
            Self::Share(millionths) => write!(formatter, "{} %", millionths as f64 / 10_000.0),
        }
    }
}

impl Level {
    /// This level of a buffer of `capacity` units, in these units, rounded down. A share is one unit at least, unless it is nothing.
    ///
    /// # Errors
    /// A share of an unlimited buffer and a level above the capacity have no meaning.
    pub fn cells(self, capacity: u64) -> Result<u64, String> {
        match self {
            Self::Cells(count) | Self::Packets(count) | Self::Bytes(count) if count <= capacity => Ok(count),
            Self::Share(_) if capacity == u64::MAX => {
                Err(format!("\"{self}\" of an unlimited buffer has no meaning: give an amount"))
            }
            Self::Share(millionths) => {
                let units = u128::from(capacity) * u128::from(millionths) / 1_000_000;
                Ok((units as u64).max(millionths.min(1)))
            }
            _ => Err(format!(
                "{self} is above the buffer of {capacity} {}",
                self.unit().expect("a number of units")
            )),
        }
    }

    /// What it is counted in, if it is not a share.
    #[must_use]
    pub fn unit(self) -> Option<Unit> {
        match self {
            Self::Cells(_) => Some(Unit::Cells),
            Self::Packets(_) => Some(Unit::Packets),
            Self::Bytes(_) => Some(Unit::Bytes),
            Self::Share(_) => None,
        }
    }
}

string_form!(
    Capacity,
    "a buffer size",
    "2000 cells",
    "^ *([0-9_]+ *(cells?|packets?)|[0-9_.]+ *(k|M|G|Ki|Mi|Gi)?B|unlimited) *$".to_owned()
);
string_form!(
    Level,
    "a level of the buffer",
    "95 %",
    "^ *([0-9_]+ *(cells?|packets?)|[0-9_.]+ *((k|M|G|Ki|Mi|Gi)?B|%)) *$".to_owned()
);

/// A rate of cells, kept as the bit rate of the whole cells (424 bits each): `"50 Mbit/s"` or `"10000 cells/s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRate(pub BitRate);

impl FromStr for CellRate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = |_| {
            format!("expected a rate of cells such as \"50 Mbit/s\" or \"10000 cells/s\", found \"{text}\"")
        };
        match text.trim().strip_suffix("cells/s") {
            // The number's own digits are kept: a rate of cells is a bit rate with another scale.
            Some(number) => {
                let cells: BitRate = format!("{number} Gbit/s").parse().map_err(error)?;
                Ok(Self(BitRate(per_second(cells.0))))
            }
            None => text.parse().map(Self).map_err(error),
        }
    }
}

/// Bit/s of so many 10^-9 cells/s.
fn per_second(billionths: u64) -> u64 {
    ((u128::from(billionths) * u128::from(CELL_BITS) + 500_000_000) / 1_000_000_000) as u64
}

impl fmt::Display for CellRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

string_form!(
    CellRate,
    "a rate of cells",
    "50 Mbit/s",
    "^ *([0-9_]+\\.?[0-9_]*|\\.[0-9_]+) *([kMGT]?bit/s|cells/s) *$".to_owned()
);

/// A ratio, written as a plain number: `0.8`. It is kept in billionths, so that models compare with it in whole
/// numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "f64", into = "f64")]
#[schemars(with = "f64")]
pub struct Ratio(u64);

impl Ratio {
    /// One: both sides are equal.
    pub const ONE: Self = Self::billionths(1_000_000_000);
    /// The largest ratio that can be written.
    pub const MAX: f64 = 1e6;

    /// A ratio of so many billionths.
    #[must_use]
    pub const fn billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    /// Compares this ratio with a fraction in whole numbers; a fraction over zero is above every ratio unless it is
    /// 0/0, which counts as equal.
    #[must_use]
    pub fn cmp_fraction(self, numerator: u128, denominator: u128) -> Ordering {
        let scaled = |side: u128, by: u64| side.saturating_mul(u128::from(by));
        scaled(denominator, self.0).cmp(&scaled(numerator, Self::ONE.0))
    }

    /// The ratio as a floating-point number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl TryFrom<f64> for Ratio {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if !(0.0..=Self::MAX).contains(&value) {
            return Err(format!("expected a ratio from 0 to {}, found {value}", Self::MAX));
        }
        let billionths = (value * 1e9).round() as u64;
        if billionths == 0 && value > 0.0 {
            return Err(format!("{value:e} is below 1e-9, the smallest ratio above 0"));
        }
        Ok(Self(billionths))
    }
}

impl From<Ratio> for f64 {
    fn from(ratio: Ratio) -> Self {
        ratio.as_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A level that an empty buffer has reached would let nothing pass.
    #[test]
    fn a_share_of_a_small_buffer_is_one_unit_at_least() {
        let of = |text: &str, capacity| text.parse::<Level>().unwrap().cells(capacity).unwrap();
        assert_eq!([of("80 %", 1), of("9 %", 5), of("95 %", 2000), of("99 %", 150)], [1, 1, 1900, 148]);
        assert_eq!([of("0 %", 5), of("0 cells", 5), of("100 %", 1)], [0, 0, 1]);
    }
}
