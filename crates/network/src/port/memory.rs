//! The memory that the output ports of a switch share.
//!
//! Dynamic thresholds (Choudhury and Hahne 1998): at time t a port may hold T(t) = α (B - Q(t)), where B is the size of the memory and Q(t) what
//! all ports hold of it. Some of the memory always stays free, and a port that becomes busy finds it at once.

use celltrain_atm::quantity::Ratio;

use crate::scenario::MemorySpec;

/// The memory of a switch. The process of the switch lends it to each of its ports while that handles an event.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    /// In the unit of the ports' buffers, as all that follows.
    size: u64,
    alpha: Ratio,
    /// What all ports hold of it.
    held: u64,
}

impl SharedMemory {
    /// An empty memory.
    pub(crate) fn new(spec: &MemorySpec) -> Self {
        Self { size: spec.size.units(), alpha: spec.alpha, held: 0 }
    }

    /// What all ports hold of it.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Whether a port that holds `own` may take `size` more, once it has given `given` of what it holds back.
    pub(super) fn has_space(&self, own: u64, given: u64, size: u32) -> bool {
        let free = self.size - (self.held - given);
        u64::from(size) <= free && self.alpha.cmp_fraction((own - given).into(), free.into()).is_gt()
    }

    /// A port takes `size` of it.
    pub(super) fn take(&mut self, size: u32) {
        let held = self.held.saturating_add(size.into());
        assert!(held <= self.size, "the policy accepted a unit into a full memory");
        self.held = held;
    }

    /// A port gives `size` back.
    pub(super) fn give(&mut self, size: u32) {
        self.held = self.held.checked_sub(size.into()).expect("what leaves the memory has entered it");
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::quantity::{Capacity, Unit};

    use super::*;

    fn memory(size: u64, alpha: f64) -> SharedMemory {
        let alpha = Ratio::try_from(alpha).expect("a ratio");
        SharedMemory::new(&MemorySpec { size: Capacity(Some(size), Unit::Packets), alpha })
    }

    #[test]
    fn a_port_alone_fills_its_share_and_no_more() {
        // T = α (B - Q), Q = T: αB/(1 + α).
        for (alpha, most) in [(0.5, 34), (1.0, 50), (2.0, 67), (8.0, 89)] {
            let mut memory = memory(100, alpha);
            let mut own = 0;
            while memory.has_space(own, 0, 1) {
                memory.take(1);
                own += 1;
            }
            assert_eq!(own, most, "{alpha}");
        }
    }

    #[test]
    fn what_a_port_would_give_back_counts_as_free() {
        let mut memory = memory(10, 1.0);
        (0..5).for_each(|_| memory.take(1));
        assert!(!memory.has_space(5, 0, 1) && memory.has_space(5, 1, 1));
        // The others hold all of it but what this port would give back.
        (0..5).for_each(|_| memory.take(1));
        assert!(memory.has_space(1, 1, 1) && !memory.has_space(1, 1, 2));
    }
}
