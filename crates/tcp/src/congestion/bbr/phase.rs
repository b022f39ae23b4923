//! The phases, and the gains of each (section 5.6.1).

use crate::event::BbrPhase;

/// What the ACKs that arrive tell about the last bandwidth probe (section 2.14).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    Init,
    /// The pipe is being refilled.
    Refilling,
    /// Inflight rises to probe.
    ProbeStarting,
    /// They acknowledge what was sent to probe.
    ProbeFeedback,
    /// Probing has ended, and what was sent for it is still being acknowledged.
    ProbeStopping,
}

impl BbrPhase {
    /// BBR.pacing_gain, in percent.
    pub(super) const fn pacing_gain(self) -> u64 {
        match self {
            Self::Startup => 277,
            Self::Drain => 50,
            Self::ProbeBwDown => 90,
            Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeRtt => 100,
            Self::ProbeBwUp => 125,
        }
    }

    /// BBR.cwnd_gain, in percent.
    pub(super) const fn cwnd_gain(self) -> u64 {
        match self {
            Self::ProbeBwUp => 225,
            Self::ProbeRtt => 50,
            _ => 200,
        }
    }

    /// IsInAProbeBWState (section 5.3.3.9).
    pub(super) const fn is_probe_bw(self) -> bool {
        matches!(self, Self::ProbeBwDown | Self::ProbeBwCruise | Self::ProbeBwRefill | Self::ProbeBwUp)
    }

    /// IsProbingBW: it accelerates.
    pub(super) const fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::ProbeBwRefill | Self::ProbeBwUp)
    }
}
