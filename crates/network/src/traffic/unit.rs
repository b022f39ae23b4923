//! What a source without TCP sends at a time: a cell, a frame of cells, or a packet.

use celltrain_atm::{
    aal5,
    cell::{CELL_BITS, Ecn},
};
use celltrain_engine::{
    Slot,
    quantity::{BitRate, Bytes},
};

use crate::{
    scenario::{EcnField, Framing, Traffic},
    slots::Slots,
};

/// What a source sends at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Unit {
    /// The bits that count for its rate: those of a cell, or of a packet with its headers.
    pub(super) bits: u64,
    /// Cells in a frame; one for a packet that travels whole.
    pub(crate) frame: u16,
    /// Octets of a packet that travels whole; 0 for cells.
    pub(crate) octets: u32,
    /// How many times `bits` the unit is: the cells of a frame that is sent at once.
    pub(super) times: u64,
    /// Whether it is a whole frame.
    pub(super) is_whole: bool,
    /// The ECN field of a packet.
    pub(crate) ecn: Ecn,
}

impl Unit {
    /// What a source of `traffic` sends into a link of `framing`.
    ///
    /// # Panics
    /// If TCP carries the traffic, or the link does not.
    pub(crate) fn of(traffic: &Traffic, framing: Framing, aal5: &aal5::Params) -> Self {
        let frame = traffic.frame().expect("a source without TCP");
        let Some(Bytes(packet)) = traffic.packet() else {
            assert_eq!(framing, Framing::Cells, "packet-framed links carry packets");
            let is_whole = matches!(traffic, Traffic::Poisson(_) | Traffic::Mmpp(_));
            let times = if is_whole { u64::from(frame) } else { 1 };
            return Self { frame, times, is_whole, ..Self::CELL };
        };
        let (frame, octets) = match framing {
            Framing::Cells => (aal5.cells(packet) as u16, 0),
            Framing::Packets => (1, packet as u32),
        };
        let ecn = match traffic.ecn() {
            EcnField::NotEct => Ecn::NotCapable,
            EcnField::Ect0 => Ecn::Capable,
            EcnField::Ect1 => Ecn::LowLatency,
        };
        Self { bits: 8 * packet, frame, octets, times: 1, is_whole: true, ecn }
    }

    /// The time from one to the next at `rate`: on the grid of the link that takes it, unless it is a packet that travels in cells.
    pub(crate) fn time_at(self, rate: BitRate, slots: &Slots) -> Slot {
        match (self.octets, self.bits) {
            (0, CELL_BITS) => slots.cell(rate),
            (0, bits) => Slot::of_bits(bits, rate),
            (octets, _) => slots.octets(octets.into(), rate),
        }
    }

    /// A cell.
    pub(super) const CELL: Self =
        Self { bits: CELL_BITS, frame: 1, octets: 0, times: 1, is_whole: false, ecn: Ecn::NotCapable };
}
