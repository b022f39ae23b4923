//! Networks of hosts, switches and links, described by scenario files, and what is measured in them.
//!
//! [`scenario`] reads a file and makes a graph; [`run::Experiment`] builds the processes and runs them.

pub mod audit;
mod build;
pub mod capture;
mod channel;
mod conservation;
mod discards;
mod division;
mod events;
mod few;
mod flight;
mod free;
mod host;
pub mod live;
mod locks;
pub mod max_min;
pub mod measures;
mod memory;
pub mod network;
mod node;
mod partition;
mod parts;
pub mod port;
mod rate_control;
pub mod run;
pub mod scenario;
mod shaper;
mod slots;
mod switch;
pub mod table;
pub mod traffic;

pub use run::{Experiment, Options, RunResult};
