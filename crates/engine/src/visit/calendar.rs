//! In which window something happens in each process.

use std::{cmp::Reverse, collections::BinaryHeap, mem::take};

use crate::time::{NEVER, Time};

/// What happens within so many windows is entered under its window.
const SOON: u64 = 256;

/// In place of the time of a process that is to be visited in the present window.
const DUE: Time = NEVER - 1;

/// When something happens next in each process, and the processes by the windows of those times: window `n` begins at `n` times the length of
/// one.
///
/// A process has one time, but may be entered under others that it had before, which are passed over: a timer may be set anew whenever
/// something arrives, and to take an entry out would cost more.
#[derive(Debug)]
pub(super) struct Calendar {
    length: Time,
    /// The window that is taken out next, at the earliest.
    present: u64,
    next: Vec<Time>,
    /// By the number of the window, modulo [`SOON`].
    soon: Vec<Vec<u32>>,
    /// What happens later than that, and may be there when it happens soon.
    later: BinaryHeap<Reverse<(Time, u32)>>,
    /// The earliest entry of each process in `later`; [`NEVER`] if it has none.
    entered: Vec<Time>,
}

impl Calendar {
    /// Of windows of this length, and so many processes, in which nothing happens.
    pub(super) fn new(length: Time, processes: usize) -> Self {
        Self {
            length,
            present: 0,
            next: vec![NEVER; processes],
            soon: vec![Vec::new(); SOON as usize],
            later: BinaryHeap::new(),
            entered: vec![NEVER; processes],
        }
    }

    /// Clears the calendar, then enters the next time of every process.
    pub(super) fn enter_all(&mut self, times: impl Iterator<Item = Time>) {
        self.soon.iter_mut().for_each(Vec::clear);
        self.later.clear();
        self.entered.fill(NEVER);
        self.next.clear();
        self.next.extend(times);
        self.present = self.first() / self.length;
        (0..self.next.len()).for_each(|process| self.enter(process as u32));
    }

    /// When something happens first.
    pub(super) fn first(&self) -> Time {
        self.next.iter().copied().min().unwrap_or(NEVER)
    }

    /// Whether something happens in a process at `at` or before, or it is due.
    #[inline]
    pub(super) fn knows_of(&self, process: u32, at: Time) -> bool {
        let next = self.next[process as usize];
        next <= at || next == DUE
    }

    /// Nothing happens in a process before `at`, at which something does.
    #[inline]
    pub(super) fn set(&mut self, process: u32, at: Time) {
        self.next[process as usize] = at;
        self.enter(process);
    }

    /// What happens next in a process is being handled.
    #[inline]
    pub(super) fn set_due(&mut self, process: u32) {
        self.next[process as usize] = DUE;
    }

    #[inline]
    fn enter(&mut self, process: u32) {
        let at = self.next[process as usize];
        if at >= DUE {
            return;
        }
        let window = at / self.length;
        assert!(window >= self.present, "nothing happens in a window that has gone by");
        if window - self.present < SOON {
            self.soon[(window % SOON) as usize].push(process);
        } else if at < self.entered[process as usize] {
            self.entered[process as usize] = at;
            self.later.push(Reverse((at, process)));
        }
    }

    /// Goes on to the next window in which something may happen; when that ends, if there is one before `end`.
    pub(super) fn turn(&mut self, end: Time) -> Option<Time> {
        let soon = (self.present..self.present + SOON)
            .find(|window| !self.soon[(window % SOON) as usize].is_empty());
        let later = self.later.peek().map(|Reverse((at, _))| at / self.length);
        let window = soon.into_iter().chain(later).min()?;
        let until = (window + 1).checked_mul(self.length).filter(|&until| until < end)?;
        self.present = window;
        Some(until)
    }

