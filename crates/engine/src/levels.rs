//! Levels of processes: which can be visited one after the other, each once, for all that happens within a window of time.

use crate::time::Time;

/// A way on which one process sends to another.
#[derive(Debug, Clone, Copy)]
pub struct Way {
    /// The process that sends.
    pub from: u32,
    /// The process that it sends to.
    pub to: u32,
    /// The time that passes on it at the least.
    pub lookahead: Time,
}

/// The ways between processes.
#[derive(Debug)]
pub struct Ways {
    /// In the order of the processes that they come from.
    ways: Vec<Way>,
    /// Where the ways of each process begin, and where those of the last one end.
    begins: Vec<usize>,
}

impl Ways {
    /// The ways between so many processes, in any order.
    #[must_use]
    pub fn new(processes: usize, mut ways: Vec<Way>) -> Self {
        ways.sort_by_key(|way| way.from);
        let begins = (0..=processes).map(|process| ways.partition_point(|way| (way.from as usize) < process));
        Self { begins: begins.collect(), ways }
    }

    /// The longest window such that every cycle has a way that takes no less. `None` if there is a cycle in which no time passes, or no way on
    /// which any does.
    #[must_use]
    pub fn longest_window(&self) -> Option<Time> {
        let mut windows: Vec<_> = self.ways.iter().map(|way| way.lookahead).collect();
        windows.sort_unstable();
        windows.dedup();
        let found = windows.partition_point(|&window| self.levels(window).is_some());
        windows[..found].last().copied().filter(|&window| window > 0)
    }

    /// The level of each process: above those of all from which a way leads there that takes less than `window`. `None` if such ways form
    /// a cycle.
    #[must_use]
    pub fn levels(&self, window: Time) -> Option<Vec<u32>> {
        let ahead = |process: usize| {
            let ways = &self.ways[self.begins[process]..self.begins[process + 1]];
            ways.iter().filter(move |way| way.lookahead < window).map(|way| way.to as usize)
        };
        let processes = self.begins.len() - 1;
        let (mut levels, mut below) = (vec![0; processes], vec![0u32; processes]);
        (0..processes).flat_map(ahead).for_each(|reader| below[reader] += 1);
        // Those whose level is known.
        let mut known: Vec<_> = (0..processes).filter(|&process| below[process] == 0).collect();
        let mut done = 0;
        while let Some(&process) = known.get(done) {
            done += 1;
            for reader in ahead(process) {
                levels[reader] = levels[reader].max(levels[process] + 1);
                below[reader] -= 1;
                if below[reader] == 0 {
                    known.push(reader);
                }
            }
        }
        (done == processes).then_some(levels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(processes: usize, ways: &[(u32, u32, Time)]) -> Ways {
        let way = |&(from, to, lookahead): &(u32, u32, Time)| Way { from, to, lookahead };
        Ways::new(processes, ways.iter().map(way).collect())
    }

    #[test]
    fn no_cycle_has_only_ways_shorter_than_the_window() {
        // Two cycles, of which one takes 5 on its longest way and the other 7; a way of 9 is on none.
        let two = ways(4, &[(0, 1, 0), (1, 0, 5), (1, 2, 7), (2, 1, 3), (2, 3, 9)]);
        assert_eq!(two.longest_window(), Some(5));
        assert_eq!(two.levels(5), Some(vec![0, 1, 0, 0]));
        assert_eq!(two.levels(7), None);
    }

    #[test]
    fn without_a_cycle_the_longest_way_is_a_window() {
        let row = ways(3, &[(2, 1, 4), (1, 0, 6)]);
        assert_eq!(row.longest_window(), Some(6));
        assert_eq!(row.levels(6), Some(vec![0, 1, 0]));
        assert_eq!(row.levels(7), Some(vec![2, 1, 0]));
    }

    #[test]
    fn there_is_no_window_where_no_time_passes_in_a_cycle() {
        assert_eq!(ways(3, &[(0, 1, 0), (1, 0, 0), (1, 2, 8)]).longest_window(), None);
        assert_eq!(ways(2, &[(0, 1, 0)]).longest_window(), None);
        assert_eq!(ways(1, &[]).longest_window(), None);
    }
}
