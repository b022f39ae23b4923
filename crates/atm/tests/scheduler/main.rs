//! Schedulers in front of a model of a port that is far simpler than the port: a list of units a VC.

mod deficits;
mod disciplines;
mod fluid;
mod gps;
mod model;
#[expect(
    dead_code,
    reason = "push-outs and the order of units are checked once arrivals count from their instants"
)]
mod pgps;
mod priority;
mod shares;
