//! ESPD as first proposed: the two thresholds of [`super::espd`], a limit on the number of red VCs, and a drop timer.
//!
//! Cheon and Panwar (section 3.2) give the purpose of the two additional parts and no details: the limit bounds how many VCs
//! are red at a time, and the timer keeps a VC from being red for long. In this implementation a VC is captured only while
//! fewer than `red-limit` VCs are red. A red VC whose timer has expired is released at its next end mark, whatever the
//! occupancy. A cell that finds the buffer full is lost in any case; beyond the limit its VC is not captured for it, and only
//! the rest of its frame is discarded. Without a limit and a timer this is [`super::espd`].

use celltrain_engine::{Time, quantity::Duration, time::NEVER};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BufferPolicy, Occupancy, ParamError, PortContext, PortState, Reason, Verdict, View, espd};
use crate::{Cell, quantity::Level};

/// Parameters of the original ESPD.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which the VC of an arriving first cell turns red.
    pub high: Level,
    /// Occupancy below which a red VC is released, at the end of its frame.
    pub low: Level,
    /// Longest time that a VC stays red. Without it there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_timer: Option<Duration>,
    /// Largest number of VCs that are red at a time. Without it there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub red_limit: Option<u32>,
}

impl Default for Params {
    fn default() -> Self {
        let espd::Params { high, low } = espd::Params::default();
        Self { high, low, drop_timer: None, red_limit: None }
    }
}

/// Status of a VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Green,
    /// The frame in progress is broken and its VC not captured: the limit was reached.
    Broken,
    /// Captured; released at an end mark from this time on.
    Red {
        expires: Time,
    },
}

/// The original ESPD policy.
#[derive(Debug, Clone)]
pub struct EspdOriginal {
    high: u64,
    low: u64,
    drop_timer: Time,
    red_limit: u32,
    status: Vec<Status>,
    /// Number of red VCs.
    reds: u32,
}

impl BufferPolicy for EspdOriginal {
    type Params = Params;
    type Needs = Occupancy;

    const SUMMARY: &'static str =
        "ESPD with a limit on the number of captured VCs and a timer that frees them.";
    const REFERENCE: &'static str = "Cheon and Panwar, section 3.2, after their LCN'97 paper";
    const PER_VC: &'static str = "its status: green, broken or red, and until when it is red";

    fn check(params: &Params) -> Result<(), ParamError> {
        if params.red_limit == Some(0) {
            let message = "a limit of 0 red VCs captures none: use \"ppd\", or at least 1".into();
            return Err(ParamError { key: "red-limit", message });
        }
        Ok(())
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let (low, high) = port.low_high(params.low, params.high)?;
        let red_limit = params.red_limit.unwrap_or(u32::MAX);
        let drop_timer = params.drop_timer.map_or(NEVER, Duration::ps);
        Ok(Self { high, low, drop_timer, red_limit, status: vec![Status::Green; port.vcs.len()], reds: 0 })
    }

    fn levels(params: &Params) -> Vec<(&'static str, Level)> {
        vec![("high", params.high), ("low", params.low)]
    }

    #[inline(always)]
    fn on_arrival<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Occupancy, S>, now: Time) -> Verdict {
        let vc = cell.vc as usize;
        match self.status[vc] {
            Status::Green => self.on_green(cell, port, now),
            status if !cell.is_last() => Verdict::Discard(match status {
                Status::Broken => Reason::FrameBroken,
                _ => Reason::VcCaptured,
            }),
            status => {
                self.release(vc, status, port, now);
                // A packet is no mere end mark: it passes only once its VC is free.
                if port.is_packet() && self.status[vc] != Status::Green {
                    return Verdict::Discard(Reason::VcCaptured);
                }
                if port.is_full() { Verdict::Discard(Reason::BufferFull) } else { Verdict::Accept }
            }
        }
    }

    fn captures(&self, vc: u32) -> bool {
        matches!(self.status[vc as usize], Status::Red { .. })
    }

    #[inline]
    fn accepts_rest(&self, cell: &Cell) -> bool {
        self.status[cell.vc as usize] == Status::Green
    }
}

impl EspdOriginal {
    fn on_green<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Occupancy, S>, now: Time) -> Verdict {
        let (vc, full) = (cell.vc as usize, port.is_full());
        let captures = full || (port.is_first() && port.occupancy() >= self.high);
        if captures && self.reds < self.red_limit {
            self.reds += 1;
            self.status[vc] = Status::Red { expires: now.saturating_add(self.drop_timer) };
            return Verdict::Discard(if full { Reason::BufferFull } else { Reason::VcCaptured });
        }
        if full {
            // Behind its last cell another frame begins.
            if !cell.is_last() {
                self.status[vc] = Status::Broken;
            }
            return Verdict::Discard(Reason::BufferFull);
        }
        Verdict::Accept
    }

    fn release<S: PortState>(&mut self, vc: usize, status: Status, port: &View<'_, Occupancy, S>, now: Time) {
        let stays = port.is_full() || port.occupancy() >= self.low;
        match status {
            Status::Red { expires } if !stays || now >= expires => self.reds -= 1,
            Status::Red { .. } => return,
            Status::Green | Status::Broken => {}
        }
        self.status[vc] = Status::Green;
    }
}
