//! A port's state given in numbers: what a policy is tested with.

use super::{Needs, PortState, View};

/// A port's state as it stands when a unit arrives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snapshot {
    /// Size of the buffer in its units.
    pub capacity: u64,
    /// What each VC has in the buffer.
    pub by_vc: Vec<u64>,
    /// How much of it has CLP = 1.
    pub low_priority: u64,
    /// The frame of each VC that can be pushed out.
    pub last_frames: Vec<Option<u64>>,
    /// Whether units are packets.
    pub packets: bool,
    /// Whether the unit at hand finds no room even though the buffer as a whole has some: below a limit of its VC, or
    /// for a packet as large as it is.
    pub limited: bool,
}

impl Snapshot {
    /// A buffer of `capacity` that holds so much of each VC.
    #[must_use]
    pub fn of(capacity: u64, by_vc: &[u64]) -> Self {
        Self { capacity, by_vc: by_vc.to_vec(), ..Self::default() }
    }

    /// The view by a unit that is the `first` of its frame, or not.
    #[must_use]
    pub fn view<N: Needs>(&self, first: bool) -> View<'_, N, Self> {
        View::new(self, first)
    }
}

impl PortState for Snapshot {
    fn capacity(&self) -> u64 {
        self.capacity
    }

    fn occupancy(&self) -> u64 {
        self.by_vc.iter().sum()
    }

    fn is_full(&self) -> bool {
        self.limited || self.occupancy() >= self.capacity
    }

    fn is_buffer_full(&self) -> bool {
        self.occupancy() >= self.capacity
    }

    fn is_vc_full(&self) -> bool {
        false
    }

    fn is_packet(&self) -> bool {
        self.packets
    }

    fn vc_occupancy(&self, vc: u32) -> u64 {
        self.by_vc.get(vc as usize).copied().unwrap_or_default()
    }

    fn clp_occupancy(&self, clp: bool) -> u64 {
        if clp { self.low_priority } else { self.occupancy() - self.low_priority }
    }

    fn active_vcs(&self) -> u64 {
        self.by_vc.iter().filter(|&&occupancy| occupancy > 0).count() as u64
    }

    fn last_frame(&self, vc: u32) -> Option<u64> {
        self.last_frames.get(vc as usize).copied().flatten()
    }

    fn is_too_large(&self) -> bool {
        false
    }

    /// That frame alone.
    fn waiting_frames(&self, vc: u32, _: bool) -> u64 {
        self.last_frame(vc).is_some().into()
    }

    /// All that the VC has in the buffer.
    fn waiting_load(&self, vc: u32, _: bool) -> u64 {
        self.vc_occupancy(vc)
    }

    fn holds_more(&self, load: u64) -> bool {
        self.occupancy() > load
    }
}
