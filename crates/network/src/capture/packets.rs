//! IP packets at a host.

use celltrain_engine::Time;
use celltrain_tcp::Segment;

use super::{
    Path,
    pcap::{self, LinkType},
};

/// Records the packets that a host hands to its network interface, and those that reach it.
#[derive(Debug)]
pub(crate) struct PacketTap {
    file: Vec<u8>,
}

impl Default for PacketTap {
    fn default() -> Self {
        Self { file: pcap::header(LinkType::Raw) }
    }
}

impl PacketTap {
    /// Records a packet; calls come in the order of time. Kept out of the way of hosts that are not captured.
    #[inline(never)]
    pub(crate) fn record(&mut self, now: Time, path: Path, segment: &Segment) {
        pcap::record(&mut self.file, now, segment.ip_bytes());
        path.write_packet(segment, &mut self.file);
    }

    /// The file so far.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(self).file
    }
}
