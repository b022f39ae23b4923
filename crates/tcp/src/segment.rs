//! The segment: what a sender and a receiver exchange.

use std::ops::{BitOr, BitOrAssign, Range};

use celltrain_engine::Time;
use serde::Serialize;

use crate::params::Params;

/// Bytes of an IPv4 header without options (RFC 791 section 3.1).
pub const IP_HEADER_BYTES: u32 = 20;
/// Bytes of a TCP header without options (RFC 9293 section 3.1).
pub const TCP_HEADER_BYTES: u32 = 20;
/// Bytes of the timestamps option with its padding (RFC 7323 appendix A).
pub const TIMESTAMPS_BYTES: u32 = 12;
/// Most SACK blocks that fit the 40 bytes of options (RFC 2018 section 3).
pub const SACK_BLOCKS_MAX: usize = 4;
/// Most SACK blocks beside a timestamps option (RFC 2018 section 3).
pub const SACK_BLOCKS_MAX_WITH_TIMESTAMPS: usize = 3;

/// What counts of marked packets begin with (RFC 9768 section 3.2.1): none is zero while the feature is in use.
pub(crate) const FIRST_MARK_COUNT: u64 = 5;
/// The largest window that the field holds, in bytes if it is not scaled (RFC 9293 section 3.1: 16 bits).
pub(crate) const WINDOW_FIELD_MAX: u64 = u16::MAX as u64;

/// The control bits of a segment (RFC 9293 section 3.1; ECE and CWR: RFC 3168 section 6.1; AE: RFC 9768 section 3.1).
///
/// Without FIN ([`Params::fin`]) a connection ends when all offered bytes are acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flags(u16);

impl Flags {
    /// No bit set.
    pub const NONE: Self = Self(0);
    /// No more data: the end that sends this has closed its direction of the connection.
    pub const FIN: Self = Self(0x01);
    /// Opens the connection.
    pub const SYN: Self = Self(0x02);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo: the receiver saw a congestion mark.
    pub const ECE: Self = Self(0x40);
    /// Congestion Window Reduced: the sender has answered the mark.
    pub const CWR: Self = Self(0x80);

    /// Accurate ECN, once the nonce sum (RFC 9768 section 3.1).
    pub const AE: Self = Self(0x100);

    /// Both ECN bits, which in a SYN offer ECN (RFC 3168 section 6.1.1).
    pub(crate) const ECN_SETUP: Self = Self(Self::ECE.0 | Self::CWR.0);
    /// All three, which in a SYN offer accurate feedback (RFC 9768 section 3.1.1).
    pub(crate) const ACCURATE_ECN_SETUP: Self = Self(Self::ECN_SETUP.0 | Self::AE.0);
    /// The answer to them in a SYN|ACK, after a SYN that was not ECN-capable (RFC 9768 section 3.1.2).
    pub(crate) const ACCURATE_ECN_ANSWER: Self = Self::CWR;

    /// The three least significant bits of a count of marked packets, in the bits AE, CWR and ECE (RFC 9768 section 3.2.2).
    pub(crate) const fn of_ace(count: u64) -> Self {
        Self(((count & 7) as u16) << 6)
    }

    /// The bits beside those of a count.
    pub(crate) const fn without_ace(self) -> Self {
        Self(self.0 & !Self::ACCURATE_ECN_SETUP.0)
    }

    /// The count in these bits.
    #[must_use]
    pub const fn ace(self) -> u64 {
        (self.0 >> 6 & 7) as u64
    }

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The bits at their places in the TCP header: AE is the last bit of the byte before the others.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Flags {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// The ECN codepoint of the IP header that carries the segment (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ecn {
    /// Not ECN-capable: congestion can only drop it.
    #[default]
    NotEct,
    /// ECN-capable, codepoint ECT(0).
    Ect0,
    /// ECN-capable, codepoint ECT(1): for a queue of low delay (RFC 9331).
    Ect1,
    /// Congestion experienced: a queue marked it.
    Ce,
}

/// The timestamps option (RFC 7323 section 3): clock readings in picoseconds.
///
/// With a coarse clock both are multiples of its tick. A capture divides them by its own unit to get 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the clock of the host that sends this segment.
    pub value: Time,
    /// TSecr: the value that this segment echoes.
    pub echo: Time,
}

