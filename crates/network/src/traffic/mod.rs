//! Models of traffic: when and how much sources send, whatever carries it.

pub mod long_range;
