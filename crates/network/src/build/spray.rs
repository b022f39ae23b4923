//! VCs whose packets take several ways.
//!
//! The packets of a VC are numbered in order, and so are those that take one way. A VC that is sprayed therefore is a VC of its own on each
//! way: the channel behind the first link, which all packets pass, deals them out, and that behind the last link, where they meet,
//! numbers them in the order in which they arrive.

use super::{Builder, Circuit, Joint, circuits::vc_of};
use crate::{
    channel::{Lane, Spray, Vc},
    port::VcEntry,
    scenario::Way,
};

impl Builder<'_> {
    /// Lays the VC drafted last over `ways`; returns where the contents of its frames wait behind the last link.
    pub(super) fn spray(&mut self, circuit: &Circuit<'_>, ways: &[Way], depth: usize) -> usize {
        let first = ways[0].route[0];
        let stream = self.whole(first);
        let meeting = self.add_payloads();
        let mut lanes = Vec::with_capacity(ways.len());
        for way in ways {
            let next = Joint::Link(way.route[1]);
            let vci = self.next_vci(next);
            let payloads = self.add_payloads();
            lanes.push(Lane { share: way.share, next: self.next_hop(stream, first, next, vci), payloads });
            let rest = (Some(first), &way.route[1..]);
            self.lay(circuit, rest, &mut Some(payloads), Some(meeting), depth + 1);
        }
        let direction = if circuit.flow.is_some() { "data" } else { "ACKs" };
        let generator = self.randomness.named(&format!("ways of {direction} of flow {}", circuit.name));
        let next = lanes[0].next;
        let sprays = &mut self.channel_at(stream).sprays;
        sprays.push(Spray::new(lanes, generator));
        let spray = Some(sprays.len() as u32 - 1);
        let number = self.next_vci(Joint::Link(first));
        let vc = Vc { next, payloads: circuit.payloads, spray, ..vc_of(circuit) };
        self.watch(first, stream, number, circuit, vc);
        self.enter_vc((None, first), VcEntry::new(stream, number, None), depth);
        meeting
    }
}
