//! Schedulers: which VC's queue a port serves next.
//!
//! The port keeps a queue for each VC, takes units (cells, or packets on a packet-framed link) out and sends them; a
//! scheduler only says whose turn it is. To add one: a file here and a line in the registry below.

pub mod priority;
mod registry;

pub use priority::Priority;
pub use registry::DisciplineInfo;

use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{buffer::ParamError, contract::Contract};

// One line a discipline: it names the file, the type in it, and the discipline's name in scenario files.
registry::disciplines! {
    fifo::Fifo => "fifo",
    round_robin::RoundRobin => "round-robin",
}

/// What a scheduler may see of the queues.
pub trait Queues {
    /// Size of unit number `place` in the queue of `vc`, from 0 at its head: 1 for a cell, bytes for a packet. `None` beyond
    /// the end.
    fn size(&self, vc: u32, place: usize) -> Option<u32>;
}

/// A scheduling discipline. It is told of every unit that enters or leaves a queue.
pub trait Scheduler: Sized {
    /// The configuration, as the scenario's `[switch.scheduler.<name>]` table gives it.
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the discipline is described.
    const REFERENCE: &'static str;

    /// A scheduler of VCs under the contracts `vcs`, by label.
    ///
    /// # Errors
    /// A parameter outside its meaning, or a contract that lacks what the discipline needs.
    fn new(params: &Self::Params, vcs: &[Contract]) -> Result<Self, ParamError>;

    /// A unit was put at the end of the queue of `vc`.
    fn enqueue(&mut self, vc: u32, queues: &impl Queues);

    /// The VC whose first unit goes next; the port takes it out after this call. `None` if all queues are empty.
    fn next(&mut self, queues: &impl Queues) -> Option<u32>;

    /// The last unit of the queue of `vc` was pushed out.
    fn withdraw(&mut self, vc: u32, queues: &impl Queues);
}
