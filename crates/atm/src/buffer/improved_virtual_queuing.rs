//! Improved virtual queuing: [`super::virtual_queuing`] in which an idle VC saves service, down to a bound.
//!
//! The variable M of a VC is its excess: the cells accepted so far less its fair part of the cells sent. It may be negative, so
//! a VC that pauses, or that is in slow start, gets the missed service later. As long as no M touches the bound -w, VCs of equal
//! weight whose M is equal at the end of a round have had equally many cells accepted (Wu, Siu and Ren, theorem 2). Frames are refused by
//! M, from the threshold on, which makes long-run throughput equal. Even per-VC queues do not achieve that for bursty sources. The state is
//! that of virtual queuing: a counter and a list entry for each VC. Shares, weights and the dynamic threshold are those of virtual
//! queuing, too.
//!
//! The bound limits the burst of a VC after a pause to w cells more than its share, and the rest of the frame that reaches it. The paper
//! gives no number. The default is the space above the threshold divided by the number of VCs, rounded down and whatever their weights:
//! the saved service of one VC takes its part of that space and no more, and that of all VCs together just fills the buffer. With a
//! bound of 0 this is virtual queuing. With a fixed threshold, frames admitted below it and the shares themselves can still overfill the
//! buffer; a frame that overflows is broken as in EPD.

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Departure, ParamError, PerVc, PortContext, PortState, View,
    frame::{CellHook, EndMarks, FramePolicy, FrameRule, Levels},
    virtual_queuing::{self, VirtualQueues},
};
use crate::{
    Cell,
    quantity::{Level, MAX_CELLS},
};

/// Parameters of improved virtual queuing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Occupancy from which frames of VCs whose excess has reached their share are refused (Th).
    pub threshold: Level,
    /// How far below zero the excess of a VC goes (w). Without it: the space above the threshold divided by the number
    /// of VCs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Level>,
    /// Whether the share follows what the VCs use (Wu, Siu and Ren, equation 3) instead of being fixed.
    pub dynamic_threshold: bool,
    /// Cells sent between two updates of the dynamic threshold. Without it: one update per round of service.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub update_interval: Option<u32>,
    /// Which end marks of discarded frames pass. The published pseudocode discards them all: `"never"`.
    pub end_marks: EndMarks,
}

impl Default for Params {
    fn default() -> Self {
        let virtual_queuing::Params { threshold, dynamic_threshold, update_interval, end_marks } =
            virtual_queuing::Params::default();
        Self { threshold, bound: None, dynamic_threshold, update_interval, end_marks }
    }
}

/// The policy.
pub type ImprovedVirtualQueuing = FramePolicy<Excess>;

/// Virtual queues that may be negative.
#[derive(Debug, Clone)]
pub struct Excess(VirtualQueues);

impl Excess {
    /// M, the excess of each VC in cells, as [`VirtualQueues::sizes`], and the VCs' shares in the threshold.
    #[must_use]
    pub fn queues(&self) -> &VirtualQueues {
        &self.0
    }
}

impl Params {
    /// What virtual queuing has too.
    fn without_bound(&self) -> virtual_queuing::Params {
        let &Self { threshold, dynamic_threshold, update_interval, end_marks, .. } = self;
        virtual_queuing::Params { threshold, dynamic_threshold, update_interval, end_marks }
    }

    /// The bound w, in cells.
    fn w(&self, port: &PortContext<'_>) -> Result<i64, ParamError> {
        let cells = match self.bound {
            Some(bound) => port.level("bound", bound)?,
            None => {
                let threshold = port.level("threshold", self.threshold)?;
                (port.capacity - threshold) / (port.vcs.len() as u64).max(1)
            }
        };
        // In an unlimited buffer nothing overflows: as good as no bound.
        Ok(cells.min(MAX_CELLS) as i64)
    }
}

impl FrameRule for Excess {
    type Params = Params;
    type Needs = PerVc;

    const SUMMARY: &'static str = "Virtual queuing in which VCs save service that they do not need, so that long-run throughput is equal.";
    const REFERENCE: &'static str = "Wu, Siu and Ren, section III, second pseudocode, and section IV";
    const PER_VC: &'static str = "the fate of the frame in progress, the excess, its weight, its share of the threshold, \
        its place in the list of turns";
    const ON_CELL: Option<CellHook<Self>> = Some(|rule, cell, _, accepted, _| {
        if accepted {
            rule.0.accept(cell.vc);
        }
    });
    const LEVELS: Levels<Params> = |params| {
        let bound = params.bound.map(|bound| ("bound", bound));
        std::iter::once(("threshold", params.threshold)).chain(bound).collect()
    };
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn check(params: &Params) -> Result<(), ParamError> {
        VirtualQueues::check(&params.without_bound())
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        Ok(Self(VirtualQueues::bounded(&params.without_bound(), params.w(port)?, port)?))
    }

    #[inline]
    fn admits<S: PortState>(&mut self, cell: &Cell, port: &View<'_, PerVc, S>, _: Time) -> bool {
        self.0.admit(cell.vc, port.occupancy())
    }

    #[inline]
    fn on_departure(&mut self, _: Departure) {
        self.0.serve();
    }
}
