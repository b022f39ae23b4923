//! Quantities with units, as scenario files write them: `"1 ms"`, `"155.52 Mbit/s"`, `"64 KiB"`.
//!
//! A number without a unit is refused: a file that says `delay = 1` would be read differently by every reader.
//! Decimal prefixes are powers of ten, also of bytes; `KiB`, `MiB`, `GiB` and `TiB` are powers of 1024 (IEC 80000-13).

use std::{fmt, str::FromStr};

use crate::time::{MICROSECOND, MILLISECOND, NANOSECOND, SECOND, Time};

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuantityError {
    /// It is not a number with one of the units.
    Form(String),
    /// It is one, but the quantity has no such value.
    Value(String),
}

impl QuantityError {
    /// The message of this error; that of `expected` instead where the text could have had other forms too.
    #[must_use]
    pub fn with_form(self, expected: impl FnOnce() -> String) -> String {
        match self {
            Self::Form(_) => expected(),
            Self::Value(message) => message,
        }
    }

    /// What the text means in the `other` form, if it is none of the first.
    ///
    /// # Errors
    /// It has neither form, or no such value.
    pub fn or_form<T>(self, other: impl FnOnce() -> Result<T, Self>) -> Result<T, Self> {
        match self {
            Self::Form(_) => other(),
            Self::Value(_) => Err(self),
        }
    }
}

impl fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Form(message) | Self::Value(message)) = self;
        formatter.write_str(message)
    }
}

impl std::error::Error for QuantityError {}

/// One unit: its name and how many base units it holds.
pub type Unit = (&'static str, u64);

/// A kind of quantity: its name in messages, and how it is written.
#[derive(Debug)]
pub struct Kind {
    /// Its name: "a duration".
    pub what: &'static str,
    /// A text that it accepts.
    pub example: &'static str,
    /// Its units. The base unit itself need not be one of them.
    pub units: &'static [Unit],
    /// The name of its base units where these cannot be divided: "bytes". Other kinds are rounded.
    pub whole: Option<&'static str>,
}

/// Quantities stay below 2^61: an eighth of the range is free, so that sums of a few of them cannot overflow.
const MAX: u64 = (1 << 61) - 1;

/// The largest exponent of a number, and the negative of the least.
const MOST_EXPONENT: i32 = 100;

/// Ends of units as others spell them, in small letters, and as they are spelt here.
const OTHER_SPELLINGS: [(&str, &str); 7] = [
    ("bps", "bit/s"),
    ("seconds", "s"),
    ("second", "s"),
    ("secs", "s"),
    ("sec", "s"),
    ("bytes", "B"),
    ("byte", "B"),
];

/// Digits after the decimal point that are read. The base unit of every decimal unit is within them.
const DIGITS: usize = 18;

impl Kind {
    /// Reads `"<decimal number> <unit>"` in integer arithmetic. The number may have an exponent. A value between two base units is
    /// rounded to the nearest.
    ///
    /// # Errors
    /// The text is no such quantity, is too large, is rounded to 0 without being 0, or is between base units that cannot
    /// be divided.
    pub fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let (digits, scale, fraction) = self.split(text).ok_or_else(|| self.expected(text))?;
        // What a key takes at the most is less, and its own to say.
        let too_large = || QuantityError::Value(format!("{} \"{text}\" is too large for any use", self.what));
        let read = &fraction[..fraction.len().min(DIGITS)];
        let digits: u128 = format!("0{digits}{read}").parse().map_err(|_| too_large())?;
        let divisor = 10u128.pow(read.len() as u32);
        let scaled = digits.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
        let value = u64::try_from((scaled + divisor / 2) / divisor).ok().filter(|value| *value <= MAX);
        let value = value.ok_or_else(too_large)?;
        if scaled.is_multiple_of(divisor) && fraction.len() <= DIGITS {
            return Ok(value);
        }
        self.rounded(text.trim(), value)
    }

    /// The digits before the point, the number of base units in the unit, and the digits after the point without zeros at
    /// their end; nothing if the text has another form.
    fn split(&self, text: &str) -> Option<(String, u64, String)> {
        let trimmed = text.trim();
        let end =
            trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
        let number = trimmed[..end].replace('_', "");
        let (exponent, unit) = exponent_of(&trimmed[end..])?;
        let unit = unit.trim();
        let scale = self.units.iter().find(|(name, _)| *name == unit)?.1;
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let (whole, fraction) = shifted(whole, fraction, exponent);
        Some((whole, scale, fraction.trim_end_matches('0').to_owned()))
    }

    fn expected(&self, text: &str) -> QuantityError {
        let names: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        QuantityError::Form(format!(
            "expected {} such as \"{}\" (units: {}), found \"{text}\"{}",
            self.what,
            self.example,
            names.join(", "),
            self.hint(text)
        ))
    }

    /// What is wrong with a text, if that is a common mistake.
    fn hint(&self, text: &str) -> String {
        let is_right = |text: &str| self.split(text).is_some();
        if text.trim().strip_prefix('-').is_some_and(is_right) {
            return ", which is below zero".to_owned();
        }
        if is_right(&text.replacen(',', ".", 1)) {
            return "; decimals follow a point, and nothing or _ parts thousands".to_owned();
        }
        did_you_mean(text, &[self])
    }

    /// The unit of this kind that a common other spelling behind a number stands for: `Mbps`, `seconds`, `KB`.
    fn meant(&self, text: &str) -> Option<&'static str> {
        let written = text.trim_start_matches(|c: char| !c.is_alphabetic()).trim().to_lowercase();
        let spelt = OTHER_SPELLINGS.iter().find_map(|(other, unit)| {
            let prefix = written.strip_suffix(other)?;
            Some(format!("{prefix}{unit}"))
        });
        let alike = |unit: &str| unit.eq_ignore_ascii_case(spelt.as_deref().unwrap_or(&written));
        self.units.iter().map(|(name, _)| *name).find(|name| alike(name))
    }

    /// What a text between two base units means, of which `nearest` is the nearest.
    fn rounded(&self, text: &str, nearest: u64) -> Result<u64, QuantityError> {
        let shown = |value| Shown(value, self.units);
        match self.whole {
            Some(units) => Err(QuantityError::Value(format!(
                "\"{text}\" is not a whole number of {units}: write \"{}\"",
                shown(nearest.max(1))
            ))),
            None if nearest == 0 => Err(QuantityError::Value(format!(
                "\"{text}\" would be rounded to 0: the smallest value above 0 is {}",
                shown(1)
            ))),
            None => Ok(nearest),
        }
    }

    /// A regular expression, without ends, of the texts that [`Kind::parse`] accepts; of some fractions too that it refuses.
    #[must_use]
    pub fn pattern(&self) -> String {
        let units: Vec<_> = self.units.iter().map(|unit| unit.0).collect();
        format!("([0-9_]+\\.?[0-9_]*|\\.[0-9_]+)([eE][+-]?[0-9]+)? *({})", units.join("|"))
    }
}

