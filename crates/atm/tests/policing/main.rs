//! Contracts, and the policing of what is beyond them.

mod contract;
mod frames;
mod gcra;
