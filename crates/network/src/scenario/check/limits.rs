//! What values may be.

use celltrain_atm::{aal5, cell::PAYLOAD_OCTETS};
use celltrain_engine::{
    quantity::{BitRate, Bytes, Duration, PacketRate, Tolerance},
    time::{MICROSECOND, SECOND},
};

/// The longest run: a million seconds.
pub const MAX_DURATION: Duration = Duration(1_000_000 * SECOND);
/// The longest delay of a link or a switch: an hour.
pub const MAX_DELAY: Duration = Duration(3_600 * SECOND);
/// The slowest link.
pub const MIN_RATE: BitRate = BitRate(1_000);
/// The fastest link: a cell still takes a few picoseconds.
pub const MAX_RATE: BitRate = BitRate(100_000_000_000_000);
/// The most replications.
pub const MAX_REPLICATIONS: u32 = 100_000;
/// The shortest period of anything that comes again and again in a run, whatever else happens in it.
pub const MIN_PERIOD: Duration = Duration(MICROSECOND);
/// The most samples of a series.
pub const MAX_SAMPLES: u64 = 10_000_000;
/// The most cells in a frame: an AAL5 frame of 65535 bytes and its trailer.
pub const MAX_FRAME_CELLS: u64 = (aal5::Params::MAX_FRAME + aal5::TRAILER.0).div_ceil(PAYLOAD_OCTETS);
/// The most bytes that AAL5 or a link may be told to add to a frame.
pub const MAX_OVERHEAD: Bytes = Bytes(4_096);
/// The most data of a transfer or burst.
pub const MAX_TRANSFER: Bytes = Bytes(1 << 60);
/// The largest weight of a VC.
pub(super) const MAX_WEIGHT: u32 = 1_000_000;
/// The most that clocks may be off: a tenth of a per cent.
pub(super) const MAX_TOLERANCE: Tolerance = Tolerance(1_000_000);
/// The most flows of a group for each pair of hosts.
pub(super) const MAX_GROUP: u32 = 1_000_000;
/// The fastest IP service.
pub const MAX_PACKET_RATE: PacketRate = PacketRate(1_000_000_000_000);
/// The most changes of a link's delay, and of its rate.
pub const MAX_CHANGES: usize = 10_000;
