//! The parameters of policies, disciplines and allocators, those that are not chosen too: a fault would show only when somebody chooses
//! them.

use celltrain_atm::{
    abr::AllocatorParams, buffer::DiscardParams, catalogue::ParamError, scheduler::SchedulerParams,
};

use super::{
    super::{error::Problem, spec::Spec},
    range::Checked,
};

/// Checks what does not depend on the port that uses it.
pub(super) fn check(spec: &Spec) -> Checked {
    let switch = &spec.switch;
    of_port("switch", Some(&switch.discard), Some(&switch.scheduler), switch.allocator.as_ref())?;
    spec.port.iter().enumerate().try_for_each(|(index, port)| {
        let key = format!("port.{index}");
        of_port(&key, port.discard.as_ref(), port.scheduler.as_ref(), port.allocator.as_ref())
    })
}

fn of_port(
    key: &str,
    discard: Option<&DiscardParams>,
    scheduler: Option<&SchedulerParams>,
    allocator: Option<&AllocatorParams>,
) -> Checked {
    let of = |table: &str, checked: Option<Result<(), (&'static str, ParamError)>>| match checked {
        Some(Err((name, error))) => {
            Err(Problem::new(format!("{key}.{table}.{name}.{}", error.key), error.message))
        }
        _ => Ok(()),
    };
    of("discard", discard.map(DiscardParams::check))?;
    of("scheduler", scheduler.map(SchedulerParams::check))?;
    of("allocator", allocator.map(AllocatorParams::check))
}
