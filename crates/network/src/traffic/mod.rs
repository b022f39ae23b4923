//! Models of traffic: when and how much sources send, whatever carries it.

pub(crate) mod arrivals;
pub mod long_range;
pub(crate) mod request_response;
pub mod sizes;
pub(crate) mod source;
mod varying;
