//! A server inside a host: packets wait for it without limit and take a service time each (the IP layer, the processor).

use std::collections::VecDeque;

use celltrain_engine::{
    Instant, Slot, Time,
    random::Generator,
    time::{AFTER_ALL, NEVER},
};

/// How long a packet takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Service {
    /// The mean.
    pub(crate) mean: Slot,
    /// Times are evenly distributed between mean − spread and mean + spread.
    pub(crate) spread: Time,
}

impl Service {
    /// The least.
    pub(crate) fn shortest(self) -> Time {
        self.mean.ps() - self.spread
    }
}

/// A first-come-first-served server with unlimited room.
#[derive(Debug)]
pub(crate) struct Server<T> {
    /// Draws the service times, if they vary. In a box, as few do.
    generator: Option<Box<Generator>>,
    /// When the last packet will be done.
    last: Instant,
    /// When the first one will, [`NEVER`] if there is none: asked at every event of the host.
    next: Instant,
    first: Option<T>,
    /// Those behind it, most often none, and when they will be done.
    queue: VecDeque<(Instant, T)>,
}

impl<T> Server<T> {
    /// An empty server; `generator` draws its service times, if they vary.
    pub(crate) fn new(generator: Option<Generator>) -> Self {
        let generator = generator.map(Box::new);
        Self {
            generator,
            last: Instant::default(),
            next: Instant::at(NEVER),
            first: None,
            queue: VecDeque::new(),
        }
    }

    /// A packet arrives; returns when it will be done, or [`AFTER_ALL`] if that is later.
    #[inline]
    pub(crate) fn serve(&mut self, now: Instant, service: Service) -> Instant {
        let start = self.last.max(now);
        let done = match service.spread {
            0 => start.plus(service.mean),
            spread => start.delayed(service.shortest() + self.draw(spread)),
        };
        self.last = done.min(Instant::at(AFTER_ALL));
        self.last
    }

    /// A time up to twice the spread.
    #[inline(never)]
    fn draw(&mut self, spread: Time) -> Time {
        let generator = self.generator.as_mut().expect("a server whose times vary has a generator");
        generator.uniform(0, 2 * spread)
    }

    /// A packet arrives that somebody will ask for when it is done.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, service: Service, item: T) {
        let done = self.serve(now, service);
        if self.first.is_some() {
            self.queue.push_back((done, item));
        } else {
            (self.next, self.first) = (done, Some(item));
        }
    }

    /// When the packets that have arrived are all done, in whole picoseconds; past if there are none.
    pub(crate) fn free(&self) -> Time {
        self.last.ps()
    }

    /// When the next packet is done.
    #[inline]
    pub(crate) fn next_done(&self) -> Instant {
        self.next
    }

    /// Takes the packet that is done next, and says when it is.
    pub(crate) fn leave(&mut self) -> Option<(Instant, T)> {
        let done = self.next;
        let behind = self.queue.pop_front();
        self.next = behind.as_ref().map_or(Instant::at(NEVER), |entry| entry.0);
        std::mem::replace(&mut self.first, behind.map(|entry| entry.1)).map(|left| (done, left))
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::SECOND;

    use super::*;

    #[test]
    fn packets_leave_in_their_order_when_they_are_done() {
        let mut server = Server::new(None);
        let service = Service { mean: Slot::of_ps(10), spread: 0 };
        let mut left = Vec::new();
        for (now, item) in [(0, 'a'), (3, 'b'), (12, 'c'), (50, 'd'), (51, 'e')] {
            while server.next_done().ps() <= now {
                left.push(server.leave().map(|(done, item)| (done.ps(), item)).unwrap());
            }
            server.enter(Instant::at(now), service, item);
        }
        while server.next_done().ps() < NEVER {
            left.push(server.leave().map(|(done, item)| (done.ps(), item)).unwrap());
        }
        assert_eq!(left, [(10, 'a'), (20, 'b'), (30, 'c'), (60, 'd'), (70, 'e')]);
        assert!(server.leave().is_none());
    }

    /// A thousand packets of a million seconds each take 32 years, and 64 bits of picoseconds are 213 days.
    #[test]
    fn what_is_never_done_is_done_after_all() {
        let mut server = Server::<()>::new(None);
        let service = Service { mean: Slot::of_ps(1_000_000 * SECOND), spread: 0 };
        let done: Vec<_> = (0..1000).map(|now| server.serve(Instant::at(now), service).ps()).collect();
        assert!(done.is_sorted());
        assert_eq!((done[0], done[8], done[9]), (1_000_000 * SECOND, 9_000_000 * SECOND, AFTER_ALL));
        assert_eq!(server.free(), AFTER_ALL);
    }
}
