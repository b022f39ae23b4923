//! Captures: what hosts and links carry, as files that Wireshark reads.
//!
//! IP packets are recorded at hosts, as raw IP, and cells on links, as ERF records with their ATM headers. Captures are
//! bytes; nothing here writes files. Simulated time 0 is the epoch, and pcap times are cut to whole nanoseconds.
//!
//! Format: the classic pcap file with its nanosecond magic number (draft-ietf-opsawg-pcap).

mod cells;
mod packets;
mod path;
mod pcap;
mod places;
mod rm;

pub use self::places::CaptureError;
pub(crate) use self::{
    cells::{CellTap, merged},
    packets::PacketTap,
    path::Path,
    places::Places,
};

/// One capture file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Where it was taken: a host's name, or a link as `from > to`.
    pub place: String,
    /// What it holds.
    pub content: Content,
    /// The pcap file.
    pub bytes: Vec<u8>,
}

/// What a capture holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// IP packets (link type RAW).
    Packets,
    /// Cells (link type ERF).
    Cells,
}

impl Content {
    /// The word for it in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packets => "packets",
            Self::Cells => "cells",
        }
    }
}
