//! In which parts a network runs, if it runs on several cores: as much work in each, far apart in time, with little between them.
//!
//! What is closer than a certain delay stays together; the delay is the longest with which the work can still be shared out evenly. What
//! stays together is a cluster, and parts grow over the clusters, always by the one that most of the traffic ties to the part; then
//! clusters on the border change sides as long as that saves traffic between parts. All of it follows from the network alone, and
//! the results of a run do not depend on it.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use celltrain_engine::Time;

/// The processes of a network and the streams between them.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    /// The work that each is expected to be, in any unit.
    pub(crate) work: Vec<u64>,
    pub(crate) edges: Vec<Edge>,
}

/// A stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The sender's lookahead.
    pub(crate) lookahead: Time,
    /// What is expected to travel on it, in any unit.
    pub(crate) traffic: u64,
}

/// The part of each process, and what that is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) parts: Vec<usize>,
    /// The shortest lookahead of a stream between two parts; [`Time::MAX`] without one.
    pub(crate) lookahead: Time,
    /// The work of all parts and of the one that has most.
    pub(crate) total: u64,
    pub(crate) most: u64,
}

/// How much more than its share of the work a cluster or a part may be, in hundredths.
const SLACK: u64 = 110;

/// How often the border is gone along.
const PASSES: usize = 4;

impl Processes {
    /// So many parts, at most.
    pub(crate) fn partition(&self, parts: usize) -> Partition {
        let total: u64 = self.work.iter().sum();
        let share = (total / parts as u64).max(1);
        let clusters = self.clusters(share * SLACK / 100);
        let graph = Clusters::new(self, &clusters);
        let mut of_cluster = graph.grow(parts, total);
        for _ in 0..PASSES {
            if !graph.improve(&mut of_cluster, parts, share * SLACK / 100) {
                break;
            }
        }
        self.worth(clusters.iter().map(|&cluster| of_cluster[cluster]).collect(), total)
    }

    /// The cluster of each process, by number: what is closer together than the longest delay at which no cluster is more work than
    /// `most`; if there is none, what is no time apart.
    fn clusters(&self, most: u64) -> Vec<usize> {
        let mut delays: Vec<_> =
            self.edges.iter().map(|edge| edge.lookahead).filter(|&delay| delay > 0).collect();
        delays.sort_unstable();
        delays.dedup();
        let fits = |&delay: &Time| self.heaviest(&self.closer_than(delay)) <= most;
        let place = delays.partition_point(fits).saturating_sub(1);
        self.closer_than(delays.get(place).copied().unwrap_or(1))
    }

    /// The clusters of processes that streams of less than `delay` join.
    fn closer_than(&self, delay: Time) -> Vec<usize> {
        let mut roots: Vec<_> = (0..self.work.len()).collect();
        for edge in self.edges.iter().filter(|edge| edge.lookahead < delay) {
            let (one, other) = (root(&mut roots, edge.from), root(&mut roots, edge.to));
            roots[one.max(other)] = one.min(other);
        }
        let mut numbers = BTreeMap::new();
        (0..roots.len())
            .map(|process| {
                let (root, next) = (root(&mut roots, process), numbers.len());
                *numbers.entry(root).or_insert(next)
            })
            .collect()
    }

    /// The work of the heaviest cluster.
    fn heaviest(&self, clusters: &[usize]) -> u64 {
        let mut work = vec![0; clusters.len()];
        clusters.iter().zip(&self.work).for_each(|(&cluster, one)| work[cluster] += one);
        work.into_iter().max().unwrap_or(0)
    }

    fn worth(&self, parts: Vec<usize>, total: u64) -> Partition {
        let crosses = |edge: &&Edge| parts[edge.from] != parts[edge.to];
        let lookahead = self.edges.iter().filter(crosses).map(|edge| edge.lookahead).min();
        Partition { lookahead: lookahead.unwrap_or(Time::MAX), total, most: self.heaviest(&parts), parts }
    }
}

/// The first process of the tree that `process` is in; the way there becomes shorter.
fn root(roots: &mut [usize], mut process: usize) -> usize {
    while roots[process] != process {
        roots[process] = roots[roots[process]];
        process = roots[process];
    }
    process
}

/// The clusters, and the traffic between them.
#[derive(Debug)]
struct Clusters {
    work: Vec<u64>,
    /// By cluster: its neighbours, and the traffic to and from each.
    neighbours: Vec<Vec<(usize, u64)>>,
}

impl Clusters {
    fn new(processes: &Processes, clusters: &[usize]) -> Self {
        let number = clusters.iter().max().map_or(0, |last| last + 1);
        let mut work = vec![0; number];
        clusters.iter().zip(&processes.work).for_each(|(&cluster, one)| work[cluster] += one);
        let mut traffic: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for edge in &processes.edges {
            let (from, to) = (clusters[edge.from], clusters[edge.to]);
            if from != to {
                *traffic.entry((from, to)).or_default() += edge.traffic;
                *traffic.entry((to, from)).or_default() += edge.traffic;
            }
        }
        let mut neighbours = vec![Vec::new(); number];
        traffic.into_iter().for_each(|((from, to), traffic)| neighbours[from].push((to, traffic)));
        Self { work, neighbours }
    }

