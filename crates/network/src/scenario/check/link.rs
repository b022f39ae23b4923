//! Links, and what they may do to what they carry.

use celltrain_engine::quantity::{Bytes, Duration, Tolerance};

use super::{
    super::{
        error::Problem,
        spec::{BurstLoss, Dark, DelayChange, DelayRange, LinkOverride, LinkSpec, RateChange, Reorder},
    },
    limits::{
        MAX_CHANGES, MAX_DELAY, MAX_DURATION, MAX_OVERHEAD, MAX_RATE, MAX_TOLERANCE, MIN_PERIOD, MIN_RATE,
    },
    range::{Checked, within},
};

/// Checks `[link]` and the tables in it.
pub(super) fn links(link: &LinkSpec) -> Checked {
    within("link.rate-spread", link.rate_spread, Tolerance(0), MAX_TOLERANCE)?;
    let whole = LinkOverride {
        rate: Some(link.rate),
        delay: Some(DelayRange::of(link.delay)),
        overhead: Some(link.overhead),
        loss: Some(link.loss),
        burst_loss: link.burst_loss,
        reorder: link.reorder,
        dark: link.dark,
        delay_changes: Some(link.delay_changes.clone()),
        rate_changes: Some(link.rate_changes.clone()),
        ..LinkOverride::default()
    };
    let places = [
        ("link", &whole),
        ("link.access", &link.access),
        ("link.trunk", &link.trunk),
        ("link.exit", &link.exit),
    ];
    places.iter().try_for_each(|(key, part)| one_link(key, part))
}

/// Checks what is given for a link under `key`.
pub(in crate::scenario) fn one_link(key: &str, link: &LinkOverride) -> Checked {
    if let Some(rate) = link.rate {
        within(&format!("{key}.rate"), rate, MIN_RATE, MAX_RATE)?;
    }
    if let Some(delay) = link.delay {
        within(&format!("{key}.delay"), delay.to.0, Duration(0), MAX_DELAY)?;
    }
    if let Some(overhead) = link.overhead {
        within(&format!("{key}.overhead"), overhead, Bytes(0), MAX_OVERHEAD)?;
    }
    if let Some(loss) = link.loss {
        within(&format!("{key}.loss"), loss, 0.0, 1.0)?;
    }
    impairments(key, link)
}

/// Checks what is given for a link under `key` beside its rate, delay and share of losses.
fn impairments(key: &str, link: &LinkOverride) -> Checked {
    if let Some(bursts) = &link.burst_loss {
        burst_loss(&format!("{key}.burst-loss"), bursts)?;
    }
    if let Some(Reorder { share, delay }) = link.reorder {
        within(&format!("{key}.reorder.share"), share, 0.0, 1.0)?;
        within(&format!("{key}.reorder.delay"), delay, Duration(1), MAX_DELAY)?;
    }
    if let Some(periods) = &link.dark {
        dark(&format!("{key}.dark"), periods)?;
    }
    if let Some(changes) = &link.delay_changes {
        delay_changes(&format!("{key}.delay-changes"), changes)?;
    }
    link.rate_changes.as_ref().map_or(Ok(()), |changes| rate_changes(&format!("{key}.rate-changes"), changes))
}

fn burst_loss(key: &str, bursts: &BurstLoss) -> Checked {
    let BurstLoss { p, r, loss_good, loss_bad } = *bursts;
    for (name, value) in [("p", p), ("r", r), ("loss-good", loss_good), ("loss-bad", loss_bad)] {
        within(&format!("{key}.{name}"), value, 0.0, 1.0)?;
    }
    if r == 0.0 {
        return Err(Problem::new(
            format!("{key}.r"),
            "expected a number above 0: the bad state would never end",
        ));
    }
    Ok(())
}

fn dark(key: &str, periods: &Dark) -> Checked {
    let Dark { from, length, every } = *periods;
    within(&format!("{key}.from"), from, Duration(0), MAX_DURATION)?;
    within(&format!("{key}.length"), length, Duration(1), MAX_DURATION)?;
    let Some(every) = every else { return Ok(()) };
    within(&format!("{key}.every"), every, MIN_PERIOD, MAX_DURATION)?;
    if every <= length {
        let message = format!(
            "expected more than the length of a period ({length}), found {every}: the link would stay dark"
        );
        return Err(Problem::new(format!("{key}.every"), message));
    }
    Ok(())
}

fn delay_changes(key: &str, changes: &[DelayChange]) -> Checked {
    for (index, change) in changes.iter().enumerate() {
        within(&format!("{key}.{index}.delay"), change.delay.0, Duration(0), MAX_DELAY)?;
    }
    in_order(key, changes.iter().map(|change| change.at))
}

fn rate_changes(key: &str, changes: &[RateChange]) -> Checked {
    for (index, change) in changes.iter().enumerate() {
        within(&format!("{key}.{index}.rate"), change.rate, MIN_RATE, MAX_RATE)?;
    }
    in_order(key, changes.iter().map(|change| change.at))
}

/// Checks the times of the changes of something about a link.
fn in_order(key: &str, times: impl ExactSizeIterator<Item = Duration>) -> Checked {
    if times.len() > MAX_CHANGES {
        let message = format!("expected at most {MAX_CHANGES} changes, found {}", times.len());
        return Err(Problem::new(key, message));
    }
    let mut last = None;
    for (index, at) in times.enumerate() {
        within(&format!("{key}.{index}.at"), at, Duration(0), MAX_DURATION)?;
        if let Some(before) = last.replace(at)
            && before >= at
        {
            let message = format!("expected a time after {before}, that of the change before, found {at}");
            return Err(Problem::new(format!("{key}.{index}.at"), message));
        }
    }
    Ok(())
}
