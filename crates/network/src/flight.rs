//! Frames in flight: what frames and RM cells contain, from the time a host sends them until the host at the other end takes them.
//!
//! Cells carry the number of their frame on the VC. The number is the handle of its contents: a VC keeps the order of its cells, so the
//! sending host numbers frames as it sends them, and what is older than the frame taken last was lost on the way. As a stream has, a
//! payload queue has one sender and one receiver: only they move its ends. What is between belongs to the process that holds the cell,
//! which may read it, and rewrite an RM cell; nobody is told of losses. A link that lets packets overtake each other is a receiver and
//! a sender: it numbers them anew, in their new order, in a payload queue of its own. A number that is no longer, or not yet, in
//! flight is a defect of the simulator and stops the run.

use celltrain_atm::{Cell, abr::RmCell};
use celltrain_engine::{
    Time,
    stream::{self, Train},
};
use celltrain_tcp::Segment;

/// A segment in flight, and which endpoint of the receiving host it is for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    pub(crate) endpoint: u32,
    /// The number of the flow that it belongs to, where endpoints serve one flow after the other.
    pub(crate) flow: u32,
    /// When it went to the network interface.
    pub(crate) sent: Time,
}

/// The contents of the frames, or of the RM cells, that one VC carries, numbered from 0.
#[derive(Debug)]
pub(crate) struct PayloadQueue<T> {
    /// A ring: number n is at the bits of n that `mask` has, the lowest ones. Places behind those used so far are missing, as most of very
    /// many VCs never use them all.
    ring: Vec<T>,
    mask: u32,
    /// Number of the first that is in flight.
    first: u32,
    /// Number of the next to be sent.
    next: u32,
}

impl<T> Default for PayloadQueue<T> {
    fn default() -> Self {
        Self { ring: Vec::new(), mask: 0, first: 0, next: 0 }
    }
}

impl<T: Copy + Default> PayloadQueue<T> {
    /// Sends a frame or RM cell; returns its number, and the place for its contents.
    #[inline]
    pub(crate) fn send(&mut self) -> (u32, &mut T) {
        let number = self.next;
        if self.next.wrapping_sub(self.first) > self.mask {
            self.double();
        }
        self.next = number.wrapping_add(1);
        let place = self.place_of(number);
        if place >= self.ring.len() {
            self.lengthen(place);
        }
        (number, &mut self.ring[place])
    }

    #[inline]
    fn place_of(&self, number: u32) -> usize {
        (number & self.mask) as usize
    }

    /// How many were sent since the start, modulo 2^32.
    pub(crate) fn sent(&self) -> u32 {
        self.next
    }

    /// Doubles a ring that is full. Unless everything stays at its place, everything is in both halves then, and so at its new place too.
    #[cold]
    #[inline(never)]
    fn double(&mut self) {
        let (last, mask) = (self.mask as usize, 2 * self.mask + 1);
        if self.first & mask != 0 {
            self.lengthen(last);
            self.ring.reserve_exact(self.ring.len());
            self.ring.extend_from_within(..);
        }
        self.mask = mask;
    }

    /// Gives the ring the places up to `last`, and room for few beyond: a network may have very many.
    #[cold]
    #[inline(never)]
    fn lengthen(&mut self, last: usize) {
        if last >= self.ring.capacity() {
            let room = (last + 1).max(self.ring.len() + self.ring.len() / 4).min(self.mask as usize + 1);
            self.ring.reserve_exact(room - self.ring.len());
        }
        if last >= self.ring.len() {
            self.ring.resize(last + 1, T::default());
        }
    }

    /// Separates the sender's end, for a sender in another part of the network: what is in flight stays here.
    pub(crate) fn split_off_sender(&self) -> Self {
        Self { first: self.next, next: self.next, ..Self::default() }
    }

    /// Puts the sender's end back: the receiver has been sent all of it.
    pub(crate) fn put_back_sender(&self, sender: &Self) {
        assert_eq!((sender.first, sender.next), (self.next, self.next), "frames between two parts");
    }

    /// Takes everything out of flight, for another part of the network.
    #[inline]
    pub(crate) fn drain(&mut self, mut take: impl FnMut(T)) {
        while self.first != self.next {
            take(*self.take(self.first));
        }
    }

    #[inline]
    fn place(&self, number: u32) -> usize {
        if number.wrapping_sub(self.first) >= self.next.wrapping_sub(self.first) {
            not_in_flight(number, self.first, self.next);
        }
        self.place_of(number)
    }

    /// The contents of number `number`, which is in flight.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &T {
        &self.ring[self.place(number)]
    }

    /// As [`PayloadQueue::get`], for the process that holds the RM cell and writes into it.
    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> &mut T {
        let place = self.place(number);
        &mut self.ring[place]
    }

    /// Takes number `number` out of flight, and those before it, which were lost; returns its contents.
    #[inline]
    pub(crate) fn take(&mut self, number: u32) -> &mut T {
        let place = self.place(number);
        self.first = number.wrapping_add(1);
        &mut self.ring[place]
    }
}

// A function of its own: an assertion with these numbers in its message keeps them in memory.
#[cold]
#[inline(never)]
fn not_in_flight(number: u32, first: u32, next: u32) -> ! {
    panic!("frame {number} is not in flight: {first} to {next} are");
}

