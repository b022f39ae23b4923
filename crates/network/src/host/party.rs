//! Parties that write requests and answers to each other.

use celltrain_engine::Time;

use super::{Host, Member};
use crate::{
    flight::{Packet, Streams},
    measures::Delays,
    traffic::request_response::Party,
};

impl Host {
    /// A party's time to write has come.
    #[inline(never)]
    pub(super) fn on_party(&mut self, now: Time, index: u32, streams: &mut Streams) {
        self.write(now, index);
        self.send_due(now, index, streams);
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
        let bytes = endpoint.tcp.receiver().map_or(0, |receiver| receiver.stats().delivered_bytes);
        let source = party.source;
        match party.read(now, bytes) {
            // What it writes takes the acknowledgement along.
            Some(next) if next == now => self.write(now, index),
            Some(next) => {
                let timer = source + self.parts.endpoints.len() as u32;
                self.timers.set(timer, next);
            }
            None => {}
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

    /// The response times of the client at an endpoint, if there is one.
    pub(crate) fn response_times(&self, endpoint: usize) -> Option<&Delays> {
        self.party(endpoint)?.response_times()
    }
}
