//! ABR: the source's rules by scripts, RM cells, the allocators one by one, and all of it in a small loop.

mod allocators;
mod destination;
mod erica;
mod minima;
mod network;
mod properties;
mod rm;
mod script;
