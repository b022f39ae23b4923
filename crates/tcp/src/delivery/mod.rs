//! Delivery-rate samples (draft-ietf-ccwg-bbr section 4.1): how fast the network has delivered data between the transmission
//! of a segment and its acknowledgement, with what else an ACK tells about the path.
//!
//! Kept only for a congestion control that asks for samples. Names follow section 4.1.2 of the draft: `C` is the connection,
//! `P` a packet, `RS` a sample.

#[cfg(test)]
mod tests;

use std::{collections::VecDeque, ops::Range};

use celltrain_engine::{
    Time,
    time::{NEVER, SECOND},
};

use crate::{ranges::Ranges, rto::Clock, segment::Segment};

/// What an ACK tells a congestion control that asks for samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Bytes that this ACK reports as delivered, in order or not (RS.newly_acked).
    pub(crate) acked: u64,
    /// Bytes taken for lost since the last sample (RS.newly_lost).
    pub(crate) lost: u64,
    /// Of `acked`, the bytes of an ACK that echoes a congestion mark.
    pub(crate) marked: u64,
    /// Bytes in the network after this ACK (C.inflight).
    pub(crate) inflight: u64,
    /// Bytes delivered since the connection began (C.delivered).
    pub(crate) delivered_total: u64,
    /// Delivery rate in bit/s; 0 without a reliable one (RS.delivery_rate).
    pub(crate) rate: u64,
    /// Bytes delivered between the transmission of the newest segment delivered and now (RS.delivered).
    pub(crate) delivered: u64,
    /// Bytes delivered when that segment left (RS.prior_delivered).
    pub(crate) prior_delivered: u64,
    /// Bytes in the network when it left, itself included (RS.tx_in_flight).
    pub(crate) tx_in_flight: u64,
    /// Bytes taken for lost since it left (RS.lost).
    pub(crate) lost_since: u64,
    /// The application left the network idle in that time (RS.is_app_limited).
    pub(crate) app_limited: bool,
    /// The window has been full in this round trip or the last (C.is_cwnd_limited).
    pub(crate) cwnd_limited: bool,
    /// Round trip of that segment, unless it is ambiguous (RS.rtt).
    pub(crate) rtt: Option<Time>,
    /// Round trips counted in data so far.
    pub(crate) rounds: u64,
}

/// A segment that has been taken for lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lost {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// As in [`Sample`], of this segment.
    pub(crate) tx_in_flight: u64,
    pub(crate) lost_since: u64,
    pub(crate) app_limited: bool,
    /// Bytes delivered so far.
    pub(crate) delivered_total: u64,
}

/// Round trips counted in data: one ends with the ACK of a segment that was sent after the last one had ended (section 5.5.1).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Rounds {
    next_delivered: u64,
    pub(crate) count: u64,
}

impl Rounds {
    /// A round begins now that `delivered` bytes have been delivered.
    pub(crate) const fn begin(&mut self, delivered: u64) {
        self.next_delivered = delivered;
    }

    /// Whether the sample ends a round; the next then begins.
    pub(crate) const fn end_by(&mut self, prior_delivered: u64, delivered: u64) -> bool {
        let ends = prior_delivered >= self.next_delivered;
        if ends {
            self.begin(delivered);
            self.count += 1;
        }
        ends
    }
}

/// A segment in flight, with what the connection had delivered when it left.
#[derive(Debug, Clone, Copy)]
struct Packet {
    start: u64,
    end: u64,
    send_time: Time,
    delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    tx_in_flight: u64,
    lost: u64,
    app_limited: bool,
    /// When it was sent the time before, if this was not the first.
    sent_before: Option<Time>,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    InFlight,
    Delivered,
    Lost,
}

/// The sampler of one connection.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    /// What is not cumulatively acknowledged, in the order of the data.
    packets: VecDeque<Packet>,
    /// What the receiver has reported above the cumulative ACK: blocks come again with every ACK.
    reported: Ranges,
    delivered: u64,
    delivered_time: Time,
    first_send_time: Time,
    lost: u64,
    inflight: u64,
    /// Lost segments that have not been sent again (C.lost_out less C.retrans_out).
    waiting: u64,
    /// The count of `delivered` at which the last idle gap leaves the network; 0 if there is none.
    app_limited: u64,
    min_rtt: Time,
    /// The newest packet that the present ACK delivers.
    newest: Option<Packet>,
    /// What has been taken for lost and not been reported yet.
    losses: Vec<Lost>,
    acked: u64,
    newly_lost: u64,
    rounds: Rounds,
    /// The window was full in this round, and in the last.
    full: [bool; 2],
}

