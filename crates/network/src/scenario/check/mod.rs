//! What types cannot say: ranges, limits and thresholds.

mod bare;
mod limits;
mod link;
mod names;
mod range;
mod short_flows;
mod tables;

use celltrain_atm::{
    buffer::{DiscardParams, Policy, PortContext},
    contract::{Contract, Policing},
    quantity::Capacity,
};
use celltrain_engine::{
    quantity::{Bytes, Duration, PacketRate},
    random::Randomness,
};
use celltrain_tcp::StackSpec;

pub use self::limits::{
    MAX_CHANGES, MAX_DELAY, MAX_DURATION, MAX_FRAME_CELLS, MAX_OVERHEAD, MAX_PACKET_RATE, MAX_RATE,
    MAX_REPLICATIONS, MAX_SAMPLES, MAX_TRANSFER, MIN_PERIOD, MIN_RATE,
};
pub(super) use self::link::one_link;
use self::{
    limits::{MAX_GROUP, MAX_WEIGHT},
    range::{Checked, within},
};
use super::{
    error::Problem,
    spec::{FlowSpec, GroupSpec, PortSpec, SCHEMA, Spec, Start, Traffic},
};

/// Checks all that can be said without the network itself.
pub(super) fn check(spec: &Spec) -> Checked {
    time(spec)?;
    names::check(spec)?;
    link::links(&spec.link)?;
    within("switch.delay", spec.switch.delay, Duration(0), MAX_DELAY)?;
    discard("switch.discard", &spec.switch.discard, spec.switch.buffer)?;
    tables::check(spec)?;
    for (index, port) in spec.port.iter().enumerate() {
        check_port(index, port, spec)?;
    }
    host(spec)?;
    within("aal5.overhead", spec.aal5.overhead, Bytes(0), MAX_OVERHEAD)?;
    tcp("tcp", &spec.tcp)?;
    contract("vc", &spec.vc)?;
    traffic("traffic", &spec.traffic)?;
    for (index, group) in spec.group.iter().enumerate() {
        check_group(index, group)?;
    }
    for (index, flow) in spec.flow.iter().enumerate() {
        check_flow(index, flow)?;
    }
    Ok(())
}

fn time(spec: &Spec) -> Checked {
    if spec.schema != SCHEMA {
        return Err(Problem::new(
            "schema",
            format!("expected {SCHEMA}, the only version, found {}", spec.schema),
        ));
    }
    within("duration", spec.duration, Duration(1), MAX_DURATION)?;
    if spec.warm_up >= spec.duration {
        let message =
            format!("the warm-up ({}) must be shorter than the duration ({})", spec.warm_up, spec.duration);
        return Err(Problem::new("warm-up", message));
    }
    within("replications", spec.replications, 1, MAX_REPLICATIONS)?;
    let least = Duration(spec.duration.ps().div_ceil(MAX_SAMPLES));
    if spec.sample < least {
        let message = format!(
            "expected {least} or more (at most {MAX_SAMPLES} samples per run), found {}",
            spec.sample
        );
        return Err(Problem::new("sample", message));
    }
    Ok(())
}

fn check_port(index: usize, port: &PortSpec, spec: &Spec) -> Checked {
    let key = format!("port.{index}");
    let buffer = port.buffer.unwrap_or(spec.switch.buffer);
    match &port.discard {
        Some(params) => discard(&format!("{key}.discard"), params, buffer),
        // A threshold that fits the switch's buffer may not fit this one; the fault is then the port's buffer.
        None => discard("switch.discard", &spec.switch.discard, buffer).map_err(|problem| {
            Problem::new(format!("{key}.buffer"), format!("{}: {}", problem.key, problem.message))
        }),
    }
}

/// Checks a policy's parameters against the buffer, as the policy itself does.
fn discard(key: &str, params: &DiscardParams, buffer: Capacity) -> Checked {
    let port = PortContext {
        capacity: buffer.units(),
        unit: buffer.1,
        rate: MAX_RATE,
        overhead: 0,
        vcs: &[Contract::default()],
        generator: Randomness { seed: 0, replication: 0 }.named("check"),
    };
    params
        .check_units(buffer)
        .and_then(|()| Policy::new(params, &port).map(|_| ()))
        .map_err(|error| Problem::new(format!("{key}.{}.{}", params.policy.name(), error.key), error.message))
}

