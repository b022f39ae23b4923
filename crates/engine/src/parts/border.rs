//! The border of a part: what is taken in before a visit and handed over after it.

use super::{
    Mail, Part, Shared,
    crossing::{Crossing, Handover},
    gate::{Idle, Outcome},
};
use crate::{
    stream::{Item, StreamId, Streams},
    time::Time,
    visit::{Border, Plan, Process, assert_progress},
};

/// The end of a crossing in a part.
#[derive(Debug, Clone, Copy)]
struct End {
    stream: StreamId,
    /// Its number among the crossings.
    crossing: usize,
    /// The part at the other end.
    other: usize,
    /// The horizon that was told or read last.
    horizon: Time,
}

/// The ends of crossings in a part, by process: those on which it receives, and those on which it sends.
#[derive(Debug, Clone, Default)]
struct Ends {
    inputs: Vec<Vec<End>>,
    outputs: Vec<Vec<End>>,
}

/// All that parts share: every stream from one to another, and for each two of them the contents on the way.
#[derive(Debug)]
pub(super) struct Crossings<C, T> {
    streams: Vec<Crossing<C>>,
    /// By the part that they are for, and by the one that they are from.
    parcels: Vec<Vec<Handover<T>>>,
    ends: Vec<Ends>,
}

impl<C: Item, T> Crossings<C, T> {
    /// The streams that begin in one part and end in another.
    pub(super) fn between<P, N: Process<C, P>, M>(parts: &[Part<N, C, P, M>]) -> Self {
        let number = parts.len();
        let streams = parts.iter().map(|part| part.streams.len()).max().unwrap_or(0);
        let mut receivers = vec![None; streams];
        let mut ends = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            for (process, node) in part.processes.iter().enumerate() {
                node.inputs().iter().for_each(|&input| receivers[input] = Some((place, process)));
            }
            let none = vec![Vec::new(); part.processes.len()];
            ends.push(Ends { inputs: none.clone(), outputs: none });
        }
        let mut crossings = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            for (process, node) in part.processes.iter().enumerate() {
                for &stream in node.outputs() {
                    let Some((other, receiver)) = receivers[stream].filter(|there| there.0 != place) else {
                        continue;
                    };
                    let end = End { stream, crossing: crossings.len(), other, horizon: 0 };
                    ends[place].outputs[process].push(end);
                    ends[other].inputs[receiver].push(End { other: place, ..end });
                    crossings.push(Crossing::default());
                }
            }
        }
        let lists = || (0..number).map(|_| Handover::default()).collect();
        Self { streams: crossings, parcels: (0..number).map(|_| lists()).collect(), ends }
    }

    /// Takes in whatever is still on the way when no part runs any more.
    pub(super) fn empty<P, N, M: Mail<P, Parcel = T>>(&self, parts: &mut [Part<N, C, P, M>]) {
        for (place, part) in parts.iter_mut().enumerate() {
            for end in self.ends[place].inputs.iter().flatten() {
                let (crossing, stream) = (&self.streams[end.crossing], &mut part.streams[end.stream]);
                crossing.take_trains(stream);
                stream.advance_horizon(crossing.horizon());
            }
            self.deliver::<P, M>(place, &mut part.streams.contents);
        }
    }

    /// Puts the parcels for part `part` in flight there.
    fn deliver<P, M: Mail<P, Parcel = T>>(&self, part: usize, contents: &mut P) {
        for parcels in self.parcels[part].iter().filter(|parcels| parcels.is_full()) {
            parcels.take(|waiting| waiting.drain(..).for_each(|parcel| M::deliver(contents, parcel)));
        }
    }
}

/// What a part knows of the others while it runs.
#[derive(Debug)]
pub(super) struct Frontier<'a, C, P, M: Mail<P>> {
    part: usize,
    shared: &'a Shared<C, M::Parcel>,
    ends: Ends,
    mail: &'a mut M,
    /// Parcels of one visit, by the part that they are for.
    outbox: Vec<Vec<M::Parcel>>,
    /// Trains handed over and taken in since the start.
    sent: u64,
    pub(super) received: u64,
    /// How far visits may go.
    limit: Time,
    /// Whether the part has reported that it is idle.
    idle: bool,
    /// How many jumps the part has made.
    jumps: u64,
}

impl<'a, C: Item, P, M: Mail<P>> Frontier<'a, C, P, M> {
    pub(super) fn new(part: usize, shared: &'a Shared<C, M::Parcel>, mail: &'a mut M) -> Self {
        shared.threads.begin(part);
        let ends = shared.crossings.ends[part].clone();
        let outbox = (0..shared.crossings.ends.len()).map(|_| Vec::new()).collect();
        Self { part, shared, ends, mail, outbox, sent: 0, received: 0, limit: 0, idle: false, jumps: 0 }
    }

