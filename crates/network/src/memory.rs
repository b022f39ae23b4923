//! The memory that the output ports of a switch share.
//!
//! Dynamic thresholds (Choudhury and Hahne 1998): at time t a port may hold T(t) = α (B - Q(t)), where B is the size of the memory and Q(t) what
//! all ports hold of it. Some of the memory always stays free, and a port that becomes busy finds it at once.

use std::iter::zip;

use celltrain_atm::quantity::Ratio;

use crate::scenario::{MemorySpec, PauseSpec};

/// The memory of a switch. The process of the switch lends it to each of its ports while that handles an event.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    /// In the unit of the ports' buffers, as all that follows.
    size: u64,
    alpha: Ratio,
    /// What all ports hold of it.
    held: u64,
    pause: Option<Pauses>,
}

/// When links are paused, and what is held of what came on each of them.
#[derive(Debug)]
struct Pauses {
    xoff: u64,
    xon: u64,
    links: Vec<Ingress>,
    /// What is to be sent to the ports at the other ends, in this order.
    signals: Vec<Signal>,
}

/// A link that leads to the switch.
#[derive(Debug, Clone, Default)]
struct Ingress {
    held: u64,
    paused: bool,
}

/// A pause of a link, by its number among those that lead to the switch, or the end of one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signal {
    pub(crate) link: usize,
    pub(crate) pause: bool,
}

impl Pauses {
    fn new(spec: &PauseSpec, links: usize) -> Self {
        let links = vec![Ingress::default(); links];
        Self { xoff: spec.xoff.units(), xon: spec.xon.units(), links, signals: Vec::new() }
    }

    fn take(&mut self, link: usize, size: u32) {
        let ingress = &mut self.links[link];
        ingress.held += u64::from(size);
        if !ingress.paused && ingress.held > self.xoff {
            ingress.paused = true;
            self.signals.push(Signal { link, pause: true });
        }
    }

    fn give(&mut self, link: usize, size: u32) {
        let ingress = &mut self.links[link];
        ingress.held = ingress.held.checked_sub(size.into()).expect("what leaves has come on its link");
        if ingress.paused && ingress.held <= self.xon {
            ingress.paused = false;
            self.signals.push(Signal { link, pause: false });
        }
    }
}

impl SharedMemory {
    /// An empty memory of a switch to which so many links lead.
    pub(crate) fn new(spec: &MemorySpec, links: usize) -> Self {
        let pause = spec.pause.map(|pause| Pauses::new(&pause, links));
        Self { size: spec.size.units(), alpha: spec.alpha, held: 0, pause }
    }

    /// Takes out what is to be sent to the ports at the other ends of links.
    pub(crate) fn signals(&mut self) -> impl Iterator<Item = Signal> {
        self.pause.iter_mut().flat_map(|pause| pause.signals.drain(..))
    }

    /// At which level a link may transmit again, if any is paused.
    pub(crate) fn xon(&self) -> Option<u64> {
        self.pause.as_ref().map(|pause| pause.xon)
    }

    /// What it holds of all that came on links.
    pub(crate) fn came(&self) -> Option<u64> {
        self.pause.as_ref().map(|pause| pause.links.iter().map(|link| link.held).sum())
    }

    /// What all ports hold of it.
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// Whether a port that holds `own` may take `size` more, once it has given `given` of what it holds back.
    pub(crate) fn has_space(&self, own: u64, given: u64, size: u32) -> bool {
        let free = self.size - (self.held - given);
        if self.pause.is_some() {
            return u64::from(size) <= free;
        }
        u64::from(size) <= free && self.alpha.cmp_fraction((own - given).into(), free.into()).is_gt()
    }

    /// How much of it is free.
    pub(crate) fn free(&self) -> u64 {
        self.size - self.held
    }

    /// Whether links are paused, and what came on each of them is counted.
    pub(crate) fn pauses(&self) -> bool {
        self.pause.is_some()
    }

    /// Whether a port that holds `own` may take `more` in any case, where all ports take `total` before anything is given back: as
    /// [`SharedMemory::has_space`] says of each unit.
    pub(crate) fn has_space_for(&self, own: u64, more: u64, total: u64) -> bool {
        let Some(free) = self.free().checked_sub(total) else { return false };
        self.pause.is_some() || self.alpha.cmp_fraction((own + more).into(), free.into()).is_gt()
    }

    /// Whether none of its links is paused, and none will be when so much more has come on each.
    pub(crate) fn pauses_none(&self, more: impl Iterator<Item = u64>) -> bool {
        let Some(pause) = &self.pause else { return true };
        zip(&pause.links, more).all(|(link, more)| !link.paused && link.held + more <= pause.xoff)
    }

    /// The ports, which held `before`, hold `after`; who counts what came on links is told of each unit instead.
    pub(crate) fn change(&mut self, before: u64, after: u64) {
        assert!(self.pause.is_none(), "units come on links that may be paused");
        self.held = self.held - before + after;
        assert!(self.held <= self.size, "more is in a memory than fits");
    }

    /// A port takes `size` of it for what came on `link`.
    pub(crate) fn take(&mut self, size: u32, link: Option<usize>) {
        let held = self.held.saturating_add(size.into());
        assert!(held <= self.size, "the policy accepted a unit into a full memory");
        self.held = held;
        if let (Some(pause), Some(link)) = (&mut self.pause, link) {
            pause.take(link, size);
        }
    }

    /// A port gives `size` back.
    pub(crate) fn give(&mut self, size: u32, link: Option<usize>) {
        if let (Some(pause), Some(link)) = (&mut self.pause, link) {
            pause.give(link, size);
        }
        self.held = self.held.checked_sub(size.into()).expect("what leaves the memory has entered it");
    }
}

