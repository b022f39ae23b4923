//! FQ-CoDel: CoDel in a queue for each VC; a full buffer drops at the head of the longest.
//!
//! Each VC has a queue of its own, so a connection that keeps its queue short is not delayed by one that does not. The policy
//! belongs with a scheduler that serves the queues round robin: the discipline `flow-queue`, in which VCs that send little are
//! served first. The source hashes packets into 1024 queues; here each VC has one to itself, unless `flow-queue` hashes them too. Then
//! VCs that meet in a queue share its turn, its delay and its state of CoDel, and what they have there counts together.
//!
//! Where a frame finds the buffer full, the longest queue gives way: the one in which most bytes wait, or most cells, what arrives among
//! them; of several, the one with the lowest number. Half of its frames, with what arrives and rounded up, are pushed out at its head, 64
//! at the most. Dropping several at once makes it cheap to look for the longest queue, and dropping at the head tells a sender soonest. A
//! frame of which the link has begun to send cells stays; if nothing else waits in the longest queue, the frame that arrives is discarded
//! where it comes into that queue, and otherwise the next longest gives way. In two points this is not the overflow of the source: the frame in
//! transmission counts against the buffer, too, and the scheduler does not hear of a frame that is discarded as it arrives, whereas in
//! the source an empty queue has entered the list of new ones by then. Linux drops frames until half of the bytes are gone; here half of the
//! frames go, as RFC 8290 section 4.1 says.
//!
//! The RFC marks by default (section 5.2.6); here `ecn = true` turns marking on, as for every policy. A lower threshold for marks
//! (`ce_threshold`, section 5.2.7), which is off by default, is left out.
//!
//! CoDel drops nothing while no more waits in all queues together than the longest frame so far has (RFC 8289 section 4.4). So a queue with a
//! frame or two drops as well, if the others let it wait for longer than the target. When a queue has its turn and is empty, its time above
//! the target is over. Disciplines other than `flow-queue` give an empty queue no turn: there it is over for what finds nothing of its VC in
//! the buffer.
//!
//! The state is six numbers of CoDel per queue, and the number of cells that each has in the buffer.

use std::cmp::Reverse;

use celltrain_engine::Time;

use super::{
    Dequeue, Fate, FirstFrames, Head, ParamError, PortContext, PortState, View,
    codel::{Control, LongestFrame, Params},
    frame::{EndMarks, FramePolicy, FrameRule},
};
use crate::{Cell, scheduler::Side};

/// Frames that are pushed out at once, at the most.
const MOST: u64 = 64;

/// The FQ-CoDel policy.
pub type FqCodel = FramePolicy<BySojournPerVc>;

/// Admits every frame in place of those of the longest queue, and drops by the time that those of a VC have waited.
#[derive(Debug, Clone)]
pub struct BySojournPerVc {
    /// By queue, as far as any is known.
    controls: Vec<Control>,
    /// Of a queue that was never used.
    fresh: Control,
    vcs: usize,
    longest: LongestFrame,
    marks: bool,
}

impl FrameRule for BySojournPerVc {
    type Params = Params;
    type Needs = Dequeue;

    const SUMMARY: &'static str =
        "CoDel in a queue for each VC; a full buffer drops at the head of the longest.";
    const REFERENCE: &'static str = "RFC 8290";
    const PER_VC: &'static str = "the fate of the frames in progress at either end of the queue, cells in the buffer, six numbers of CoDel";
    const END_MARKS: fn(&Params) -> EndMarks = |params| params.end_marks;
    const ECN: fn(&Params) -> Option<bool> = |params| Some(params.ecn);

    fn check(params: &Params) -> Result<(), ParamError> {
        params.check()
    }

    fn new(params: &Params, port: &PortContext<'_>) -> Result<Self, ParamError> {
        params.check()?;
        let (controls, fresh, vcs) = (Vec::new(), Control::new(params), port.vcs.len());
        Ok(Self { controls, fresh, vcs, longest: LongestFrame::default(), marks: params.ecn })
    }

    #[inline]
    fn admits<S: PortState>(&mut self, _: &Cell, _: &View<'_, Dequeue, S>, _: Time) -> bool {
        true
    }

    fn marks(&self) -> bool {
        self.marks
    }

    /// Half of the longest queue gives way if the buffer is full.
    fn push_out<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Dequeue, S>) -> Option<FirstFrames> {
        if !port.is_full() || port.is_too_large() {
            return None;
        }
        // Below a limit of its VC others make no room, those in its queue neither.
        let shared = !port.exceeds_vc_limit();
        let queue_of = |vc| port.queue_of(vc, Side::Arrival);
        let own = queue_of(cell.vc);
        let comes_into = |vc| queue_of(vc) == own;
        // The first of those that are equally long.
        let length = |&vc: &u32| {
            let arrives = if comes_into(vc) { cell.load() } else { 0 };
            (port.waiting_load(vc, shared) + u64::from(arrives), Reverse(queue_of(vc)))
        };
        // A VC for each queue, or several.
        let queues = || port.busy_vcs(self.vcs).filter(|_| shared).chain([cell.vc]);
        // A queue may have nothing but the rest of a frame whose first cells have left.
        let can_yield = |&vc: &u32| comes_into(vc) || port.waiting_frames(vc, shared) > 0;
        let longest = queues().max_by_key(length).filter(can_yield);
        let vc = longest.or_else(|| queues().filter(can_yield).max_by_key(length))?;
        let frames = port.waiting_frames(vc, shared);
        let half = (frames + u64::from(comes_into(vc) && port.is_first())).div_ceil(2);
        let count = half.min(MOST).min(frames);
        (count > 0).then_some(FirstFrames { vc, count, shared })
    }

    /// Where a queue that empties has no turn, the next unit finds it empty.
    #[inline]
    fn on_unit<S: PortState>(&mut self, cell: &Cell, port: &View<'_, Dequeue, S>) {
        if port.vc_occupancy(cell.vc) == 0
            && port.empty_turns(cell.vc).is_none()
            && let Some(control) = self.controls.get_mut(cell.vc as usize)
        {
            control.on_empty();
        }
    }

    fn on_head<S: PortState>(&mut self, head: Head, port: &View<'_, Dequeue, S>) -> Fate {
        let Head { cell, sojourn, now } = head;
        let short = self.longest.behind(&cell);
        let marks = self.marks && cell.ecn.is_capable();
        let queue = port.queue_of(cell.vc, Side::Departure) as usize;
        if queue >= self.controls.len() {
            self.controls.resize(queue + 1, self.fresh.clone());
        }
        let control = &mut self.controls[queue];
        if let Some(times) = port.empty_turns(cell.vc) {
            control.note_empty(times);
        }
        control.on_head(now, sojourn, || !port.holds_more(short), marks)
    }
}
