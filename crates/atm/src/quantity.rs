//! Sizes of buffers, levels of them, rates of cells and ratios, as scenario files write them: `"2000 cells"`,
//! `"unlimited"`, `"95 %"`, `"10000 cells/s"`, `0.8`.

use std::{cmp::Ordering, fmt, str::FromStr};

use celltrain_engine::{
    quantity::{self, BIT_RATES, BitRate, Bytes, Kind, QuantityError, did_you_mean},
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

impl Unit {
    /// So many, as people write it: "1 cell", "2 cells".
    #[must_use]
    pub fn counted(self, count: u64) -> String {
        let many = self.to_string();
        format!("{count} {}", if count == 1 { many.trim_end_matches('s') } else { &many })
    }
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

/// How numbers of cells are written.
const CELLS: Kind = Kind {
    what: "a number of cells",
    example: "2000 cells",
    units: &[("cell", 1), ("cells", 1)],
    whole: Some("cells"),
};

/// How numbers of packets are written.
const PACKETS: Kind = Kind {
    what: "a number of packets",
    example: "8 packets",
    units: &[("packet", 1), ("packets", 1)],
    whole: Some("packets"),
};

/// How shares are written, in millionths.
const SHARE: Kind = Kind { what: "a share", example: "95 %", units: &[("%", 10_000)], whole: None };

/// Reads a number of cells, packets or bytes.
fn amount(text: &str) -> Result<(u64, Unit), QuantityError> {
    let read = |kind: Kind, unit| kind.parse(text).map(|count| (count, unit));
    read(Bytes::KIND, Unit::Bytes)
        .or_else(|fault| fault.or_form(|| read(CELLS, Unit::Cells)))
        .or_else(|fault| fault.or_form(|| read(PACKETS, Unit::Packets)))
}

/// The regular expression of the texts that [`amount`] reads, or of an `other` one.
fn pattern(other: &str) -> String {
    let amounts = [Bytes::KIND, CELLS, PACKETS].map(|kind| kind.pattern()).join("|");
    format!("^ *({amounts}|{other}) *$")
}

/// Whether a buffer may have so many units, or a level.
fn fits(count: u64, unit: Unit) -> bool {
    unit == Unit::Bytes || count <= MAX_CELLS
}

/// Writes what [`amount`] reads.
fn write_amount(formatter: &mut fmt::Formatter<'_>, count: u64, unit: Unit) -> fmt::Result {
    match unit {
        Unit::Bytes => fmt::Display::fmt(&Bytes(count), formatter),
        unit => formatter.write_str(&unit.counted(count)),
    }
}

impl FromStr for Capacity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let error = || {
            format!(
                "expected a buffer size such as \"2000 cells\", \"8 packets\" (1 to {MAX_CELLS}), \"64 kB\" or \"unlimited\", found \"{text}\"{}",
                did_you_mean(text, &[&Bytes::KIND, &CELLS, &PACKETS])
            )
        };
        match amount(text).map_err(|fault| fault.with_form(error))? {
            (count, unit) if count > 0 && fits(count, unit) => Ok(Self(Some(count), unit)),
            _ => Err(error()),
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
        let error = || {
            let meant = did_you_mean(text, &[&SHARE, &Bytes::KIND, &CELLS, &PACKETS]);
            format!("expected a level such as \"95 %\" or \"1900 cells\", found \"{text}\"{meant}")
        };
        match amount(text) {
            Ok((count, unit)) if !fits(count, unit) => Err(error()),
            Ok((count, Unit::Cells)) => Ok(Self::Cells(count)),
            Ok((count, Unit::Packets)) => Ok(Self::Packets(count)),
            Ok((count, Unit::Bytes)) => Ok(Self::Bytes(count)),
            Err(QuantityError::Value(message)) => Err(message),
            Err(QuantityError::Form(_)) => {
                let share = SHARE.parse(text).map_err(|fault| fault.with_form(error))?;
                let above = || format!("a level is at most 100 %, the whole buffer: found \"{text}\"");
                (share <= 1_000_000).then_some(Self::Share(share)).ok_or_else(above)
            }
        }
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
            _ => {
                let unit = self.unit().expect("a number of units");
                Err(format!("{self} is above the buffer of {}", unit.counted(capacity)))
            }
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

string_form!(Capacity, "a buffer size", "2000 cells", pattern("unlimited"));
string_form!(Level, "a level of the buffer", "95 %", pattern(&SHARE.pattern()));

/// A rate of cells, kept as the bit rate of the whole cells (424 bits each): `"50 Mbit/s"` or `"10000 cells/s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRate(pub BitRate);

impl CellRate {
    /// How it is written.
    pub const KIND: Kind =
        Kind { what: "a rate of cells", example: "50 Mbit/s", units: &CELL_RATES, whole: None };
}

/// Units of rates of cells, in bit/s.
const CELL_RATES: [quantity::Unit; 6] = {
    let [first, second, third, fourth, fifth] = BIT_RATES;
    [first, second, third, fourth, fifth, ("cells/s", CELL_BITS)]
};

impl FromStr for CellRate {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::KIND.parse(text).map(|rate| Self(BitRate(rate)))
    }
}

impl fmt::Display for CellRate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

string_form!(CellRate, "a rate of cells", "50 Mbit/s", format!("^ *{} *$", CellRate::KIND.pattern()));

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

    #[test]
    fn an_error_names_the_unit_that_was_meant() {
        let of_buffer = |text: &str| text.parse::<Capacity>().unwrap_err();
        let of_level = |text: &str| text.parse::<Level>().unwrap_err();
        for (text, unit) in
            [("64 KB", "kB"), ("2 Cells", "cells"), ("7 PACKETS", "packets"), ("9 bytes", "B")]
        {
            for error in [of_buffer(text), of_level(text)] {
                assert!(error.ends_with(&format!("found \"{text}\"; did you mean \"{unit}\"?")), "{error}");
            }
        }
        assert!(of_buffer("64 parsecs").ends_with("found \"64 parsecs\""));
    }

    #[test]
    fn one_unit_is_no_plural() {
        for text in ["1 cell", "2 cells", "1 packet", "3 packets", "1 B"] {
            assert_eq!(text.parse::<Capacity>().unwrap().to_string(), text);
        }
        let above = "2 cells".parse::<Level>().unwrap().cells(1).unwrap_err();
        assert_eq!(above, "2 cells is above the buffer of 1 cell");
    }
}
