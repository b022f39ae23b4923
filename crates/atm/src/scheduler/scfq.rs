//! Self-clocked fair queueing: weighted fair queueing whose clock is the tag of the unit in service.
//!
//! Every unit has a tag: the virtual time at which it should be sent if each VC were served continuously at a rate in proportion
//! to its share. The unit with the smallest tag is sent first, and its tag is the virtual time during its transmission. A VC
//! that begins to send starts at the virtual time of that moment. It cannot save service, and it does not pay for service that it
//! got while others were idle.
//!
//! For cells this is the virtual spacing of Roberts, which the simulator YATS calls WFQ: the tag of a VC's first cell is one
//! spacing after the tag of its previous cell or, if the VC was idle, after that of the cell in service. Weighted fair queueing in
//! the narrow sense, [`super::wfq`], takes its virtual time from a simulation of the fluid system instead. WFQ stays within one
//! packet of the fluid system. SCFQ does not: a VC may wait for one packet of each of the others. A packet counts with its own bytes, where
//! WFQ counts the time that it occupies the link, with what that adds to it.
//!
//! Among units with equal tags, that of the VC with the lowest number goes first. Tags are exact where the shares have a common multiple of at
//! most 2^64. Elsewhere spacings are rounded up, by less than one part in 2^32, and tags that should be equal may differ.
//!
//! The state is a tag for each busy VC, in a heap; the time per unit grows with the logarithm of their number.

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Queues, Scheduler, Share, Vcs,
    heap::{Heap, Tag},
    share::greatest_common_divisor,
};
use crate::catalogue::ParamError;

/// Parameters of SCFQ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// What a VC's share is proportional to.
    pub share: Share,
}

/// From this virtual time on, all tags are set back together. A tag is at most 2^125 later: a share is below 2^61, a
/// size below 2^32.
const SET_BACK: Tag = 1 << 127;

/// The largest common multiple of shares for which spacings are exact.
const WHOLE: Tag = 1 << 64;

/// The SCFQ discipline.
///
/// Virtual time is counted in units of which all spacings are whole, so that tags that should be equal are. Where the shares have no
/// common multiple below `WHOLE`, the unit is 2^-32 of what a byte (or cell) of the VC with the largest share takes, and a spacing is
/// rounded up to it: a VC gets its share to within one part in 2^32.
#[derive(Debug, Clone)]
pub struct Scfq {
    /// Virtual time that a byte (or cell) of each VC takes.
    spacing: Vec<Tag>,
    /// The tag of the unit in service or, if there is none, of the last one.
    now: Tag,
    /// What that was before the last choice.
    before: Tag,
    /// The VCs that wait, by the tags of their first units.
    heads: Heap,
}

impl Scfq {
    /// The first unit of `vc` is now one of `size`, which begins at the virtual time `begin`.
    fn set_head(&mut self, vc: u32, begin: Tag, size: u32) {
        self.heads.set(vc, begin + self.spacing[vc as usize] * Tag::from(size));
    }

    /// Sets virtual time back to 0. No busy VC has a tag before that, unless a unit of it was dropped, so that hardly anything else changes.
    #[cold]
    fn set_back(&mut self) {
        self.heads.set_back(self.now);
        (self.before, self.now) = (0, 0);
    }
}

/// The least common multiple of the shares, if it is at most `WHOLE`.
fn common_multiple(shares: &[Tag]) -> Option<Tag> {
    shares.iter().try_fold(1, |multiple: Tag, &share| {
        let next = multiple / greatest_common_divisor(multiple, share) * share;
        (next <= WHOLE).then_some(next)
    })
}

impl Scheduler for Scfq {
    type Params = Params;

    const SUMMARY: &'static str = "Serves VCs in proportion to their shares, in the order of tags that advance with the unit in service (virtual spacing).";
    const REFERENCE: &'static str = "Golestani 1994, A self-clocked fair queueing scheme for broadband applications; for cells the WFQ of Puangpronpitag, Kara and Djemame";
    const FORGETS: bool = true;

    fn share(params: &Params) -> Option<Share> {
        Some(params.share)
    }

    fn new(params: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        let shares = params.share.of(vcs)?;
        let shares: Vec<_> = shares.into_iter().map(Tag::from).collect();
        let rounded = || shares.iter().copied().max().unwrap_or(1) << 32;
        let whole = common_multiple(&shares).unwrap_or_else(rounded);
        let spacing = shares.iter().map(|&share| whole.div_ceil(share)).collect();
        Ok(Self { spacing, now: 0, before: 0, heads: Heap::new(shares.len()) })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, queues: &impl Queues) {
        if queues.size(vc, 1).is_none() {
            let size = queues.size(vc, 0).expect("a unit was put into the queue");
            self.set_head(vc, self.now, size);
        }
    }

    #[inline]
    fn next(&mut self, _: Instant, queues: &impl Queues) -> Option<u32> {
        let (mut tag, vc) = self.heads.first()?;
        (self.before, self.now) = (self.now, tag.max(self.now));
        if self.now >= SET_BACK {
            tag = tag.saturating_sub(self.now);
            self.set_back();
        }
        match queues.size(vc, 1) {
            Some(size) => self.set_head(vc, tag, size),
            None => self.heads.remove(vc),
        }
        Some(vc)
    }

    #[inline]
    fn pass(&mut self, _: u32, _: u32, _: Instant, _: &impl Queues) {}

    /// The next unit of the VC begins when the one that was dropped would have begun, and virtual time is what it was. A short unit may thus
    /// have a tag before that: it goes next, and virtual time does not go back for it.
    fn refund(&mut self, vc: u32, size: u32, _: &impl Queues) {
        self.now = self.before;
        if let Some(tag) = self.heads.get(vc) {
            let spacing = self.spacing[vc as usize] * Tag::from(size);
            self.heads.set(vc, tag.saturating_sub(spacing));
        }
    }

    /// What is first now begins when the unit that was first would have begun, as the VC is not charged for what it did not send; but
    /// virtual time does not go back for it.
    fn withdraw(&mut self, vc: u32, size: u32, behind: usize, _: Instant, queues: &impl Queues) {
        if queues.size(vc, behind).is_some() {
            return;
        }
        match (self.heads.get(vc), queues.size(vc, 0)) {
            (Some(tag), Some(first)) => {
                let spacing = self.spacing[vc as usize];
                let tag = (tag + spacing * Tag::from(first)).saturating_sub(spacing * Tag::from(size));
                self.heads.set(vc, tag.max(self.now));
            }
            _ => self.heads.remove(vc),
        }
    }
}
