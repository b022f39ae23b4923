//! Round-robin service pretended on a FIFO: a variable for each VC, and the list of the VCs whose turn comes.
//!
//! Every accepted cell raises the variable of its VC. Every cell sent, whosever it is, lowers the variable of the VC
//! whose turn it is, as if that VC had been served from a queue of its own. A variable is not lowered below a bound: at
//! the bound a VC has no turn until its next cell. So the list holds exactly the VCs above the bound.
//!
//! The sum of the variables is the occupancy (Wu, Siu and Ren, theorem 1). As long as none of them touches the bound,
//! each is the number of the VC's cells accepted so far less the number of rounds, times its weight (theorem 2).

use std::collections::VecDeque;

/// The variables and the list of turns.
#[derive(Debug, Clone)]
pub struct Turns {
    /// The variable of each VC, in cells: the virtual queue.
    sizes: Vec<i64>,
    /// How often each VC is served in a round.
    weights: Vec<i64>,
    /// What the variables are not lowered below: -w.
    bound: i64,
    /// The list L: VCs above the bound, in the order of their turns.
    list: VecDeque<u32>,
    /// Services that the first VC in the list has had in its turn.
    served: i64,
    /// The VC whose turn ends the round.
    last: Option<u32>,
}

impl Turns {
    /// Turns of VCs of these weights, whose variables begin at 0 and go down to `-w`.
    #[must_use]
    pub fn new(weights: Vec<i64>, w: i64) -> Self {
        let list: VecDeque<_> = if w > 0 { (0..weights.len() as u32).collect() } else { VecDeque::new() };
        let last = list.back().copied();
        Self { sizes: vec![0; weights.len()], weights, bound: -w, list, served: 0, last }
    }

    /// The variable of each VC, in cells.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// A cell of `vc` is accepted.
    pub fn accept(&mut self, vc: u32) {
        let size = &mut self.sizes[vc as usize];
        *size += 1;
        if *size == self.bound + 1 {
            self.list.push_back(vc);
            self.last.get_or_insert(vc);
        }
    }

    /// A cell is sent, of whatever VC: one service for the VC whose turn it is. Returns whether that ended a round:
    /// whether the VC that was last in the list when the round began has had its turn.
    pub fn serve(&mut self) -> bool {
        let Some(&vc) = self.list.front() else { return false };
        let size = &mut self.sizes[vc as usize];
        *size -= 1;
        self.served += 1;
        if *size > self.bound && self.served < self.weights[vc as usize] {
            return false;
        }
        self.served = 0;
        self.list.pop_front();
        if *size > self.bound {
            self.list.push_back(vc);
        }
        let round_ends = self.last == Some(vc);
        if round_ends {
            self.last = self.list.back().copied();
        }
        round_ends
    }
}
