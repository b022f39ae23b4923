//! In which parts a network runs, if it runs on several cores: as much work in each, far apart in time, with little between them.
//!
//! What is closer than a certain delay stays together; the delay is the longest with which the work can still be shared out evenly. What
//! stays together is a cluster, and parts grow over the clusters, always by the one that most of the traffic ties to the part; then
//! clusters on the border change sides as long as that saves traffic between parts. They grow by groups of clusters too, as one
//! cluster after the other would part what belongs together; the partition with the lightest burden is taken. The results of a run do
//! not depend on it.

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

/// A stream, or what else goes from one process to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// The sender's lookahead; [`Time::MAX`] if nobody has to wait for it.
    pub(crate) lookahead: Time,
    /// What its crossing from one part to another costs either, in the unit of work.
    pub(crate) traffic: u64,
}

impl Edge {
    /// The contents of the frames that one process sends to another.
    pub(crate) fn tie(from: usize, to: usize, traffic: u64) -> Self {
        Self { from, to, lookahead: Time::MAX, traffic }
    }
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
        let most = share * SLACK / 100;
        let clusters = self.clusters(most);
        let graph = Clusters::new(self, &clusters);
        let grown = [0, share / 8, share / 4, share / 2].map(|group| {
            let mut of_cluster = graph.grow_in_groups(parts, total, group);
            graph.improve_all(&mut of_cluster, parts, most);
            clusters.iter().map(|&cluster| of_cluster[cluster]).collect::<Vec<_>>()
        });
        let best = grown.into_iter().min_by_key(|parts| self.burden(parts)).expect("there is one");
        self.worth(best, total)
    }

    /// The cluster of each process, by number: what is closer together than the longest delay at which no cluster is more work than
    /// `most`; if there is none, what is no time apart.
    fn clusters(&self, most: u64) -> Vec<usize> {
        let mut delays: Vec<_> = self
            .edges
            .iter()
            .map(|edge| edge.lookahead)
            .filter(|&delay| 0 < delay && delay < Time::MAX)
            .collect();
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
        numbered(roots)
    }

    /// The work of the heaviest cluster.
    fn heaviest(&self, clusters: &[usize]) -> u64 {
        let mut work = vec![0; clusters.len()];
        clusters.iter().zip(&self.work).for_each(|(&cluster, one)| work[cluster] += one);
        work.into_iter().max().unwrap_or(0)
    }

    /// The work of the part that has most, what crosses its border included.
    pub(crate) fn burden(&self, parts: &[usize]) -> u64 {
        let mut burden = vec![0; parts.iter().max().map_or(1, |last| last + 1)];
        parts.iter().zip(&self.work).for_each(|(&part, work)| burden[part] += work);
        for edge in self.edges.iter().filter(|edge| parts[edge.from] != parts[edge.to]) {
            [edge.from, edge.to].iter().for_each(|&end| burden[parts[end]] += edge.traffic / 2);
        }
        burden.into_iter().max().unwrap_or(0)
    }

    fn worth(&self, parts: Vec<usize>, total: u64) -> Partition {
        let crosses = |edge: &&Edge| parts[edge.from] != parts[edge.to];
        let lookahead = self.edges.iter().filter(crosses).map(|edge| edge.lookahead).min();
        Partition { lookahead: lookahead.unwrap_or(Time::MAX), total, most: self.heaviest(&parts), parts }
    }
}

/// The first process of the tree that `process` is in; the way there becomes shorter.
pub(crate) fn root(roots: &mut [usize], mut process: usize) -> usize {
    while roots[process] != process {
        roots[process] = roots[roots[process]];
        process = roots[process];
    }
    process
}

