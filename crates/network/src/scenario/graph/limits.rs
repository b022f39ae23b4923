//! How large networks may be.

/// The most nodes, and the most links, of a network.
pub const MAX_NODES: u64 = 1_000_000;
/// The most flows.
pub const MAX_FLOWS: u64 = 1_000_000;
/// The most short flows that arrive in a run, and the most that may be under way at once.
pub const MAX_SHORT_FLOWS: u64 = 5_000_000;
/// See [`MAX_SHORT_FLOWS`].
pub const MAX_ACTIVE: u64 = 200_000;
/// The most recorded times of all flows together: 16 bytes each.
pub const MAX_RECORDED: usize = 20_000_000;
/// The most ways over which the packets of a flow are sprayed.
pub const MAX_WAYS: usize = 256;
/// The most links on the routes of all flows together, there and back.
pub const MAX_ROUTE_LINKS: usize = 10_000_000;
