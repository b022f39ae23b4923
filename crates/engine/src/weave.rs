//! Weaves: trains of one stream whose items take turns.
//!
//! Where the items of several inputs take turns on one link, each input's are one train with gaps, so that the next process can handle them
//! in rounds again. These trains overlap. They stand one behind the other in the stream, in the order of their first items, and the first
//! of them says how many they are. None has more items than the first, and at most one fewer. When a single item is taken off a weave, its
//! train goes behind the others.

use crate::{
    instant::{Instant, Slot},
    train::{GAPS, Item, Train},
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

/// Items of a train that are taken at once, among those of other trains with which they take turns.
#[derive(Debug, Clone, Copy)]
pub struct Burst<C> {
    /// The items, which have no gaps.
    pub train: Train<C>,
    /// The place of the first among all items that are taken, from 0 on.
    pub place: u32,
    /// How many places behind an item the next one is.
    pub step: u32,
}

impl<C> Burst<C> {
    /// The place of the last item.
    #[must_use]
    pub const fn last_place(&self) -> u32 {
        self.place + self.step * (self.train.count - 1)
    }

    /// Which of the items has that place, if one has.
    #[inline]
    #[must_use]
    pub const fn item_at(&self, place: u32) -> Option<u32> {
        match place.checked_sub(self.place) {
            Some(behind) if behind % self.step == 0 => Some(behind / self.step),
            _ => None,
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

/// How many items a weave has in whole rounds that are one slot apart, of so many trains; `None` if it is none or its items are not.
pub(crate) fn items_in_turn<C: Item>(trains: &[Train<C>]) -> Option<(u32, u32)> {
    let head = trains.first()?;
    let weave = trains.get(..head.woven())?;
    let (turns, rounds) = (weave.len() as u32, weave.iter().map(|train| train.count).min()?);
    (rounds > 0 && head.slots_to(1) == u64::from(turns)).then_some((turns * rounds, turns))
}

/// Takes the first `rounds` rounds of a weave: `bursts` gets one for each of its trains. Its items take turns with those of others: the first
/// has that `place`, and the next is a `step` behind it. Returns how many trains are gone.
pub(crate) fn take_rounds<C: Item>(
    weave: &mut [Train<C>],
    rounds: u32,
    (place, step): (u32, u32),
    bursts: &mut Vec<Burst<C>>,
) -> usize {
    weave[0].gaps &= GAPS;
    let trains = weave.len() as u32;
    for (train, turn) in weave.iter().zip(0..) {
        let slot: Slot = train.slot.multiplied(trains.into());
        let train = Train { slot, gaps: 0, count: rounds, ..*train };
        bursts.push(Burst { train, place: place + step * turn, step: step * trains });
    }
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
        first.begin_weave(trains as usize - left);
    }
    left
}
