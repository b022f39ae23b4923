//! What frames contain: segments wait here, beside the streams that carry their cells, until the frame arrives or a later
//! one shows that it was lost.

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

    /// Takes frame `number`; the frames before it were lost.
    pub(crate) fn receive(&mut self, number: u32) -> Packet {
        let lost = number.wrapping_sub(self.first) as usize;
        if lost > 0 {
            self.packets.drain(..lost);
        }
        self.first = number.wrapping_add(1);
        self.packets.pop_front().expect("a frame that arrives was sent")
    }
}

/// All wires, by VC.
pub(crate) type Wires = Vec<Wire>;
