//! What keeps a sender from sending more, as shares of time.

use celltrain_engine::Time;
use serde::Serialize;

/// What limits a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Application,
    Handshake,
    ReceiveWindow,
    CongestionWindow,
    Recovery,
}

/// How long each limit has held, in picoseconds; together, all the time since time 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Limits {
    /// There was nothing to send, or less than the windows allowed.
    pub application: Time,
    /// The connection was being opened.
    pub handshake: Time,
    /// The receiver's window was full.
    pub receive_window: Time,
    /// The congestion window was full.
    pub congestion_window: Time,
    /// A loss was repaired that had shown without a timeout.
    pub recovery: Time,
    /// Nothing was sent or received before the retransmission timer expired.
    pub timeout: Time,
}

/// The clock of the limits.
#[derive(Debug, Clone)]
pub(crate) struct LimitClock {
    spent: Limits,
    current: Limit,
    since: Time,
}

impl Default for LimitClock {
    fn default() -> Self {
        Self { spent: Limits::default(), current: Limit::Application, since: 0 }
    }
}

impl LimitClock {
    /// What limits now.
    pub(crate) const fn current(&self) -> Limit {
        self.current
    }

    /// From now on `limit` holds.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.change(now, limit);
        }
    }

    #[inline(never)]
    fn change(&mut self, now: Time, limit: Limit) {
        self.spent = self.until(now);
        (self.current, self.since) = (limit, now);
    }

    /// From now on `window` limits, if nothing but the application did.
    pub(crate) fn offer(&mut self, now: Time, window: Limit) {
        if self.current == Limit::Application {
            self.change(now, window);
        }
    }

    /// Of the two windows `window` limits now, if one of them does.
    #[inline]
    pub(crate) fn follow(&mut self, now: Time, window: Limit) {
        if matches!(self.current, Limit::ReceiveWindow | Limit::CongestionWindow) {
            self.set(now, window);
        }
    }

    /// The timer has expired, and nothing had happened since `silent`; now the window limits.
    pub(crate) fn expire(&mut self, now: Time, silent: Time) {
        let silent = silent.clamp(self.since, now);
        self.change(silent, Limit::CongestionWindow);
        self.spent.timeout += now - silent;
        self.since = now;
    }

    /// How long each limit has held at `now`.
    pub(crate) fn until(&self, now: Time) -> Limits {
        let mut spent = self.spent;
        *match self.current {
            Limit::Application => &mut spent.application,
            Limit::Handshake => &mut spent.handshake,
            Limit::ReceiveWindow => &mut spent.receive_window,
            Limit::CongestionWindow => &mut spent.congestion_window,
            Limit::Recovery => &mut spent.recovery,
        } += now - self.since;
        spent
    }
}