impl Default for Delivery {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            reported: Ranges::default(),
            delivered: 0,
            delivered_time: 0,
            first_send_time: 0,
            lost: 0,
            inflight: 0,
            waiting: 0,
            app_limited: 0,
            min_rtt: NEVER,
            newest: None,
            losses: Vec::new(),
            acked: 0,
            newly_lost: 0,
            rounds: Rounds::default(),
            full: [false; 2],
        }
    }
}

impl Delivery {
    /// Bytes in the network.
    pub(crate) const fn inflight(&self) -> u64 {
        self.inflight
    }

    /// Bytes delivered since the connection began.
    pub(crate) const fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the present samples are limited by the application.
    pub(crate) const fn is_app_limited(&self) -> bool {
        self.app_limited > 0
    }

    /// Marks what is sent until the present flight has left the network as limited by the application (section 4.1.2.4).
    pub(crate) fn mark_app_limited(&mut self) {
        self.app_limited = (self.delivered + self.inflight).max(1);
    }

    /// Looks for a gap, with everything sent that the application has offered or not (CheckIfApplicationLimited, section
    /// 4.1.2.4).
    pub(crate) fn check_app_limited(&mut self, nothing_unsent: bool, cwnd: u64) {
        if nothing_unsent && self.inflight < cwnd && self.waiting == 0 {
            self.mark_app_limited();
        }
    }

    /// Notes that `bytes` leave, for the first time or again (OnPacketSent, section 4.1.2.2).
    pub(crate) fn on_sent(&mut self, now: Time, bytes: &Range<u64>, mss: u64, cwnd: u64) {
        if self.inflight == 0 {
            (self.first_send_time, self.delivered_time) = (now, now);
        }
        let index = self.packets.partition_point(|packet| packet.end <= bytes.start);
        let (sent_before, end) = match self.packets.get(index) {
            None => {
                self.inflight += bytes.end - bytes.start;
                (None, bytes.end)
            }
            Some(packet) => {
                let len = packet.end - packet.start;
                self.inflight += if packet.fate == Fate::InFlight { 0 } else { len };
                self.waiting -= if packet.fate == Fate::Lost { len } else { 0 };
                (Some(packet.send_time), packet.end)
            }
        };
        let packet = Packet {
            start: bytes.start,
            end,
            send_time: now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_send_time: self.first_send_time,
            tx_in_flight: self.inflight,
            lost: self.lost,
            app_limited: self.app_limited > 0,
            sent_before,
            fate: Fate::InFlight,
        };
        match self.packets.get_mut(index) {
            Some(known) => *known = packet,
            None => self.packets.push_back(packet),
        }
        self.full[0] |= self.inflight + mss > cwnd;
    }

    /// Takes what an ACK reports (UpdateRateSample for each packet, section 4.1.2.3).
    /// A retransmission that was not needed has been delivered, too (section 2.2).
    pub(crate) fn on_ack(&mut self, now: Time, segment: &Segment) {
        if let Some(duplicate) = segment.sack.duplicate(segment.ack) {
            self.delivered += duplicate.end - duplicate.start;
            self.delivered_time = now;
        }
        for block in segment.sack.ranges(segment.ack).filter(|block| block.start > segment.ack) {
            let gaps: Vec<_> = self.reported.gaps(&block).collect();
            for news in gaps {
                let mut index = self.packets.partition_point(|packet| packet.end <= news.start);
                while self.packets.get(index).is_some_and(|packet| packet.start < news.end) {
                    if block.start <= self.packets[index].start && self.packets[index].end <= block.end {
                        self.deliver(now, index);
                    }
                    index += 1;
                }
            }
            self.reported.insert(block);
        }
        self.reported.remove_below(segment.ack);
        while self.packets.front().is_some_and(|packet| packet.end <= segment.ack) {
            self.deliver(now, 0);
            self.packets.pop_front();
        }
    }

    fn deliver(&mut self, now: Time, index: usize) {
        let packet = &mut self.packets[index];
        let len = packet.end - packet.start;
        match std::mem::replace(&mut packet.fate, Fate::Delivered) {
            Fate::Delivered => return,
            Fate::InFlight => self.inflight -= len,
            Fate::Lost => self.waiting -= len,
        }
        self.delivered += len;
        self.delivered_time = now;
        self.acked += len;
        let newer = |newest: &Packet| (packet.send_time, packet.end) > (newest.send_time, newest.end);
        if self.newest.as_ref().is_none_or(newer) {
            self.newest = Some(*packet);
        }
    }

