//! Requests and answers: two parties that write to each other, the one when it has read all that the other wrote.

use celltrain_engine::{Time, random::Generator};

use super::{lengths::Lengths, sizes::FlowSize};
use crate::measures::Delays;

/// The sizes of all requests, or of all answers. Both parties draw the same ones, as a protocol would tell them.
#[derive(Debug, Clone)]
pub(crate) struct Messages {
    pub(crate) size: FlowSize,
    pub(crate) generator: Generator,
}

impl Messages {
    fn next(&mut self) -> u64 {
        self.size.draw(&mut self.generator)
    }
}

/// How long a party takes between reading and writing.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    pub(crate) lengths: Lengths,
    pub(crate) generator: Generator,
}

impl Pause {
    fn next(&mut self) -> Time {
        self.lengths.draw(&mut self.generator)
    }
}

/// Which of the two it is.
#[derive(Debug)]
enum Role {
    /// It writes the requests.
    Client {
        /// When it wrote the last one.
        asked: Time,
        /// From then on it writes none.
        stop: Time,
        /// The response times.
        times: Box<Delays>,
    },
    /// It answers them.
    Server,
}

/// What a party does at present.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    /// It waits for the last byte from the other one.
    Waits,
    /// All bytes are there, and it reads them.
    Reads,
    /// It is its turn to write.
    Writes,
}

/// One of two parties.
#[derive(Debug)]
pub(crate) struct Party {
    role: Role,
    /// Its timer, by the number of a source of its host.
    pub(crate) source: u32,
    /// What it writes, and what the other one does.
    own: Messages,
    other: Messages,
    pause: Pause,
    /// Bytes that the other one will have written, in all, when it is this one's turn.
    expected: u64,
    phase: Phase,
}

impl Party {
    /// The one that begins, and writes no request from `stop` on.
    pub(crate) fn client(
        source: u32,
        requests: Messages,
        answers: Messages,
        think: Pause,
        stop: Time,
    ) -> Self {
        let role = Role::Client { asked: 0, stop, times: Box::default() };
        let phase = Phase::Writes;
        Self { role, source, own: requests, other: answers, pause: think, expected: 0, phase }
    }

    /// The one that answers.
    pub(crate) fn server(source: u32, mut requests: Messages, answers: Messages, service: Pause) -> Self {
        let expected = requests.next();
        let role = Role::Server;
        let phase = Phase::Waits;
        Self { role, source, own: answers, other: requests, pause: service, expected, phase }
    }

    /// Writes what it has to write: returns how many bytes.
    pub(crate) fn write(&mut self, now: Time) -> u64 {
        assert!(self.phase == Phase::Writes, "a party writes when it has read all that the other one wrote");
        self.phase = Phase::Waits;
        self.expected += self.other.next();
        if let Role::Client { asked, .. } = &mut self.role {
            *asked = now;
        }
        self.own.next()
    }

    /// So many bytes have arrived from the other party in all: returns whether they were the last that this one waited for. Then it
    /// reads them.
    pub(crate) fn begins_to_read(&mut self, bytes: u64) -> bool {
        assert!(bytes <= self.expected, "a party writes one message at a time");
        let begins = self.phase == Phase::Waits && bytes == self.expected;
        if begins {
            self.phase = Phase::Reads;
        }
        begins
    }

    /// Whether it reads, and does not wait or write.
    pub(crate) fn reads(&self) -> bool {
        self.phase == Phase::Reads
    }

    /// It has read all that the other party wrote: returns when it writes, if it does.
    pub(crate) fn has_read(&mut self, now: Time) -> Option<Time> {
        assert!(self.phase == Phase::Reads, "a party reads what has arrived");
        self.phase = Phase::Writes;
        let next = now.saturating_add(self.pause.next());
        match &mut self.role {
            Role::Client { asked, stop, times } => {
                times.add(now - *asked);
                (next < *stop).then_some(next)
            }
            Role::Server => Some(next),
        }
    }

    /// The response times of a client.
    pub(crate) fn response_times(&self) -> Option<&Delays> {
        match &self.role {
            Role::Client { times, .. } => Some(times),
            Role::Server => None,
        }
    }

    /// When a client wrote the request whose answer it has not read to the end, if there is one: it has one at a time.
    pub(crate) fn unanswered(&self) -> Option<Time> {
        match self.role {
            Role::Client { asked, .. } if self.phase != Phase::Writes => Some(asked),
            _ => None,
        }
    }

    /// Forgets the response times so far: a new window begins.
    pub(crate) fn begin_window(&mut self) {
        if let Role::Client { times, .. } = &mut self.role {
            times.begin_window();
        }
    }
}
