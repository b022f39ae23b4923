//! Rates of cells, as ABR computes with them, and the sixteen bits that RM cells write them in.

use std::{fmt, str::FromStr};

use celltrain_engine::{
    Slot,
    quantity::{BitRate, QuantityError},
    string_form,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{cell::CELL_BITS, quantity::CellRate};

/// A rate in cells a second: `"50 Mbit/s"` (of whole cells, 424 bits each) or `"10000 cells/s"`.
///
/// ABR's rules multiply and divide rates, so a rate is an `f64`: the basic operations of IEEE 754 give the same bits
/// everywhere. It is never negative, infinite or NaN.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Rate(f64);

impl Rate {
    /// No cells.
    pub const ZERO: Self = Self(0.0);

    /// So many cells a second.
    ///
    /// # Panics
    /// If the number is negative, infinite or NaN: an algorithm that computes such a rate is wrong.
    #[must_use]
    pub fn of_cells(per_second: f64) -> Self {
        assert!(per_second >= 0.0 && per_second.is_finite(), "{per_second} cells/s is not a rate");
        Self(per_second)
    }

    /// The rate of cells that fill a link of `rate` bit/s.
    #[must_use]
    pub fn of_bits(rate: BitRate) -> Self {
        Self(rate.0 as f64 / CELL_BITS as f64)
    }

    /// In cells a second.
    #[inline]
    #[must_use]
    pub const fn cells(self) -> f64 {
        self.0
    }

    /// In bit/s of whole cells, rounded.
    #[must_use]
    pub fn bits(self) -> BitRate {
        BitRate((self.0 * CELL_BITS as f64).round() as u64)
    }

    /// The distance of cells at this rate; `None` if the next cell would come in 53 days or never.
    #[must_use]
    pub fn spacing(self) -> Option<Slot> {
        Slot::of_rate(self.0)
    }

    /// The smaller of two rates.
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }

    /// The larger of two rates.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// `factor` of this rate.
    ///
    /// # Panics
    /// As [`Rate::of_cells`].
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self::of_cells(self.0 * factor)
    }
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!("expected a rate of cells such as \"50 Mbit/s\" or \"10000 cells/s\", found \"{text}\"")
        };
        let rate = match text.trim().strip_suffix("cells/s") {
            Some(number) => {
                let digits = number.trim().replace('_', "");
                let plain = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
                Self(digits.parse().ok().filter(|_| plain).ok_or_else(error)?)
            }
            None => Self::of_bits(text.parse().map_err(|fault: QuantityError| fault.with_form(error))?),
        };
        if rate <= MAX { Ok(rate) } else { Err(format!("the rate \"{text}\" is above {MAX}")) }
    }
}

impl fmt::Display for Rate {
    /// Writes the shortest number that reads as the same rate.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} cells/s", self.0)
    }
}

string_form!(Rate, "a rate of cells", "50 Mbit/s", format!("^ *{} *$", CellRate::KIND.pattern()));

/// The largest rate that an RM cell can carry, 2^31 * (1 + 511/512) cells/s or 1.8 Tbit/s, and the largest there is.
pub const MAX: Rate = Rate(4_290_772_992.0);

/// How RM cells carry rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateCoding {
    /// As they were computed, which is what most papers assume.
    #[default]
    Exact,
    /// In the 16-bit floating point of the RM cell, rounded down.
    Float,
}

impl RateCoding {
    /// What is read of `rate` after it was written.
    #[must_use]
    pub fn carry(self, rate: Rate) -> Rate {
        match self {
            Self::Exact => rate,
            Self::Float => decode(encode(rate)),
        }
    }
}

/// Codes a rate as TM 4.0 lays it out: from the top a reserved bit, nz, five bits of exponent e and nine
/// of mantissa m, which stand for nz * 2^e * (1 + m/512) cells/s.
///
/// Rounds down, by less than one part in 512, so that coding never grants more than was meant; below one cell a second
/// that leaves zero. Rates above [`MAX`] become [`MAX`].
#[must_use]
pub fn encode(rate: Rate) -> u16 {
    if rate.0 < 1.0 {
        return 0;
    }
    // An f64 is laid out alike: eleven bits of exponent, biased by 1023, and 52 of mantissa. Cutting it there rounds down.
    let bits = rate.min(MAX).0.to_bits();
    let (exponent, mantissa) = ((bits >> 52) as u16 - 1023, (bits >> 43) as u16 & 0x1ff);
    1 << 14 | exponent << 9 | mantissa
}

/// The rate that sixteen bits stand for; the reserved bit is not looked at.
#[must_use]
pub fn decode(code: u16) -> Rate {
    if code & 1 << 14 == 0 {
        return Rate::ZERO;
    }
    let (exponent, mantissa) = (code >> 9 & 0x1f, code & 0x1ff);
    Rate((1u64 << exponent) as f64 * (1.0 + f64::from(mantissa) / 512.0))
}
