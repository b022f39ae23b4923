//! What a run needs to go on and to come to an end: time that passes on every link, and sources that their links can follow.

use celltrain_atm::{abr::Rate, cell::CELL_BITS};
use celltrain_engine::{Slot, Time, quantity::BitRate};

use super::{
    super::{
        error::Problem,
        spec::{Framing, Traffic},
    },
    Link,
    generate::Place,
};

/// How many times the rate of its first link a source of bare cells may send: enough to overload it, not so much that the
/// cells which wait for the link are all that a run does.
pub const MAX_OVERLOAD: u64 = 10;

/// Checks that time passes between what reaches the output port of a link and what this causes at the other end.
///
/// Every cycle of the network leads along links, so that every cycle then has lookahead (Chandy and Misra 1979: a network
/// of processes that wait for each other goes on exactly if each cycle of it has some).
pub(super) fn check_lookahead(place: Place, link: &Link) -> Result<(), Problem> {
    if shortest_transmission(link) + link.delay.ps() > 0 {
        return Ok(());
    }
    let message = format!(
        "at {} a byte takes less than a picosecond, so that a delay of 0 s lets nothing come after what caused it: give 1 ps \
         or more, or a rate of 8 Tbit/s at most",
        link.rate
    );
    Err(Problem::new(format!("{}.delay", place.key()), message))
}

/// What a link takes at the least to transmit anything, in whole picoseconds; for packets as if it were a byte.
fn shortest_transmission(link: &Link) -> Time {
    let bits = match link.framing {
        Framing::Cells => CELL_BITS,
        Framing::Packets => 8,
    };
    Slot::of_bits(bits, link.rate).ps()
}

/// Checks the rate of a flow's bare cells against its first link.
pub(super) fn check_source(key: &str, traffic: &Traffic, line: BitRate) -> Result<(), Problem> {
    let (field, rate) = match traffic {
        Traffic::Greedy(_) | Traffic::Finite(_) | Traffic::Bursty(_) => return Ok(()),
        Traffic::Cbr(form) => ("rate", form.rate.0),
        Traffic::Poisson(form) => ("rate", form.rate.0),
        Traffic::OnOff(form) => ("peak", form.peak.0),
        Traffic::LongRange(form) => ("rate.maximum", form.rate.maximum),
    };
    let most = BitRate(line.0.saturating_mul(MAX_OVERLOAD));
    if rate <= most {
        return Ok(());
    }
    let message = format!(
        "expected {most} at most, {MAX_OVERLOAD} times the rate of the first link on the route ({line}), found {rate}"
    );
    Err(Problem::new(format!("{key}.{field}"), message))
}

/// Checks the rate of out-of-rate FRMs against the peak rate; the 10 cells/s of TM 4.0 are always allowed.
pub(super) fn check_tagged_rate(key: &str, tcr: Rate, peak: Rate) -> Result<(), Problem> {
    let most = peak.max(Rate::of_cells(10.0));
    if tcr <= most {
        return Ok(());
    }
    Err(Problem::new(key, format!("expected {most} at most, the peak rate, found {tcr}")))
}
