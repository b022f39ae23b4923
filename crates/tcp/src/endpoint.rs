//! Any end of a connection, for owners that treat all alike.

use celltrain_engine::{Time, time::NEVER};

use crate::{
    duplex::Duplex,
    receiver::Receiver,
    segment::{Outlet, Segment},
    sender::Sender,
};

/// One end of a connection: the four verbs that all ends have, passed on.
#[derive(Debug, Clone)]
pub enum Tcp {
    /// The end that sends data.
    Sender(Box<Sender>),
    /// The end that acknowledges it.
    Receiver(Box<Receiver>),
    /// An end that does both.
    Duplex(Box<Duplex>),
}

impl Tcp {
    /// The application offers data to a sender; a receiver has no use for it. Poll afterwards.
    pub fn offer(&mut self, now: Time, bytes: u64) {
        if let Some(sender) = self.sender_mut() {
            sender.offer(now, bytes);
        }
    }

    /// The application of a sender stops writing; see [`Sender::stop`]. Poll afterwards.
    pub fn stop(&mut self, now: Time) {
        if let Some(sender) = self.sender_mut() {
            sender.stop(now);
        }
    }

    /// The application of a sender closes the connection; see [`Sender::close`]. Poll afterwards.
    pub fn close(&mut self, now: Time) {
        if let Some(sender) = self.sender_mut() {
            sender.close(now);
        }
    }

    /// A segment arrived. Poll afterwards.
    #[inline]
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.takes(now, segment);
    }

    /// As [`on_segment`](Self::on_segment); returns whether polling may return a segment afterwards, `false` is certain.
    #[inline(always)]
    pub fn takes(&mut self, now: Time, segment: &Segment) -> bool {
        match self {
            Self::Sender(sender) => sender.on_segment(now, segment),
            Self::Receiver(receiver) => {
                receiver.on_segment(now, segment);
                return receiver.owes();
            }
            Self::Duplex(both) => both.on_segment(now, segment),
        }
        true
    }

    /// A timer may have expired; before [`next_timeout`](Self::next_timeout) this does nothing. Poll afterwards.
    pub fn on_timeout(&mut self, now: Time) {
        match self {
            Self::Sender(sender) => sender.on_timeout(now),
            Self::Receiver(receiver) => receiver.on_timeout(now),
            Self::Duplex(both) => both.on_timeout(now),
        }
    }

    /// The next segment to send, if any is due. Call it until it returns `None` after each event.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_segment`](Self::poll_segment), but writes the segment where it is needed, and returns whether there is one.
    #[inline]
    pub fn poll_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        match self {
            Self::Sender(sender) => sender.poll_into(now, segment),
            Self::Receiver(receiver) => receiver.poll_into(now, segment),
            Self::Duplex(both) => both.poll_into(now, segment),
        }
    }

    /// Whether [`poll_segment`](Self::poll_segment) may return a segment; `false` is certain.
    #[must_use]
    pub fn may_send(&self) -> bool {
        match self {
            Self::Receiver(receiver) => receiver.owes(),
            Self::Sender(_) | Self::Duplex(_) => true,
        }
    }

    /// Sends all that may go now, as polling until there is none would, and returns when [`on_timeout`](Self::on_timeout) is to be called:
    /// [`NEVER`] if no timer runs.
    #[inline(always)]
    pub fn send_all(&mut self, now: Time, outlet: &mut impl Outlet) -> Time {
        match self {
            Self::Sender(sender) => {
                sender.send_all(now, outlet);
                sender.deadline()
            }
            Self::Receiver(receiver) => {
                receiver.send_all(now, outlet);
                receiver.deadline()
            }
            Self::Duplex(both) => {
                while let Some(segment) = both.poll_segment(now) {
                    outlet.send(|place| *place = segment);
                }
                both.deadline()
            }
        }
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if a timer runs.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.deadline()).filter(|&deadline| deadline != NEVER)
    }

    /// As [`next_timeout`](Self::next_timeout); [`NEVER`] if no timer runs.
    #[inline]
    #[must_use]
    pub fn deadline(&self) -> Time {
        match self {
            Self::Sender(sender) => sender.deadline(),
            Self::Receiver(receiver) => receiver.deadline(),
            Self::Duplex(both) => both.deadline(),
        }
    }

    /// What sends here, if anything does.
    #[must_use]
    pub const fn sender(&self) -> Option<&Sender> {
        match self {
            Self::Sender(sender) => Some(sender),
            Self::Receiver(_) => None,
            Self::Duplex(both) => Some(both.sender()),
        }
    }

    /// As [`sender`](Self::sender), to be changed. Poll afterwards.
    pub const fn sender_mut(&mut self) -> Option<&mut Sender> {
        match self {
            Self::Sender(sender) => Some(sender),
            Self::Receiver(_) => None,
            Self::Duplex(both) => Some(both.sender_mut()),
        }
    }

    /// What receives here, if anything does.
    #[must_use]
    pub const fn receiver(&self) -> Option<&Receiver> {
        match self {
            Self::Sender(_) => None,
            Self::Receiver(receiver) => Some(receiver),
            Self::Duplex(both) => Some(both.receiver()),
        }
    }
}
