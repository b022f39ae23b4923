//! What happens in a host, in the order of time: arrivals, and events of its own between them.

use celltrain_atm::{Cell, aal5::Delivery, cell};
use celltrain_engine::{Instant, Time, alone::Alone, merge::Many, stream::Train};

use super::{Host, mix_frame, shift::Of};
use crate::flight::Streams;

/// What arrives at a host.
trait Arrivals {
    /// What arrives next before `until`, if anything does, and when the last of it does.
    fn next(&mut self, until: Time, streams: &mut Streams) -> Option<(&Train<Cell>, Instant)>;
}

impl Arrivals for Alone<Cell> {
    #[inline(always)]
    fn next(&mut self, until: Time, _streams: &mut Streams) -> Option<(&Train<Cell>, Instant)> {
        self.next_with_end(until).map(|(train, last)| (&*train, last))
    }
}

/// Arrivals of several inputs, and the train taken last.
struct Merged {
    many: Box<Many>,
    train: Train<Cell>,
}

impl Arrivals for Merged {
    #[inline(always)]
    fn next(&mut self, until: Time, streams: &mut Streams) -> Option<(&Train<Cell>, Instant)> {
        let taken = self.many.next::<false, _>(until, streams, &mut self.train);
        taken.then(|| (&self.train, self.train.last()))
    }
}

impl Host {
    /// Handles what happens before `until`: arrivals first among events of the same time. Cells matter to a host when the
    /// last one of their frame arrives; what happens inside it while the others come does not part them.
    pub(super) fn handle(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let arrived = match (self.merge.is_dry(streams), self.is_plain) {
            (true, _) => 0,
            (false, true) => self.handle_inputs::<true>(until, streams),
            (false, false) => self.handle_inputs::<false>(until, streams),
        };
        let own = if self.next_event() < until { self.handle_until(until, streams) } else { 0 };
        arrived + own
    }

    /// Handles what arrives before `until`, and what happens before it does, in a host that is `PLAIN` or may not be.
    // One function each, so that plain hosts pay for nothing that they do not have.
    #[inline(never)]
    fn handle_inputs<const PLAIN: bool>(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut events = 0;
        if let Some(mut alone) = self.merge.lend_alone(streams) {
            if PLAIN && self.parts.endpoints.is_empty() {
                events += self.take_bare_cells(until, &mut alone);
            }
            events += self.handle_arrivals::<PLAIN>(until, &mut alone, streams);
            self.merge.give_back(alone, streams);
        } else if let Some(many) = self.merge.lend() {
            let mut merged = Merged { many, train: Train::default() };
            events += self.handle_arrivals::<PLAIN>(until, &mut merged, streams);
            self.merge.take_back(merged.many);
        }
        events
    }

    /// Frames of one cell each, of which nobody wants to know more than that they came, are next: takes those of one VC that arrive before
    /// `until`, and before the host has anything to do. Returns how many there were.
    #[inline]
    fn take_bare_cells(&mut self, until: Time, alone: &mut Alone<Cell>) -> u64 {
        let Some(&Train { item: Cell { vc, .. }, .. }) = alone.rest().first() else { return 0 };
        let incoming = &mut self.parts.incoming[vc as usize];
        if incoming.is_followed() || incoming.reassembly.held() > 0 {
            return 0;
        }
        let (mut fingerprint, mut cells, mut octets) = (self.fingerprint, 0_usize, 0);
        let limit = until.min(self.timers.next().saturating_add(1));
        for &Train { first, count, item, .. } in alone.rest().iter() {
            let alike = count == 1 && item.length == 1 && item.vc == vc;
            if !alike || first.ps() >= limit {
                break;
            }
            mix_frame(&mut fingerprint, first.ps(), vc, item.frame);
            cells += 1;
            octets += u64::from(item.octets);
        }
        self.fingerprint = fingerprint;
        if let Some(last) = cells.checked_sub(1).and_then(|last| alone.rest().get(last)) {
            incoming.reassembly.on_cells(&last.item, 1);
        }
        incoming.stats.frames += cells as u64;
        incoming.stats.octets += octets;
        incoming.stats.useful_cells += cells as u64;
        alone.pass(cells);
        cells as u64
    }

