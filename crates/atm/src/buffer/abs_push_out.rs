//! Push-out with tracking of the available buffer space: a frame is admitted if there is space that no frame in
//! progress will need.
//!
//! EPD guesses with its threshold how much space the frames in progress still need. Under this policy the first cell of a frame
//! reserves a maximum frame (M), each further cell uses one cell of the reservation, and the last cell returns the rest. The
//! available buffer space is B = Q - (cells in the buffer) - (cells reserved and not yet arrived), where Q is the size of the buffer. A
//! frame is admitted while B > 0. If there is no space, and a frame of M more leaves the VC within its own part of the buffer, last frames
//! of the VC furthest above its own part, or least below it, are pushed out until there is. They are also pushed out when a cell within
//! a frame finds the buffer full, whatever its VC has; if no other frame can be, its own is, as long as none of it has been sent. Nearly
//! all of the buffer is in use, and hardly a frame is broken. The policy needs two counters per VC, and a buffer in which the last frame of
//! a VC can be found. M is the maximum frame size of the VC (`vc.mfs`).
//!
//! B > 0 promises one cell, not M: up to M - 1 cells more than there are can be reserved. The frame is then saved by the cells
//! that leave in the meantime, or by push-out. `admission = "whole-frame"` requires B >= M instead; then no frame meets a full buffer
//! with a cell behind its first one, as long as no VC sends frames longer than its M. Cells of a frame beyond M have no reservation: each
//! takes one cell of B as it arrives, be it one that others have reserved. A frame that never ends (its last cell was lost before this
//! port, and no other follows) keeps its reservation.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ParamError, PortContext, PortState, PushOut, Reads, Removed, View,
    frame::{CellHook, EndMarks, FramePolicy, FrameRule, RestHook},
    push_out::{Limits, Sharing},
};
use crate::Cell;

/// Parameters of push-out with tracking of the available buffer space.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// How the buffer is divided among the VCs.
    pub sharing: Sharing,
    /// How much space admits a frame.
    pub admission: Admission,
    /// Which end marks of discarded frames pass.
    pub end_marks: EndMarks,
}

/// How much available buffer space admits a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Admission {
    /// One cell, as published.
    #[default]
    AnySpace,
    /// A maximum frame.
    WholeFrame,
}

/// The policy.
pub type AbsPushOut = FramePolicy<Victims>;

/// The available buffer space and the decisions by it: what [`AbsPushOut`] and [`super::abs_push_out_hardware`] have in
/// common. They differ in whom they push out.
#[derive(Debug, Clone)]
pub struct Space {
    pub(super) limits: Limits,
    admission: Admission,
    /// Cells reserved by the frame in progress on each VC and not yet arrived.
    reserved: Vec<i64>,
    /// The sum of these.
    total_reserved: i64,
}

