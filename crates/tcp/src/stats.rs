//! Counters of a sender and of a receiver.

use serde::Serialize;

/// What a sender has done. Segments count each transmission, bytes are payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct SenderStats {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Payload bytes sent, retransmissions included.
    pub bytes: u64,
    /// Data segments with at least one byte that was sent before.
    pub retransmitted_segments: u64,
    /// Payload bytes sent again.
    pub retransmitted_bytes: u64,
    /// Acknowledgements received.
    pub acks: u64,
    /// Acknowledgements among them that counted as duplicates.
    pub duplicate_acks: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Losses found by duplicate ACKs or SACK blocks.
    pub fast_retransmits: u64,
    /// Loss probes sent (RFC 8985 section 7).
    pub loss_probes: u64,
    /// Probes of a closed receive window.
    pub window_probes: u64,
    /// Window reductions that were undone, as nothing had been lost.
    pub undone_reductions: u64,
    /// Window reductions because of ECN-Echo.
    pub ecn_reductions: u64,
    /// Restarts from the initial window after an idle period.
    pub idle_restarts: u64,
    /// Round-trip measurements.
    pub rtt_samples: u64,
}

impl SenderStats {
    /// Adds what tables of results count of another sender: segments, retransmissions, timeouts and fast retransmits.
    pub fn add_counted(&mut self, other: &Self) {
        self.segments += other.segments;
        self.retransmitted_segments += other.retransmitted_segments;
        self.timeouts += other.timeouts;
        self.fast_retransmits += other.fast_retransmits;
    }
}

/// What a receiver has seen and done. Bytes are payload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ReceiverStats {
    /// Data segments received, duplicates included.
    pub segments: u64,
    /// Bytes received for the first time, in order or not.
    pub distinct_bytes: u64,
    /// Segments of a full MSS of which every byte was received for the first time, in order or not.
    pub distinct_full_segments: u64,
    /// Segments without a new byte, outdated ones not included.
    pub duplicate_segments: u64,
    /// Bytes received again or refused as outdated.
    pub duplicate_bytes: u64,
    /// Segments that left a gap before them.
    pub out_of_order_segments: u64,
    /// Bytes delivered to the application, in order.
    pub delivered_bytes: u64,
    /// Segments that reached beyond the advertised window and were dropped.
    pub beyond_window: u64,
    /// Segments that were dropped because their timestamps were older than that of one already accepted (PAWS, RFC 7323 section 5.3).
    pub outdated_segments: u64,
    /// Segments that arrived with the mark "congestion experienced".
    pub marked_segments: u64,
    /// Acknowledgements sent.
    pub acks: u64,
}
