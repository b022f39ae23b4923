//! A model of a port: a queue for each VC, and a line that takes one unit after the other.

use std::collections::VecDeque;

use celltrain_atm::{
    contract::{Category, Contract},
    scheduler::{Discipline, DisciplineName, Priority, Queues, SchedulerParams, ServiceTime, Vcs},
};
use celltrain_engine::{Instant, Slot};

/// The link of the model: a cell or byte takes so long.
pub(crate) const SLOT: Slot = Slot::of_ps(1_000);

/// The service time of the model's link.
pub(crate) fn service() -> ServiceTime {
    ServiceTime::of_cells(SLOT)
}

/// VCs under the default contract but for their weights.
pub(crate) fn weighted(weights: &[u32]) -> Vec<Contract> {
    weights.iter().map(|&weight| Contract { weight, ..Contract::default() }).collect()
}

/// The discipline that `params` chooses for `contracts`, all of one category.
pub(crate) fn discipline(params: &SchedulerParams, contracts: &[Contract]) -> Discipline {
    Discipline::new(params, Vcs::of(Category::default(), contracts, service())).unwrap()
}

/// `discipline` with the default parameters.
pub(crate) fn of(discipline: DisciplineName) -> SchedulerParams {
    SchedulerParams { discipline, ..SchedulerParams::default() }
}

/// What schedulers have in common, the broken ones of the tests too.
pub(crate) trait Serve {
    fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &Store);
    fn next(&mut self, now: Instant, queues: &Store) -> Option<u32>;
    fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &Store);
}

macro_rules! serve {
    ($($scheduler:ty),*) => {
        $(impl Serve for $scheduler {
            fn enqueue(&mut self, vc: u32, size: u32, now: Instant, queues: &Store) {
                Self::enqueue(self, vc, size, now, queues);
            }

            fn next(&mut self, now: Instant, queues: &Store) -> Option<u32> {
                Self::next(self, now, queues)
            }

            fn withdraw(&mut self, vc: u32, size: u32, behind: usize, now: Instant, queues: &Store) {
                Self::withdraw(self, vc, size, behind, now, queues);
            }
        })*
    };
}

serve!(Discipline, Priority);

/// The sizes of the units of each VC.
#[derive(Debug, Clone)]
pub(crate) struct Store(pub(crate) Vec<VecDeque<u32>>);

impl Queues for Store {
    fn size(&self, vc: u32, place: usize) -> Option<u32> {
        self.0[vc as usize].get(place).copied()
    }
}

/// The port. Units come when the link is free, so that the end of a unit's service is the time of what comes next.
#[derive(Debug, Clone)]
pub(crate) struct Port<S> {
    pub(crate) scheduler: S,
    pub(crate) store: Store,
    /// When the link is free.
    now: Instant,
}

impl<S: Serve> Port<S> {
    pub(crate) fn new(scheduler: S, vcs: usize) -> Self {
        Self { scheduler, store: Store(vec![VecDeque::new(); vcs]), now: Instant::default() }
    }

    pub(crate) fn enqueue(&mut self, vc: u32, size: u32) {
        self.store.0[vc as usize].push_back(size);
        self.scheduler.enqueue(vc, size, self.now, &self.store);
    }

    /// Pushes the last unit of `vc` out, if it has one.
    pub(crate) fn withdraw(&mut self, vc: u32) {
        self.withdraw_before(vc, 0);
    }

    /// Pushes that unit of `vc` out that has so many `behind` it, if there is one.
    pub(crate) fn withdraw_before(&mut self, vc: u32, behind: usize) {
        let queue = &mut self.store.0[vc as usize];
        let place = queue.len().checked_sub(behind + 1);
        if let Some(size) = place.and_then(|place| queue.remove(place)) {
            self.scheduler.withdraw(vc, size, behind, self.now, &self.store);
        }
    }

    /// Sends a unit: its VC and size. The line never rests while a unit waits, and no unit is sent that is not there.
    pub(crate) fn next(&mut self) -> Result<Option<(u32, u32)>, String> {
        let waiting: Vec<usize> = self.store.0.iter().map(VecDeque::len).collect();
        let chosen = self.scheduler.next(self.now, &self.store);
        match chosen {
            None if waiting.iter().all(|&units| units == 0) => Ok(None),
            None => Err(format!("nothing was chosen while units wait: {waiting:?}")),
            Some(vc) => match self.store.0[vc as usize].pop_front() {
                Some(size) => {
                    self.now = self.now.plus_slots(SLOT, size.into());
                    Ok(Some((vc, size)))
                }
                None => Err(format!("VC {vc} was chosen, which has nothing to send: {waiting:?}")),
            },
        }
    }
}
