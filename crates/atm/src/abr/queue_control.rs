//! Queue control: ERICA+ leaves part of the capacity unallocated to drain a queue, and allocates more than there is to
//! build up a short one, which keeps the link busy.

use celltrain_engine::{
    quantity::Duration,
    time::{MICROSECOND, seconds},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::within;
use crate::catalogue::ParamError;

/// The function f of the queueing delay by which the capacity is multiplied, or what minimum rates leave of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The queueing delay aimed at (T0), where f is 1.
    pub target_delay: Duration,
    /// How fast f falls above the target (a).
    #[schemars(range(min = 1, max = 10))]
    pub a: f64,
    /// Value of f for an empty queue (b).
    #[schemars(range(min = 1, max = 10))]
    pub b: f64,
    /// The least value of f: the queue drain limit factor (QDLF).
    #[schemars(range(min = 0, max = 1))]
    pub qdlf: f64,
    /// The shape of f.
    pub shape: Shape,
}

/// The shape of f, whose slopes at the target are set by a and b.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// A hyperbola below the target and one above it (Kalyanaraman 1997, page 180).
    #[default]
    Hyperbolic,
    /// A straight line below the target and one above it, which fall by b - 1 and by a - 1 for each target delay
    /// (Vandalore et al. 1998, without the level part around the target).
    Linear,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target_delay: Duration(500 * MICROSECOND),
            a: 1.15,
            b: 1.05,
            qdlf: 0.5,
            shape: Shape::Hyperbolic,
        }
    }
}

impl Params {
    /// # Errors
    /// A parameter outside its range.
    pub(super) fn check(&self) -> Result<(), ParamError> {
        if self.target_delay == Duration(0) {
            let message = "a target of no delay leaves no queue to control: give a longer one".into();
            return Err(ParamError { key: "queue-control.target-delay", message });
        }
        within("queue-control.a", self.a, 1.0, 10.0)?;
        within("queue-control.b", self.b, 1.0, 10.0)?;
        within("queue-control.qdlf", self.qdlf, 0.0, 1.0)
    }

    /// f for a queue of `queue` cells that drains at `capacity` cells a second. Without capacity there is nothing to
    /// multiply: 1.
    #[must_use]
    pub fn factor(&self, queue: u64, capacity: f64) -> f64 {
        if capacity <= 0.0 {
            return 1.0;
        }
        // The delay as a multiple of the target.
        let delay = queue as f64 / capacity / seconds(self.target_delay.ps());
        let (a, b) = (self.a, self.b);
        match (delay <= 1.0, self.shape) {
            (true, Shape::Hyperbolic) => b / ((b - 1.0) * delay + 1.0),
            (true, Shape::Linear) => b - (b - 1.0) * delay,
            (false, Shape::Hyperbolic) => self.qdlf.max(a / ((a - 1.0) * delay + 1.0)),
            (false, Shape::Linear) => self.qdlf.max(1.0 - (a - 1.0) * (delay - 1.0)),
        }
    }
}
