//! What discard policies, scheduling disciplines and rate allocators have in common: an entry in the catalogue, and
//! parameters that can be wrong.

pub use celltrain_engine::registry::{Info, ParamError};
