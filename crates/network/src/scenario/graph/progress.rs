//! What a run needs to go on and to come to an end: time that passes on every link, and sources that their links can follow.

use celltrain_atm::{
    aal5,
    abr::Rate,
    cell::CELL_BITS,
    quantity::{Capacity, CellRate},
};
use celltrain_engine::{
    Slot, Time,
    quantity::{BitRate, Bytes, Duration},
    time::SECOND,
};

use super::{
    super::{
        error::Problem,
        spec::{Framing, RateChanges, Traffic},
    },
    link::{Link, LinkParams},
    nodes::Node,
    outline::Place,
    parts::Flow,
};

/// How many times the rate of its first link a source of bare cells may send: enough to overload it, not so much that the
/// cells which wait for the link are all that a run does.
pub const MAX_OVERLOAD: u64 = 10;

/// Checks that time passes between what reaches the output port of a link and what this causes at the other end.
///
/// Every cycle of the network leads along links, so that every cycle then has lookahead (Chandy and Misra 1979: a network
/// of processes that wait for each other goes on exactly if each cycle of it has some). `fastest` is the highest rate that the link's
/// clock may give it.
pub(super) fn check_lookahead(place: Place, link: &Link, fastest: BitRate) -> Result<(), Problem> {
    if shortest_transmission(link.framing, fastest) + link.shortest_delay.ps() > 0 {
        return Ok(());
    }
    let message = format!(
        "at {} a byte takes less than a picosecond, so that a delay of 0 s lets nothing come after what caused it: give 1 ps \
         or more, or a rate of 8 Tbit/s at most",
        link.fastest()
    );
    Err(Problem::new(format!("{}.delay", place.key()), message))
}

/// What a link takes at the least to transmit anything, in whole picoseconds; for packets as if it were a byte.
fn shortest_transmission(framing: Framing, rate: BitRate) -> Time {
    let bits = match framing {
        Framing::Cells => CELL_BITS,
        Framing::Packets => 8,
    };
    Slot::of_bits(bits, rate).ps()
}

/// The longest time that the cells in front of a link may take to leave, so that it and the time of a run fit into 2^64 ps.
const MOST_BACKLOG: Duration = Duration(4_000_000 * SECOND);

/// Checks that the bare cells that may gather in front of a link or in a shaper by the end of the run leave within [`MOST_BACKLOG`].
pub(super) fn check_backlog(
    duration: Duration,
    aal5: &aal5::Params,
    nodes: &[Node],
    links: &[Link],
    flows: &[Flow],
) -> Result<(), Problem> {
    let mut loads = vec![0u128; links.len()];
    for flow in flows {
        let Some(mut rate) = most_offered(&flow.traffic, duration) else { continue };
        if let Some(CellRate(peak)) = flow.contract.shaped_rate() {
            let shaper = LinkParams {
                rate: peak,
                rate_changes: RateChanges::default(),
                buffer: Capacity::UNLIMITED,
                ..LinkParams::clone(&links[flow.route[0]])
            };
            let load = load(&flow.traffic, rate, &shaper, aal5);
            check_queue(duration, &shaper, load, || format!("the shaper of flow \"{}\"", flow.name))?;
            rate = rate.min(peak);
        }
        if flow.abr.is_some() {
            // The source lets no more go than its link takes.
            rate = rate.min(links[flow.route[0]].slowest());
        }
        // On each of several ways as if all went there.
        for (route, _) in flow.ways() {
            let mut rate = rate;
            for &link in route {
                loads[link] += load(&flow.traffic, rate, &links[link], aal5);
                rate = rate.min(links[link].fastest());
            }
        }
    }
    std::iter::zip(links, loads).filter(|(_, load)| *load > 0).try_for_each(|(link, load)| {
        let place = || format!("\"{} > {}\"", nodes[link.from].name, nodes[link.to].name);
        check_queue(duration, link, load, place)
    })
}

/// The rate that a source without TCP does not exceed on the mean of a run, in bit/s.
fn most_offered(traffic: &Traffic, duration: Duration) -> Option<BitRate> {
    let Traffic::Trace(trace) = traffic else { return traffic.highest_rate().map(|(_, rate)| rate) };
    let bits = trace.len() as u128 * u128::from(traffic.unit_bits()) * u128::from(SECOND);
    Some(BitRate(bits.div_ceil(duration.0.max(1).into()).try_into().unwrap_or(u64::MAX)))
}

/// What a source's `rate` is on a link, in bit/s, with what cells or the link add to its packets.
fn load(traffic: &Traffic, rate: BitRate, link: &LinkParams, aal5: &aal5::Params) -> u128 {
    let rate = u128::from(rate.0);
    let Some(Bytes(octets)) = traffic.packet() else { return rate };
    let carried = match link.framing {
        Framing::Cells => aal5.cells(octets) * CELL_BITS,
        Framing::Packets => 8 * (octets + link.overhead.0),
    };
    (rate * u128::from(carried)).div_ceil(8 * u128::from(octets))
}

/// The most bits of what a buffer in front of a link counts.
fn most_bits(link: &LinkParams) -> u64 {
    match link.framing {
        Framing::Cells => CELL_BITS,
        Framing::Packets => 8 * (aal5::Params::MAX_FRAME + link.overhead.0),
    }
}

/// Checks the queue of a buffer in front of a line, to which cells come at `load` bit/s.
fn check_queue(
    duration: Duration,
    link: &LinkParams,
    load: u128,
    place: impl Fn() -> String,
) -> Result<(), Problem> {
    let rate = link.slowest();
    let times = |bits: u128, by: u64| bits.saturating_mul(by.into()) / u128::from(rate.0);
    let longest = times(load, duration.0)
        .min(times(u128::from(most_bits(link)) * u128::from(SECOND), link.buffer.units()));
    if longest <= u128::from(MOST_BACKLOG.0) {
        return Ok(());
    }
    let message = format!(
        "by the end of {duration} the cells that wait in {} may need {} s to leave at {rate}, and {MOST_BACKLOG} are the most: \
         shorten the run, slow the sources down, or limit the buffer",
        place(),
        longest / u128::from(SECOND)
    );
    Err(Problem::new("duration", message))
}

/// Checks the rate of a flow's bare cells against its first link.
pub(super) fn check_source(key: &str, traffic: &Traffic, line: BitRate) -> Result<(), Problem> {
    let Some((field, rate)) = traffic.highest_rate() else { return Ok(()) };
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
