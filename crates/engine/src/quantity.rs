//! Quantities with units, as scenario files write them: `"1 ms"`, `"155.52 Mbit/s"`, `"64 KiB"`.
//!
//! A number without a unit is refused: a file that says `delay = 1` would be read differently by every reader.
//! Decimal prefixes are powers of ten, also of bytes; `KiB`, `MiB`, `GiB` and `TiB` are powers of 1024 (IEC 80000-13).

use std::{fmt, str::FromStr};

use crate::time::{MICROSECOND, MILLISECOND, NANOSECOND, SECOND, Time};

/// Why a text is not a quantity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantityError(String);

impl fmt::Display for QuantityError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for QuantityError {}

/// One unit: its name and how many base units it holds.
type Unit = (&'static str, u64);

/// Quantities stay below 2^61: an eighth of the range is free, so that sums of a few of them cannot overflow.
const MAX: u64 = (1 << 61) - 1;

/// Reads `"<decimal number> <unit>"` exactly, in integer arithmetic, rounding to the nearest base unit.
fn parse(text: &str, what: &str, units: &[Unit], example: &str) -> Result<u64, QuantityError> {
    let expected = || {
        let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        QuantityError(format!(
            "expected {what} such as \"{example}\" (units: {}), found \"{text}\"",
            names.join(", ")
        ))
    };
    let too_large = || QuantityError(format!("{what} \"{text}\" is too large"));
    let trimmed = text.trim();
    let end = trimmed.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    let scale = units.iter().find(|(name, _)| *name == unit).ok_or_else(expected)?.1;
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return Err(expected());
    }
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 18 {
        return Err(expected());
    }
    let digits: u128 = format!("0{whole}{fraction}").parse().map_err(|_| too_large())?;
    let divisor = 10u128.pow(fraction.len() as u32);
    let scaled = digits.checked_mul(u128::from(scale)).ok_or_else(too_large)?;
    let value = (scaled + divisor / 2) / divisor;
    u64::try_from(value).ok().filter(|value| *value <= MAX).ok_or_else(too_large)
}

/// Writes a value exactly, in the largest unit in which it is at least one, and whole unless all units are powers of ten;
/// zero in the first unit.
fn format(value: u64, units: &[Unit], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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
    ($(#[$doc:meta])* $name:ident, $what:literal, $example:literal, $units:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl FromStr for $name {
            type Err = QuantityError;

            fn from_str(text: &str) -> Result<Self, QuantityError> {
                parse(text, $what, $units, $example).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                format(self.0, $units, formatter)
            }
        }

        $crate::string_form!($name, $what, $example, pattern($units));
    };
}

/// The texts that [`parse`] accepts.
fn pattern(units: &[Unit]) -> String {
    let units: Vec<_> = units.iter().map(|unit| unit.0).collect();
    format!("^ *([0-9_]+\\.?[0-9_]*|\\.[0-9_]+) *({}) *$", units.join("|"))
}

quantity!(
    /// A length of time in picoseconds: `"1 ms"`.
    Duration, "a duration", "1 ms",
    &[("s", SECOND), ("ms", MILLISECOND), ("µs", MICROSECOND), ("us", MICROSECOND), ("ns", NANOSECOND), ("ps", 1)]
);

/// Units of a [`Delay`]: light in a fibre takes 5 us for a kilometre.
const DELAYS: &[Unit] = &[
    ("s", SECOND),
    ("ms", MILLISECOND),
    ("µs", MICROSECOND),
    ("us", MICROSECOND),
    ("ns", NANOSECOND),
    ("ps", 1),
    ("km", 5 * MICROSECOND),
];

/// The time that a signal takes along a link: `"1 ms"`, or the length of the link, `"1000 km"`, at 5 us a kilometre.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Delay(pub Duration);

impl FromStr for Delay {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        parse(text, "a delay", DELAYS, "1 ms").map(|ps| Self(Duration(ps)))
    }
}

impl fmt::Display for Delay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

string_form!(Delay, "a delay or a length of link", "1 ms", pattern(DELAYS));
quantity!(
    /// A bit rate in bit/s: `"155.52 Mbit/s"`.
    BitRate, "a bit rate", "155.52 Mbit/s",
    &[
        ("bit/s", 1),
        ("kbit/s", 1_000),
        ("Mbit/s", 1_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Tbit/s", 1_000_000_000_000),
    ]
);
quantity!(
    /// An amount of data in bytes: `"64 KiB"`, `"64 kB"` (65 536 and 64 000 bytes).
    Bytes, "an amount of data", "500 B",
    &[
        ("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)
    ]
);
quantity!(
    /// A rate of packets in millipackets a second (so that `"0.5 packet/s"` is exact): `"10500 packet/s"`.
    PacketRate, "a packet rate", "10500 packet/s",
    &[("packet/s", 1_000)]
);
quantity!(
    /// How far a clock may be off, in parts per billion: `"20 ppm"`.
    Tolerance, "a tolerance of clocks", "20 ppm",
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
    use proptest::{prelude::*, test_runner::RngSeed};

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
    fn the_nearest_base_unit_is_taken() {
        assert_eq!("1.4 ps".parse(), Ok(Duration(1)));
        assert_eq!("1.5 ps".parse(), Ok(Duration(2)));
        assert_eq!("0.0004999 packet/s".parse(), Ok(PacketRate(0)));
    }

    #[test]
    fn what_has_no_unit_or_number_is_refused() {
        for text in
            ["", "1", "ms", "-1 ms", "1 ms ms", "1.2.3 ms", ".ms", "_ ms", "1e3 ms", "1 MS", "1 m s", "nan s"]
        {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(
                error.starts_with("expected a duration such as \"1 ms\" (units: s, ms,"),
                "{text}: {error}"
            );
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let huge = format!("{} s", "9".repeat(200));
        for text in ["2305844 s", &huge] {
            let error = text.parse::<Duration>().unwrap_err().to_string();
            assert!(error.ends_with("is too large"), "{error}");
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
        ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() }
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
