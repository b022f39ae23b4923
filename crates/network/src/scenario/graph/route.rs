//! Routes: the way with the fewest links, and the same way back.

use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroU32,
};

use celltrain_engine::random::Generator;

use super::{
    super::spec::{Framing, NodeKind, Weights},
    link::Link,
    nodes::Node,
    parts::Way,
    poll::{Poll, Stop},
};

/// Finds routes in a network. Hosts pass nothing on, so only switches stand inside a route.
///
/// Of ways with equally few links the one with the smaller link indices is taken: first link, then last, then those
/// between, as a breadth-first search meets them.
pub(super) struct Router<'a> {
    nodes: &'a [Node],
    links: &'a [Link],
    /// The first link between two nodes: a switch may have too many to search.
    between: BTreeMap<(usize, usize), usize>,
    /// Indices of the links that leave each node, ascending.
    outputs: Vec<Vec<usize>>,
    /// Indices of the links that reach each node, ascending.
    inputs: Vec<Vec<usize>>,
    /// The number of each switch among the switches.
    switch_number: Vec<usize>,
    switches: usize,
    /// Trees from the switches asked for so far.
    trees: BTreeMap<usize, Tree>,
    /// How many links each switch is away from a host, by the switch in front of that.
    distances: BTreeMap<usize, Vec<Option<u32>>>,
    /// Links looked at so far to make them.
    searched: usize,
}

/// How many branches of trees are kept at the most, beyond those that a flow at hand needs: 64 MB of them.
const MAX_BRANCHES: usize = 1 << 23;

/// The shortest ways from one switch to all others: for each, how many links away it is and the last of them.
type Tree = Vec<Option<Branch>>;

/// Half as large as with `usize`: there is a tree for each switch that flows enter, with a branch for every switch.
#[derive(Debug, Clone, Copy)]
struct Branch {
    distance: u32,
    /// No link leads to the root.
    link: Option<NonZeroU32>,
}

impl Branch {
    const ROOT: Self = Self { distance: 0, link: None };

    fn new(distance: u32, link: usize) -> Self {
        let number = u32::try_from(link + 1).ok().and_then(NonZeroU32::new);
        Self { distance, link: Some(number.expect("there are no more than 2 MAX_NODES links")) }
    }

    /// The last link on the way from the root, if it is not the root itself.
    fn link(self) -> Option<usize> {
        self.link.map(|number| number.get() as usize - 1)
    }
}

impl<'a> Router<'a> {
    /// Over all links, or those of one framing.
    pub(super) fn new(
        nodes: &'a [Node],
        links: &'a [Link],
        framing: Option<Framing>,
        poll: &mut Poll<'_>,
    ) -> Result<Self, Stop> {
        let mut outputs = vec![Vec::new(); nodes.len()];
        let mut inputs = vec![Vec::new(); nodes.len()];
        let mut between = BTreeMap::new();
        for (index, link) in links.iter().enumerate() {
            poll.after(1)?;
            if framing.is_some_and(|framing| framing != link.framing) {
                continue;
            }
            outputs[link.from].push(index);
            inputs[link.to].push(index);
            between.entry((link.from, link.to)).or_insert(index);
        }
        let mut switches = 0;
        let switch_number = nodes
            .iter()
            .map(|node| {
                switches += usize::from(node.kind == NodeKind::Switch);
                switches.saturating_sub(1)
            })
            .collect();
        Ok(Self {
            nodes,
            links,
            between,
            outputs,
            inputs,
            switch_number,
            switches,
            trees: BTreeMap::new(),
            distances: BTreeMap::new(),
            searched: 0,
        })
    }

    /// Links looked at so far in searches.
    pub(super) fn searched(&self) -> usize {
        self.searched
    }

    /// The first link from one node to another.
    pub(super) fn link(&self, from: usize, to: usize) -> Option<usize> {
        self.between.get(&(from, to)).copied()
    }

    /// The same way in the other direction, if its links are duplex.
    pub(super) fn reverse(&self, route: &[usize]) -> Option<Vec<usize>> {
        route.iter().rev().map(|link| self.link(self.links[*link].to, self.links[*link].from)).collect()
    }

