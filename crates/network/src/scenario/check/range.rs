//! Checks of a single value.

use std::fmt;

use super::super::error::Problem;

/// Nothing is wrong, or what is.
pub(super) type Checked = Result<(), Problem>;

/// Checks that `low <= value <= high`.
pub(super) fn within<T: PartialOrd + fmt::Display>(key: &str, value: T, low: T, high: T) -> Checked {
    if low <= value && value <= high {
        return Ok(());
    }
    Err(Problem::new(key, format!("expected {low} to {high}, found {value}")))
}