    /// Tells the others how far the outputs are known at the start.
    pub(super) fn begin(&mut self, streams: &mut Streams<C, P>) {
        (0..self.ends.outputs.len()).for_each(|process| self.send(process, true, streams));
    }

    /// What news has come so far.
    pub(super) fn news(&self) -> u64 {
        self.shared.threads.news(self.part)
    }

    /// Where nothing happens before, if all parts have agreed on that since the last call. To be asked before a round, as is how far it
    /// may go: `ahead` of the part furthest behind.
    pub(super) fn look_around(&mut self, ahead: Time) -> Option<Time> {
        self.limit = self.shared.threads.floor().saturating_add(ahead);
        let jumps = self.shared.gate.jumps();
        if self.jumps == jumps {
            return None;
        }
        // There is no other jump before this part reports again that it is idle.
        (self.jumps, self.idle) = (jumps, false);
        Some(self.shared.gate.jump(self.part))
    }

    /// A round has ended.
    pub(super) fn note(&mut self, advanced: bool, plan: &Plan) {
        if advanced {
            self.shared.gate.note_advance();
        }
        self.shared.threads.set_floor(self.part, plan.floor());
    }

    /// Reports that the part is idle, unless it has been reported.
    ///
    /// # Panics
    /// If no part can ever go on.
    pub(super) fn rest(&mut self, plan: &Plan, streams: &Streams<C, P>, done: bool, end: Time) {
        if self.idle {
            return;
        }
        self.idle = true;
        let idle = Idle {
            next_event: plan.next_event(streams, end),
            sent: self.sent,
            received: self.received,
            done,
        };
        match self.shared.gate.enter(self.part, self.jumps, idle) {
            Outcome::Wait => {}
            Outcome::Jumped => self.idle = false,
            Outcome::Jump | Outcome::Over => self.shared.threads.tell_all(),
            Outcome::Stuck(at) => assert_progress(false, at),
        }
    }

    /// Waits for news since `seen`: looks a few times, then has `rest` called, then sleeps.
    pub(super) fn wait(&mut self, seen: u64, rest: impl FnOnce(&mut Self)) {
        if self.shared.threads.spin(self.part, seen) {
            return;
        }
        rest(self);
        self.shared.threads.sleep(self.part, seen);
    }

    /// Takes in the trains that wait on the inputs of a process.
    fn take_trains(&mut self, process: usize, streams: &mut Streams<C, P>) {
        // What is in flight follows its handle: a train that is here now has had its contents posted before.
        self.begin_work();
        for end in &self.ends.inputs[process] {
            let crossing = &self.shared.crossings.streams[end.crossing];
            if crossing.has_trains() {
                self.received += crossing.take_trains(&mut streams[end.stream]);
            }
        }
        self.shared.crossings.deliver::<P, M>(self.part, &mut streams.contents);
    }

    /// Posts the contents that a process has put in flight for other parts.
    fn post(&mut self, process: usize, contents: &mut P) {
        let Self { mail, outbox, .. } = self;
        mail.collect(process, contents, &mut |part, parcel| outbox[part].push(parcel));
        for (part, parcels) in self.outbox.iter_mut().enumerate().filter(|(_, parcels)| !parcels.is_empty()) {
            self.shared.crossings.parcels[part][self.part].give(|waiting| waiting.append(parcels));
        }
    }
}

impl<C: Item, P, M: Mail<P>> Border<C, P> for Frontier<'_, C, P, M> {
    const BRINGS_MORE: bool = true;

    #[inline]
    fn receive(&mut self, process: usize, streams: &mut Streams<C, P>) {
        let mut trains = false;
        for end in &mut self.ends.inputs[process] {
            let crossing = &self.shared.crossings.streams[end.crossing];
            // Before the trains, which are all there up to it.
            end.horizon = crossing.horizon();
            trains |= crossing.has_trains();
        }
        if trains {
            self.take_trains(process, streams);
        }
        for end in &self.ends.inputs[process] {
            streams[end.stream].advance_horizon(end.horizon);
        }
    }

    /// Withdraws the report that the part is idle, if there is one.
    #[inline]
    fn begin_work(&mut self) {
        if self.idle {
            self.idle = false;
            self.shared.gate.leave(self.part);
        }
    }

    #[inline]
    fn send(&mut self, process: usize, visited: bool, streams: &mut Streams<C, P>) {
        if visited {
            // Before the trains whose contents they are.
            self.post(process, &mut streams.contents);
        }
        for end in &mut self.ends.outputs[process] {
            let (crossing, stream) = (&self.shared.crossings.streams[end.crossing], &mut streams[end.stream]);
            let sent = crossing.send(stream, end.horizon);
            if sent > 0 || stream.horizon() > end.horizon {
                self.sent += sent;
                end.horizon = stream.horizon();
                self.shared.threads.tell(end.other);
            }
        }
    }

    #[inline]
    fn limit(&self) -> Time {
        self.limit
    }
}