/// The number of the tree that each is in.
fn numbered(mut roots: Vec<usize>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    (0..roots.len())
        .map(|place| {
            let (root, next) = (root(&mut roots, place), numbers.len());
            *numbers.entry(root).or_insert(next)
        })
        .collect()
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
        let ties = processes.edges.iter().map(|edge| (edge.from, edge.to, edge.traffic));
        Self::joined(&processes.work, ties, clusters)
    }

    /// All that is in one of `groups` as one cluster.
    fn joined(each: &[u64], ties: impl Iterator<Item = (usize, usize, u64)>, groups: &[usize]) -> Self {
        let number = groups.iter().max().map_or(0, |last| last + 1);
        let mut work = vec![0; number];
        groups.iter().zip(each).for_each(|(&group, one)| work[group] += one);
        let mut traffic: BTreeMap<(usize, usize), u64> = BTreeMap::new();
        for (from, to, more) in ties {
            let (from, to) = (groups[from], groups[to]);
            if from != to {
                *traffic.entry((from, to)).or_default() += more;
                *traffic.entry((to, from)).or_default() += more;
            }
        }
        let mut neighbours = vec![Vec::new(); number];
        traffic.into_iter().for_each(|((from, to), traffic)| neighbours[from].push((to, traffic)));
        Self { work, neighbours }
    }

    /// Each two of them once that traffic ties together.
    fn ties(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.neighbours.iter().enumerate().flat_map(|(one, others)| {
            let once = others.iter().filter(move |(other, _)| one < *other);
            once.map(move |&(other, traffic)| (one, other, traffic))
        })
    }

    /// As [`Clusters::grow`], by groups of up to `most` work that much traffic ties together.
    fn grow_in_groups(&self, parts: usize, total: u64, most: u64) -> Vec<usize> {
        let mut ties: Vec<_> = self.ties().collect();
        ties.sort_unstable_by_key(|&(one, other, traffic)| (Reverse(traffic), one, other));
        let (mut roots, mut work): (Vec<_>, _) = ((0..self.work.len()).collect(), self.work.clone());
        for (one, other, _) in ties {
            let (one, other) = (root(&mut roots, one), root(&mut roots, other));
            let (first, second) = (one.min(other), one.max(other));
            if first != second && work[first] + work[second] <= most {
                (roots[second], work[first]) = (first, work[first] + work[second]);
            }
        }
        let groups = numbered(roots);
        let graph = Self::joined(&self.work, self.ties(), &groups);
        let mut of_group = graph.grow(parts, total);
        graph.improve_all(&mut of_group, parts, total / parts as u64 * SLACK / 100);
        groups.into_iter().map(|group| of_group[group]).collect()
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

    /// As [`Clusters::improve`], a few times.
    fn improve_all(&self, of_cluster: &mut [usize], parts: usize, most: u64) {
        for _ in 0..PASSES {
            if !self.improve(of_cluster, parts, most) {
                break;
            }
        }
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

    /// Two pairs of hosts that send through one port, 2.
    fn pairs(ties: impl IntoIterator<Item = Edge>) -> Processes {
        let edge = |(from, to)| Edge { from, to, lookahead: 7, traffic: 10 };
        let streams = [(0, 2), (1, 2), (2, 3), (2, 4)].map(edge);
        Processes { work: vec![100, 100, 20, 100, 100], edges: streams.into_iter().chain(ties).collect() }
    }

    #[test]
    fn the_ends_of_a_flow_stay_together_because_of_what_its_frames_contain() {
        let ties = [Edge::tie(0, 3, 50), Edge::tie(1, 4, 50)];
        let partition = pairs(ties).partition(2);
        let [one, other, _, one_end, other_end] = partition.parts[..] else { panic!("five processes") };
        assert_eq!((one, other), (one_end, other_end));
        assert_ne!(one, other);
        // Nobody waits for them.
        assert_eq!(partition.lookahead, 7);
    }

    #[test]
    fn what_crosses_is_a_burden_to_both_parts() {
        let processes = pairs([Edge::tie(0, 4, 50)]);
        assert_eq!(processes.burden(&[0; 5]), 420);
        assert_eq!(processes.burden(&[0, 0, 0, 1, 1]), 220 + 5 + 5 + 25);
    }

    #[test]
    fn a_network_without_work_or_streams_has_parts_too() {
        assert!(Processes::default().partition(4).parts.is_empty());
        let idle = Processes { work: vec![0; 3], edges: Vec::new() }.partition(2);
        assert_eq!((idle.parts.len(), idle.lookahead), (3, Time::MAX));
    }
}
