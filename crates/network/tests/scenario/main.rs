//! Scenario files: what is read, what is refused and how, and the networks that come of them.

mod common;
mod contracts;
mod files;
mod framings;
mod graph;
mod groups;
mod limits;
mod marks;
mod mutations;
mod passage;
mod ranges;
mod shipped;
mod stops;
mod tables;
