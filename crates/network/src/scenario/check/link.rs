//! What links may do to what they carry.

use celltrain_engine::quantity::Duration;

use super::{
    super::{
        error::Problem,
        spec::{BurstLoss, Dark, DelayChange, LinkOverride, Reorder},
    },
    Checked, MAX_DELAY, MAX_DURATION, MIN_PERIOD, within,
};

/// The most changes of a link's delay.
pub const MAX_DELAY_CHANGES: usize = 10_000;

/// Checks what is given for a link under `key` beside its rate, delay and share of losses.
pub(super) fn check(key: &str, link: &LinkOverride) -> Checked {
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
    link.delay_changes
        .as_ref()
        .map_or(Ok(()), |changes| delay_changes(&format!("{key}.delay-changes"), changes))
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
    if changes.len() > MAX_DELAY_CHANGES {
        let message = format!("expected at most {MAX_DELAY_CHANGES} changes, found {}", changes.len());
        return Err(Problem::new(key, message));
    }
    for (index, change) in changes.iter().enumerate() {
        within(&format!("{key}.{index}.at"), change.at, Duration(0), MAX_DURATION)?;
        within(&format!("{key}.{index}.delay"), change.delay.0, Duration(0), MAX_DELAY)?;
        if let Some(before) = index.checked_sub(1).map(|before| changes[before].at)
            && before >= change.at
        {
            let message =
                format!("expected a time after {before}, that of the change before, found {}", change.at);
            return Err(Problem::new(format!("{key}.{index}.at"), message));
        }
    }
    Ok(())
}
