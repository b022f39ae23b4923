//! Schedulers in front of a model of a port that is far simpler than the port: a list of units a VC.

mod deficits;
mod disciplines;
mod dual_queue;
mod flow_queue;
mod fluid;
mod forgetting;
mod gps;
mod latency;
mod link;
mod model;
mod pgps;
mod priority;
mod refunds;
mod shares;
