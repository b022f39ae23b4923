//! Schedulers: which VC's queue a port serves next.
//!
//! The port keeps a queue for each VC, takes units (cells, or packets on a packet-framed link) out and sends them; a
//! scheduler only says whose turn it is. To add one: a file here and a line in the registry below.

pub mod flow_hash;
mod fluid;
mod heap;
pub mod priority;
mod registry;
pub mod share;

pub use flow_hash::SharedQueue;
pub use priority::Priority;
pub use share::Share;

use celltrain_engine::{Instant, Slot, Span};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    catalogue::ParamError,
    cell::PAYLOAD_OCTETS,
    contract::{Category, Contract},
};

// One line a discipline: it names the file, the type in it, and the discipline's name in scenario files.
registry::disciplines! {
    fifo::Fifo => "fifo",
    round_robin::RoundRobin => "round-robin",
    weighted_round_robin::WeightedRoundRobin => "weighted-round-robin",
    deficit_round_robin::DeficitRoundRobin => "deficit-round-robin",
    scfq::Scfq => "scfq",
    wfq::Wfq => "wfq",
    flow_queue::FlowQueue => "flow-queue",
    dual_queue::DualQueue => "dual-queue",
}

/// The VCs that a discipline serves: those of one category among the VCs of a port.
#[derive(Debug, Clone, Copy)]
pub struct Vcs<'a> {
    /// The contracts of all VCs of the port, by label.
    contracts: &'a [Contract],
    category: Category,
    service: ServiceTime,
}

impl<'a> Vcs<'a> {
    /// The VCs of `category` among `contracts`, on a link that takes `service` for a unit.
    #[must_use]
    pub fn of(category: Category, contracts: &'a [Contract], service: ServiceTime) -> Self {
        Self { contracts, category, service }
    }

    /// How long a unit occupies the link.
    #[must_use]
    pub fn service(self) -> ServiceTime {
        self.service
    }

    /// So many bytes of packets in what this link counts: on a cell-framed one, the cells that carry them.
    #[must_use]
    pub fn units_of_bytes(self, bytes: u32) -> u32 {
        if self.service.cells { bytes.div_ceil(PAYLOAD_OCTETS as u32) } else { bytes }
    }

    /// How many labels the port has: what a table indexed by label must hold.
    #[must_use]
    pub fn labels(self) -> usize {
        self.contracts.len()
    }

    /// The label and the contract of each VC served.
    pub fn iter(self) -> impl Iterator<Item = (usize, &'a Contract)> {
        self.contracts.iter().enumerate().filter(move |(_, contract)| contract.category == self.category)
    }
}

/// How long a unit occupies the link, by its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServiceTime {
    unit: Slot,
    overhead: u64,
    cells: bool,
}

impl ServiceTime {
    /// `slot` for each cell.
    #[must_use]
    pub const fn of_cells(slot: Slot) -> Self {
        Self { unit: slot, overhead: 0, cells: true }
    }

    /// `byte` for each byte of a packet, and for each of the `overhead` bytes that the link adds to it.
    #[must_use]
    pub const fn of_packets(byte: Slot, overhead: u64) -> Self {
        Self { unit: byte, overhead, cells: false }
    }

    /// The service time of a unit of `size`.
    #[inline]
    #[must_use]
    pub fn of(self, size: u32) -> Span {
        let start = Instant::start_of(0);
        start.plus_slots(self.unit, u64::from(size) + self.overhead).since(start)
    }
}

/// What a scheduler may see of the queues.
pub trait Queues {
    /// Size of unit number `place` in the queue of `vc`, from 0 at its head: 1 for a cell, bytes for a packet. `None`
    /// beyond the end.
    fn size(&self, vc: u32, place: usize) -> Option<u32>;

    /// Whether the transport of unit number `place` in the queue of `vc` asks for low latency, as the ECN field says with which it came to
    /// the port ([`crate::cell::Ecn::is_low_latency`]).
    fn is_low_latency(&self, vc: u32, place: usize) -> bool {
        let _ = (vc, place);
        false
    }
}

/// Where VCs share queues, the queue of a VC is one of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// That in which its units wait, or into which the next one will come.
    Arrival,
    /// That out of which its last unit was taken.
    Departure,
}

/// A scheduling discipline. It hears of every unit that enters or leaves a queue, and when. Calls come in order of time.
///
/// `size` is 1 for a cell, bytes for a packet.
pub trait Scheduler: Sized {
    /// The configuration, as the scenario's `[switch.scheduler.<name>]` table gives it.
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the discipline is described.
    const REFERENCE: &'static str;

    /// Whether nothing that came before matters once the link is free and nothing waits. Then a unit after which that is so again need
    /// not be passed, nor need the next one be asked for while nothing waits.
    const FORGETS: bool = false;

    /// What a VC's share is proportional to, if VCs have shares.
    fn share(params: &Self::Params) -> Option<Share> {
        let _ = params;
        None
    }

    /// Checks what is wrong with parameters wherever they are used: those of a discipline that is not chosen are checked too.
    ///
    /// # Errors
    /// A parameter outside its meaning.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }

    /// A scheduler of `vcs` on a link that takes `service` for a unit.
    ///
    /// # Errors
    /// A parameter outside its meaning, or a contract that lacks what the discipline needs.
    fn new(params: &Self::Params, vcs: Vcs<'_>) -> Result<Self, ParamError>;

    /// A unit of `size` arrived at `now` and was put at the end of the queue of `vc`.
    fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues);

    /// The VC whose first unit goes next. Its transmission begins at `now`, and the port takes it out after this call.
    /// `None` if all queues are empty.
    fn next(&mut self, now: Instant, queues: &impl Queues) -> Option<u32>;

    /// A unit of `size` of `vc` arrived at `now`, when the link was free and nothing waited, and goes at once: as [`Scheduler::enqueue`]
    /// and [`Scheduler::next`]. `queues` has this unit alone.
    #[inline]
    fn pass(&mut self, vc: u32, size: u32, now: Instant, queues: &impl Queues) {
        self.enqueue(vc, size, now, queues);
        let next = self.next(now, queues);
        assert_eq!(next, Some(vc), "the only unit that waits goes next");
    }

    /// The unit of `size` that was taken out last, of `vc`, is not sent: the discard policy has dropped it. A discipline that counts
    /// what VCs send takes it back, one that gives them turns gives it another. `queues` is without it.
    fn refund(&mut self, vc: u32, size: u32, queues: &impl Queues) {
        let _ = (vc, size, queues);
    }

    /// A unit of `size` was pushed out of the queue of `vc` at `now`; `behind` units of the VC wait behind it. `queues` is without it.
    fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &impl Queues);

    /// How often the turn of the queue came out of which the last unit of `vc` was taken, and it was empty; nothing if a queue that empties
    /// has no turn.
    fn empty_turns(&self, vc: u32) -> Option<u64> {
        let _ = vc;
        None
    }

    /// The queue at the given side of `vc` that it shares with other VCs; nothing if each VC has a queue of its own.
    fn shared(&self, vc: u32, side: Side) -> Option<SharedQueue<'_>> {
        let _ = (vc, side);
        None
    }
}
