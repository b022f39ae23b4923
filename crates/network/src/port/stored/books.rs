//! Who has to know of every unit that enters or leaves a buffer, beside the port itself: at most ports nobody.

use celltrain_engine::Instant;

use crate::{measures::Levels, memory::SharedMemory, port::queues::Unit};

/// The memory of the switch, the number of ABR cells, and how long the buffer held how much.
#[derive(Debug)]
pub(in crate::port) struct Books {
    /// Whether there are any of them.
    any: bool,
    /// The same but for the memory.
    own: bool,
    /// Whether units of the buffer are not all alike, so that their number does not tell whether there is room.
    unlike: bool,
    /// The same, or any of them.
    asks: bool,
    /// The memory of the switch, lent while an event is handled, if the port shares it.
    memory: Option<Box<SharedMemory>>,
    /// The link on which each VC comes, by its number among those that lead to the switch; empty where none is paused.
    ingress: Vec<usize>,
    /// Which VCs are ABR, and how many cells of theirs are in the buffer.
    abr: Vec<bool>,
    abr_queue: u64,
    /// How long the buffer held how much, if that is followed.
    levels: Option<Box<Levels>>,
}

impl Books {
    /// `abr`: which VCs are ABR; `ingress` as in [`super::Queuing`]; `unlike`: whether units have sizes, or limits of their VCs.
    pub(super) fn new(abr: Vec<bool>, ingress: Vec<usize>, unlike: bool) -> Self {
        let any = abr.contains(&true);
        Self {
            any,
            own: any,
            unlike,
            asks: any || unlike,
            memory: None,
            ingress,
            abr,
            abr_queue: 0,
            levels: None,
        }
    }

    #[inline]
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Whether more than the number of units in the buffer may decide on room in it.
    #[inline]
    pub(super) fn decide_on_room(&self) -> bool {
        self.asks
    }

    fn set_any(&mut self, any: bool) {
        (self.any, self.asks) = (any, any || self.unlike);
    }

    /// Until it is given back, what enters the buffer takes of `memory`, and what leaves it gives back to it.
    pub(in crate::port) fn lend(&mut self, memory: &mut Option<Box<SharedMemory>>) {
        self.memory = memory.take();
        self.set_any(self.any || self.memory.is_some());
    }

    /// See [`Books::lend`].
    pub(in crate::port) fn give_back(&mut self, memory: &mut Option<Box<SharedMemory>>) {
        *memory = self.memory.take();
        self.set_any(self.own);
    }

    #[inline]
    pub(super) fn memory(&self) -> Option<&SharedMemory> {
        self.memory.as_deref()
    }

    /// The link on which `vc` comes, if it can be paused.
    pub(in crate::port) fn ingress(&self, vc: u32) -> Option<usize> {
        self.ingress.get(vc as usize).copied()
    }

    /// Which VCs come on link `link`.
    pub(super) fn vcs_of(&self, link: usize) -> impl Iterator<Item = u32> {
        (0..).zip(&self.ingress).filter(move |(_, ingress)| **ingress == link).map(|(vc, _)| vc)
    }

    pub(super) fn abr_queue(&self) -> u64 {
        self.abr_queue
    }

    /// Follows from `now` on how long the buffer holds how much.
    pub(super) fn follow_levels(&mut self, now: Instant) {
        self.levels = Some(Box::new(Levels::from(now)));
        self.own = true;
        self.set_any(true);
    }

    pub(super) fn levels(&self) -> Option<&Levels> {
        self.levels.as_deref()
    }

    /// Until `now`, when that changes, `level` units were in the buffer.
    fn note_level(&mut self, level: u64, now: Instant) {
        if let Some(levels) = &mut self.levels {
            levels.hold(level, now);
        }
    }

    /// A unit enters the buffer, which held `level` units.
    #[inline(never)]
    pub(super) fn note_entered(&mut self, unit: &Unit, level: u64) {
        let vc = unit.cell.vc;
        self.note_level(level, unit.at);
        self.abr_queue += u64::from(self.abr[vc as usize]);
        let ingress = self.ingress(vc);
        if let Some(memory) = &mut self.memory {
            memory.take(unit.size, ingress);
        }
    }

    /// A unit leaves the buffer at `now`, which held `level` units.
    #[inline(never)]
    pub(super) fn note_left(&mut self, unit: &Unit, level: u64, now: Instant) {
        let vc = unit.cell.vc;
        self.note_level(level, now);
        self.abr_queue -= u64::from(self.abr[vc as usize]);
        let ingress = self.ingress(vc);
        if let Some(memory) = &mut self.memory {
            memory.give(unit.size, ingress);
        }
    }
}
