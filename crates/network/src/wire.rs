//! What frames and RM cells contain: segments and rates wait here, beside the hosts' queues and the streams that carry
//! their cells, from the time TCP makes them until it takes them at the other end or a later one shows that they were lost.

use std::collections::VecDeque;

use celltrain_atm::abr::RmCell;
use celltrain_tcp::Segment;

/// A segment on its way, and which endpoint of the receiving host it is for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) endpoint: u32,
}

/// The frames, or the RM cells, under way on one VC, numbered from 0. A VC keeps the order of its cells, so both arrive in
/// order.
#[derive(Debug)]
pub(crate) struct Wire<T> {
    /// Number of the first of `contents`.
    first: u32,
    contents: VecDeque<T>,
}

impl<T> Default for Wire<T> {
    fn default() -> Self {
        Self { first: 0, contents: VecDeque::new() }
    }
}

impl<T> Wire<T> {
    /// Sends a frame or RM cell; returns its number.
    pub(crate) fn send(&mut self, content: T) -> u32 {
        self.contents.push_back(content);
        self.first.wrapping_add(self.contents.len() as u32 - 1)
    }

    /// What number `number` contains. It must not have been taken, nor any after it.
    pub(crate) fn peek(&self, number: u32) -> &T {
        &self.contents[number.wrapping_sub(self.first) as usize]
    }

    /// As [`Wire::peek`], to change it.
    pub(crate) fn peek_mut(&mut self, number: u32) -> &mut T {
        &mut self.contents[number.wrapping_sub(self.first) as usize]
    }

    /// Removes number `number`, and those before it, which were lost; returns what it contained.
    pub(crate) fn remove(&mut self, number: u32) -> T {
        while self.first != number {
            self.contents.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.first = number.wrapping_add(1);
        self.contents.pop_front().expect("what arrives is under way")
    }
}

/// All wires.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    /// What frames contain, by the wire of their VC.
    pub(crate) packets: Vec<Wire<Packet>>,
    /// What RM cells contain, by the wire of their VC.
    pub(crate) rm: Vec<Wire<RmCell>>,
}
