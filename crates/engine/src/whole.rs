//! Merging whole trains: each is taken when its first item arrives, whatever comes before its last one. Packets are trains of one item.

use crate::{
    key::Key,
    merge::Many,
    stream::{Item, Stream, Train},
    time::Time,
};

/// One of two inputs that take turns.
struct Side<'a, C> {
    /// Its key, as it is compared with the other's.
    key: Key,
    /// What stands for it in its keys: nothing, if ties are broken at random.
    input: u32,
    /// The trains that have not been taken: there are some.
    rest: &'a [Train<C>],
}

impl<C: Item> Side<'_, C> {
    /// Takes a train; returns whether there are more.
    #[inline(always)]
    fn take(&mut self, place: &mut Train<C>) -> bool {
        let [train, rest @ ..] = self.rest else { return false };
        *place = *train;
        self.rest = rest;
        let Some(next) = rest.first() else { return false };
        self.key = Key::new(next.first, self.input);
        true
    }
}

impl Many {
    /// Takes whole trains, in the order in which their first items arrive, which is before `until`, as many as there are or as there is room
    /// for. Returns them.
    pub fn take_trains<'a, C: Item>(
        &mut self,
        until: Time,
        streams: &mut [Stream<C>],
        room: &'a mut [Train<C>],
    ) -> &'a mut [Train<C>] {
        let mut taken = 0;
        while taken < room.len() {
            let (mut first, second) = self.keys.first_two();
            if first.arrival().ps() >= until {
                break;
            }
            if let Some(keys) = self.keys.only_two() {
                let in_turn = self.take_in_turn(keys, until, streams, &mut room[taken..]);
                taken += in_turn;
                if in_turn > 0 {
                    continue;
                }
            }
            let mut limit = second.under(self.ties).min(Key::start_of(until));
            if second.arrival().ps() == first.arrival().ps() {
                // What ties is drawn again for each train.
                (first, _) = self.break_tie(first, second.under(self.ties));
                limit = limit.min(first.under(self.ties));
            }
            let stream = &mut streams[self.inputs[first.input() as usize]];
            let mut count = 0;
            for (train, place) in stream.trains().iter().zip(&mut room[taken..]) {
                if count > 0 && first.at(train.first).under(self.ties) >= limit {
                    break;
                }
                *place = *train;
                count += 1;
            }
            taken += count;
            let next = stream.remove(count);
            self.go_on(first, next);
        }
        &mut room[..taken]
    }

    /// As [`Many::take_trains`], from the two inputs that alone have any, as long as both have and they do not tie at random. Returns how many
    /// there were.
    // What is known of both stays in registers.
    #[inline(never)]
    fn take_in_turn<C: Item>(
        &mut self,
        keys: [Key; 2],
        until: Time,
        streams: &mut [Stream<C>],
        room: &mut [Train<C>],
    ) -> usize {
        let ids = keys.map(|key| self.inputs[key.input() as usize]);
        let side = |place: usize| {
            let key = keys[place].under(self.ties);
            Side { key, input: key.input(), rest: streams[ids[place]].trains() }
        };
        let [mut one, mut other] = [side(0), side(1)];
        let waiting = [one.rest.len(), other.rest.len()];
        for place in room {
            let goes_on = if one.key < other.key {
                one.key.arrival().ps() < until && one.take(place)
            } else {
                other.key < one.key && other.key.arrival().ps() < until && other.take(place)
            };
            if !goes_on {
                break;
            }
        }
        let counts = [waiting[0] - one.rest.len(), waiting[1] - other.rest.len()];
        self.keys.remove_only_two();
        for ((key, id), count) in keys.into_iter().zip(ids).zip(counts) {
            self.reinsert(key, streams[id].remove(count));
        }
        counts[0] + counts[1]
    }
}
