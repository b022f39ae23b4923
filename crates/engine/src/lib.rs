//! The engine: time, streams with horizons, the visiting of processes, named random numbers, fingerprint.
//!
//! There is no global event queue. A model is a graph of processes (a host, a switch port) joined by streams (a link with
//! its delay). A [`stream::Stream`] holds what travels on a link in time order, as trains, and a horizon: nothing will
//! be added to it that arrives before. A process takes its inputs up to the smallest of their horizons, merges them in
//! time order ([`merge::Merge`]), appends to its outputs and moves their horizons on; [`visit::run`] goes round the
//! processes until all have reached the end. That is conservative parallel simulation with lookahead (Chandy, Misra,
//! Bryant). Any order and any length of visits give the same result. [`parts::run`] goes round several parts of a model at
//! once, each in a thread of its own, with the same result again.
//!
//! The engine knows nothing of ATM or TCP.

pub mod alone;
pub mod common_rate;
mod far;
pub mod fingerprint;
mod instant;
mod key;
mod keys;
pub mod levels;
mod logarithm;
pub mod merge;
pub mod names;
pub mod parts;
pub mod quantity;
pub mod random;
pub mod registry;
pub mod stream;
mod tied;
pub mod time;
mod train;
pub mod visit;
pub mod weave;
mod whole;

pub use fingerprint::Fingerprint;
pub use instant::{Instant, SPARE_BITS, Slot, Span, SpanSum};
pub use time::Time;
