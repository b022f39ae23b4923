//! Discard policies: what happens to a cell that arrives at a buffer.
//!
//! The port owns the queue, executes the verdicts, counts, and checks that no cell is lost track of; a policy only
//! answers. To add one: a file here, a line in the registry below, a scenario in `scenarios/regression/`.

mod classes;
mod registry;
mod share;

pub mod fair_share;
pub mod frame;
pub mod push_out;
pub mod snapshot;
pub mod turns;
pub mod view;

pub use snapshot::Snapshot;
pub use view::{
    Departure, Dequeue, Fate, FirstFrames, Head, Needs, Occupancy, PerVc, PortState, PushOut, Removed,
    Victim, View,
};

use std::convert::Infallible;

use celltrain_engine::{Time, quantity::BitRate, random::Generator};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Cell,
    catalogue::ParamError,
    cell::PAYLOAD_OCTETS,
    contract::Contract,
    quantity::{Capacity, Level, Unit},
};

// One line a policy: it names the file, the type in it, and the policy's name in scenario files.
registry::policies! {
    tail_drop::TailDrop => "tail-drop",
    ppd::Ppd => "ppd",
    epd::Epd => "epd",
    espd::Espd => "espd",
    espd_original::EspdOriginal => "espd-original",
    double_epd::DoubleEpd => "double-epd",
    per_vc::PerVc => "per-vc",
    selective_drop::SelectiveDrop => "selective-drop",
    fba::Fba => "fba",
    wba::Wba => "wba",
    dfba::Dfba => "dfba",
    red::Red => "red",
    dynamic_threshold::DynamicThreshold => "dynamic-threshold",
    epd_per_vc::EpdPerVc => "epd-per-vc",
    virtual_queuing::VirtualQueuing => "virtual-queuing",
    improved_virtual_queuing::ImprovedVirtualQueuing => "improved-virtual-queuing",
    epd_push_out::EpdPushOut => "epd-push-out",
    abs_push_out::AbsPushOut => "abs-push-out",
    abs_push_out_hardware::AbsPushOutHardware => "abs-push-out-hardware",
    pie::Pie => "pie",
    codel::Codel => "codel",
    cobalt::Cobalt => "cobalt",
    fq_codel::FqCodel => "fq-codel",
    dualpi2::Dualpi2 => "dualpi2",
    script::Script => "script",
}

/// Why a cell was discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Reason {
    /// The buffer was full.
    BufferFull,
    /// The policy refused the whole frame at its first cell.
    FrameRefused,
    /// An earlier cell of the same frame was discarded.
    FrameBroken,
    /// The VC is under discard beyond one frame (the red status of ESPD).
    VcCaptured,
    /// It was in the buffer, and its frame was pushed out for another one.
    PushedOut,
    /// It is beyond the VC's contract.
    NonConforming,
    /// It was in the buffer, and the policy dropped its frame at the head of the queue.
    DroppedAtHead,
}

impl Reason {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::BufferFull,
        Self::FrameRefused,
        Self::FrameBroken,
        Self::VcCaptured,
        Self::PushedOut,
        Self::NonConforming,
        Self::DroppedAtHead,
    ];

    /// Whether a unit is discarded for this reason after it was accepted.
    #[must_use]
    pub const fn withdraws(self) -> bool {
        matches!(self, Self::PushedOut | Self::DroppedAtHead)
    }

    /// The name of the column that counts it in results.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Self::BufferFull => "discarded_buffer_full",
            Self::FrameRefused => "discarded_frame_refused",
            Self::FrameBroken => "discarded_frame_broken",
            Self::VcCaptured => "discarded_vc_captured",
            Self::PushedOut => "discarded_pushed_out",
            Self::NonConforming => "discarded_non_conforming",
            Self::DroppedAtHead => "discarded_at_head",
        }
    }
}