    /// As [`Host::handle_inputs`], from one input or several.
    #[inline(always)]
    fn handle_arrivals<const PLAIN: bool>(
        &mut self,
        until: Time,
        arrivals: &mut impl Arrivals,
        streams: &mut Streams,
    ) -> u64 {
        let mut events = 0;
        while let Some((train, last)) = arrivals.next(until, streams) {
            events += 1;
            let mut incoming = &mut self.parts.incoming[train.item.vc as usize];
            if !PLAIN
                && let Some(end) = &mut incoming.abr
                && !end.takes_unmarked(train)
            {
                self.on_abr_cells(train, streams);
                if train.item.kind != cell::Kind::Data {
                    continue;
                }
                incoming = &mut self.parts.incoming[train.item.vc as usize];
            }
            let Some(delivery) = incoming.reassembly.on_cells(&train.item, train.count) else { continue };
            events += self.handle_own::<PLAIN>(last.ps(), streams);
            self.parts.moment = self.parts.shift.moved(last, Of::Arrival(train.item.vc));
            match delivery {
                Delivery::Frame(number) => self.on_frame::<PLAIN>(last.ps(), &train.item, number, streams),
                Delivery::Corrupt(cells) => self.on_corrupt(last.ps(), train.item.vc, cells),
            }
        }
        events
    }

    /// As [`Host::handle_own`], where not so much depends on it.
    #[inline(never)]
    pub(super) fn handle_until(&mut self, until: Time, streams: &mut Streams) -> u64 {
        self.handle_own::<false>(until, streams)
    }

    /// Handles the host's own events before `until`.
    // Inlined by force: between two arrivals there is one, most often.
    #[inline(always)]
    fn handle_own<const PLAIN: bool>(&mut self, until: Time, streams: &mut Streams) -> u64 {
        let mut events = 0;
        loop {
            let next = self.next_event_if::<PLAIN>();
            if next >= until {
                return events;
            }
            events += if PLAIN {
                self.on_timer(next, until, streams)
            } else {
                self.on_own_event(next, until, streams)
            };
        }
    }

    /// The host's earliest event, at `now`; nothing arrives before `until`. Returns the number of events handled.
    #[inline(always)]
    fn on_own_event(&mut self, now: Time, until: Time, streams: &mut Streams) -> u64 {
        if self.next_processed() == now {
            self.on_processed(now, streams);
        } else if self.next_routed() == now {
            self.on_routed(now, streams);
        } else if self.timers.next() == now {
            return self.on_timer(now, until, streams);
        } else {
            self.on_rate_timer(now, until, streams);
        }
        1
    }

    /// The timer of an endpoint or a source may have expired. Returns the number of events handled.
    #[inline(never)]
    fn on_timer(&mut self, now: Time, until: Time, streams: &mut Streams) -> u64 {
        let (timer, at) = self.timers.pop();
        let at = self.parts.shift.moved(at, Of::Timer(timer));
        self.parts.moment = at;
        match timer.checked_sub(self.parts.endpoints.len() as u32) {
            None => {
                self.parts.endpoints[timer as usize].tcp.on_timeout(now);
                self.send_due(now, timer, streams);
                1
            }
            Some(source) => {
                let until = until.min(self.next_event());
                let (next, events) = self.on_source(at, source, until, streams);
                self.timers.set(timer, next);
                events
            }
        }
    }

    /// The time of a VC with a rate has come. Kept out of the way of hosts that have none.
    #[inline(never)]
    fn on_rate_timer(&mut self, now: Time, until: Time, streams: &mut Streams) {
        let ((first, at), sources) = (self.rate_timers.pop(), self.parts.abr.len() as u32);
        self.parts.moment = self.parts.shift.moved(at, Of::RateTimer(first));
        match first.checked_sub(sources) {
            None => {
                let until = until.min(self.next_event());
                self.on_abr_source(now, first, until, streams);
            }
            Some(outgoing) => self.on_turn(now, outgoing, streams),
        }
    }
}