    /// The links of a shortest way from one host to another.
    pub(super) fn shortest(&mut self, from: usize, to: usize) -> Option<Vec<usize>> {
        if let Some(direct) = self.link(from, to) {
            return Some(vec![direct]);
        }
        if self.trees.len() * self.switches > MAX_BRANCHES {
            self.trees.clear();
        }
        let mut best: Option<(u32, usize, usize)> = None;
        for first in self.outputs[from].clone() {
            let entry = self.links[first].to;
            if self.nodes[entry].kind != NodeKind::Switch {
                continue;
            }
            self.plant(entry);
            let tree = &self.trees[&entry];
            for &last in &self.inputs[to] {
                let exit = self.links[last].from;
                if self.nodes[exit].kind == NodeKind::Switch
                    && let Some(branch) = tree[self.switch_number[exit]]
                {
                    let candidate = (branch.distance, first, last);
                    best = Some(best.map_or(candidate, |best| best.min(candidate)));
                }
            }
        }
        best.map(|(_, first, last)| self.climb(first, last))
    }

    /// The links of one of the shortest ways from one host to another, which `choice` picks at each switch among those that lead there
    /// (equal-cost multipath).
    pub(super) fn one_of_shortest(
        &mut self,
        from: usize,
        to: usize,
        weights: Weights,
        choice: &mut Generator,
    ) -> Option<Vec<usize>> {
        let (first, last) = self.ends(from, to)?;
        if first == last {
            return Some(vec![first]);
        }
        let exit = self.exit(first, last)?;
        let (mut node, mut route) = (self.links[first].to, vec![first]);
        while node != exit {
            let ways = self.closer(node, exit);
            let link = match weights {
                Weights::Equal => ways[choice.below(ways.len() as u64) as usize],
                Weights::Rate => self.drawn(&ways, weights, choice.unit()),
            };
            route.push(link);
            node = self.links[link].to;
        }
        route.push(last);
        Some(route)
    }

    /// The share of packets, or of flows, that takes each of `links` to go on.
    fn shares(&self, links: &[usize], weights: Weights) -> impl Iterator<Item = (usize, f64)> {
        let weight = move |link: usize| match weights {
            Weights::Equal => 1.0,
            Weights::Rate => self.links[link].rate.0 as f64,
        };
        let all: f64 = links.iter().map(|&link| weight(link)).sum();
        links.iter().map(move |&link| (link, weight(link) / all))
    }

    /// The one of `links` where `draw`, from 0 to 1, falls.
    fn drawn(&self, links: &[usize], weights: Weights, mut draw: f64) -> usize {
        for (link, share) in self.shares(links, weights) {
            if draw < share {
                return link;
            }
            draw -= share;
        }
        // The shares may add up to a little less than one.
        links[links.len() - 1]
    }

    /// The shortest ways from one host to another that begin and end with the same links, each with the share of packets that takes it if
    /// every switch chooses by `weights`. If there are more than `most` of them, more than `most` beginnings of some.
    pub(super) fn all_shortest(
        &mut self,
        from: usize,
        to: usize,
        weights: Weights,
        most: usize,
    ) -> Option<Vec<Way>> {
        let (first, last) = self.ends(from, to)?;
        let mut ways: Vec<Way> = vec![vec![first].into()];
        if first == last {
            return Some(ways);
        }
        let exit = self.exit(first, last)?;
        // All of them are equally long, and a beginning of one is a beginning of one or more.
        while ways.len() <= most && self.links[*ways[0].route.last()?].to != exit {
            ways = ways.iter().flat_map(|way| self.longer(way, exit, weights)).collect();
        }
        ways.iter_mut().for_each(|way| way.route.push(last));
        Some(ways)
    }

    /// The beginnings of ways to the switch `exit` that are longer than `way` by a link.
    fn longer(&mut self, way: &Way, exit: usize, weights: Weights) -> Vec<Way> {
        let node = self.links[way.route[way.route.len() - 1]].to;
        let next = self.closer(node, exit);
        self.searched += self.outputs[node].len();
        let longer = |(link, share)| Way {
            route: way.route.iter().copied().chain([link]).collect(),
            share: way.share * share,
        };
        self.shares(&next, weights).map(longer).collect()
    }

