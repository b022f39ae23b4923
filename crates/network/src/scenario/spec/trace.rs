//! `kind = "trace"`: cells or packets at recorded times.

use celltrain_engine::{
    Time,
    quantity::{Bytes, Duration},
    time::SECOND,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{bare::EcnField, traffic::Start};
use crate::traffic::sizes::array_or_file;

/// `kind = "trace"`. The times are given by `times` or by `gaps`; behind the last of them the source is silent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trace {
    /// When each cell or packet is sent, counted from `start`, in the order of time; several may be sent at once. Or the path of a CSV
    /// file, relative to this file, with one column: a time on each line, in seconds or with a unit. At most 1 000 000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "array_or_file::<Duration>")]
    pub times: Vec<Duration>,
    /// In place of `times`, the time of each cell or packet since the one before; the first is counted from `start`. Or the path of a CSV
    /// file as for `times`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "array_or_file::<Duration>")]
    pub gaps: Vec<Duration>,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "super::bare::single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// From when the times are counted.
    #[serde(default)]
    pub start: Start,
}

impl Trace {
    /// The most cells or packets of a trace.
    pub const MAX_LENGTH: usize = 1_000_000;

    /// How many cells or packets it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len() + self.gaps.len()
    }

    /// Whether it has none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The times in picoseconds, counted from the start.
    pub fn arrivals(&self) -> impl Iterator<Item = Time> {
        let summed = self.gaps.iter().scan(0, |at: &mut Time, gap| {
            *at = at.saturating_add(gap.ps());
            Some(*at)
        });
        self.times.iter().map(|time| time.ps()).chain(summed)
    }

    /// Mean rate in bit/s over `duration`, of units of so many bits.
    #[must_use]
    pub fn rate(&self, bits: u64, duration: Duration) -> f64 {
        let sent = self.arrivals().take_while(|&at| at < duration.ps()).count();
        sent as f64 * bits as f64 * SECOND as f64 / duration.ps() as f64
    }
}
