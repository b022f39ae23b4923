//! An end of a connection that carries data in both directions.

use celltrain_engine::{Time, time::NEVER};

use crate::{
    params::Params,
    receiver::Receiver,
    segment::{Flags, Segment},
    sender::Sender,
};

/// An end of a connection that sends data and receives data: a [`Sender`] and a [`Receiver`] behind one header.
///
/// An acknowledgement that is due rides on data that may go at the same time (RFC 9293 section 3.10.7.4). One
/// that reports data out of order goes by itself, before the data: only segments without data are duplicate ACKs (RFC 5681
/// section 2), and full segments have no space for SACK blocks.
///
/// One end opens the connection, the other accepts it, where there is an exchange of SYNs. The owner does what a sender asks of its
/// owner.
#[derive(Debug, Clone)]
pub struct Duplex {
    sender: Sender,
    receiver: Receiver,
    /// Whether a SYN|ACK has been sent that nothing has answered yet.
    answered_syn: bool,
}

impl Duplex {
    /// The end that opens the connection.
    #[must_use]
    pub fn opening(params: &Params) -> Self {
        Self { sender: Sender::new(params), receiver: Receiver::new(params), answered_syn: false }
    }

    /// The end that accepts it: its data go after the other end's first.
    #[must_use]
    pub fn accepting(params: &Params) -> Self {
        let sender = Sender::new(&Params { syn_exchange: false, ..*params });
        Self { sender, receiver: Receiver::new(params), answered_syn: false }
    }

    /// Takes a segment: first what it acknowledges, then its data (RFC 9293 section 3.10.7.4). Poll afterwards.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        if segment.flags.contains(Flags::SYN | Flags::ACK) {
            self.receiver.note_timestamps(segment);
            return self.sender.on_segment(now, segment);
        }
        if self.receiver.is_outdated(segment) {
            return self.receiver.on_segment(now, segment);
        }
        if segment.flags.contains(Flags::ACK) && std::mem::take(&mut self.answered_syn) {
            self.sender.on_handshake_ack(now, segment);
        }
        self.sender.on_segment(now, segment);
        self.receiver.on_segment(now, segment);
    }

    /// A timer may have expired; before [`next_timeout`](Self::next_timeout) this does nothing. Poll afterwards.
    pub fn on_timeout(&mut self, now: Time) {
        self.sender.on_timeout(now);
        self.receiver.on_timeout(now);
    }

    /// The next segment to send, if any is due. Call it until it returns `None` after each event.
    pub fn poll_segment(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_into(now, &mut segment).then_some(segment)
    }

    /// As [`poll_segment`](Self::poll_segment), but writes the segment where it is needed, and returns whether there is one.
    #[inline(never)]
    pub fn poll_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        if self.receiver.answers_syn() {
            self.sender.time_syn_ack(now, self.answered_syn);
            self.answered_syn = true;
            return self.receiver.poll_into(now, segment);
        }
        if self.receiver.reports() || !self.sender.poll_into(now, segment) {
            return self.pure_ack(now, segment);
        }
        if segment.flags.contains(Flags::ACK) {
            self.receiver.ride(now, segment);
        }
        true
    }

    /// An ACK without data, if one is due. It has the number of the next new byte (RFC 9293 section 3.10.7.4).
    fn pure_ack(&mut self, now: Time, segment: &mut Segment) -> bool {
        let due = self.receiver.poll_into(now, segment);
        if due {
            segment.seq = self.sender.sent_up_to();
        }
        due
    }

    /// When [`on_timeout`](Self::on_timeout) is to be called, if a timer runs.
    #[must_use]
    pub fn next_timeout(&self) -> Option<Time> {
        Some(self.deadline()).filter(|&deadline| deadline != NEVER)
    }

    /// As [`next_timeout`](Self::next_timeout); [`NEVER`] if no timer runs.
    pub(crate) fn deadline(&self) -> Time {
        self.sender.deadline().min(self.receiver.deadline())
    }

    /// The half that sends.
    #[must_use]
    pub const fn sender(&self) -> &Sender {
        &self.sender
    }

    /// The half that sends, to give it data. Poll afterwards.
    pub const fn sender_mut(&mut self) -> &mut Sender {
        &mut self.sender
    }

    /// The half that receives.
    #[must_use]
    pub const fn receiver(&self) -> &Receiver {
        &self.receiver
    }
}
