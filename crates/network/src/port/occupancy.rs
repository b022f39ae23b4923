//! Per-VC occupancy of a buffer: an observer of either service.

use std::fmt;

use super::queues::Unit;

/// What each VC, and each priority, has in a buffer, in the unit of its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct VcOccupancy {
    vcs: Vec<OfVc>,
    by_clp: [u64; 2],
    active: u64,
    /// If somebody looks at those VCs.
    busy: Option<Box<BusyVcs>>,
}

/// The VCs that have something in a buffer.
#[derive(Debug, Clone)]
struct BusyVcs {
    /// In any order.
    vcs: Vec<u32>,
    /// Where in it each VC is that is there.
    places: Vec<u32>,
}

impl BusyVcs {
    fn new(vcs: usize) -> Self {
        Self { vcs: Vec::new(), places: vec![0; vcs] }
    }

    fn add(&mut self, vc: u32) {
        self.places[vc as usize] = self.vcs.len() as u32;
        self.vcs.push(vc);
    }

    fn remove(&mut self, vc: u32) {
        let place = self.places[vc as usize];
        self.vcs.swap_remove(place as usize);
        if let Some(&moved) = self.vcs.get(place as usize) {
            self.places[moved as usize] = place;
        }
    }
}

/// Whether the same VCs are busy.
impl PartialEq for BusyVcs {
    fn eq(&self, other: &Self) -> bool {
        let sorted = |busy: &Self| {
            let mut vcs = busy.vcs.clone();
            vcs.sort_unstable();
            vcs
        };
        sorted(self) == sorted(other)
    }
}

impl Eq for BusyVcs {}

/// What of a VC is in the buffer, and how many of its units have left, pushed out or sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct OfVc {
    held: u64,
    left: u64,
}

impl VcOccupancy {
    /// Of an empty buffer that `vcs` VCs cross.
    pub(super) fn new(vcs: usize) -> Self {
        Self { vcs: vec![OfVc::default(); vcs], by_clp: [0; 2], active: 0, busy: None }
    }

    /// The same with a list of the VCs that have something there, if `lists`.
    pub(super) fn listing(self, lists: bool) -> Self {
        Self { busy: lists.then(|| Box::new(BusyVcs::new(self.vcs.len()))), ..self }
    }

    /// A unit of `vc` enters the buffer; returns what the VC has there then.
    #[inline]
    pub(super) fn enter(&mut self, vc: u32, clp: bool, size: u32) -> u64 {
        let (held, size) = (&mut self.vcs[vc as usize].held, u64::from(size));
        if *held == 0 {
            self.active += 1;
            if let Some(busy) = &mut self.busy {
                busy.add(vc);
            }
        }
        *held += size;
        self.by_clp[usize::from(clp)] += size;
        *held
    }

    /// A unit of `vc` leaves the buffer.
    // Inlined by force into the two loops of stored ports.
    #[inline(always)]
    pub(super) fn leave(&mut self, vc: u32, clp: bool, size: u32) {
        let (of_vc, size) = (&mut self.vcs[vc as usize], u64::from(size));
        for sum in [&mut of_vc.held, &mut self.by_clp[usize::from(clp)]] {
            *sum = sum.checked_sub(size).expect("what leaves the buffer has entered it");
        }
        of_vc.left += 1;
        if of_vc.held == 0 {
            self.active -= 1;
            if let Some(busy) = &mut self.busy {
                busy.remove(vc);
            }
        }
    }

    /// So many units of `vc` enter the buffer, each when the one before it leaves.
    #[inline]
    pub(super) fn pass(&mut self, vc: u32, units: u64) {
        self.vcs[vc as usize].left += units;
    }

