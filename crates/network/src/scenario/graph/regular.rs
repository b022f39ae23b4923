//! Random graphs that are connected and whose nodes all have as many neighbours.
//!
//! A graph of a known shape is drawn out of order: two edges, chosen at random, exchange their ends, many times. That keeps the
//! number of neighbours. Should the graph fall apart, further exchanges join its components.

use std::collections::BTreeSet;

use celltrain_engine::random::Randomness;

/// Exchanges tried per edge. (chosen): enough that nothing of the first shape is left.
const EXCHANGES: usize = 10;

/// The edges of a connected graph in which each of `nodes` nodes has `degree` neighbours, drawn from `seed`.
///
/// `degree` is at least 2 and below `nodes`, and one of the two is even.
pub(super) fn regular(nodes: usize, degree: usize, seed: u64) -> Vec<(usize, usize)> {
    let mut graph = Edges::circulant(nodes, degree);
    let mut generator = Randomness { seed, replication: 0 }.named("links of the random topology");
    let count = graph.every.len();
    let mut drawn = |bound: usize| generator.below(bound as u64) as usize;
    for _ in 0..EXCHANGES * count {
        let (one, other, turned) = (drawn(count), drawn(count), drawn(2) == 1);
        graph.exchange(one, other, turned);
    }
    graph.connect(nodes);
    graph.every
}

/// The edges of a simple graph.
struct Edges {
    every: Vec<(usize, usize)>,
    /// The same with the smaller node first.
    known: BTreeSet<(usize, usize)>,
}

impl Edges {
    fn of(every: Vec<(usize, usize)>) -> Self {
        let known: BTreeSet<_> = every.iter().map(|&(a, b)| ordered(a, b)).collect();
        assert_eq!(known.len(), every.len(), "no two nodes are joined twice");
        Self { every, known }
    }

    /// Node i meets i + 1, i + 2, … around a circle, and the one opposite where `degree` is odd.
    fn circulant(nodes: usize, degree: usize) -> Self {
        let around =
            (1..=degree / 2).flat_map(|step| (0..nodes).map(move |node| (node, (node + step) % nodes)));
        let across = (0..(degree % 2) * nodes / 2).map(|node| (node, node + nodes / 2));
        Self::of(around.chain(across).collect())
    }

    /// Puts a-c and b-d in the place of a-b and c-d, or of a-b and d-c if `turned`, unless a node would then be joined to itself or
    /// twice to another; whether it did.
    fn exchange(&mut self, one: usize, other: usize, turned: bool) -> bool {
        let ((a, b), (mut c, mut d)) = (self.every[one], self.every[other]);
        if turned {
            (c, d) = (d, c);
        }
        let (first, second) = (ordered(a, c), ordered(b, d));
        if a == c || b == d || self.known.contains(&first) || self.known.contains(&second) {
            return false;
        }
        self.known.remove(&ordered(a, b));
        self.known.remove(&ordered(c, d));
        self.known.extend([first, second]);
        (self.every[one], self.every[other]) = (first, second);
        true
    }

    /// Joins components until there is one.
    ///
    /// An edge on a cycle exchanges ends with an edge of another component. What it leaves stays connected, and both parts of what the
    /// other edge leaves are joined to it; so each exchange leaves one component fewer.
    fn connect(&mut self, nodes: usize) {
        while let Some((spare, elsewhere)) = self.apart(nodes) {
            assert!(self.exchange(spare, elsewhere, false), "edges of two components have no node in common");
        }
    }

    /// An edge on a cycle and an edge of another component, if there are two.
    fn apart(&self, nodes: usize) -> Option<(usize, usize)> {
        let mut components = Components((0..nodes).collect());
        let closing = self.every.iter().map(|&(a, b)| !components.unite(a, b)).collect::<Vec<_>>();
        // Where every node has two neighbours each component has a cycle.
        let spare = closing.iter().position(|&closes| closes)?;
        let home = components.of(self.every[spare].0);
        let elsewhere = self.every.iter().position(|&(a, _)| components.of(a) != home)?;
        Some((spare, elsewhere))
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

/// Which nodes are connected: each points to another of its component, the last to itself.
struct Components(Vec<usize>);

impl Components {
    fn of(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    /// Whether `a` and `b` were in two components, which are one now.
    fn unite(&mut self, a: usize, b: usize) -> bool {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a] = b;
        a != b
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(nodes: usize, edges: &[(usize, usize)]) -> usize {
        let mut components = Components((0..nodes).collect());
        nodes - edges.iter().filter(|&&(a, b)| components.unite(a, b)).count()
    }

    fn degrees(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
        (0..nodes).map(|node| edges.iter().filter(|&&(a, b)| a == node || b == node).count()).collect()
    }

    #[test]
    fn every_graph_is_simple_regular_and_connected() {
        for nodes in 3..24 {
            for degree in (2..nodes).filter(|degree| nodes * degree % 2 == 0) {
                for seed in 0..20 {
                    let edges = regular(nodes, degree, seed);
                    assert_eq!(degrees(nodes, &edges), vec![degree; nodes]);
                    assert_eq!(components(nodes, &edges), 1, "{nodes} nodes of {degree}, seed {seed}");
                    assert!(edges.iter().all(|(a, b)| a != b));
                    Edges::of(edges);
                }
            }
        }
    }

    #[test]
    fn components_are_joined() {
        // Four triangles.
        let triangle = |first: usize| [(first, first + 1), (first + 1, first + 2), (first, first + 2)];
        let mut graph = Edges::of([0, 3, 6, 9].into_iter().flat_map(triangle).collect());
        assert_eq!(components(12, &graph.every), 4);
        graph.connect(12);
        assert_eq!(components(12, &graph.every), 1);
        assert_eq!(degrees(12, &graph.every), vec![2; 12]);
    }

    #[test]
    fn the_seed_decides_the_edges() {
        let sorted = |seed| Edges::of(regular(30, 4, seed)).known;
        assert_eq!(sorted(1), sorted(1));
        let first = sorted(1);
        let kept = |other: &BTreeSet<_>| first.intersection(other).count();
        // Of 60 edges 60 * 4 / 29 are in both of two random graphs, on average 8.
        assert!(kept(&sorted(2)) < 25);
        assert!(kept(&Edges::circulant(30, 4).known) < 25);
    }
}
