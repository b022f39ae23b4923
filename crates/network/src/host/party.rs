//! Parties that write requests and answers to each other.

use celltrain_engine::{Time, time::NEVER};

use super::{Host, Member};
use crate::{
    flight::{Packet, Streams},
    measures::Delays,
    traffic::request_response::Party,
};

impl Host {
    /// A party has read, or its time to write has come; returns when its next time comes.
    #[inline(never)]
    pub(super) fn on_party(&mut self, now: Time, index: u32, streams: &mut Streams) -> Time {
        let member = &self.parts.endpoints[index as usize].member;
        let next = if matches!(member, Some(Member::Party(party)) if party.reads()) {
            self.on_read(now, index)
        } else {
            self.write(now, index);
            NEVER
        };
        self.send_due(now, index, streams);
        next
    }

    /// The party at an endpoint has read all that the other one wrote. What it writes at once takes the acknowledgement along; returns
    /// when it writes otherwise.
    fn on_read(&mut self, now: Time, index: u32) -> Time {
        let Some(Member::Party(party)) = &mut self.parts.endpoints[index as usize].member else {
            return NEVER;
        };
        match party.has_read(now) {
            Some(next) if next == now => {
                self.write(now, index);
                NEVER
            }
            Some(next) => next,
            None => NEVER,
        }
    }

    /// The party at an endpoint writes.
    fn write(&mut self, now: Time, index: u32) {
        let endpoint = &mut self.parts.endpoints[index as usize];
        let Some(Member::Party(party)) = &mut endpoint.member else { return };
        let bytes = party.write(now);
        endpoint.tcp.offer(now, bytes);
        self.fingerprint.mix(now ^ bytes << 32);
    }

    /// A packet reaches the endpoint of a party, which may have waited for no more than that.
    pub(super) fn on_party_packet(&mut self, now: Time, packet: &Packet, streams: &mut Streams) {
        let index = packet.endpoint;
        let endpoint = &mut self.parts.endpoints[index as usize];
        let Some(Member::Party(party)) = &mut endpoint.member else { return };
        endpoint.tcp.on_segment(now, &packet.segment);
        if let Some(receiver) = endpoint.tcp.receiver()
            && party.begins_to_read(receiver.stats().delivered_bytes)
        {
            let (read, source) = (receiver.all_read(now), party.source);
            let next = if read > now { read } else { self.on_read(now, index) };
            let source = source + self.parts.endpoints.len() as u32;
            self.timers.set(source, self.parts.moment.within(next));
        }
        self.send_due(now, index, streams);
    }

    /// The party at an endpoint, if there is one.
    fn party(&self, endpoint: usize) -> Option<&Party> {
        match &self.parts.endpoints[endpoint].member {
            Some(Member::Party(party)) => Some(party),
            _ => None,
        }
    }

    /// When the client at an endpoint wrote the request that has no whole answer, if it has one.
    pub(crate) fn unanswered(&self, endpoint: usize) -> Option<Time> {
        self.party(endpoint)?.unanswered()
    }

    /// The response times of the client at an endpoint, if there is one.
    pub(crate) fn response_times(&self, endpoint: usize) -> Option<&Delays> {
        self.party(endpoint)?.response_times()
    }
}