    /// The part of each cluster: one part after the other grows until it has its share of what is left.
    fn grow(&self, parts: usize, total: u64) -> Vec<usize> {
        let (mut of_cluster, mut free, mut left) = (vec![None; self.work.len()], 0, total);
        for part in 0..parts {
            let (share, mut work) = (left / (parts - part) as u64, 0);
            let mut border = Border { ties: vec![0; self.work.len()], ordered: BTreeSet::new() };
            loop {
                while of_cluster.get(free).is_some_and(Option::is_some) {
                    free += 1;
                }
                let Some(cluster) = border.first().or((free < self.work.len()).then_some(free)) else {
                    break;
                };
                let with = work + self.work[cluster];
                // Nearer to its share without the cluster than with it.
                if part + 1 < parts && work > 0 && with.saturating_sub(share) > share.saturating_sub(work) {
                    break;
                }
                (of_cluster[cluster], work) = (Some(part), with);
                border.remove(cluster);
                let untaken = |(other, _): &&(usize, u64)| of_cluster[*other].is_none();
                self.neighbours[cluster]
                    .iter()
                    .filter(untaken)
                    .for_each(|&(other, more)| border.tie(other, more));
            }
            left -= work;
        }
        of_cluster.into_iter().map(|part| part.expect("the last part takes what is left")).collect()
    }

    /// Moves clusters to the part that more traffic ties them to, as long as that has room; whether any has moved.
    fn improve(&self, of_cluster: &mut [usize], parts: usize, most: u64) -> bool {
        let mut work = vec![0; parts];
        of_cluster.iter().zip(&self.work).for_each(|(&part, one)| work[part] += one);
        let mut moved = false;
        for cluster in 0..self.work.len() {
            let mut ties = vec![0; parts];
            self.neighbours[cluster].iter().for_each(|&(other, traffic)| ties[of_cluster[other]] += traffic);
            let here = of_cluster[cluster];
            let fits = |&part: &usize| ties[part] > ties[here] && work[part] + self.work[cluster] <= most;
            if let Some(there) = (0..parts).filter(fits).max_by_key(|&part| (ties[part], Reverse(part))) {
                work[here] -= self.work[cluster];
                work[there] += self.work[cluster];
                (of_cluster[cluster], moved) = (there, true);
            }
        }
        moved
    }
}

/// The clusters next to a part that grows.
#[derive(Debug)]
struct Border {
    /// By cluster: the traffic that ties it to the part.
    ties: Vec<u64>,
    /// By that traffic, and of equals the first number last.
    ordered: BTreeSet<(u64, Reverse<usize>)>,
}

impl Border {
    /// The cluster that most ties to the part.
    fn first(&self) -> Option<usize> {
        self.ordered.last().map(|&(_, Reverse(cluster))| cluster)
    }

    fn remove(&mut self, cluster: usize) {
        self.ordered.remove(&(self.ties[cluster], Reverse(cluster)));
    }

    fn tie(&mut self, cluster: usize, more: u64) {
        self.remove(cluster);
        self.ties[cluster] += more;
        self.ordered.insert((self.ties[cluster], Reverse(cluster)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Processes in a row, each with so much work, and the delay from each to the next and back.
    fn row(work: &[u64], delays: &[Time]) -> Processes {
        let edge = |(from, &lookahead): (usize, &Time)| {
            let there = Edge { from, to: from + 1, lookahead, traffic: 10 };
            [there, Edge { from: from + 1, to: from, ..there }]
        };
        Processes { work: work.to_vec(), edges: delays.iter().enumerate().flat_map(edge).collect() }
    }

    #[test]
    fn the_longest_link_is_cut_if_the_work_on_either_side_is_the_same() {
        let partition = row(&[1, 1, 1, 1, 1, 1], &[5, 5, 1000, 5, 5]).partition(2);
        assert_eq!(partition.parts, [0, 0, 0, 1, 1, 1]);
        assert_eq!((partition.lookahead, partition.total, partition.most), (1000, 6, 3));
    }

    #[test]
    fn a_shorter_link_is_cut_if_the_work_is_uneven_otherwise() {
        let partition = row(&[1, 1, 1, 1, 1, 1], &[1000, 5, 20, 5, 5]).partition(2);
        assert_eq!((partition.parts, partition.lookahead), (vec![0, 0, 0, 1, 1, 1], 20));
    }

    #[test]
    fn what_is_no_time_apart_stays_together() {
        let partition = row(&[8, 1, 1, 8], &[0, 0, 0]).partition(2);
        assert_eq!((partition.parts, partition.most), (vec![0; 4], 18));
        let partition = row(&[8, 1, 1, 8], &[0, 3, 0]).partition(3);
        assert_eq!((partition.parts, partition.lookahead), (vec![0, 0, 1, 1], 3));
    }

    #[test]
    fn little_traffic_crosses_where_all_links_are_alike() {
        // Two rings of four, joined by one link.
        let mut edges = Vec::new();
        for ring in [0, 4] {
            for place in 0..4 {
                let (from, to) = (ring + place, ring + (place + 1) % 4);
                edges.push(Edge { from, to, lookahead: 7, traffic: 10 });
            }
        }
        edges.push(Edge { from: 0, to: 7, lookahead: 7, traffic: 1 });
        let partition = Processes { work: vec![1; 8], edges }.partition(2);
        assert_eq!(partition.parts, [0, 0, 0, 0, 1, 1, 1, 1]);
    }

    #[test]
    fn a_network_without_work_or_streams_has_parts_too() {
        assert!(Processes::default().partition(4).parts.is_empty());
        let idle = Processes { work: vec![0; 3], edges: Vec::new() }.partition(2);
        assert_eq!((idle.parts.len(), idle.lookahead), (3, Time::MAX));
    }
}