/// What an error adds that may be said in several `kinds`, if a common other spelling of a unit of one of them stands in `text`.
#[must_use]
pub fn did_you_mean(text: &str, kinds: &[&Kind]) -> String {
    let unit = kinds.iter().find_map(|kind| kind.meant(text));
    unit.map_or_else(String::new, |unit| format!("; did you mean \"{unit}\"?"))
}

/// The exponent that a text begins with, 0 if with none, and what is behind it; nothing if the exponent is out of all reason.
fn exponent_of(text: &str) -> Option<(i32, &str)> {
    let Some(behind) = text.strip_prefix(['e', 'E']) else { return Some((0, text)) };
    let digits = behind.strip_prefix(['+', '-']).unwrap_or(behind);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    let (exponent, unit) = behind.split_at(behind.len() - digits.len() + count);
    exponent
        .parse()
        .ok()
        .filter(|exponent| (-MOST_EXPONENT..=MOST_EXPONENT).contains(exponent))
        .zip(Some(unit))
}

/// The digits before and behind the point, which is moved by `places` to the right.
fn shifted(whole: &str, fraction: &str, places: i32) -> (String, String) {
    let zeros = "0".repeat(places.unsigned_abs() as usize);
    if places < 0 {
        let digits = format!("{zeros}{whole}");
        let (whole, moved) = digits.split_at(digits.len() - zeros.len());
        return (whole.to_owned(), format!("{moved}{fraction}"));
    }
    let digits = format!("{fraction}{zeros}");
    let (moved, fraction) = digits.split_at(zeros.len());
    (format!("{whole}{moved}"), fraction.to_owned())
}

