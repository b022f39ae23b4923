//! Policing: what the first switch on a VC's way does about traffic beyond the VC's contract.
//!
//! A [`Policer`] looks at each cell of one VC before the buffer does and says whether the cell passes, is tagged (CLP =
//! 1, to be discarded first in congestion) or is discarded. Policing by cells knows the peak rate and the sustainable rate ([`gcra`]).
//! Policing by frames asks at the first cell of a frame whether the minimum rate covers it ([`f_gcra`]) and deals with
//! the frame as a whole: a tagged frame has CLP = 1 in every cell. A cell that does not conform ([`conformance`]) ends
//! its frame, of which only the end mark still passes, so that reassembly resynchronises; if it is the first one,
//! nothing of the frame passes.

mod cells;
pub mod conformance;
pub mod f_gcra;
pub mod gcra;

use celltrain_engine::{Instant, quantity::BitRate};

use self::{cells::CellRates, conformance::Conformance, f_gcra::FrameGcra};
use crate::{
    Cell,
    cell::Kind,
    contract::{Contract, Policing},
    quantity::CellRate,
};

/// What becomes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It goes on as it is.
    Pass,
    /// It goes on with CLP = 1.
    Tag,
    /// It is discarded.
    Discard,
}

/// What a policer has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Frames that the minimum rate covers.
    pub frames_eligible: u64,
    /// Frames tagged.
    pub frames_tagged: u64,
    /// Frames of which nothing passed.
    pub frames_discarded: u64,
    /// Cells that keep to the contract (by frames), or to its peak and sustainable rates (by cells).
    pub cells_conforming: u64,
    /// Cells that do not.
    pub cells_non_conforming: u64,
    /// Cells tagged.
    pub cells_tagged: u64,
}

/// Polices one VC.
#[derive(Debug, Clone)]
pub struct Policer {
    rule: Rule,
    /// Whether the next cell of a frame that arrives is its first.
    at_frame_start: bool,
    stats: Stats,
}

#[derive(Debug, Clone)]
enum Rule {
    /// Every cell by itself.
    Cells(CellRates),
    /// Whole frames.
    Frames(Frames),
}

#[derive(Debug, Clone)]
struct Frames {
    conformance: Conformance,
    eligibility: FrameGcra,
    /// What becomes of frames that are not eligible.
    beyond: Action,
    frame: Frame,
}

/// The frame at hand.
#[derive(Debug, Clone, Copy)]
struct Frame {
    /// What becomes of its cells.
    action: Action,
    /// Whether the minimum rate covers it.
    eligible: bool,
    /// Whether one of its cells did not conform.
    broken: bool,
}

impl Policer {
    /// The policer that `contract`, which must have passed [`Contract::check`], asks for behind a line of rate `line`;
    /// `None` if it asks for none.
    ///
    /// # Panics
    /// If policing by frames has no minimum rate.
    #[must_use]
    pub fn new(contract: &Contract, line: BitRate) -> Option<Self> {
        let rule = match contract.policing {
            Policing::None => return None,
            Policing::DiscardCells | Policing::TagCells => Rule::Cells(CellRates::new(contract, line)),
            Policing::Tag => Rule::Frames(Frames::new(contract, line, Action::Tag)),
            Policing::DiscardFrames => Rule::Frames(Frames::new(contract, line, Action::Discard)),
        };
        Some(Self { rule, at_frame_start: true, stats: Stats::default() })
    }

    /// What becomes of `cell`, which arrives at `now`. Times do not decrease from call to call. A frame begins behind the end mark of the
    /// one before it, as it arrived, whether that was discarded here or not. By frames, cells of resource management pass unseen:
    /// they belong to none.
    #[inline]
    pub fn conform(&mut self, cell: &Cell, now: Instant) -> Action {
        let action = match &mut self.rule {
            Rule::Frames(_) if cell.kind != Kind::Data => Action::Pass,
            Rule::Frames(frames) => {
                let first = std::mem::replace(&mut self.at_frame_start, cell.is_last());
                frames.conform(cell, first, now, &mut self.stats)
            }
            Rule::Cells(rates) => {
                let action = rates.conform(cell.clp, now);
                self.stats.count_cell(action == Action::Pass);
                action
            }
        };
        self.stats.cells_tagged += u64::from(action == Action::Tag);
        action
    }

    /// What it has counted so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }
}

impl Frames {
    fn new(contract: &Contract, line: BitRate, beyond: Action) -> Self {
        let CellRate(mcr) = contract.mcr.expect("policing by frames has a minimum rate");
        Self {
            conformance: Conformance::new(contract, line),
            eligibility: FrameGcra::new(mcr, contract, line),
            beyond,
            frame: Frame { action: Action::Pass, eligible: false, broken: false },
        }
    }

    fn conform(&mut self, cell: &Cell, first: bool, now: Instant, stats: &mut Stats) -> Action {
        let conforms = self.conformance.conforms(cell, first, now);
        stats.count_cell(conforms);
        if first {
            self.frame = self.decide(cell, conforms, now);
            stats.count_frame(self.frame);
        }
        self.frame.broken |= !conforms;
        if self.frame.broken && !cell.is_last() {
            return Action::Discard;
        }
        if self.frame.eligible {
            self.eligibility.count(now);
        }
        self.frame.action
    }

    /// Decides about the frame that `cell` begins.
    fn decide(&self, cell: &Cell, conforms: bool, now: Instant) -> Frame {
        let eligible = conforms && self.eligibility.is_eligible(cell.clp, now);
        let action = match self.beyond {
            _ if !conforms => Action::Discard,
            _ if eligible => Action::Pass,
            // What the user has marked needs no tag.
            Action::Tag if cell.clp => Action::Pass,
            beyond => beyond,
        };
        Frame { action, eligible, broken: false }
    }
}

impl Stats {
    fn count_frame(&mut self, frame: Frame) {
        self.frames_eligible += u64::from(frame.eligible);
        self.frames_tagged += u64::from(frame.action == Action::Tag);
        self.frames_discarded += u64::from(frame.action == Action::Discard);
    }

    fn count_cell(&mut self, conforms: bool) {
        *(if conforms { &mut self.cells_conforming } else { &mut self.cells_non_conforming }) += 1;
    }
}
