//! The pcap file: a header, then records, in little-endian order.

use celltrain_engine::{Time, time::SECOND};

/// Times are seconds and nanoseconds.
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Major and minor version of the format, as two 16-bit numbers.
const VERSION: u32 = 2 | 4 << 16;
/// The longest record: more than an IP packet can have.
const SNAPSHOT_BYTES: u32 = 1 << 18;
const PICOSECONDS_PER_NANOSECOND: Time = 1000;

/// What the records of a file begin with.
#[derive(Debug, Clone, Copy)]
pub(super) enum LinkType {
    /// An IP header.
    Raw = 101,
    /// An ERF header.
    Erf = 197,
}

/// A file with no records yet.
pub(super) fn header(link: LinkType) -> Vec<u8> {
    let words = [MAGIC_NANOSECONDS, VERSION, 0, 0, SNAPSHOT_BYTES, link as u32];
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Adds the head of a record of `length` bytes; the bytes themselves follow.
pub(super) fn record(file: &mut Vec<u8>, at: Time, length: u32) {
    let nanoseconds = at % SECOND / PICOSECONDS_PER_NANOSECOND;
    for word in [(at / SECOND) as u32, nanoseconds as u32, length, length] {
        file.extend(word.to_le_bytes());
    }
}