fn host(spec: &Spec) -> Checked {
    if let Some(rate) = spec.host.ip_rate {
        within("host.ip-rate", rate, PacketRate(1), MAX_PACKET_RATE)?;
    }
    if !(0.0..=1.0).contains(&spec.host.ip_spread) {
        return Err(Problem::new(
            "host.ip-spread",
            format!("expected 0 to 1, found {}", spec.host.ip_spread),
        ));
    }
    Ok(())
}

fn tcp(key: &str, stack: &StackSpec) -> Checked {
    match stack.resolve() {
        Ok(_) => Ok(()),
        Err(error) => Err(Problem::new(format!("{key}.{}", error.key), error.message)),
    }
}

fn traffic(key: &str, traffic: &Traffic) -> Checked {
    let at = |field: &str| format!("{key}.{field}");
    start(&at("start"), traffic.start())?;
    match traffic {
        Traffic::Greedy(_) => Ok(()),
        Traffic::Finite(form) => within(&at("bytes"), form.bytes, Bytes(1), MAX_TRANSFER),
        Traffic::Bursty(form) => {
            within(&at("bytes"), form.bytes, Bytes(1), MAX_TRANSFER)?;
            within(&at("every"), form.every, MIN_PERIOD, MAX_DURATION)
        }
        Traffic::ShortFlows(form) => short_flows::check(key, form),
        Traffic::RequestResponse(form) => {
            for (field, size) in [("request", &form.request), ("response", &form.response)] {
                size.check()
                    .map_err(|(part, message)| Problem::new(at(&format!("{field}.{part}")), message))?;
            }
            within(&at("service"), form.service, Duration(0), MAX_DURATION)?;
            within(&at("think"), form.think, Duration(0), MAX_DURATION)
        }
        Traffic::Cbr(_)
        | Traffic::Poisson(_)
        | Traffic::Bernoulli(_)
        | Traffic::Mmpp(_)
        | Traffic::OnOff(_)
        | Traffic::LongRange(_)
        | Traffic::Trace(_) => bare::check(key, traffic),
    }
}

fn start(key: &str, start: Start) -> Checked {
    within(key, start.to, Duration(0), MAX_DURATION)
}

fn check_group(index: usize, group: &GroupSpec) -> Checked {
    let key = format!("group.{index}");
    within(&format!("{key}.flows"), group.flows, 1, MAX_GROUP)?;
    if let Some(senders) = group.senders {
        within(&format!("{key}.senders"), senders, 1, MAX_GROUP)?;
    }
    short_flows::transfers(&key, group)?;
    one_link(&format!("{key}.access"), &group.access)?;
    one_link(&format!("{key}.exit"), &group.exit)?;
    let GroupSpec { traffic, start, stop, vc, tcp, .. } = group;
    check_settings(&key, traffic.as_ref(), (*start, *stop), vc.as_ref(), tcp.as_ref())
}

fn check_flow(index: usize, flow: &FlowSpec) -> Checked {
    let FlowSpec { traffic, start, stop, vc, tcp, .. } = flow;
    check_settings(&format!("flow.{index}"), traffic.as_ref(), (*start, *stop), vc.as_ref(), tcp.as_ref())
}

/// Checks what a flow or a group says under `key`.
fn check_settings(
    key: &str,
    form: Option<&Traffic>,
    (from, until): (Option<Start>, Option<Duration>),
    vc: Option<&Contract>,
    stack: Option<&StackSpec>,
) -> Checked {
    form.map_or(Ok(()), |form| traffic(&format!("{key}.traffic"), form))?;
    from.map_or(Ok(()), |time| start(&format!("{key}.start"), time))?;
    until.map_or(Ok(()), |time| within(&format!("{key}.stop"), time, Duration(1), MAX_DURATION))?;
    vc.map_or(Ok(()), |terms| contract(&format!("{key}.vc"), terms))?;
    stack.map_or(Ok(()), |stack| tcp(&format!("{key}.tcp"), stack))
}

/// Checks a contract behind the fastest line, as that of its VC is not yet known, and without what policing needs, which a flow
/// may give.
fn contract(key: &str, contract: &Contract) -> Checked {
    within(&format!("{key}.weight"), contract.weight, 1, MAX_WEIGHT)?;
    let contract = Contract { policing: Policing::None, ..contract.clone() };
    contract.check(MAX_RATE).map_err(|error| Problem::new(format!("{key}.{}", error.key), error.message))
}
