//! The IP layer of a host, where packets take time there.

use celltrain_engine::{Instant, Time, random::Generator};

use super::{
    packets::InIpLayer,
    server::{Server, Service},
};

/// A server of packets: those that leave, and those that arrive too if it `serves_arrivals`.
#[derive(Debug)]
pub(crate) struct IpLayer {
    /// The time that a packet takes.
    service: Service,
    pub(super) serves_arrivals: bool,
    server: Server<InIpLayer>,
}

impl IpLayer {
    /// An empty one; `generator` draws the times, if they vary.
    pub(crate) fn new(
        service: Service,
        serves_arrivals: bool,
        generator: impl FnOnce() -> Generator,
    ) -> Self {
        Self { service, serves_arrivals, server: Server::new((service.spread > 0).then(generator)) }
    }

    /// The time that a packet takes at the least.
    pub(super) fn shortest(&self) -> Time {
        self.service.shortest()
    }

    /// As [`Server::serve`].
    #[inline]
    pub(super) fn serve(&mut self, now: Instant) -> Instant {
        self.server.serve(now, self.service)
    }

    /// As [`Server::enter`].
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Instant, packet: InIpLayer) {
        self.server.enter(now, self.service, packet);
    }

    /// As [`Server::free`].
    pub(super) fn free(&self) -> Time {
        self.server.free()
    }

    /// As [`Server::next_done`].
    #[inline]
    pub(super) fn next_done(&self) -> Instant {
        self.server.next_done()
    }

    /// As [`Server::leave`].
    pub(super) fn leave(&mut self) -> Option<(Instant, InIpLayer)> {
        self.server.leave()
    }
}