/// When frames without contents went to the network interface, while they are in flight, and how long those took that have arrived.
#[derive(Debug, Default)]
pub(crate) struct SentTimes {
    times: PayloadQueue<Time>,
    /// Frames that arrived since the last call of [`SentTimes::drain_mean`], and the sum of their transfer delays.
    arrived: u64,
    total: u128,
}

impl SentTimes {
    /// A frame goes to the network interface at `at`; returns its number.
    #[inline]
    pub(crate) fn send(&mut self, at: Time) -> u32 {
        let (number, time) = self.times.send();
        *time = at;
        number
    }

    /// As [`PayloadQueue::sent`].
    pub(crate) fn sent(&self) -> u32 {
        self.times.sent()
    }

    /// Frame `number` has arrived whole at `now`, and those before it have arrived or are lost; returns its transfer delay.
    #[inline]
    pub(crate) fn arrive(&mut self, number: u32, now: Time) -> Time {
        let delay = now - *self.times.take(number);
        self.arrived += 1;
        self.total += u128::from(delay);
        delay
    }

    /// As [`PayloadQueue::split_off_sender`].
    pub(crate) fn split_off_sender(&self) -> Self {
        Self { times: self.times.split_off_sender(), ..Self::default() }
    }

    /// As [`PayloadQueue::put_back_sender`].
    pub(crate) fn put_back_sender(&self, sender: &Self) {
        self.times.put_back_sender(&sender.times);
    }

    /// As [`PayloadQueue::drain`].
    pub(crate) fn drain(&mut self, take: impl FnMut(Time)) {
        self.times.drain(take);
    }

    /// The mean transfer delay of the frames that arrived since the last call, to a picosecond; `None` if there were none.
    pub(crate) fn drain_mean(&mut self) -> Option<Time> {
        let (arrived, total) = (std::mem::take(&mut self.arrived), std::mem::take(&mut self.total));
        (arrived > 0).then(|| (total / u128::from(arrived)) as Time)
    }
}

/// The number of a queue, as hosts keep it: there are very many.
///
/// # Panics
/// If there are more than 2^32 of them.
pub(crate) fn handle(queue: usize) -> u32 {
    u32::try_from(queue).expect("a network has fewer VCs than 2^32")
}

/// Everything in flight.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    /// The contents of frames, by payload queue. Each VC that carries TCP has one.
    pub(crate) packets: Vec<PayloadQueue<Packet>>,
    /// The contents of RM cells, by payload queue. Each ABR VC has one in either direction.
    pub(crate) rm: Vec<PayloadQueue<RmCell>>,
    /// When frames without contents went to the network interface, by VC: those of bare cells whose delays are measured or watched.
    pub(crate) sent: Vec<SentTimes>,
    /// Room for packets of several inputs, in the order of their arrival, during a visit: nothing is in flight there.
    pub(crate) merged: Vec<Train<Cell>>,
}

/// What the processes of a network share.
pub(crate) type Streams = stream::Streams<Cell, InFlight>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_come_out_under_their_numbers_whatever_was_lost() {
        let mut queue = PayloadQueue::default();
        for round in 0..50u32 {
            let numbers: Vec<_> = (0..round % 7 + 1)
                .map(|n| {
                    let (number, contents) = queue.send();
                    *contents = 100 * round + n;
                    number
                })
                .collect();
            // All but the last of each round are lost.
            for (n, &number) in numbers.iter().enumerate() {
                assert_eq!(*queue.get(number), 100 * round + n as u32);
            }
            assert_eq!(*queue.take(*numbers.last().unwrap()), 100 * round + round % 7);
        }
    }

    #[test]
    fn the_mean_transfer_delay_is_of_the_frames_since_the_last_call() {
        let mut sent = SentTimes::default();
        assert_eq!(sent.drain_mean(), None);
        let numbers = [100, 110, 120, 130].map(|at| sent.send(at));
        // The second is lost: it counts for nothing.
        assert_eq!([sent.arrive(numbers[0], 150), sent.arrive(numbers[2], 171)], [50, 51]);
        assert_eq!(sent.drain_mean(), Some(50));
        assert_eq!(sent.arrive(numbers[3], 200), 70);
        assert_eq!((sent.drain_mean(), sent.drain_mean()), (Some(70), None));
    }

    #[test]
    #[should_panic(expected = "frame 3 is not in flight")]
    fn a_stale_number_stops_the_run() {
        let mut queue = PayloadQueue::default();
        (0..5).for_each(|n| *queue.send().1 = n);
        queue.take(4);
        let _ = queue.get(3);
    }

    #[test]
    #[should_panic(expected = "frame 1 is not in flight")]
    fn a_frame_is_taken_once() {
        let mut queue = PayloadQueue::default();
        (0..3).for_each(|n| *queue.send().1 = n);
        assert_eq!(*queue.take(1), 1);
        queue.take(1);
    }

    #[test]
    #[should_panic(expected = "frame 1 is not in flight")]
    fn a_number_not_yet_sent_stops_the_run() {
        let mut queue = PayloadQueue::default();
        *queue.send().1 = 0;
        let _ = queue.get(1);
    }
}