/// A policy's answer for one cell. Only a policy that needs [`PushOut`] or [`Dequeue`] can push out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<V = Infallible> {
    /// Queue the cell.
    Accept,
    /// Queue the cell with a congestion mark.
    Mark,
    /// Discard the cell.
    Discard(Reason),
    /// Push the last frame of this VC out of the buffer, or [`FirstFrames`], as far as they have arrived, and ask again. Only frames that
    /// are still whole can be pushed out: [`PortState::last_frame`], [`PortState::waiting_frames`].
    PushOut(V),
}

/// What the decisions of a policy depend on, beside what is in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reads {
    /// The cell loss priority of frames.
    pub clp: bool,
    /// The minimum cell rates of VCs.
    pub mcr: bool,
}

impl Reads {
    /// Priorities alone.
    pub const CLP: Self = Self { clp: true, mcr: false };
    /// Minimum rates alone.
    pub const MCR: Self = Self { clp: false, mcr: true };
    /// Both.
    pub const BOTH: Self = Self { clp: true, mcr: true };
}

/// What a policy knows of its port from the start.
#[derive(Debug, Clone)]
pub struct PortContext<'a> {
    /// Size of the buffer in its units; `u64::MAX` when unlimited.
    pub capacity: u64,
    /// What the buffer is counted in.
    pub unit: Unit,
    /// The line rate.
    pub rate: BitRate,
    /// Octets that the line adds to each packet; none to a cell.
    pub overhead: u64,
    /// The contracts of the VCs, by label.
    pub vcs: &'a [Contract],
    /// For policies that draw random numbers: a generator of the port's own.
    pub generator: Generator,
}

impl PortContext<'_> {
    /// The longest frame that a contract allows, in the buffer's units. In front of a packet-framed link a frame is one
    /// packet, with as many bytes as the cells would carry.
    #[must_use]
    pub fn longest_frame(&self, contract: &Contract) -> u64 {
        match self.unit {
            Unit::Cells => u64::from(contract.mfs),
            Unit::Packets => 1,
            Unit::Bytes => u64::from(contract.mfs) * PAYLOAD_OCTETS,
        }
    }

    /// The parameter `key`, a level of this port's buffer, in the buffer's units.
    ///
    /// # Errors
    /// As [`Level::cells`].
    pub fn level(&self, key: &'static str, level: Level) -> Result<u64, ParamError> {
        level.cells(self.capacity).map_err(|message| ParamError { key, message })
    }

    /// The parameters `low` and `high`, two levels of this port's buffer, in the buffer's units.
    ///
    /// # Errors
    /// As [`Level::cells`], and if the low level is above the high one.
    pub fn low_high(&self, low: Level, high: Level) -> Result<(u64, u64), ParamError> {
        let cells = (self.level("low", low)?, self.level("high", high)?);
        if cells.0 > cells.1 {
            let message = format!("the low threshold ({low}) is above the high threshold ({high})");
            return Err(ParamError { key: "low", message });
        }
        Ok(cells)
    }
}

/// A discard policy.
pub trait BufferPolicy: Sized {
    /// The configuration, as the scenario's `[switch.discard.<name>]` table gives it.
    type Params: Default + Clone + std::fmt::Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema;
    /// What the policy needs of its port.
    type Needs: Needs;

    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the policy is described.
    const REFERENCE: &'static str;
    /// What a switch keeps for each VC to decide so, beside what its port keeps anyway: the cost of the policy. The default
    /// is that of the frame rule alone.
    const PER_VC: &'static str = "the fate of the frame in progress";

    /// Checks what is wrong with parameters wherever they are used: those of a policy that is not chosen are checked too.
    ///
    /// # Errors
    /// A parameter outside its meaning.
    fn check(params: &Self::Params) -> Result<(), ParamError> {
        let _ = params;
        Ok(())
    }