#[cfg(test)]
mod tests {
    use celltrain_atm::quantity::{Capacity, Unit};
    use celltrain_engine::random::Randomness;

    use super::*;

    fn memory(size: u64, alpha: f64) -> SharedMemory {
        let alpha = Ratio::try_from(alpha).expect("a ratio");
        SharedMemory::new(&MemorySpec { size: Capacity(Some(size), Unit::Packets), alpha, pause: None }, 0)
    }

    #[test]
    fn a_port_alone_fills_its_share_and_no_more() {
        // T = α (B - Q), Q = T: αB/(1 + α).
        for (alpha, most) in [(0.5, 34), (1.0, 50), (2.0, 67), (8.0, 89)] {
            let mut memory = memory(100, alpha);
            let mut own = 0;
            while memory.has_space(own, 0, 1) {
                memory.take(1, None);
                own += 1;
            }
            assert_eq!(own, most, "{alpha}");
        }
    }

    #[test]
    fn a_link_is_paused_above_one_level_and_goes_on_at_the_other() {
        let level = |count| Capacity(Some(count), Unit::Packets);
        let pause = PauseSpec { xoff: level(3), xon: level(1) };
        let spec = MemorySpec { size: level(10), alpha: Ratio::ONE, pause: Some(pause) };
        let mut memory = SharedMemory::new(&spec, 2);
        let mut signals = |take: bool, link| {
            if take {
                memory.take(1, Some(link));
            } else {
                memory.give(1, Some(link));
            }
            memory.signals().map(|signal| (signal.link, signal.pause)).collect::<Vec<_>>()
        };
        let steps =
            [(true, 0), (true, 0), (true, 1), (true, 0), (true, 0), (true, 0), (false, 0), (false, 0)];
        let sent = steps.map(|(take, link)| signals(take, link));
        let paused: Vec<_> = sent.iter().enumerate().filter(|(_, sent)| !sent.is_empty()).collect();
        assert_eq!(paused, [(4, &vec![(0, true)])], "when the fourth unit comes on the link, and once");
        assert_eq!(signals(false, 0), []);
        assert_eq!(signals(false, 0), [(0, false)], "at xon");
    }

    /// A switch that pauses links has no thresholds: what is sent until a pause takes effect finds room while there is any.
    #[test]
    fn a_memory_with_pauses_is_filled_to_the_last_unit() {
        let level = |count| Capacity(Some(count), Unit::Packets);
        let pause = PauseSpec { xoff: level(3), xon: level(1) };
        let spec = MemorySpec { size: level(10), alpha: Ratio::ONE, pause: Some(pause) };
        let mut memory = SharedMemory::new(&spec, 1);
        for own in 0..10 {
            assert!(memory.has_space(own, 0, 1), "{own} of 10");
            memory.take(1, Some(0));
        }
        assert!(!memory.has_space(10, 0, 1));
    }

    /// What was counted ahead and fits finds room in every order, whatever is given back meanwhile: the ports need not know of each other.
    #[test]
    fn what_fits_in_any_case_finds_room_whenever_it_comes() {
        let mut generator = Randomness { seed: 1, replication: 0 }.named("memory");
        let mut fitting = 0;
        for _ in 0..2000 {
            let mut memory =
                memory(20 + generator.below(60), [0.25, 0.5, 1.0, 3.0][generator.below(4) as usize]);
            let mut held = [0; 3].map(|_| generator.below(20));
            memory.held = held.iter().sum::<u64>().min(memory.size);
            held[2] = memory.held.saturating_sub(held[0] + held[1]);
            if held.iter().sum::<u64>() != memory.held {
                continue;
            }
            let mut more = [0; 3].map(|_| generator.below(6));
            let total = more.iter().sum();
            if !zip(held, more).all(|(own, more)| more == 0 || memory.has_space_for(own, more, total)) {
                continue;
            }
            fitting += 1;
            while more.iter().any(|&more| more > 0) {
                let port = generator.below(3) as usize;
                if more[port] > 0 {
                    assert!(memory.has_space(held[port], 0, 1), "{memory:?}, {held:?}, {more:?}");
                    memory.take(1, None);
                    (held[port], more[port]) = (held[port] + 1, more[port] - 1);
                } else if held[port] > 0 && generator.below(2) == 0 {
                    memory.give(1, None);
                    held[port] -= 1;
                }
            }
        }
        assert!(fitting > 200, "{fitting}");
    }

    #[test]
    fn no_link_is_paused_by_what_it_has_room_for() {
        let level = |count| Capacity(Some(count), Unit::Packets);
        let pause = PauseSpec { xoff: level(3), xon: level(1) };
        let spec = MemorySpec { size: level(10), alpha: Ratio::ONE, pause: Some(pause) };
        let mut memory = SharedMemory::new(&spec, 2);
        memory.take(1, Some(1));
        assert!(memory.pauses_none([3, 2].into_iter()) && !memory.pauses_none([0, 3].into_iter()));
        (0..3).for_each(|_| memory.take(1, Some(1)));
        assert!(!memory.pauses_none([0, 0].into_iter()), "a link is paused already");
    }

    #[test]
    fn what_a_port_would_give_back_counts_as_free() {
        let mut memory = memory(10, 1.0);
        (0..5).for_each(|_| memory.take(1, None));
        assert!(!memory.has_space(5, 0, 1) && memory.has_space(5, 1, 1));
        // The others hold all of it but what this port would give back.
        (0..5).for_each(|_| memory.take(1, None));
        assert!(memory.has_space(1, 1, 1) && !memory.has_space(1, 1, 2));
    }
}
