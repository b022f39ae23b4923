//! A threshold divided among VCs by weight: the share of VC *i* of weight k_i is k_i / (sum of k) of it.
//!
//! The share is fixed, or follows what the VCs use ([`FairShare::adapt`]). It is kept as a ratio, cells for each unit
//! of weight, and compared by cross-multiplication, so that nothing is rounded.

use super::{ParamError, PortContext};
use crate::quantity::Level;

/// The shares of all VCs in a threshold.
#[derive(Debug, Clone)]
pub struct FairShare {
    threshold: i64,
    weights: Vec<i64>,
    total_weight: i64,
    /// Share of a VC of weight one, in cells: numerator and denominator.
    unit: (i64, i64),
}

impl FairShare {
    /// The shares of the port's VCs, all that are set up, in the threshold `level`.
    ///
    /// # Errors
    /// A level that means nothing for the port's buffer.
    pub fn new(level: Level, port: &PortContext<'_>) -> Result<Self, ParamError> {
        let threshold =
            level.cells(port.capacity).map_err(|message| ParamError { key: "threshold", message })?;
        let weights = port.vcs.iter().map(|contract| i64::from(contract.weight)).collect();
        Ok(Self::of(i64::try_from(threshold).unwrap_or(i64::MAX), weights))
    }

    /// The shares of VCs of these weights in `threshold` cells.
    #[must_use]
    pub fn of(threshold: i64, weights: Vec<i64>) -> Self {
        let total_weight = weights.iter().sum();
        Self { threshold, weights, total_weight, unit: (threshold, total_weight) }
    }

    /// The threshold that is divided, in cells.
    #[must_use]
    pub fn threshold(&self) -> u64 {
        self.threshold.unsigned_abs()
    }

    /// The share of a VC of weight one, in cells: numerator and denominator.
    #[must_use]
    pub fn unit(&self) -> (i64, i64) {
        self.unit
    }

    /// Whether `cells` are the share of `vc` or more.
    #[must_use]
    pub fn is_reached(&self, vc: u32, cells: i64) -> bool {
        self.is_at_least(vc, cells, self.unit)
    }

    /// Adapts the shares to what each VC uses, by equation (3) of Wu, Siu and Ren: what VCs below their fixed share
    /// leave of the threshold is divided among the others. If all are below it, the fixed share holds for the first
    /// that is not.
    ///
    /// The equation as printed leaves out a VC that is exactly at its fixed share, and then the sums do not add up to
    /// the queue (1). Here it is one of those above: the rule that discards asks for "at or above" too.
    pub fn adapt(&mut self, sizes: &[i64]) {
        let fixed = (self.threshold, self.total_weight);
        let (mut left, mut weight) = (self.threshold, 0);
        for (vc, &size) in sizes.iter().enumerate() {
            if self.is_at_least(vc as u32, size, fixed) {
                weight += self.weights[vc];
            } else {
                left -= size;
            }
        }
        self.unit = if weight > 0 { (left, weight) } else { fixed };
    }

    fn is_at_least(&self, vc: u32, cells: i64, (numerator, denominator): (i64, i64)) -> bool {
        let weight = self.weights[vc as usize];
        i128::from(cells) * i128::from(denominator) >= i128::from(weight) * i128::from(numerator)
    }
}
