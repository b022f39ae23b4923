//! FQ-CoDel: CoDel in a queue for each VC; a full buffer drops from the longest of them.
//!
//! Each VC has a queue of its own, so a connection that keeps its queue short is not delayed by one that does not. The policy
//! belongs with a scheduler that serves the queues round robin: the discipline `flow-queue`, in which VCs that send little are
//! served first. The source hashes packets into 1024 queues; here each VC has one to itself, unless `flow-queue` hashes them too. Then
//! VCs that meet in a queue share its turn and its delay, and each still has a state of CoDel of its own.
//!
//! A full buffer drops from the longest queue. The source looks for the most bytes and drops from the head, half of the queue or 64
//! packets at once. Here the units of the buffer count, those in transmission among them, and the last frame is pushed out, and more if
//! needed. If no VC holds more than that of the frame that arrives, this frame is discarded.
//!
//! The state is five numbers of CoDel per VC, and the number of cells that each has in the buffer.

use celltrain_engine::Time;

use super::{
    Dequeue, Fate, Head, ParamError, PortContext, PortState, View,
    codel::{Control, LongestFrame, Params},
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::{Cell, cell::Ecn};

/// The FQ-CoDel policy.
pub type FqCodel = FramePolicy<BySojournPerVc>;

/// Admits every frame in place of the fullest VC's, and drops by the time that those of a VC have waited.
#[derive(Debug, Clone)]
pub struct BySojournPerVc {
    /// By VC.
    controls: Vec<Control>,
    longest: LongestFrame,
    marks: bool,
}

impl FrameRule for BySojournPerVc {
    type Params = Params;
    type Needs = Dequeue;

    const SUMMARY: &'static str =
        "CoDel in a queue for each VC; a full buffer drops from the longest of them.";
    const REFERENCE: &'static str = "RFC 8290";
    const PER_VC: &'static str = "the fate of the frames in progress at either end of the queue, cells in the buffer, five numbers of CoDel";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        params.check()?;
        let controls = vec![Control::new(params); port.vcs.len()];
        Ok(Self { controls, longest: LongestFrame::new(port.unit), marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, Dequeue, S>, _: Time) -> bool {
        true
    }

    /// The VC with the longest queue gives way if the buffer is full, unless that is the VC of `cell`.
    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Dequeue, S>) -> Option<u32> {
        if !port.is_full() {
            return None;
        }
        let removable = port.busy_vcs(self.controls.len()).filter(|&vc| port.last_frame(vc).is_some());
        // The first of those that are equally long.
        let longest = removable.max_by_key(|&vc| (port.vc_occupancy(vc), std::cmp::Reverse(vc)))?;
        (port.vc_occupancy(longest) > port.vc_occupancy(cell.vc)).then_some(longest)
    }

    fn on_head<S: PortState>(&mut self, head: Head, port: &View<'_, Dequeue, S>) -> Fate {
        let Head { cell, sojourn, now } = head;
        let short = self.longest.is_short(&cell, port.vc_occupancy(cell.vc));
        let marks = self.marks && cell.ecn != Ecn::NotCapable;
        self.controls[cell.vc as usize].on_head(now, sojourn, short, marks)
    }
}