/// The options of a segment with the SYN bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SynOptions {
    /// Maximum segment size in bytes of payload and options (RFC 9293 section 3.7.1).
    pub mss: u32,
    /// Window scale shift (RFC 7323 section 2), if window scaling is on.
    pub window_scale: Option<u8>,
    /// SACK-permitted (RFC 2018 section 2).
    pub sack_permitted: bool,
}

impl SynOptions {
    /// The options that an end with these parameters offers.
    pub(crate) const fn new(params: &Params) -> Self {
        let options = if params.timestamps { TIMESTAMPS_BYTES } else { 0 };
        Self { mss: params.mss + options, window_scale: params.window_scale, sack_permitted: params.sack }
    }

    /// Bytes of these options in the header, padded to words of four; `timestamps` says whether that option
    /// goes along (SACK-permitted then takes the place of its padding).
    const fn bytes(self, timestamps: bool) -> u32 {
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let permitted = if self.sack_permitted && !timestamps { 4 } else { 0 };
        4 + scale + permitted
    }
}

/// Up to four SACK blocks (RFC 2018 section 3), the newest first.
///
/// A block is stored as its distance from the acknowledgement number, so that segments stay small: receive windows are below
/// 2^30 bytes. All blocks lie above it, except that the first may report a duplicate (D-SACK, RFC 2883).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(i32, i32); SACK_BLOCKS_MAX],
    count: u8,
}

impl SackBlocks {
    /// Adds a block of bytes that lies above the acknowledgement number `ack`.
    ///
    /// # Panics
    /// If four blocks are there already, or the block does not lie in the 2 GiB above `ack`.
    pub fn push(&mut self, ack: u64, block: Range<u64>) {
        assert!(block.start >= ack, "a SACK block lies above its ACK");
        self.push_any(ack, &block);
    }

    /// Adds, as the first block, bytes that have been received again, wherever they lie (RFC 2883 section 4).
    ///
    /// # Panics
    /// If there is a block already, or `block` lies 2 GiB away from `ack`.
    pub fn push_duplicate(&mut self, ack: u64, block: &Range<u64>) {
        assert!(self.is_empty(), "the block of a duplicate is the first");
        self.push_any(ack, block);
    }

    fn push_any(&mut self, ack: u64, block: &Range<u64>) {
        let distance = |edge: u64| {
            i32::try_from(edge as i64 - ack as i64)
                .expect("a SACK block lies within the window around its ACK")
        };
        self.blocks[usize::from(self.count)] = (distance(block.start), distance(block.end));
        self.count += 1;
    }

    /// The bytes received again that the first block reports, if it does: it lies below the acknowledgement number or
    /// within the second block (RFC 2883 section 4).
    #[must_use]
    pub fn duplicate(&self, ack: u64) -> Option<Range<u64>> {
        let mut ranges = self.ranges(ack);
        let first = ranges.next()?;
        let within = |outer: Range<u64>| outer.start <= first.start && first.end <= outer.end;
        (first.start < ack || ranges.next().is_some_and(within)).then_some(first)
    }

    /// The blocks as byte ranges, given the acknowledgement number of their segment.
    pub fn ranges(&self, ack: u64) -> impl Iterator<Item = Range<u64>> + '_ {
        self.blocks[..self.len()].iter().map(move |&block| range(ack, block))
    }

    /// As [`SackBlocks::ranges`], in the order of the data.
    pub(crate) fn ascending(mut self, ack: u64) -> impl Iterator<Item = Range<u64>> {
        let count = self.len();
        self.blocks[..count].sort_unstable();
        self.blocks.into_iter().take(count).map(move |block| range(ack, block))
    }

    /// Number of blocks.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of the option in the header, padded to words of four.
    const fn bytes(&self) -> u32 {
        if self.is_empty() { 0 } else { 4 + 8 * self.count as u32 }
    }
}

/// The bytes of a block, which is stored as its distance from `ack`.
const fn range(ack: u64, (start, end): (i32, i32)) -> Range<u64> {
    ack.wrapping_add_signed(start as i64)..ack.wrapping_add_signed(end as i64)
}

