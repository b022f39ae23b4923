//! Discard policies behind a model of a port that is far simpler than the port: a list of the cells in its buffer.

mod accounts;
mod aqm;
mod cobalt;
mod dualpi2;
mod dualpi2_steps;
mod espd;
mod fair_share;
mod fq_codel;
mod heads;
mod model;
mod policies;
mod push_out;
mod push_out_hardware;
mod random;
mod thresholds;
mod trace;
mod virtual_queuing;
