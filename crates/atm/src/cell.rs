//! The cell, as a port sees it.

/// Octets in a cell.
pub const CELL_OCTETS: u64 = 53;
/// Bits in a cell.
pub const CELL_BITS: u64 = CELL_OCTETS * 8;
/// Octets of payload in a cell.
pub const PAYLOAD_OCTETS: u64 = 48;

/// One cell: the head of a train stands for all of it.
///
/// The simulator knows which frame a cell belongs to and where it stands in it; a switch does not. Policies may use what
/// an ATM header carries: the VC, [`Cell::clp`] and [`Cell::is_last`] (the AAL5 end-of-message mark in the PTI field).
/// That a cell is the first of its frame follows, as in a real switch, from the end mark of the cell before it on the
/// VC; the port keeps track of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// The VC's label at the port that receives the cell. Labels are swapped hop by hop, as VPI/VCI are.
    pub vc: u32,
    /// Number of the frame on its VC, from 0.
    pub frame: u32,
    /// Place in the frame, from 0.
    pub position: u16,
    /// Number of cells in the frame.
    pub length: u16,
    /// Cell loss priority: `true` marks a cell to be lost first (CLP = 1).
    pub clp: bool,
    /// Whether the frame's transport answers congestion marks, and whether this cell carries one.
    pub ecn: Ecn,
    /// Whether it carries data or manages resources.
    pub kind: Kind,
    /// Octets of the packet, where the unit is a packet of a packet-framed link; 0 for a cell.
    pub octets: u32,
}

/// What a cell carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// A piece of a frame.
    #[default]
    Data,
    /// Resource management on its way from the source to the destination (TM 4.0, DIR = 0). It belongs to no frame: its
    /// number is its own, and it stands between the cells of frames.
    ForwardRm,
    /// Resource management on its way back (DIR = 1).
    BackwardRm,
}

/// Explicit congestion notification: the ECN field of the packet in the frame (RFC 3168 section 5), which on a cell stands
/// in the EFCI bit of the PTI field. An ATM switch cannot see whether a transport is capable; one that marks instead of
/// discarding has to be told by VC, which comes to the same. On an ABR VC the bit is that of rate control (TM 4.0), and no transport is
/// capable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ecn {
    /// The transport does not answer marks: congestion can only discard.
    #[default]
    NotCapable,
    /// It does.
    Capable,
    /// It does, by the share of marks, so that it can do with a queue of low delay (ECT(1), RFC 9331).
    LowLatency,
    /// Marked on the way: congestion experienced.
    Marked,
    /// Marked by rate control, to whose sources alone the EFCI bit of an ABR VC speaks: no transport sees it.
    RateMarked,
}

impl Ecn {
    /// Whether the transport answers marks.
    #[inline]
    #[must_use]
    pub const fn is_capable(self) -> bool {
        matches!(self, Self::Capable | Self::LowLatency | Self::Marked)
    }

    /// Whether the EFCI bit of a cell is set.
    #[inline]
    #[must_use]
    pub const fn is_set(self) -> bool {
        matches!(self, Self::Marked | Self::RateMarked)
    }

    /// Whether a queue of low delay is for it: ECT(1), or a mark, which may have been that (RFC 9331 section 5.1).
    #[must_use]
    pub const fn is_low_latency(self) -> bool {
        matches!(self, Self::LowLatency | Self::Marked)
    }
}

impl Cell {
    /// Cell number `number` of `kind` on the VC `vc`, which manages resources. It stands at a place beyond those of all frames, so
    /// that it joins no train.
    #[must_use]
    pub fn management(vc: u32, kind: Kind, number: u32, clp: bool) -> Self {
        Self {
            vc,
            frame: number,
            position: 1 << 15,
            length: (1 << 15) + 1,
            clp,
            ecn: Ecn::NotCapable,
            kind,
            octets: 0,
        }
    }

    /// What a scheduler counts: 1 for a cell, octets for a packet.
    #[inline]
    #[must_use]
    pub fn load(&self) -> u32 {
        self.octets.max(1)
    }

    /// As [`Cell::load`], of its whole frame.
    #[inline]
    #[must_use]
    pub fn frame_load(&self) -> u32 {
        if self.octets > 0 { self.octets } else { self.length.into() }
    }

    /// Whether this is the frame's last cell (end of message).
    #[must_use]
    pub fn is_last(&self) -> bool {
        self.position + 1 == self.length
    }
}

impl celltrain_engine::stream::Item for Cell {
    fn advance(&mut self, count: u32) {
        self.position += count as u16;
    }

    fn follows(&self, head: &Self, count: u32) -> bool {
        self.vc == head.vc
            && self.frame == head.frame
            && u32::from(self.position) == u32::from(head.position) + count
            && self.clp == head.clp
            && self.ecn == head.ecn
    }
}
