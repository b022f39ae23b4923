//! Either end of a connection, for owners that treat both alike.

use celltrain_engine::Time;

use crate::{receiver::Receiver, segment::Segment, sender::Sender};

/// One end of a connection: the four verbs that both ends have, passed on.
#[derive(Debug, Clone)]
pub enum Tcp {
    /// The end that sends data.
    Sender(Box<Sender>),
    /// The end that acknowledges it.
    Receiver(Box<Receiver>),
}

impl Tcp {
    /// The application offers data to a sender; a receiver has no use for it. Poll afterwards.
    pub fn offer(&mut self, now: Time, bytes: u64) {
        match self {
            Self::Sender(sender) => sender.offer(now, bytes),
            Self::Receiver(_) => {}
        }
    }

    /// The application of a sender stops writing; see [`Sender::stop`]. Poll afterwards.
    pub fn stop(&mut self, now: Time) {
        match self {
            Self::Sender(sender) => sender.stop(now),
            Self::Receiver(_) => {}
        }
    }

    /// A segment arrived. Poll afterwards.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        match self {
            Self::Sender(sender) => sender.on_segment(now, segment),
            Self::Receiver(receiver) => receiver.on_segment(now, segment),
        }
    }

    /// A timer may have expired; before [`next_timeout`](Self::next_timeout) this does nothing. Poll afterwards.
    pub fn on_timeout(&mut self, now: Time) {
        match self {
            Self::Sender(sender) => sender.on_timeout(now),
            Self::Receiver(receiver) => receiver.on_timeout(now),
        }
    }

    /// The next segment to send, if any is due. Call it until it returns `None` after each event.
    #[inline]
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        match self {
            Self::Sender(sender) => sender.poll_segment(now),
            Self::Receiver(receiver) => receiver.poll_segment(now),
        }
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if a timer runs.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        match self {
            Self::Sender(sender) => sender.next_timeout(),
            Self::Receiver(receiver) => receiver.next_timeout(),
        }
    }
}
