//! Discard policies behind a model of a buffer that is far simpler than the port: a list of departures.

mod model;
mod policies;
mod trace;
