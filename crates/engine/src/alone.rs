//! A process of whose inputs only one has items: nothing is merged then.

use crate::{
    instant::Instant,
    merge::{Merge, NOT_LENT},
    stream::{Item, Stream, StreamId, Train},
    time::Time,
    weave::{Burst, first_weave, rounds_before, take_item, take_rounds},
};

/// The trains of the only input that has any, lent by [`Merge::lend_alone`] for one visit.
#[derive(Debug)]
pub struct Alone<C> {
    stream: StreamId,
    trains: Vec<Train<C>>,
    /// The first train that has not been taken.
    next: usize,
    /// What arrives in time of a train whose rest does not, or an item of a weave.
    part: Train<C>,
}

impl<C: Item + Default> Alone<C> {
    /// What arrives next before `until`, if anything does: as many items as there are in one train.
    #[inline(always)]
    pub fn next(&mut self, until: Time) -> Option<&mut Train<C>> {
        self.next_with_end(until).map(|(train, _)| train)
    }

    /// As [`Alone::next`], with the instant at which the last of the items arrives, which is known then.
    #[inline(always)]
    pub fn next_with_end(&mut self, until: Time) -> Option<(&mut Train<C>, Instant)> {
        self.take::<true>(until)
    }

    /// As [`Alone::next`]; the first train of a weave, which is not taken, stands for all of it.
    #[inline(always)]
    pub fn next_or_weave(&mut self, until: Time) -> Option<&mut Train<C>> {
        self.take::<false>(until).map(|(train, _)| train)
    }

    /// As [`Alone::next_with_end`]. `UNWEAVES`: whether the first item is taken off a weave, or nothing.
    #[inline(always)]
    fn take<const UNWEAVES: bool>(&mut self, until: Time) -> Option<(&mut Train<C>, Instant)> {
        let train = self.trains.get(self.next)?;
        let mut end = train.first;
        if end.ps() >= until {
            return None;
        }
        if train.count > 1 {
            if train.woven() > 0 {
                return if UNWEAVES {
                    Some(self.take_woven())
                } else {
                    Some((&mut self.trains[self.next], end))
                };
            }
            end = train.last();
            if end.ps() >= until {
                let part = self.part(until);
                let end = part.last();
                return Some((part, end));
            }
        }
        self.next += 1;
        self.trains.get_mut(self.next - 1).map(|train| (train, end))
    }

    /// Takes the rounds of the weave that is next which arrive before `until`, if there is one that has two of them: `bursts` becomes one for
    /// each of its trains, of as many items as there are rounds. Returns the number of items.
    pub fn rounds(&mut self, until: Time, bursts: &mut Vec<Burst<C>>) -> Option<u32> {
        let weave = first_weave(&mut self.trains[self.next..])?;
        let rounds = rounds_before(weave, Instant::start_of(until));
        if rounds < 2 {
            return None;
        }
        bursts.clear();
        self.next += take_rounds(weave, rounds, (0, 1), bursts);
        Some(rounds * bursts.len() as u32)
    }

    /// Takes the first item of the weave that is next, and says when it arrives.
    #[cold]
    fn take_woven(&mut self) -> (&mut Train<C>, Instant) {
        let weave = first_weave(&mut self.trains[self.next..]).expect("a weave is next");
        self.part = take_item(weave);
        let at = self.part.first;
        (&mut self.part, at)
    }

    /// The trains that are next. Those that are changed have to be taken, by [`Alone::pass`].
    #[inline(always)]
    pub fn rest(&mut self) -> &mut [Train<C>] {
        &mut self.trains[self.next..]
    }

    /// Takes the next `count` trains.
    #[inline(always)]
    pub fn pass(&mut self, count: usize) {
        self.next += count;
        assert!(self.next <= self.trains.len(), "more trains are taken than there are");
    }

    /// Splits the next train at `until`.
    #[cold]
    fn part(&mut self, until: Time) -> &mut Train<C> {
        let train = &mut self.trains[self.next];
        self.part = *train;
        let count = train.items_before(Instant::start_of(until));
        self.part.truncate(count);
        train.advance(count);
        &mut self.part
    }
}

impl Merge {
    /// Whether there is one input only, which has run dry, or none.
    #[inline]
    pub fn is_dry<C: Item>(&self, streams: &[Stream<C>]) -> bool {
        match self {
            Self::None => true,
            Self::Sole([input]) => streams[*input].is_empty(),
            Self::Many(_) => false,
        }
    }

    /// Looks again at the inputs that had run dry, and takes the trains of the only input that has any, until [`Merge::give_back`] ends
    /// that; `None` if there are none or several. Nothing may be pushed into that stream meanwhile, and nothing else taken from the merge.
    #[inline]
    pub fn lend_alone<C: Item + Default>(&mut self, streams: &mut [Stream<C>]) -> Option<Alone<C>> {
        let stream = match self {
            Self::None => None,
            Self::Sole([input]) => streams[*input].first().map(|_| *input),
            Self::Many(many) => {
                let many = many.as_mut().expect(NOT_LENT);
                many.refill(streams);
                many.only()
            }
        }?;
        let (trains, next) = streams[stream].lend();
        Some(Alone { stream, trains, next, part: Train::default() })
    }

    /// Ends what [`Merge::lend_alone`] began.
    #[inline]
    pub fn give_back<C: Item>(&mut self, alone: Alone<C>, streams: &mut [Stream<C>]) {
        let stream = &mut streams[alone.stream];
        stream.give_back(alone.trains, alone.next);
        if let Self::Many(many) = self {
            many.as_mut().expect(NOT_LENT).replace_only(stream.next_instant());
        }
    }
}
