//! First in, first out: all VCs in one queue.
//!
//! This is the simplest order, and it protects no VC: each gets as much of the link as it puts into the buffer. The state is one
//! entry per unit that waits. Every operation takes constant time, but for a unit that is pushed out ahead of others of its VC.

use std::collections::VecDeque;

use celltrain_engine::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Queues, Scheduler, Vcs};
use crate::catalogue::ParamError;

/// FIFO has no parameters.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Params {}

/// The FIFO discipline: the order in which units came, as the VCs that they belong to.
///
/// Units are withdrawn from anywhere in the middle without shifting those behind: their places are only marked as
/// empty, so that a withdrawal of a VC's last unit costs what one unit costs, however long the queue is.
#[derive(Debug, Clone)]
pub struct Fifo {
    places: VecDeque<Place>,
    /// Number of the first place. Numbers wrap around: only their differences matter.
    first: u32,
    /// The place of each VC's last unit; without meaning if the VC has none.
    last: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    /// [`EMPTY`] once its unit is withdrawn.
    vc: u32,
    /// The place of the VC's unit before this one, which may have been served.
    before: u32,
}

/// In place of a VC.
const EMPTY: u32 = u32::MAX;

impl Scheduler for Fifo {
    type Params = Params;

    const SUMMARY: &'static str = "Serves units of the VCs of a category in the order of their arrival.";
    const REFERENCE: &'static str = "the shared queue of all five papers";
    const FORGETS: bool = true;

    fn new(_: &Params, vcs: Vcs<'_>) -> Result<Self, ParamError> {
        Ok(Self { places: VecDeque::new(), first: 0, last: vec![0; vcs.labels()] })
    }

    #[inline]
    fn enqueue(&mut self, vc: u32, _: u32, _: Instant, _: &impl Queues) {
        let place = self.first.wrapping_add(self.places.len() as u32);
        let before = std::mem::replace(&mut self.last[vc as usize], place);
        self.places.push_back(Place { vc, before });
    }

    #[inline]
    fn next(&mut self, _: Instant, _: &impl Queues) -> Option<u32> {
        loop {
            let Place { vc, .. } = self.places.pop_front()?;
            self.first = self.first.wrapping_add(1);
            if vc != EMPTY {
                return Some(vc);
            }
        }
    }

    #[inline]
    fn pass(&mut self, _: u32, _: u32, _: Instant, _: &impl Queues) {}

    fn withdraw(&mut self, vc: u32, _: u32, behind: usize, _: Instant, _: &impl Queues) {
        let index = |number: u32, first: u32| number.wrapping_sub(first) as usize;
        let (mut number, mut next) = (self.last[vc as usize], None);
        for _ in 0..behind {
            next = Some(number);
            number = self.places[index(number, self.first)].before;
        }
        let place = self.places.get_mut(index(number, self.first)).filter(|place| place.vc == vc);
        let place = place.expect("the VC has a unit in the queue");
        place.vc = EMPTY;
        let before = place.before;
        match next {
            Some(next) => self.places[index(next, self.first)].before = before,
            None => self.last[vc as usize] = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Category, Contract};
    use crate::scheduler::ServiceTime;

    struct Nothing;

    impl Queues for Nothing {
        fn size(&self, _: u32, _: usize) -> Option<u32> {
            None
        }
    }

    #[test]
    fn pushing_out_a_frame_touches_the_places_of_its_cells_alone() {
        const FRAME: usize = 12;
        let contracts = [Contract::default(), Contract::default()];
        let mut fifo =
            Fifo::new(&Params {}, Vcs::of(Category::default(), &contracts, ServiceTime::default())).unwrap();
        let now = Instant::default();
        (0..FRAME).for_each(|_| fifo.enqueue(0, 1, now, &Nothing));
        (0..10_000).for_each(|_| fifo.enqueue(1, 1, now, &Nothing));
        let before = fifo.clone();
        (0..FRAME).for_each(|_| fifo.withdraw(0, 1, 0, now, &Nothing));
        assert_eq!(fifo.places.len(), before.places.len(), "nothing behind the frame has moved up");
        let touched = std::iter::zip(&fifo.places, &before.places).filter(|(now, then)| now.vc != then.vc);
        assert_eq!(touched.count(), FRAME);
        assert_eq!(fifo.next(now, &Nothing), Some(1), "and the empty places are passed over");
    }
}