    /// Takes the segment at `start` for lost.
    pub(crate) fn on_lost(&mut self, start: u64) {
        let index = self.packets.partition_point(|packet| packet.start < start);
        let Some(packet) = self.packets.get_mut(index).filter(|packet| packet.fate == Fate::InFlight) else {
            return;
        };
        packet.fate = Fate::Lost;
        let len = packet.end - packet.start;
        self.inflight -= len;
        self.waiting += len;
        self.lost += len;
        self.newly_lost += len;
        self.losses.push(Lost {
            start: packet.start,
            end: packet.end,
            tx_in_flight: packet.tx_in_flight,
            lost_since: self.lost - packet.lost,
            app_limited: packet.app_limited,
            delivered_total: self.delivered,
        });
    }

    /// Takes for in flight again what was taken for lost and has not been sent again: nothing had been lost. It stays counted as lost
    /// (C.lost): neither draft-ietf-ccwg-bbr nor Linux (`tp->lost`) takes anything off that count.
    pub(crate) fn forgive(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.fate == Fate::Lost) {
            packet.fate = Fate::InFlight;
            self.inflight += packet.end - packet.start;
        }
        self.waiting = 0;
    }

    /// Hands over what has been taken for lost since the last call.
    pub(crate) fn take_losses(&mut self) -> Vec<Lost> {
        std::mem::take(&mut self.losses)
    }

    /// The sample of the present ACK, if it delivers something (GenerateRateSample, section 4.1.2.3). `echo` is its timestamp,
    /// a reading of `clock`; `marked` says whether it echoes a congestion mark.
    pub(crate) fn sample(
        &mut self,
        now: Time,
        clock: Clock,
        echo: Option<Time>,
        marked: bool,
    ) -> Option<Sample> {
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let newest = self.newest.take()?;
        // The newest packet delivered begins the next interval of sending.
        self.first_send_time = newest.send_time;
        let rtt = self.round_trip(now, &newest, clock, echo);
        if self.rounds.end_by(newest.delivered, self.delivered) {
            self.full = [false, self.full[0]];
        }
        let acked = std::mem::take(&mut self.acked);
        Some(Sample {
            acked,
            lost: std::mem::take(&mut self.newly_lost),
            marked: if marked { acked } else { 0 },
            inflight: self.inflight,
            delivered_total: self.delivered,
            rate: self.rate(&newest),
            delivered: self.delivered - newest.delivered,
            prior_delivered: newest.delivered,
            tx_in_flight: newest.tx_in_flight,
            lost_since: self.lost - newest.lost,
            app_limited: newest.app_limited,
            cwnd_limited: self.full[0] || self.full[1],
            rtt,
            rounds: self.rounds.count,
        })
    }

    /// The round trip of the newest packet delivered, in exact time whatever the clock of the timestamps: the sender keeps the
    /// time of each transmission itself. Where it was sent twice, a timestamp tells which of the two arrived, unless the
    /// clock read the same at both; without one the sample is ambiguous (section 4.2).
    fn round_trip(&mut self, now: Time, newest: &Packet, clock: Clock, echo: Option<Time>) -> Option<Time> {
        let (last, told) = (clock.read(newest.send_time), echo.unwrap_or(0));
        let known = newest.sent_before.is_none_or(|before| clock.read(before) < last && last <= told);
        let rtt = known.then(|| now - newest.send_time)?;
        self.min_rtt = self.min_rtt.min(rtt);
        Some(rtt)
    }

    /// The delivery rate: what was delivered, over the longer of the times in which it was sent and acknowledged, unless that
    /// is shorter than any round trip (section 4.1.1.2.4; 4.1.2.3).
    fn rate(&self, newest: &Packet) -> u64 {
        let send_elapsed = newest.send_time - newest.first_send_time;
        let ack_elapsed = self.delivered_time - newest.delivered_time;
        let interval = send_elapsed.max(ack_elapsed);
        if interval == 0 || (self.min_rtt != NEVER && interval < self.min_rtt) {
            return 0;
        }
        let bits = u128::from(self.delivered - newest.delivered) * 8 * u128::from(SECOND);
        u64::try_from(bits / u128::from(interval)).unwrap_or(u64::MAX)
    }
}