    /// Takes out the processes in which something happens in the present window, which ends at `until`.
    pub(super) fn take_out(&mut self, until: Time, mut due: impl FnMut(u32)) {
        let place = (self.present % SOON) as usize;
        let mut entered = take(&mut self.soon[place]);
        while let Some(&Reverse((at, process))) = self.later.peek()
            && at < until
        {
            self.later.pop();
            if self.entered[process as usize] == at {
                self.entered[process as usize] = NEVER;
                entered.push(process);
            }
        }
        // What is entered from now on is behind this window.
        self.present += 1;
        for process in entered.drain(..) {
            let at = self.next[process as usize];
            if at < until {
                self.set_due(process);
                due(process);
            } else {
                self.enter(process);
            }
        }
        // What happens as many windows later as there are places is there already.
        if self.soon[place].is_empty() {
            self.soon[place] = entered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Randomness;

    /// Windows of 10 until 100, and what is due in each.
    fn windows(calendar: &mut Calendar) -> Vec<(Time, Vec<u32>)> {
        let mut found = Vec::new();
        while let Some(until) = calendar.turn(1_000_000) {
            let mut due = Vec::new();
            calendar.take_out(until, |process| due.push(process));
            due.iter().for_each(|&process| calendar.set(process, NEVER));
            found.push((until, due));
        }
        found
    }

    #[test]
    fn a_process_is_due_in_the_window_of_its_time_alone() {
        let mut calendar = Calendar::new(10, 4);
        // Another time that is earlier, later, soon or not soon takes the place of the one before.
        calendar.enter_all([0, 19, 500_000, NEVER].into_iter());
        calendar.set(1, 600_000);
        calendar.set(2, 25);
        calendar.set(3, 700_000);
        calendar.set(3, 29);
        let due: Vec<_> = windows(&mut calendar).into_iter().filter(|(_, due)| !due.is_empty()).collect();
        assert_eq!(due, [(10, vec![0]), (30, vec![2, 3]), (600_010, vec![1])]);
        assert_eq!(calendar.first(), NEVER);
    }

    /// A timer was set anew, and its outdated entry comes up exactly so many windows before it as there are places.
    #[test]
    fn a_time_one_turn_of_the_places_ahead_is_not_lost() {
        let mut calendar = Calendar::new(10, 2);
        calendar.enter_all([0, 3_000].into_iter());
        calendar.set(1, 3_000 + 10 * SOON);
        let due: Vec<_> = windows(&mut calendar).into_iter().filter(|(_, due)| !due.is_empty()).collect();
        assert_eq!(due, [(10, vec![0]), (3_010 + 10 * SOON, vec![1])]);
    }

    #[test]
    fn nothing_is_due_at_the_end_or_behind_it() {
        let mut calendar = Calendar::new(10, 1);
        calendar.enter_all([95].into_iter());
        assert_eq!(calendar.turn(100), None);
        assert_eq!(calendar.turn(101), Some(100));
    }

    /// Timers that are set anew again and again, near and far, are not kept more than a few times each.
    #[test]
    fn entries_that_no_longer_hold_do_not_pile_up() {
        let mut calendar = Calendar::new(10, 2);
        calendar.enter_all([0, 0].into_iter());
        let mut most = 0;
        for time in (0..1_000_000).step_by(10) {
            calendar.set(0, time + 9);
            calendar.set(1, time + 200_000);
            assert_eq!(calendar.turn(NEVER), Some(time + 10));
            calendar.take_out(time + 10, |process| assert_eq!(process, 0));
            most = most.max(calendar.later.len());
        }
        assert!(most <= 2, "{most} entries");
    }

    /// What is due is what a look at all times finds, whatever they are.
    #[test]
    fn every_time_is_found_in_its_window() {
        const PROCESSES: usize = 8;
        let mut generator = Randomness { seed: 5, replication: 0 }.named("calendar");
        for length in [1, 3, 10] {
            let mut calendar = Calendar::new(length, PROCESSES);
            let mut times = [0; PROCESSES];
            calendar.enter_all(times.into_iter());
            for _ in 0..20_000 {
                let Some(until) = calendar.turn(NEVER - 1) else { break };
                let mut due = Vec::new();
                calendar.take_out(until, |process| due.push(process));
                due.sort_unstable();
                let expected = (0..PROCESSES as u32).filter(|&process| times[process as usize] < until);
                assert_eq!(due, expected.collect::<Vec<_>>(), "until {until}");
                for (process, time) in (0..).zip(&mut times) {
                    let is_due = due.contains(&process);
                    assert_eq!(calendar.knows_of(process, 0), is_due);
                    // Those that are due get a time, and some others another one.
                    if is_due || generator.below(8) == 0 {
                        let magnitude = generator.below(12);
                        *time = until + generator.below(1 << magnitude);
                        calendar.set(process, *time);
                    }
                }
            }
        }
    }
}