/// A value with its units. It is written exactly, in the largest unit in which it is at least one, and whole unless all units
/// are powers of ten; zero in the first unit.
struct Shown<'a>(u64, &'a [Unit]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Self(value, units) = self;
        // With powers of 1024 among the units a fraction would leave open which thousand is meant.
        let decimal = units.iter().all(|unit| is_power_of_ten(unit.1));
        let exact = |unit: &&Unit| value.is_multiple_of(unit.1) || decimal;
        let largest = units.iter().filter(|unit| unit.1 <= value).filter(exact).max_by_key(|unit| unit.1);
        let (name, scale) = *largest.unwrap_or(&units[0]);
        let (whole, rest) = (value / scale, value % scale);
        if rest == 0 {
            return write!(formatter, "{whole} {name}");
        }
        let digits = format!("{rest:0width$}", width = scale.ilog10() as usize);
        write!(formatter, "{whole}.{} {name}", digits.trim_end_matches('0'))
    }
}

fn is_power_of_ten(value: u64) -> bool {
    value > 0 && 10u64.pow(value.ilog10()) == value
}

/// Gives a type that has `FromStr` and `Display` the form of a string in scenario files and in the JSON schema.
///
/// `string_form!(Type, what, example, pattern)`: what the type is, in the words of an error message, an example, and
/// the regular expression (an expression of type `String`) of the texts it accepts. The calling crate depends on
/// `serde` and `schemars`.
#[macro_export]
macro_rules! string_form {
    ($name:ident, $what:literal, $example:literal, $pattern:expr) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;

                impl serde::de::Visitor<'_> for Visitor {
                    type Value = $name;

                    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        formatter.write_str(concat!($what, ", in quotes, such as \"", $example, "\""))
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        text.parse().map_err(E::custom)
                    }
                }

                deserializer.deserialize_str(Visitor)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string", "description": $what, "pattern": $pattern, "examples": [$example],
                })
            }
        }
    };
}

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $what:literal, $example:literal, $whole:expr, $units:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl $name {
            /// How it is written.
            pub const KIND: Kind = Kind { what: $what, example: $example, units: $units, whole: $whole };
        }

        impl FromStr for $name {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                Self::KIND.parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                Shown(self.0, $units).fmt(formatter)
            }
        }

        $crate::string_form!($name, $what, $example, format!("^ *{} *$", Self::KIND.pattern()));
    };
}

quantity!(
    /// A length of time in picoseconds: `"1 ms"`.
    Duration, "a duration", "1 ms", None,
    &[("s", SECOND), ("ms", MILLISECOND), ("µs", MICROSECOND), ("us", MICROSECOND), ("ns", NANOSECOND), ("ps", 1)]
);

/// How a [`Delay`] is written: light in a fibre takes 5 us for a kilometre.
const DELAY: Kind = Kind {
    what: "a delay",
    example: "1 ms",
    units: &[
        ("s", SECOND),
        ("ms", MILLISECOND),
        ("µs", MICROSECOND),
        ("us", MICROSECOND),
        ("ns", NANOSECOND),
        ("ps", 1),
        ("km", 5 * MICROSECOND),
    ],
    whole: None,
};

/// The time that a signal takes along a link: `"1 ms"`, or the length of the link, `"1000 km"`, at 5 us a kilometre.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay(pub Duration);

impl FromStr for Delay {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        DELAY.parse(text).map(|ps| Self(Duration(ps)))
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

string_form!(Delay, "a delay or a length of link", "1 ms", format!("^ *{} *$", DELAY.pattern()));

/// Units of bit rates.
pub const BIT_RATES: [Unit; 5] = [
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("Mbit/s", 1_000_000),
    ("Gbit/s", 1_000_000_000),
    ("Tbit/s", 1_000_000_000_000),
];

quantity!(
    /// A bit rate in bit/s: `"155.52 Mbit/s"`.
    BitRate, "a bit rate", "155.52 Mbit/s", None, &BIT_RATES
);
quantity!(
    /// An amount of data in bytes: `"64 KiB"`, `"64 kB"` (65 536 and 64 000 bytes).
    Bytes, "an amount of data", "500 B", Some("bytes"),
    &[
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)
    ]
);
quantity!(
    /// A rate of packets in millipackets a second (so that `"0.5 packet/s"` is exact): `"10500 packet/s"`.
    PacketRate, "a packet rate", "10500 packet/s", None,
    &[("packet/s", 1_000)]
);
quantity!(
    /// How far a clock may be off, in parts per billion: `"20 ppm"`.
    Tolerance, "a tolerance of clocks", "20 ppm", None,
    &[("ppm", 1_000), ("ppb", 1)]
);

