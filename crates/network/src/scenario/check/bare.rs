//! Sources without TCP.

use celltrain_engine::{
    quantity::{BitRate, Bytes, Duration},
    random::Randomness,
};

use super::{
    super::{
        error::Problem,
        spec::{Distribution, EcnField, LongRange, MAX_PACKET, MIN_PACKET, Mmpp, OnOff, Trace, Traffic},
    },
    limits::{MAX_DURATION, MAX_FRAME_CELLS, MAX_RATE, MIN_PERIOD, MIN_RATE},
    range::{Checked, within},
};
use crate::traffic::long_range;

/// The mean sizes of exponentially distributed packets: the smallest packet and the largest change it by less than 1 %.
const MEAN_PACKETS: [Bytes; 2] = [Bytes(400), Bytes(14_000)];

/// Checks what a source without TCP is told under `key`.
pub(super) fn check(key: &str, traffic: &Traffic) -> Checked {
    let at = |field: &str| format!("{key}.{field}");
    match traffic {
        Traffic::Cbr(form) => rate(&at("rate"), form.rate.0)?,
        Traffic::Poisson(form) => rate(&at("rate"), form.rate.0)?,
        Traffic::Bernoulli(form) => {
            rate(&at("peak"), form.peak.0)?;
            if !(form.probability > 0.0 && form.probability <= 1.0) {
                let message = format!("expected a number above 0 and up to 1, found {}", form.probability);
                return Err(Problem::new(at("probability"), message));
            }
        }
        Traffic::Mmpp(form) => mmpp(key, form)?,
        Traffic::OnOff(form) => on_off(key, form)?,
        Traffic::LongRange(form) => long_range(key, form)?,
        Traffic::Trace(form) => trace(key, form)?,
        Traffic::Greedy(_)
        | Traffic::Finite(_)
        | Traffic::Bursty(_)
        | Traffic::ShortFlows(_)
        | Traffic::RequestResponse(_) => {}
    }
    let frame = traffic.frame().unwrap_or(1);
    within(&at("frame"), u64::from(frame), 1, MAX_FRAME_CELLS)?;
    let Some(packet) = traffic.packet() else {
        if traffic.varies_packets() {
            let message = "cells have one size, packets have others: give `packet`, their mean size, as in packet = \"1500 B\"";
            return Err(Problem::new(at("packet-distribution"), message));
        }
        if traffic.ecn() != EcnField::NotEct {
            let message =
                "cells have no ECN field, packets do: give `packet`, the size of one, or leave this out";
            return Err(Problem::new(at("ecn"), message));
        }
        return Ok(());
    };
    let [least, most] = if traffic.varies_packets() { MEAN_PACKETS } else { [MIN_PACKET, MAX_PACKET] };
    within(&at("packet"), packet, least, most)?;
    if frame > 1 {
        let message = "a source sends packets or frames of so many cells: give `packet` or `frame`";
        return Err(Problem::new(at("frame"), message));
    }
    Ok(())
}

/// Checks how fast a source sends.
fn rate(key: &str, rate: BitRate) -> Checked {
    let slower =
        if rate < MIN_RATE { "; kind = \"trace\" sends at given times, however far apart" } else { "" };
    within(key, rate, MIN_RATE, MAX_RATE).map_err(|problem| Problem::new(key, problem.message + slower))
}

fn mmpp(key: &str, form: &Mmpp) -> Checked {
    let key = format!("{key}.states");
    let states = form.states.len();
    if !(2..=16).contains(&states) {
        return Err(Problem::new(key, format!("expected 2 to 16 states, found {states}")));
    }
    for (index, state) in form.states.iter().enumerate() {
        // A state may be silent.
        if state.rate.0 != BitRate(0) {
            rate(&format!("{key}.{index}.rate"), state.rate.0)?;
        }
        within(&format!("{key}.{index}.mean-time"), state.mean_time, MIN_PERIOD, MAX_DURATION)?;
    }
    if form.states.iter().all(|state| state.rate.0 == BitRate(0)) {
        return Err(Problem::new(key, "the rate is 0 in every state: give one of them a rate"));
    }
    Ok(())
}

fn trace(key: &str, form: &Trace) -> Checked {
    let name = match (form.times.is_empty(), form.gaps.is_empty()) {
        (false, true) => "times",
        (true, false) => "gaps",
        (false, false) => {
            let message = "give `times` or `gaps`, not both: either says when the source sends";
            return Err(Problem::new(format!("{key}.gaps"), message));
        }
        (true, true) => {
            return Err(Problem::new(
                format!("{key}.times"),
                "give `times` or `gaps`: when does the source send?",
            ));
        }
    };
    if form.len() > Trace::MAX_LENGTH {
        let message = format!("expected at most {} times, found {}", Trace::MAX_LENGTH, form.len());
        return Err(Problem::new(format!("{key}.{name}"), message));
    }
    let mut before = Duration(0);
    for (index, at) in form.arrivals().enumerate() {
        let at = Duration(at);
        within(&format!("{key}.{name}.{index}"), at, before, MAX_DURATION)?;
        before = at;
    }
    Ok(())
}

fn on_off(key: &str, form: &OnOff) -> Checked {
    let at = |field: &str| format!("{key}.{field}");
    rate(&at("peak"), form.peak.0)?;
    within(&at("on"), form.on, Duration(1), MAX_DURATION)?;
    within(&at("off"), form.off, Duration(0), MAX_DURATION)?;
    if let Some(shape) = form.shape {
        if form.distribution != Distribution::Pareto {
            let message =
                "only a Pareto distribution has a shape: give distribution = \"pareto\", or no shape";
            return Err(Problem::new(at("shape"), message));
        }
        if !(shape > 1.0 && shape <= 100.0) {
            let message = format!(
                "expected a number above 1 (up to 1 the mean is infinite) and up to 100, found {shape}"
            );
            return Err(Problem::new(at("shape"), message));
        }
    }
    // Most Pareto times are about as long as the shortest.
    let usual = match form.distribution {
        Distribution::Pareto => 1.0 - 1.0 / form.shape.unwrap_or(OnOff::USUAL_SHAPE),
        Distribution::Fixed | Distribution::Exponential => 1.0,
    };
    if (form.on.ps() + form.off.ps()) as f64 * usual < MIN_PERIOD.ps() as f64 / 100.0 {
        let message = format!(
            "on times of {} and off times of {} are more than a hundred million a second: give longer ones",
            form.on, form.off
        );
        return Err(Problem::new(at("on"), message));
    }
    Ok(())
}

fn long_range(key: &str, form: &LongRange) -> Checked {
    let at = |field: &str| format!("{key}.rate.{field}");
    within(&at("maximum"), form.rate.maximum, MIN_RATE, MAX_RATE)?;
    within(&at("cycle"), form.rate.cycle, MIN_PERIOD, MAX_DURATION)?;
    let (sources, cycle) = (form.rate.sources, form.rate.cycle);
    if cycle.ps() / u64::from(sources.max(1)) < MIN_PERIOD.ps() / 100 {
        let message = format!(
            "{sources} sources that change every {cycle} are more than a hundred million changes a second: give a longer cycle, or fewer sources"
        );
        return Err(Problem::new(at("cycle"), message));
    }
    let generator = Randomness { seed: 0, replication: 0 }.named("check");
    let found = long_range::LongRange::new(&form.rate, generator);
    found.map(|_| ()).map_err(|(field, message)| Problem::new(at(field), message))
}
