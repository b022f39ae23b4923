//! What frames and RM cells contain: segments and rates wait here, beside the hosts' queues and the streams that carry
//! their cells, from the time TCP makes them until it takes them at the other end or a later one shows that they were lost.

use celltrain_atm::abr::RmCell;
use celltrain_tcp::Segment;

/// A segment on its way, and which endpoint of the receiving host it is for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) endpoint: u32,
}

/// The frames, or the RM cells, under way on one VC, numbered from 0. A VC keeps the order of its cells, so both arrive in
/// order.
#[derive(Debug)]
pub(crate) struct Wire<T> {
    /// A ring: number n is at n modulo the length, which is a power of two.
    ring: Vec<T>,
    /// Number of the first that is under way.
    first: u32,
    /// Number of the next to be sent.
    next: u32,
}

impl<T> Default for Wire<T> {
    fn default() -> Self {
        Self { ring: Vec::new(), first: 0, next: 0 }
    }
}

impl<T: Copy + Default> Wire<T> {
    /// Sends a frame or RM cell; returns its number, and what it contains.
    #[inline]
    pub(crate) fn send(&mut self, content: T) -> (u32, &T) {
        let number = self.next;
        if number.wrapping_sub(self.first) as usize == self.ring.len() {
            self.grow();
        }
        self.next = number.wrapping_add(1);
        let place = self.peek_mut(number);
        *place = content;
        (number, place)
    }

    /// Doubles the ring. Everything is in both halves then, and so at its new place too.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.ring.extend_from_within(..);
        self.ring.resize(self.ring.len().max(1), T::default());
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        debug_assert!(
            number.wrapping_sub(self.first) < self.next.wrapping_sub(self.first),
            "it is under way"
        );
        number as usize & (self.ring.len() - 1)
    }

    /// What number `number` contains. It must not have been taken, nor any after it.
    #[inline]
    pub(crate) fn peek(&self, number: u32) -> &T {
        &self.ring[self.place(number)]
    }

    /// As [`Wire::peek`], to change it.
    #[inline]
    pub(crate) fn peek_mut(&mut self, number: u32) -> &mut T {
        let place = self.place(number);
        &mut self.ring[place]
    }

    /// Takes number `number` off the wire, and those before it, which were lost; returns what it contained.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> &T {
        let place = self.place(number);
        self.first = number.wrapping_add(1);
        &self.ring[place]
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
