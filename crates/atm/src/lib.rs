//! ATM: cells and frames, and what a port decides about them.
//!
//! A frame crosses the network as a train of cells; lose one and the rest is waste. Everything here is about that:
//! [`aal5`] cuts frames into cells, [`policing`] looks at them where they enter the network, [`buffer`] holds the
//! discard policies, [`scheduler`] the disciplines that say which VC goes next. It knows nothing of TCP: frames are
//! opaque.

pub mod aal5;
pub mod abr;
pub mod buffer;
pub mod catalogue;
pub mod cell;
pub mod contract;
pub mod policing;
pub mod quantity;
pub mod rule;
pub mod scheduler;

pub use cell::Cell;
