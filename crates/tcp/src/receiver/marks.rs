//! How a receiver tells the sender of congestion marks.

use crate::{
    congestion::CongestionKind,
    params::Params,
    segment::{FIRST_MARK_COUNT, Flags},
};

/// The feedback that the ends have agreed on, and what is to be told.
#[derive(Debug, Clone)]
pub(super) enum Marks {
    /// None: ECN is not in use.
    Untold,
    /// ECN-Echo from a mark on until the sender says that it has answered (RFC 3168 section 6.1.3).
    UntilAnswered { echoing: bool },
    /// ECN-Echo as long as packets are marked (RFC 8257 section 3.2).
    Each { echoing: bool },
    /// A count of marked packets (RFC 9768).
    Counted(MarkCount),
}

impl Marks {
    /// As these parameters have it, if the other end agrees.
    pub(super) fn new(params: &Params) -> Self {
        Self::agreed(params, params.ecn, params.accurate_ecn)
    }

    fn agreed(params: &Params, ecn: bool, accurate: bool) -> Self {
        match (ecn, accurate) {
            (false, _) => Self::Untold,
            (true, true) => Self::Counted(MarkCount::default()),
            (true, false) if params.congestion_control == CongestionKind::Dctcp => {
                Self::Each { echoing: false }
            }
            (true, false) => Self::UntilAnswered { echoing: false },
        }
    }

    /// Agrees with the `flags` of a SYN. One that arrives again changes nothing.
    pub(super) fn agree(&mut self, params: &Params, flags: Flags) {
        let ecn = params.ecn && flags.contains(Flags::ECN_SETUP);
        let agreed = Self::agreed(params, ecn, params.accurate_ecn && flags.contains(Flags::AE));
        if std::mem::discriminant(self) != std::mem::discriminant(&agreed) {
            *self = agreed;
        }
    }

    /// What a SYN|ACK says of what is agreed.
    pub(super) const fn answer(&self) -> Flags {
        match self {
            Self::Untold => Flags::NONE,
            Self::UntilAnswered { .. } | Self::Each { .. } => Flags::ECE,
            Self::Counted(_) => Flags::ACCURATE_ECN_ANSWER,
        }
    }

    /// Whether both ends take part in ECN.
    pub(super) const fn are_told(&self) -> bool {
        !matches!(self, Self::Untold)
    }

    /// Whether ACKs count them.
    pub(super) const fn are_counted(&self) -> bool {
        matches!(self, Self::Counted(_))
    }

    /// Whether every packet is to be [noted](Self::note_each), marked or not.
    pub(super) const fn are_of_each(&self) -> bool {
        matches!(self, Self::Each { .. } | Self::Counted(_))
    }

    /// Whether ACKs echo a mark.
    pub(super) const fn are_echoed(&self) -> bool {
        matches!(self, Self::UntilAnswered { echoing: true } | Self::Each { echoing: true })
    }

    // RFC 8257 §3.2: MUST set ECE if and only if the last packet was marked
    // RFC 8257 §3.2: MUST acknowledge at once where that changes
    /// Notes a packet where each counts; whether an ACK must go at once.
    pub(super) fn note_each(&mut self, marked: bool) -> bool {
        match self {
            Self::Untold | Self::UntilAnswered { .. } => false,
            Self::Each { echoing } => std::mem::replace(echoing, marked) != marked,
            Self::Counted(count) => count.note(marked),
        }
    }

    // RFC 3168 §6.1.3: MUST echo a mark until CWR arrives
    /// Notes a packet where a mark is echoed until the sender has `answered`, as this packet may say.
    pub(super) const fn note_classic(&mut self, marked: bool, answered: bool) {
        if let Self::UntilAnswered { echoing } = self {
            *echoing = marked || *echoing && !answered;
        }
    }

    /// What an ACK tells.
    #[inline]
    pub(super) const fn tell(&mut self) -> Flags {
        match self {
            Self::Counted(count) => count.tell(),
            Self::UntilAnswered { echoing: true } | Self::Each { echoing: true } => Flags::ECE,
            _ => Flags::NONE,
        }
    }
}

/// The count of marked packets that ACKs tell (RFC 9768).
#[derive(Debug, Clone)]
pub(super) struct MarkCount {
    /// r.cep.
    packets: u64,
    /// Of these, what came after the last ACK.
    untold: u32,
    /// Whether the last packet was marked.
    last: bool,
}

/// Marks after which an ACK goes at once: few enough for the three bits that tell them.
const MARKS_PER_ACK: u32 = 2;

impl Default for MarkCount {
    fn default() -> Self {
        Self { packets: FIRST_MARK_COUNT, untold: 0, last: false }
    }
}

impl MarkCount {
    // RFC 9768 §3.2.2.5.1: SHOULD acknowledge at once the first mark after a packet without
    // RFC 9768 §3.2.2.5.1: MUST acknowledge at once after some marks, 2 where data wait for an ACK
    /// Counts a packet; true if an ACK must go at once.
    fn note(&mut self, marked: bool) -> bool {
        let before = std::mem::replace(&mut self.last, marked);
        self.packets += u64::from(marked);
        self.untold += u32::from(marked);
        (marked && !before) || self.untold >= MARKS_PER_ACK
    }

    // RFC 9768 §3.2.2.2: MUST tell the three least significant bits of the count
    /// What an ACK tells.
    const fn tell(&mut self) -> Flags {
        self.untold = 0;
        Flags::of_ace(self.packets)
    }
}
