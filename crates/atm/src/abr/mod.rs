//! ABR: end systems that send at the rate the network allows, and the switch algorithms that compute it.
//!
//! A source sends a forward RM cell ahead of every 31 other cells ([`source`]); the destination turns it round
//! ([`destination`]); on its way back each port may lower the explicit rate in it ([`RateAllocator`]), and the source obeys.
//! All of this is pure: time is an argument, and nothing here knows of queues or links. To add a rate allocator: a file
//! here, a line in the registry below, a scenario in `scenarios/regression/`.

mod params;
mod rate;
mod registry;

pub mod averaging;
pub mod destination;
pub mod interval;
pub mod queue_control;
pub mod rm;
pub mod source;

pub use destination::Destination;
pub use params::{Params, SourceDiscard};
pub use rate::{MAX, Rate, RateCoding, decode, encode};
pub use rm::RmCell;
pub use source::{Burst, Choice, Source, Waiting};

use celltrain_engine::{Time, time::NEVER};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::catalogue::ParamError;

// One line an allocator: it names the file, the type in it, and the allocator's name in scenario files.
registry::rate_allocators! {
    erica::Erica => "erica",
    erica_plus::EricaPlus => "erica-plus",
    efci::Efci => "efci",
    eprca::Eprca => "eprca",
    capc::Capc => "capc",
}

/// The port an allocator is built for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Port<'a> {
    /// Rate of the link.
    pub link: Rate,
    /// Size of the ABR queue in cells; `u64::MAX` when unlimited.
    pub capacity: u64,
    /// The minimum rate of each VC, by its label at the port; `None` for a VC that is not under rate control. A switch knows it from
    /// when the VC was set up: before the first RM cell comes, and not cut to the sixteen bits in which that says it.
    pub minima: &'a [Option<Rate>],
}

impl Port<'_> {
    /// The share of the link of each VC under rate control, in cells a second, if all get the same.
    fn equal_share(&self) -> f64 {
        self.link.cells() / self.minima.iter().flatten().count().max(1) as f64
    }
}

/// What an allocator may see of its port at a time. Ports that do not store their queue compute what is asked.
pub trait PortView {
    /// ABR cells in the queue.
    fn queue(&self) -> u64;

    /// Cells of higher or the same priority under no rate control (VBR, CBR) that have come for the link since the start of the run. An
    /// allocator takes differences, so the port need not know of its intervals.
    fn priority_cells(&self) -> u64;
}

/// What was seen of a port at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortState {
    /// As [`PortView::queue`].
    pub queue: u64,
    /// As [`PortView::priority_cells`].
    pub priority_cells: u64,
}

impl PortView for PortState {
    fn queue(&self) -> u64 {
        self.queue
    }

    fn priority_cells(&self) -> u64 {
        self.priority_cells
    }
}

/// A switch's rate allocation at one port, for the VCs that it carries forward.
///
/// Calls come in time order. A forward RM cell is reported by [`on_cell`](Self::on_cell) like any other cell of the forward
/// direction and then by [`on_forward_rm`](Self::on_forward_rm); a backward one, which passes through the switch the other
/// way, by [`on_backward_rm`](Self::on_backward_rm) of the port at which its VC goes forward. When the clock reaches
/// [`next_interval`](Self::next_interval), the port calls [`on_interval`](Self::on_interval) before anything else that
/// happens then.
pub trait RateAllocator: Sized {
    /// The configuration, as the allocator's table in the scenario gives it.
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the algorithm is described.
    const REFERENCE: &'static str;

    /// Checks what is wrong with parameters wherever they are used: those of a allocator that is not chosen are checked too.
    ///
    /// # Errors
    /// A parameter outside its meaning.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }

    /// An allocator for a port that has carried nothing yet.
    ///
    /// # Errors
    /// A parameter outside its meaning, such as a factor above 1.
    fn new(params: &Self::Params, port: &Port<'_>) -> Result<Self, ParamError>;

    /// An ABR cell arrives for the link, data or RM cell (`is_rm`). Whether to set its EFCI mark, which RM cells lack.
    fn on_cell(&mut self, now: Time, vc: u32, is_rm: bool, port: &impl PortView) -> bool;

    /// How many data cells may come unreported: told of that many later by [`on_cells`](Self::on_cells) instead of one by one by
    /// [`on_cell`](Self::on_cell), but before the interval ends, the allocator answers the same, and would have marked none. An RM cell
    /// that goes forward takes one of them at the most, and may be told of before them; a backward one takes none.
    fn allowance(&self) -> u64 {
        0
    }

    /// As many data cells of `vc` have come, of those that might come unreported.
    fn on_cells(&mut self, _vc: u32, _cells: u64) {}

    /// A forward RM cell arrives; its VC has been told to [`on_cell`](Self::on_cell).
    fn on_forward_rm(&mut self, _now: Time, _vc: u32, _rm: &mut RmCell, _port: &impl PortView) {}

    /// A backward RM cell of `vc` passes on its way to the source.
    fn on_backward_rm(&mut self, _now: Time, _vc: u32, _rm: &mut RmCell, _port: &impl PortView) {}

    /// When the present interval ends if no cell ends it before; [`NEVER`] for algorithms without intervals. Only
    /// [`on_cell`](Self::on_cell) and [`on_interval`](Self::on_interval) change it.
    fn next_interval(&self) -> Time {
        NEVER
    }

    /// The interval ends.
    fn on_interval(&mut self, _now: Time, _port: &impl PortView) {}
}

/// Checks that a parameter lies between `low` and `high`, both included.
fn within(key: &'static str, value: f64, low: f64, high: f64) -> Result<(), ParamError> {
    if (low..=high).contains(&value) {
        return Ok(());
    }
    Err(ParamError { key, message: format!("expected a number between {low} and {high}, found {value}") })
}
