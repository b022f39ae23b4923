//! Models of traffic: when and how much sources send, whatever carries it.

pub(crate) mod arrivals;
pub(crate) mod lengths;
pub mod long_range;
mod mmpp;
pub(crate) mod request_response;
pub mod sizes;
pub(crate) mod source;
pub(crate) mod unit;
mod varying;
