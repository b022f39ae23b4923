//! AAL5: frames into cells and back.
//!
//! `cells = ceil((frame + overhead) / 48)`. The overhead is the 8-octet trailer (UU, CPI, length, CRC-32), plus 8 octets of
//! LLC/SNAP header where IP is carried as RFC 2684 routed frames; a paper's own figure can be given instead.

use celltrain_engine::quantity::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Cell,
    cell::{Ecn, PAYLOAD_OCTETS},
};

/// Octets of the AAL5 trailer.
pub const TRAILER: Bytes = Bytes(8);
/// Octets of the LLC/SNAP header (RFC 2684, routed protocols).
pub const LLC_SNAP: Bytes = Bytes(8);

/// Parameters of the adaptation layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Octets added to a frame before it is padded to whole cells: `"8 B"` is the trailer alone (VC multiplexing),
    /// `"16 B"` the trailer and LLC/SNAP (RFC 2684).
    pub overhead: Bytes,
}

impl Default for Params {
    fn default() -> Self {
        Self { overhead: Bytes(TRAILER.0 + LLC_SNAP.0) }
    }
}

impl Params {
    /// The most octets a frame may have: the length field of the trailer has 16 bits.
    pub const MAX_FRAME: u64 = 65_535;

    /// Cells that a frame of `octets` octets fills.
    #[must_use]
    pub const fn cells(&self, octets: u64) -> u64 {
        (octets + self.overhead.0).div_ceil(PAYLOAD_OCTETS)
    }
}

/// Reassembly of one VC: cells are collected up to an end mark, then length and CRC are checked.
///
/// A frame is delivered only if all of its cells arrived and nothing else stood before them: a lost end mark glues two
/// frames together and both are lost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reassembly {
    /// Cells held since the last end mark.
    held: u32,
    /// Frame of the first of them.
    frame: u32,
    /// Frame of the last of them, and the position of the cell that would come next in it.
    last: (u32, u32),
    /// Whether one of them carried a congestion mark.
    marked: bool,
}

/// What an end mark completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// All cells of this frame and nothing else.
    Frame(u32),
    /// Cells that are not one whole frame: length or CRC is wrong. So many cells were carried for nothing.
    Corrupt(u32),
}

impl Reassembly {
    /// Whether a cell of the frame delivered last, or of the one in progress, carried a congestion mark.
    #[must_use]
    pub fn marked(&self) -> bool {
        self.marked
    }

    /// Cells held since the last end mark.
    #[must_use]
    pub fn held(&self) -> u32 {
        self.held
    }

    /// Cells held that cannot become a whole frame any more: one before the last of them is missing.
    #[must_use]
    pub fn held_in_vain(&self) -> u32 {
        if self.last == (self.frame, self.held) { 0 } else { self.held }
    }

    /// Takes `count` cells of a frame, the first of which is `head`; answers if the last of them carries the end mark.
    #[inline]
    pub fn on_cells(&mut self, head: &Cell, count: u32) -> Option<Delivery> {
        if self.held == 0 && head.position == 0 && count == u32::from(head.length) {
            // A whole frame at once, as most come.
            self.marked = head.ecn == Ecn::Marked;
            return Some(Delivery::Frame(head.frame));
        }
        if self.held == 0 {
            self.frame = head.frame;
            self.marked = false;
        }
        self.marked |= head.ecn == Ecn::Marked;
        self.held += count;
        let next = u32::from(head.position) + count;
        if next < u32::from(head.length) {
            self.last = (head.frame, next);
            return None;
        }
        let whole = self.held == u32::from(head.length) && self.frame == head.frame;
        let delivery = if whole { Delivery::Frame(head.frame) } else { Delivery::Corrupt(self.held) };
        self.held = 0;
        Some(delivery)
    }
}
