//! What is meant by what stands where a number, or true or false, belongs: a text that says one, or a whole number with a point.

use serde::de::Unexpected;

/// From here on, not every whole number is one of these.
const EXACT: f64 = 1e15;

/// A number that something says in other words than TOML's.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number {
    value: f64,
    /// Whether only the quotes are too much.
    is_quoted: bool,
}

impl Number {
    /// What is meant where a number is expected: one in quotes, in per cent, or as a fraction such as `1/16`.
    pub(super) fn of(found: Unexpected<'_>) -> Option<Self> {
        let Unexpected::Str(text) = found else { return None };
        let text = text.trim();
        let plain = finite(text);
        let value = plain.or_else(|| percent(text)).or_else(|| fraction(text))?;
        Some(Self { value, is_quoted: plain.is_some() })
    }

    /// What is meant where a whole number is expected: one in quotes, or with a point.
    pub(super) fn whole(found: Unexpected<'_>) -> Option<Self> {
        let number = match found {
            Unexpected::Float(value) => Self { value, is_quoted: false },
            _ => Self::of(found).filter(|number| number.is_quoted)?,
        };
        (number.value.fract() == 0.0 && number.value.abs() < EXACT).then_some(number)
    }

    /// `: write 0.01`, if that is no less than `least` and no more than `most`.
    pub(super) fn advice(self, least: Option<f64>, most: Option<f64>) -> String {
        let Self { value, is_quoted } = self;
        let fits = least.is_none_or(|least| value >= least) && most.is_none_or(|most| value <= most);
        if fits { written(&value.to_string(), is_quoted) } else { String::new() }
    }
}

/// `: write true, without quotes`, where that is what a text says.
pub(super) fn boolean(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text @ ("true" | "false")) => written(text, true),
        _ => String::new(),
    }
}

fn written(value: &str, is_quoted: bool) -> String {
    format!(": write {value}{}", if is_quoted { ", without quotes" } else { "" })
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The point moves by two digits, so that no digit is rounded: a quotient of 2.9 is 0.028999….
fn percent(text: &str) -> Option<f64> {
    finite(&format!("{}e-2", text.strip_suffix('%')?.trim_end()))
}

fn fraction(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/')?;
    let quotient = finite(above.trim_end())? / finite(below.trim_start())?;
    quotient.is_finite().then_some(quotient)
}