    /// What is in the buffer.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.by_clp[0] + self.by_clp[1]
    }

    /// What `vc` has in the buffer.
    #[inline]
    pub(super) fn of_vc(&self, vc: u32) -> u64 {
        self.vcs[vc as usize].held
    }

    /// What is in the buffer with priority `clp`.
    #[inline]
    pub(super) fn of_clp(&self, clp: bool) -> u64 {
        self.by_clp[usize::from(clp)]
    }

    /// VCs that have something in the buffer.
    #[inline]
    pub(super) fn active(&self) -> u64 {
        self.active
    }

    /// Those VCs in any order, if they are listed.
    #[inline]
    pub(super) fn busy(&self) -> Option<&[u32]> {
        self.busy.as_deref().map(|busy| &busy.vcs[..])
    }

    /// Counts again: what each VC has in the buffer is the sum of its `units` there, and they and those that have left are what was
    /// `accepted` of it.
    ///
    /// # Panics
    /// If it is not so.
    pub(super) fn check<'a>(
        &self,
        port: fmt::Arguments<'_>,
        accepted: impl Iterator<Item = u64>,
        units: impl Iterator<Item = &'a Unit>,
    ) {
        let mut again = Self::new(self.vcs.len()).listing(self.busy.is_some());
        let mut counts: Vec<_> = self.vcs.iter().map(|vc| vc.left).collect();
        std::iter::zip(&mut again.vcs, &counts).for_each(|(vc, &left)| vc.left = left);
        units.for_each(|unit| {
            again.enter(unit.cell.vc, unit.cell.clp, unit.size);
            counts[unit.cell.vc as usize] += 1;
        });
        assert_eq!(again, *self, "{port}: what is in the buffer, counted again");
        for (vc, (accepted, counted)) in accepted.zip(counts).enumerate() {
            assert_eq!(accepted, counted, "{port}: units of VC {vc} accepted, in the buffer or gone");
        }
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::Cell;
    use celltrain_engine::random::Randomness;

    use super::*;

    /// A buffer of two cells of VC 0 and one of VC 1, and the cells.
    fn three_cells() -> (VcOccupancy, Vec<Unit>) {
        let unit = |vc| Unit { cell: Cell { vc, ..Cell::default() }, size: 1, ..Unit::default() };
        let (mut occupancy, units) = (VcOccupancy::new(2), [0, 1, 0].map(unit));
        for unit in &units {
            occupancy.enter(unit.cell.vc, false, 1);
        }
        (occupancy, units.into())
    }

    #[test]
    fn what_is_there_is_what_was_counted() {
        let (mut occupancy, mut units) = three_cells();
        occupancy.check(format_args!("port"), [2, 1].into_iter(), units.iter());
        occupancy.leave(0, false, 1);
        units.remove(0);
        occupancy.check(format_args!("port"), [2, 1].into_iter(), units.iter());
    }

    #[test]
    #[should_panic(expected = "what is in the buffer, counted again")]
    fn a_departure_booked_to_another_vc_is_found() {
        let (mut occupancy, mut units) = three_cells();
        occupancy.leave(1, false, 1);
        units.remove(0);
        occupancy.check(format_args!("port"), [2, 1].into_iter(), units.iter());
    }

    /// Whatever enters and leaves, the list has the VCs of which something is there, each once.
    #[test]
    fn busy_vcs_are_those_that_hold_something() {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("busy");
        let mut occupancy = VcOccupancy::new(20).listing(true);
        for step in 0..5_000 {
            let vc = generator.below(20) as u32;
            // For 500 steps more enters than leaves, then more leaves than enters.
            if generator.below(10) < if step / 500 % 2 == 0 { 6 } else { 3 } {
                occupancy.enter(vc, false, 1 + generator.below(3) as u32);
            } else if occupancy.of_vc(vc) > 0 {
                occupancy.leave(vc, false, 1);
            }
            let mut busy = occupancy.busy().expect("a list").to_vec();
            busy.sort_unstable();
            let holds = (0..20).filter(|&vc| occupancy.of_vc(vc) > 0);
            assert!(holds.eq(busy), "after {step} steps: {occupancy:?}");
        }
        assert!(VcOccupancy::new(20).busy().is_none());
    }
}