/// One TCP segment, without its payload's contents.
///
/// Sequence numbers are byte offsets into the data and do not wrap: the first byte of data is number 0. A SYN
/// carries no data and takes no number here; whoever writes 32-bit sequence numbers adds one for it. A FIN takes the number after the
/// last byte of data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segment {
    /// Offset of the first byte of payload.
    pub seq: u64,
    /// Next byte that the sender of this segment expects, valid with [`Flags::ACK`].
    pub ack: u64,
    /// Advertised receive window in bytes, after scaling.
    pub window: u64,
    /// Bytes of payload.
    pub len: u32,
    /// Control bits.
    pub flags: Flags,
    /// ECN codepoint of the IP header.
    pub ecn: Ecn,
    /// Whether some byte of the payload was sent before. A mark for measurement; no endpoint reads it.
    pub retransmission: bool,
    /// Timestamps option.
    pub timestamps: Option<Timestamps>,
    /// SACK option.
    pub sack: SackBlocks,
    /// Options that go with [`Flags::SYN`] only.
    pub syn: Option<SynOptions>,
}

impl Segment {
    /// The sequence number after the last one that the segment takes, for payload and FIN (SEG.SEQ + SEG.LEN of RFC 9293).
    #[inline]
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.seq + self.len as u64 + self.is_fin() as u64
    }

    /// Whether it closes the direction in which it goes.
    #[inline]
    #[must_use]
    pub const fn is_fin(&self) -> bool {
        self.flags.contains(Flags::FIN)
    }

    /// Bytes of the TCP header with its options, padded to words of four.
    #[inline]
    #[must_use]
    pub const fn header_bytes(&self) -> u32 {
        let timestamps = if self.timestamps.is_some() { TIMESTAMPS_BYTES } else { 0 };
        let syn = match self.syn {
            Some(options) => options.bytes(self.timestamps.is_some()),
            None => 0,
        };
        TCP_HEADER_BYTES + timestamps + self.sack.bytes() + syn
    }

    /// Bytes of the IP packet: IP header, TCP header and payload.
    #[inline]
    #[must_use]
    pub const fn ip_bytes(&self) -> u32 {
        IP_HEADER_BYTES + self.header_bytes() + self.len
    }
}

/// Where the segments of an end go.
pub trait Outlet {
    /// A segment leaves: `write` writes it where it is needed.
    fn send(&mut self, write: impl FnOnce(&mut Segment));
}

/// A place for one segment.
impl Outlet for Segment {
    #[inline(always)]
    fn send(&mut self, write: impl FnOnce(&mut Self)) {
        write(self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stack, StackSpec};

    #[test]
    fn header_counts_options_in_words() {
        let mut segment = Segment { len: 500, ..Segment::default() };
        assert_eq!((segment.header_bytes(), segment.ip_bytes()), (20, 540));
        segment.timestamps = Some(Timestamps { value: 1, echo: 0 });
        assert_eq!(segment.header_bytes(), 32);
        for blocks in 1..=3 {
            segment.sack.push(10, 10 * blocks..10 * blocks + 5);
            assert_eq!(u64::from(segment.header_bytes()), 36 + 8 * blocks);
        }
        assert_eq!(segment.header_bytes(), 60, "three blocks and timestamps fill the header");
    }

    #[test]
    fn syn_options_fill_words() {
        let options = SynOptions { mss: 1460, window_scale: Some(7), sack_permitted: true };
        let mut segment = Segment { flags: Flags::SYN, syn: Some(options), ..Segment::default() };
        assert_eq!(segment.header_bytes(), 32);
        segment.timestamps = Some(Timestamps { value: 1, echo: 0 });
        assert_eq!(segment.header_bytes(), 40);
    }

    /// RFC 9293 section 3.7.1: the option does not count other options. A link of 1500 bytes has 1460, also beside timestamps.
    #[test]
    fn the_maximum_segment_size_is_told_without_options() {
        let told = |stack| {
            let spec = StackSpec { stack, ..StackSpec::default() };
            SynOptions::new(&spec.resolve().expect("a preset is possible")).mss
        };
        assert_eq!([Stack::Linux, Stack::Newreno].map(told), [1460, 1460]);
    }

    #[test]
    fn blocks_come_back_as_ranges() {
        let mut blocks = SackBlocks::default();
        blocks.push(1000, 3000..4000);
        blocks.push(1000, 2000..2500);
        assert_eq!(blocks.ranges(1000).collect::<Vec<_>>(), [3000..4000, 2000..2500]);
    }

    #[test]
    fn segment_stays_small() {
        assert!(size_of::<Segment>() <= 112, "{} bytes", size_of::<Segment>());
    }
}