impl Space {
    pub(super) fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self {
            limits: Limits::new(params.sharing, port)?,
            admission: params.admission,
            reserved: vec![0; port.vcs.len()],
            total_reserved: 0,
        })
    }

    /// B, the available buffer space in the units of the buffer: what is neither filled nor reserved. Negative where frames
    /// in progress still need more than there is.
    #[must_use]
    pub fn available(&self, capacity: u64, occupancy: u64) -> i64 {
        i64::try_from(capacity).unwrap_or(i64::MAX) - occupancy as i64 - self.total_reserved
    }

    /// Whether there is space for the frame at hand.
    pub(super) fn admits<S: PortState>(&self, cell: &Cell, port: &View<'_, PushOut, S>) -> bool {
        let needed = match self.admission {
            Admission::AnySpace => 1,
            Admission::WholeFrame => self.limits.frame(cell.vc),
        };
        self.available(port.capacity(), port.occupancy()) >= needed
    }

    /// Whether the cell at hand calls for push-out: it begins a frame of a VC with room below its threshold and there
    /// is no space, which for a packet in a buffer of bytes is its size, or it continues a frame and the buffer is full.
    #[inline(always)]
    pub(super) fn calls_for_push_out<S: PortState>(&self, cell: &Cell, port: &View<'_, PushOut, S>) -> bool {
        if port.is_first() {
            let cells = port.vc_occupancy(cell.vc) as i64;
            (port.is_full() || !self.admits(cell, port)) && self.limits.has_room(cell.vc, cells)
        } else {
            port.is_full()
        }
    }

    /// The VC of the cell at hand if pushing out the frame that the cell continues spares the line a stump: the last
    /// resort when nothing else can be pushed out.
    pub(super) fn own_frame<S: PortState>(cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        (!port.is_first() && port.last_frame(cell.vc).is_some()).then_some(cell.vc)
    }

    /// A cell was decided about: it uses up what is reserved for it, or there is nothing more to reserve.
    pub(super) fn on_cell(&mut self, cell: &Cell, first: bool, accepted: bool) {
        let reserved = if first { self.limits.frame(cell.vc) } else { self.reserved[cell.vc as usize] };
        let goes_on = accepted && !cell.is_last();
        self.reserve(cell.vc, if goes_on { (reserved - 1).max(0) } else { 0 });
    }

    /// The `count` cells behind `cell` were accepted.
    pub(super) fn on_rest(&mut self, cell: &Cell, count: u32) {
        let goes_on = u32::from(cell.position) + count + 1 < cell.length.into();
        let reserved = self.reserved[cell.vc as usize] - i64::from(count);
        self.reserve(cell.vc, if goes_on { reserved.max(0) } else { 0 });
    }

    pub(super) fn on_push_out(&mut self, removed: Removed) {
        if !removed.complete {
            self.reserve(removed.vc, 0);
        }
    }

    fn reserve(&mut self, vc: u32, cells: i64) {
        let reserved = &mut self.reserved[vc as usize];
        self.total_reserved += cells - *reserved;
        *reserved = cells;
    }
}

/// Admits a frame where there is space, and pushes out frames of the VC furthest above its threshold.
#[derive(Debug, Clone)]
pub struct Victims(Space);

impl Victims {
    /// The available buffer space.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.0
    }

    /// Whose frame to push out for the cell at hand.
    #[inline(never)]
    fn victim<S: PortState>(&self, cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        // Below a limit of its VC other frames make no room.
        let others = if port.is_vc_full() { None } else { self.0.limits.most_over(port, cell.vc) };
        others.or_else(|| Space::own_frame(cell, port))
    }
}

impl FrameRule for Victims {
    type Params = Params;
    type Needs = PushOut;

    const SUMMARY: &'static str = "Admits frames while no frame in progress needs the space; VCs below their part push out frames of others.";
    const REFERENCE: &'static str =
        "GFR with tracking of the available buffer space and packet push-out (2001), sections 3.1 and 3.2";
    const PER_VC: &'static str = "the fate of the frame in progress, cells in the buffer and reserved, \
        its threshold and maximum frame, where its last frame is queued";
    const ON_CELL: Option<CellHook<Self>> =
        Some(|rule, cell, first, accepted, _| rule.0.on_cell(cell, first, accepted));
    const ON_REST: Option<RestHook<Self>> = Some(|rule, cell, count| rule.0.on_rest(cell, count));
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Space::new(params, port).map(Self)
    }

    fn reads(&self) -> Reads {
        Reads::MCR
    }

    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>, _: Time) -> bool {
        self.0.admits(cell, port)
    }

    #[inline(always)]
    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PushOut, S>) -> Option<u32> {
        if self.0.calls_for_push_out(cell, port) { self.victim(cell, port) } else { None }
    }

    fn on_push_out(&mut self, removed: Removed) {
        self.0.on_push_out(removed);
    }

    fn illegal<S: PortState>(&self, port: &View<'_, PushOut, S>) -> Option<u64> {
        Some(self.0.limits.illegal(port))
    }
}
