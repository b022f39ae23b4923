//! The averaging interval of a switch algorithm: it ends after a number of cells or after a time, whichever is first.

use celltrain_engine::{
    Time,
    quantity::Duration,
    time::{MICROSECOND, MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PortView;
use crate::catalogue::ParamError;

/// When an interval ends: (n, T).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// ABR cells after which it ends (n), if its time has not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cells: Option<u32>,
    /// Time after which it ends at the latest (T), 1 us or more.
    pub time: Duration,
}

impl Default for Params {
    fn default() -> Self {
        Self { cells: Some(100), time: Duration(MILLISECOND) }
    }
}

/// The shortest time of an interval: ports do little else than end intervals that are shorter.
const SHORTEST: Duration = Duration(MICROSECOND);

/// The measurements of one interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measured {
    /// Its length in seconds, above zero.
    pub seconds: f64,
    /// ABR cells that arrived.
    pub cells: f64,
    /// Cells of higher or the same priority under no rate control that arrived.
    pub priority_cells: f64,
}

/// Counts over the interval in progress.
#[derive(Debug, Clone)]
pub struct Interval {
    /// Cells that end it; `u64::MAX` if none do.
    most_cells: u64,
    length: Time,
    start: Time,
    cells: u64,
    priority_cells_at_start: u64,
}

impl Interval {
    /// The first interval starts at time zero.
    ///
    /// # Errors
    /// An interval that ends at once.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let error = |message: &str| Err(ParamError { key: "interval", message: message.into() });
        match params {
            Params { cells: Some(0), .. } => error("an interval of 0 cells never begins: give at least 1"),
            Params { time, .. } if *time < SHORTEST => {
                error(&format!("an interval of {time} is too short: give {SHORTEST} or more"))
            }
            Params { cells, time } => Ok(Self {
                most_cells: cells.map_or(u64::MAX, u64::from),
                length: time.ps(),
                start: 0,
                cells: 0,
                priority_cells_at_start: 0,
            }),
        }
    }

    /// When it ends at the latest.
    #[must_use]
    pub fn end(&self) -> Time {
        self.start.saturating_add(self.length)
    }

    /// Counts an ABR cell. Whether it is the last of the interval: an interval always takes some time, so cells that all
    /// arrive at its start do not end it.
    pub fn count(&mut self, now: Time) -> bool {
        self.cells += 1;
        self.cells >= self.most_cells && now > self.start
    }

    /// How many cells may come without ending it.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.most_cells.saturating_sub(self.cells.saturating_add(1))
    }

    /// Counts ABR cells of which even the last does not end the interval.
    ///
    /// # Panics
    /// If they are more than [`Interval::left`].
    pub fn count_all(&mut self, cells: u64) {
        assert!(cells <= self.left(), "the last of {cells} cells ends the interval");
        self.cells += cells;
    }

    /// Ends the interval and begins the next.
    ///
    /// # Panics
    /// If it has just begun.
    pub fn finish(&mut self, now: Time, port: &impl PortView) -> Measured {
        assert!(now > self.start, "an interval takes time");
        let measured = Measured {
            seconds: (now - self.start) as f64 / SECOND as f64,
            cells: self.cells as f64,
            priority_cells: (port.priority_cells() - self.priority_cells_at_start) as f64,
        };
        (self.start, self.cells, self.priority_cells_at_start) = (now, 0, port.priority_cells());
        measured
    }
}
