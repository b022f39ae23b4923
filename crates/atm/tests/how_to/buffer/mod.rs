pub(crate) use celltrain_atm::{buffer::*, catalogue::ParamError};

#[expect(unreachable_pub, reason = "it is public where the page puts it")]
mod hysteresis;
