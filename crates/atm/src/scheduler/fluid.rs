//! Generalised processor sharing (GPS), the fluid system that WFQ imitates: it serves all busy VCs at once, each at a rate in
//! proportion to its share.
//!
//! Work is the link's time, in units of 2^-64 ps. Virtual time is the work that a VC with a share of one has got if it was
//! always busy: while VCs whose shares sum to S are busy, S units of work take one of virtual time. A VC ends at the
//! virtual time at which it began plus its work by its share, whatever others do.
//!
//! Only whole units of virtual time are counted, and nothing is lost: what is over of work is kept, and so is what is over
//! of each VC's work by its share. The sum of what is left to serve is therefore exact at any time and for ever. What is
//! rounded is the virtual time at which a VC begins, by less than one unit, which is less than S units of work or 2^-64 S ps.
//!
//! Nothing overflows: virtual time is at most the work done, since shares are one or more, and the work until the next VC
//! ends is at most all that is left.

use super::{
    ServiceTime,
    heap::{Heap, Tag},
};

/// The fluid system.
#[derive(Debug, Clone)]
pub(super) struct Fluid {
    /// Virtual time `done` units of work ago.
    now: Tag,
    /// Work done since then. VCs that have ended meanwhile may still be counted as busy.
    done: u128,
    /// The busy VCs, by virtual times that are at most those of their ends: an arrival moves a VC's end and not the VC.
    ends: Heap,
    /// The sum of their shares.
    shares: u64,
    vcs: Vec<Vc>,
}

#[derive(Debug, Clone)]
struct Vc {
    share: u64,
    /// When it has nothing left: a virtual time, and what is over of its work then, less than `share`. Without meaning
    /// while it is idle.
    end: Tag,
    over: u64,
    spacing: Spacing,
}

/// The virtual time that a unit of `size` takes, and what is over of its work: kept, since most units are of one size.
#[derive(Debug, Clone, Copy)]
struct Spacing {
    size: u32,
    time: Tag,
    over: u64,
}

impl Spacing {
    fn new(size: u32, share: u64, service: ServiceTime) -> Self {
        let (work, share) = (service.of(size).bits(), u128::from(share));
        Self { size, time: work / share, over: (work % share) as u64 }
    }
}

impl Fluid {
    /// Nothing is to be served; `shares` by label.
    pub(super) fn new(shares: &[u64], service: ServiceTime) -> Self {
        let vc = |&share| Vc { share, end: 0, over: 0, spacing: Spacing::new(1, share, service) };
        Self {
            now: 0,
            done: 0,
            ends: Heap::new(shares.len()),
            shares: 0,
            vcs: shares.iter().map(vc).collect(),
        }
    }

    /// Does `work`, at most what is left.
    #[inline]
    pub(super) fn serve(&mut self, work: u128) {
        self.done += work;
    }

    /// A unit arrives on `vc`; returns the virtual time at which it will end.
    #[inline]
    pub(super) fn arrive(&mut self, vc: u32, size: u32, service: ServiceTime) -> Tag {
        self.end_vcs();
        let begins = self.ends.get(vc).is_none();
        if begins {
            self.advance();
        }
        let state = &mut self.vcs[vc as usize];
        if begins {
            (state.end, state.over) = (self.now, 0);
        }
        if state.spacing.size != size {
            state.spacing = Spacing::new(size, state.share, service);
        }
        let over = state.over + state.spacing.over;
        let carry = over >= state.share;
        state.over = if carry { over - state.share } else { over };
        state.end += state.spacing.time + Tag::from(carry);
        if begins {
            self.shares += state.share;
            self.ends.set(vc, state.end);
        }
        state.end
    }

    /// The virtual time up to which it has counted: what ends until then has ended.
    pub(super) fn now(&self) -> Tag {
        self.now
    }

    /// A unit of `vc`, of `size`, is pushed out or dropped. What was done of it counts for the units of the VC behind it, and for the others,
    /// at once, if those are not as much.
    pub(super) fn withdraw(&mut self, vc: u32, size: u32, service: ServiceTime) {
        self.end_vcs();
        let work = service.of(size).bits();
        let Some(key) = self.ends.get(vc) else {
            self.done += work;
            return;
        };
        self.advance();
        let state = &mut self.vcs[vc as usize];
        let share = u128::from(state.share);
        let left = (state.end - self.now) * share + u128::from(state.over);
        let own = left.min(work);
        self.done += work - own;
        let left = left - own;
        (state.end, state.over) = (self.now + left / share, (left % share) as u64);
        if left == 0 {
            self.shares -= state.share;
            self.ends.remove(vc);
        } else {
            self.ends.set(vc, key.min(state.end));
        }
    }

    /// Computes the virtual times at which the last units of `vc` end, from what is left of it: those which had not ended and were behind
    /// one that was withdrawn. `sizes` are theirs.
    pub(super) fn tag<'a>(
        &mut self,
        vc: u32,
        sizes: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator,
        tags: impl DoubleEndedIterator<Item = &'a mut Tag> + ExactSizeIterator,
        service: ServiceTime,
    ) {
        let state = &mut self.vcs[vc as usize];
        let (mut end, mut over) = (state.end, state.over);
        for (size, tag) in std::iter::zip(sizes, tags).rev() {
            *tag = end.max(self.now);
            if state.spacing.size != size {
                state.spacing = Spacing::new(size, state.share, service);
            }
            let carry = over < state.spacing.over;
            over = if carry { over + state.share } else { over } - state.spacing.over;
            end = end.saturating_sub(state.spacing.time + Tag::from(carry));
        }
    }

    /// Ends the VCs that have nothing left.
    #[inline]
    fn end_vcs(&mut self) {
        while let Some((key, vc)) = self.ends.first() {
            let mut work = (key - self.now) * u128::from(self.shares);
            if work > self.done {
                return;
            }
            let Vc { share, end, over, .. } = self.vcs[vc as usize];
            if key < end {
                self.ends.set(vc, end);
                continue;
            }
            work += u128::from(over);
            if work > self.done {
                return;
            }
            self.done -= work;
            self.now = end;
            self.shares -= share;
            self.ends.remove(vc);
        }
    }

    /// Moves virtual time on as far as the work done goes. No VC ends until then.
    fn advance(&mut self) {
        if self.shares > 0 {
            let shares = u128::from(self.shares);
            let span = self.done / shares;
            self.now += span;
            self.done -= span * shares;
        }
    }
}
