//! What frames contain: segments wait here, beside the hosts' queues and the streams that carry their cells, from the time TCP
//! makes them until it takes them at the other end or a later one shows that they were lost.

use std::collections::VecDeque;

use celltrain_tcp::Segment;

/// A segment on its way, and which endpoint of the receiving host it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) endpoint: u32,
}

/// The frames under way on one VC, numbered from 0. A VC keeps the order of its cells, so frames arrive in order.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// Number of the first frame in `packets`.
    first: u32,
    packets: VecDeque<Packet>,
}

impl Wire {
    /// Sends a frame; returns its number.
    pub(crate) fn send(&mut self, packet: Packet) -> u32 {
        self.packets.push_back(packet);
        self.first.wrapping_add(self.packets.len() as u32 - 1)
    }

    /// What frame `number` contains. It must not have been taken, nor any frame after it.
    pub(crate) fn peek(&self, number: u32) -> &Packet {
        &self.packets[number.wrapping_sub(self.first) as usize]
    }

    /// As [`Wire::peek`], to mark it.
    pub(crate) fn peek_mut(&mut self, number: u32) -> &mut Packet {
        &mut self.packets[number.wrapping_sub(self.first) as usize]
    }

    /// Removes frame `number`, and the frames before it, which were lost.
    pub(crate) fn remove(&mut self, number: u32) {
        let next = number.wrapping_add(1);
        while self.first != next {
            self.packets.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }
}

/// All wires, by VC.
pub(crate) type Wires = Vec<Wire>;