impl Duration {
    /// This duration as [`Time`].
    #[must_use]
    pub const fn ps(self) -> Time {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{BitRate, Bytes, Delay, Duration, MAX, PacketRate, Tolerance};

    #[test]
    fn decimal_fractions_are_exact() {
        assert_eq!("155.52 Mbit/s".parse(), Ok(BitRate(155_520_000)));
        assert_eq!("2.72634 us".parse(), Ok(Duration(2_726_340)));
        assert_eq!("1.6 Tbit/s".parse(), Ok(BitRate(1_600_000_000_000)));
        assert_eq!("0.5 packet/s".parse(), Ok(PacketRate(500)));
        assert_eq!(".5s".parse(), Ok(Duration(500_000_000_000)));
        assert_eq!("1_000.000 ms".parse(), Ok(Duration(1_000_000_000_000)));
        assert_eq!("64 KiB".parse(), Ok(Bytes(65_536)));
        assert_eq!("64 kB".parse(), Ok(Bytes(64_000)));
        assert_eq!("2 MiB".parse(), Ok(Bytes(2 << 20)));
        assert_eq!("1 TB".parse(), Ok(Bytes(1_000_000_000_000)));
        assert_eq!("4.6 ppm".parse(), Ok(Tolerance(4_600)));
    }

    #[test]
    fn a_kilometre_takes_five_microseconds() {
        assert_eq!("1000 km".parse(), Ok(Delay(Duration(5_000_000_000))));
        assert_eq!("5 ms".parse(), Ok(Delay(Duration(5_000_000_000))));
        assert_eq!("0.2 km".parse::<Delay>().unwrap().to_string(), "1 us");
    }

    #[test]
    fn times_and_rates_are_rounded_to_the_nearest_base_unit() {
        assert_eq!("1.4 ps".parse(), Ok(Duration(1)));
        assert_eq!("1.5 ps".parse(), Ok(Duration(2)));
        assert_eq!("0.5 ps".parse(), Ok(Duration(1)));
        assert_eq!("149759999.6 bit/s".parse(), Ok(BitRate(149_760_000)));
        assert_eq!("0.333333333333333333333333 s".parse(), Ok(Duration(333_333_333_333)));
        assert_eq!("0.000000000001499999999999999999 s".parse(), Ok(Duration(1)));
    }

    #[test]
    fn numbers_have_exponents_as_computed_ones_do() {
        assert_eq!("1e-05 s".parse(), Ok(Duration(10_000_000)));
        assert_eq!("2.5E3us".parse(), Ok(Duration(2_500_000_000)));
        assert_eq!(".15e+3 Mbit/s".parse(), Ok(BitRate(150_000_000)));
        assert_eq!(
            "12345e-2 B".parse::<Bytes>().unwrap_err().to_string(),
            "\"12345e-2 B\" is not a whole number of bytes: write \"123 B\""
        );
        assert_eq!("12300e-2 B".parse(), Ok(Bytes(123)));
        assert_eq!("0e9 s".parse(), Ok(Duration(0)));
        assert_eq!("0.000001e12 ps".parse(), Ok(Duration(1_000_000)));
        for none in ["1e s", "1e- s", "1e101 s", "1e-101 s", "e3 s", "1e3.5 s", "1 e3 s", "1e3e3 s"] {
            let error = none.parse::<Duration>().unwrap_err().to_string();
            assert!(error.starts_with("expected a duration such as"), "{none}: {error}");
        }
        let error = "1e50 s".parse::<Duration>().unwrap_err().to_string();
        assert_eq!(error, "a duration \"1e50 s\" is too large for any use");
        let error = "1e-50 s".parse::<Duration>().unwrap_err().to_string();
        assert!(error.contains("would be rounded to 0"), "{error}");
    }

    #[test]
    fn what_is_above_0_is_not_rounded_to_0() {
        for (error, expected) in [
            (
                "0.4 ps".parse::<Duration>().unwrap_err(),
                "\"0.4 ps\" would be rounded to 0: the smallest value above 0 is 1 ps",
            ),
            (
                "0.00000007 km".parse::<Delay>().unwrap_err(),
                "\"0.00000007 km\" would be rounded to 0: the smallest value above 0 is 1 ps",
            ),
            (
                "0.4 bit/s".parse::<BitRate>().unwrap_err(),
                "\"0.4 bit/s\" would be rounded to 0: the smallest value above 0 is 1 bit/s",
            ),
            (
                "0.0004999 packet/s".parse::<PacketRate>().unwrap_err(),
                "\"0.0004999 packet/s\" would be rounded to 0: the smallest value above 0 is 0.001 packet/s",
            ),
            (
                "0.0000000000000000000000001 s".parse::<Duration>().unwrap_err(),
                "\"0.0000000000000000000000001 s\" would be rounded to 0: the smallest value above 0 is 1 ps",
            ),
        ] {
            assert_eq!(error.to_string(), expected);
        }
        assert_eq!("0.0 ps".parse(), Ok(Duration(0)));
        assert_eq!("0.000000000000000000000 s".parse(), Ok(Duration(0)));
    }

    #[test]
    fn bytes_are_not_divided() {
        for (text, instead) in [
            ("1.5 B", "2 B"),
            ("0.4 B", "1 B"),
            ("1.0005 kB", "1001 B"),
            ("0.1 MiB", "104858 B"),
            ("64000.0000000000000000001 B", "64 kB"),
        ] {
            let error = text.parse::<Bytes>().unwrap_err().to_string();
            assert_eq!(error, format!("\"{text}\" is not a whole number of bytes: write \"{instead}\""));
        }
        assert_eq!("0.5 KiB".parse(), Ok(Bytes(512)));
        assert_eq!("1.460 kB".parse(), Ok(Bytes(1_460)));
    }

    #[test]
    fn what_has_no_unit_or_number_is_refused() {
        for text in
            ["", "1", "ms", "-1 ms", "1 ms ms", "1.2.3 ms", ".ms", "_ ms", "e3 ms", "1 MS", "1 m s", "nan s"]
        {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(
                error.starts_with("expected a duration such as \"1 ms\" (units: s, ms,"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn other_spellings_of_units_are_known() {
        for (text, unit) in [("10 Mbps", "Mbit/s"), ("1gbps", "Gbit/s"), ("5 MBIT/S", "Mbit/s")] {
            let error = text.parse::<BitRate>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found \"{text}\"; did you mean \"{unit}\"?")), "{error}");
        }
        for (text, unit) in [("2 seconds", "s"), ("3 msec", "ms"), ("1 MS", "ms")] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("; did you mean \"{unit}\"?")), "{error}");
        }
        for text in ["1 h", "1 m", "10 Mbps"] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.ends_with(&format!("found \"{text}\"")), "{error}");
        }
    }

    #[test]
    fn signs_and_commas_are_told_from_units() {
        let error = "-1 ms".parse::<Duration>().unwrap_err().to_string();
        assert!(error.ends_with("found \"-1 ms\", which is below zero"), "{error}");
        let error = "155,52 Mbit/s".parse::<BitRate>().unwrap_err().to_string();
        assert!(
            error.ends_with(
                "found \"155,52 Mbit/s\"; decimals follow a point, and nothing or _ parts thousands"
            ),
            "{error}"
        );
        for text in ["-1 parsec", "1,2,3 Mbit/s", "1, Mbps"] {
            let error = text.parse::<BitRate>().unwrap_err().to_string();
            assert!(!error.contains("zero") && !error.contains("point"), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let huge = format!("{} s", "9".repeat(200));
        for text in ["2305844 s", &huge] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.ends_with("is too large for any use"), "{error}");
        }
        assert_eq!(format!("{MAX} ps").parse(), Ok(Duration(MAX)));
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        assert_eq!(BitRate(155_520_000).to_string(), "155.52 Mbit/s");
        assert_eq!(BitRate(100_000_000_000_000).to_string(), "100 Tbit/s");
        assert_eq!(Duration(12_500_000_000).to_string(), "12.5 ms");
        assert_eq!(
            (Duration(0).to_string(), BitRate(0).to_string()),
            ("0 s".to_owned(), "0 bit/s".to_owned())
        );
        assert_eq!(Duration(45_300_000).to_string(), "45.3 us");
        assert_eq!(Bytes(1_500).to_string(), "1500 B");
        assert_eq!(Bytes(65_536).to_string(), "64 KiB");
        assert_eq!(Bytes(64_000).to_string(), "64 kB");
        assert_eq!(Bytes(65_535).to_string(), "65535 B");
        assert_eq!(PacketRate(500).to_string(), "0.5 packet/s");
        assert_eq!(PacketRate(10_500_000).to_string(), "10500 packet/s");
    }

    fn config() -> ProptestConfig {
        ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn what_is_written_reads_the_same(value in 0..=MAX) {
            prop_assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
            prop_assert_eq!(BitRate(value).to_string().parse(), Ok(BitRate(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            prop_assert_eq!(PacketRate(value).to_string().parse(), Ok(PacketRate(value)));
        }

        #[test]
        fn any_text_gives_a_value_or_an_error(text in "[0-9._ ]{0,30}[a-zA-Zµ/ ]{0,6}") {
            let _ = (text.parse::<Duration>(), text.parse::<Bytes>());
        }
    }
}
