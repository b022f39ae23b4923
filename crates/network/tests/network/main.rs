//! Proof that networks of hosts, ports and links do what they should, seen from outside: scenario in, results out.

mod abr;
mod admission;
mod aqm;
mod common;
mod dualpi2;
mod golden;
mod identities;
mod oracles;
mod queued;
mod schedule;
mod threads;
mod trace;