    /// The first and the last link of the ways from one host to another: its own where a host has one link alone, else those of the
    /// shortest way.
    fn ends(&mut self, from: usize, to: usize) -> Option<(usize, usize)> {
        if let ([first], [last]) = (&self.outputs[from][..], &self.inputs[to][..]) {
            return Some((*first, *last));
        }
        let route = self.shortest(from, to)?;
        Some((route[0], route[route.len() - 1]))
    }

    /// The switch in front of the last of several links, if the first one leads there in the end. How far others are from it is known then.
    fn exit(&mut self, first: usize, last: usize) -> Option<usize> {
        let (entry, exit) = (self.links[first].to, self.links[last].from);
        if [entry, exit].iter().any(|&node| self.nodes[node].kind == NodeKind::Host) {
            return None;
        }
        if self.distances.len() * self.switches > MAX_BRANCHES {
            self.distances.clear();
        }
        self.measure(exit);
        self.away(entry, exit).map(|_| exit)
    }

    /// How many links the switch `node` is away from the switch `exit`, which was measured.
    fn away(&self, node: usize, exit: usize) -> Option<u32> {
        self.distances[&exit][self.switch_number[node]]
    }

    /// The links that lead from a switch to those nearer to the switch `exit` by one link, which there are.
    fn closer(&self, node: usize, exit: usize) -> Vec<usize> {
        let away = self.away(node, exit).expect("there is a way");
        let is_closer = |&&link: &&usize| {
            let next = self.links[link].to;
            self.nodes[next].kind == NodeKind::Switch && self.away(next, exit) == Some(away - 1)
        };
        self.outputs[node].iter().filter(is_closer).copied().collect()
    }

    /// Finds how far every switch is from the switch `exit`, unless that is known: a breadth-first search against the links.
    fn measure(&mut self, exit: usize) {
        if self.distances.contains_key(&exit) {
            return;
        }
        let mut distances = vec![None; self.switches];
        distances[self.switch_number[exit]] = Some(0);
        let mut queue = VecDeque::from([(exit, 0)]);
        while let Some((node, distance)) = queue.pop_front() {
            self.searched += self.inputs[node].len();
            for &link in &self.inputs[node] {
                let next = self.links[link].from;
                if self.nodes[next].kind == NodeKind::Switch && distances[self.switch_number[next]].is_none()
                {
                    distances[self.switch_number[next]] = Some(distance + 1);
                    queue.push_back((next, distance + 1));
                }
            }
        }
        self.distances.insert(exit, distances);
    }

    /// The links from `first` to `last`, both included.
    fn climb(&self, first: usize, last: usize) -> Vec<usize> {
        let tree = &self.trees[&self.links[first].to];
        let mut route = vec![last];
        let mut node = self.links[last].from;
        while let Some(link) = tree[self.switch_number[node]].and_then(Branch::link) {
            route.push(link);
            node = self.links[link].from;
        }
        route.push(first);
        route.reverse();
        route
    }

    /// Makes the tree of a switch, unless it exists: a breadth-first search over switches.
    fn plant(&mut self, root: usize) {
        if self.trees.contains_key(&root) {
            return;
        }
        let mut tree: Tree = vec![None; self.switches];
        tree[self.switch_number[root]] = Some(Branch::ROOT);
        let mut queue = VecDeque::from([(root, 0)]);
        while let Some((node, distance)) = queue.pop_front() {
            self.searched += self.outputs[node].len();
            for &link in &self.outputs[node] {
                let next = self.links[link].to;
                if self.nodes[next].kind == NodeKind::Switch && tree[self.switch_number[next]].is_none() {
                    tree[self.switch_number[next]] = Some(Branch::new(distance + 1, link));
                    queue.push_back((next, distance + 1));
                }
            }
        }
        self.trees.insert(root, tree);
    }
}
