//! Each VC's share of what the guarantees of a port's VCs add up to.

use super::PortContext;

/// Weights in proportion to the minimum cell rates of a port's VCs.
#[derive(Debug, Clone)]
pub(super) struct Shares {
    weights: Vec<u64>,
    total: u128,
}

impl Shares {
    /// The shares of the VCs at `port`. Where no VC has a guarantee all shares are equal.
    pub(super) fn new(port: &PortContext<'_>) -> Self {
        let mut weights: Vec<_> = port.vcs.iter().map(|vc| vc.mcr.map_or(0, |rate| rate.0.0)).collect();
        if weights.iter().all(|&weight| weight == 0) {
            weights.fill(1);
        }
        let total = weights.iter().map(|&weight| u128::from(weight)).sum();
        Self { weights, total }
    }

    /// The weight of `vc`, and the sum of all weights.
    pub(super) fn of(&self, vc: u32) -> (u128, u128) {
        (self.weights[vc as usize].into(), self.total)
    }
}