    /// A policy for a port.
    ///
    /// # Errors
    /// A parameter outside its meaning, such as a threshold above the capacity.
    fn new(params: &Self::Params, port: &PortContext<'_>) -> Result<Self, ParamError>;

    /// The levels among the parameters and their keys, so that their units can be checked against the buffer's.
    fn levels(params: &Self::Params) -> Vec<(&'static str, Level)> {
        let _ = params;
        Vec::new()
    }

    /// What the key `ecn` says: whether to mark frames of transports that answer marks. `None` for a policy without that key.
    fn ecn(params: &Self::Params) -> Option<bool> {
        let _ = params;
        None
    }

    /// Decides about a data cell or packet that arrives at `now`. A full buffer accepts nothing, whatever it is that is
    /// full ([`View::is_full`]).
    fn on_arrival<S: PortState>(
        &mut self,
        cell: &Cell,
        port: &View<'_, Self::Needs, S>,
        now: Time,
    ) -> Verdict<<Self::Needs as Needs>::Victim>;

    /// Whether the policy accepts `cell` and the rest of its frame while there is room, with the marks that they have and with no further
    /// effect on its state. Valid once it has accepted `cell` or the cell before it. The port then does not call it for each of them.
    fn accepts_rest(&self, cell: &Cell) -> bool {
        let _ = cell;
        false
    }

    /// Accepts the `count` cells of a frame behind `cell`, which it has accepted, where each finds nothing else in the buffer: as if it
    /// were asked about each of them. `false`: it has to be asked, and nothing has changed. Their departures are reported in any case.
    fn accept_rest_alone(&mut self, cell: &Cell, count: u32) -> bool {
        let _ = count;
        self.accepts_rest(cell)
    }

    /// Whether the policy admits the frame that `cell` begins, of which every cell finds room, and of which the first finds `occupancy`
    /// in the buffer: with no effect on its state, so that it need not be asked about any of them. It may say no and admit it.
    #[inline(always)]
    fn passes(&self, cell: &Cell, occupancy: impl FnOnce() -> u64) -> bool {
        let _ = (cell, occupancy);
        false
    }

    /// A cell that the policy accepted has left.
    fn on_departure(&mut self, departure: <Self::Needs as Needs>::Departure) {
        let _ = departure;
    }

    /// A cell that belongs to no frame has entered the buffer or left it. No policy decides about such cells; some follow what the buffer
    /// holds. Called where departures are reported.
    fn on_frameless(&mut self, cell: &Cell, entered: bool, now: Time) {
        let _ = (cell, entered, now);
    }

    /// Whether it marks frames of transports that answer marks (RFC 3168), be it when they arrive or at the head of the queue.
    fn marks(&self) -> bool {
        false
    }

    /// What its decisions depend on beside the buffer.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// The link has another rate from `now` on. A policy that computes with [`PortContext::rate`] goes on with this one.
    fn on_rate(&mut self, rate: BitRate, now: Time) {
        let _ = (rate, now);
    }

    /// Decides about the unit that is at the head of its queue when the link becomes free: asked of policies that need
    /// [`Dequeue`]. The unit still counts in the occupancies of `port`.
    fn on_head<S: PortState>(
        &mut self,
        head: <Self::Needs as Needs>::Head,
        port: &View<'_, Self::Needs, S>,
    ) -> Fate {
        let _ = (head, port);
        Fate::Send
    }

    /// A frame was pushed out. If it is not complete, what is still to come of it is the policy's to discard.
    fn on_push_out(&mut self, removed: <Self::Needs as Needs>::Removed) {
        let _ = removed;
    }

    /// Whether `vc` is under discard beyond the frame in progress: what a viewer may read.
    fn captures(&self, vc: u32) -> bool {
        let _ = vc;
        false
    }

    /// What the buffer holds beyond the VCs' own parts of it, for policies that divide it among them.
    fn illegal<S: PortState>(&self, port: &View<'_, Self::Needs, S>) -> Option<u64> {
        let _ = port;
        None
    }
}
