//! Weaves: trains of one stream whose items take turns.
//!
//! Where the items of several inputs take turns on one link, each input's are one train with gaps, so that the next process can handle them
//! in rounds again. These trains overlap. They stand one behind the other in the stream, in the order of their first items, and the first
//! of them says how many they are. None has more items than the first, and at most one fewer. When a single item is taken off a weave, its
//! train goes behind the others.

use crate::{
    stream::{GAPS, Item, Train},
    time::{Instant, Slot},
};

/// Where in the gaps of its first train the number of trains of a weave is.
const TRAINS: u32 = GAPS.trailing_ones();

/// The most trains of a weave.
pub(crate) const MAX_TRAINS: usize = 15;

impl<C: Item> Train<C> {
    /// How many trains the weave has that begins with this one; none if there is no weave.
    #[inline(always)]
    #[must_use]
    pub const fn woven(&self) -> usize {
        (self.gaps >> TRAINS) as usize
    }

    /// It begins a weave of so many trains, none of which has more items than it. One train alone is none, nor are single items.
    pub(crate) const fn begin_weave(&mut self, trains: usize) {
        if trains > 1 && self.count > 1 {
            self.gaps |= (trains as u64) << TRAINS;
        }
    }
}

/// The weave at the beginning of `trains`, if there is one.
#[inline]
pub(crate) fn first_weave<C: Item>(trains: &mut [Train<C>]) -> Option<&mut [Train<C>]> {
    match trains.first()?.woven() {
        0 => None,
        count => trains.get_mut(..count),
    }
}

/// How many whole rounds of a weave arrive before `limit`.
pub(crate) fn rounds_before<C: Item>(weave: &[Train<C>], limit: Instant) -> u32 {
    let (Some(last), Some(rounds)) = (weave.last(), weave.iter().map(|train| train.count).min()) else {
        return 0;
    };
    if last.first >= limit {
        0
    } else if last.arrival(rounds - 1) < limit {
        rounds
    } else {
        // Of a train that goes on behind the weave these are no more than `rounds`.
        last.items_before(limit)
    }
}

/// Takes the first item of a weave, as a train of its own.
#[inline]
pub(crate) fn take_item<C: Item>(weave: &mut [Train<C>]) -> Train<C> {
    let head = &mut weave[0];
    head.gaps &= GAPS;
    let item = Train { count: 1, gaps: 0, ..*head };
    head.drop_first(head.second());
    match weave {
        // Most often there are two.
        [first, second] => std::mem::swap(first, second),
        _ => weave.rotate_left(1),
    }
    weave[0].begin_weave(weave.len());
    item
}

/// Takes the first `rounds` rounds of a weave, at least two: `bursts` becomes one train without gaps for each of its trains, in the order
/// of a round. Returns how many trains are gone.
pub(crate) fn take_rounds<C: Item>(weave: &mut [Train<C>], rounds: u32, bursts: &mut Vec<Train<C>>) -> usize {
    weave[0].gaps &= GAPS;
    bursts.clear();
    bursts.extend(weave.iter().map(|train| burst_of(train, rounds)));
    // Those of which more is left move to the end, in their order.
    let mut left = weave.len();
    for place in (0..weave.len()).rev() {
        if weave[place].count > rounds {
            weave[place].advance(rounds);
            left -= 1;
            weave.swap(place, left);
        }
    }
    if let Some(first) = weave.get_mut(left) {
        first.begin_weave(bursts.len() - left);
    }
    left
}

/// The first `rounds` items of a train of a weave, at least two, without gaps.
fn burst_of<C: Item>(train: &Train<C>, rounds: u32) -> Train<C> {
    let slot: Slot = train.slot.multiplied(train.slots_to(1));
    Train { slot, gaps: 0, count: rounds, ..*train }
}
