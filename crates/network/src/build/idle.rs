//! What frames take on the idle path of a flow.

use celltrain_atm::{aal5, cell::CELL_BITS};
use celltrain_engine::{Slot, Time, quantity::Bytes, time::SECOND};

use crate::{
    measures::Idle,
    scenario::{Flow, Framing, Graph, Link},
};

/// Octets of the headers of a TCP segment over IP, without options.
const HEADERS: u64 = 40;

/// What a frame takes from its first bit at the first link of a flow's route to its last bit behind the last one, where nothing waits:
/// the smallest frame that the flow may have, and a full one, each on the way that is the fastest for it. Rounded down, so that no frame is
/// faster.
pub(super) fn idle_path(graph: &Graph, flow: &Flow, aal5: &aal5::Params) -> Idle {
    let ways = flow.ways().map(|(route, _)| idle_way(graph, flow, route, aal5));
    let least = |one: Idle, other: Idle| Idle {
        smallest: one.smallest.min(other.smallest),
        full: one.full.min(other.full),
    };
    ways.reduce(least).expect("a flow has a way")
}

/// As [`idle_path`], of one of the flow's ways.
fn idle_way(graph: &Graph, flow: &Flow, route: &[usize], aal5: &aal5::Params) -> Idle {
    let links: Vec<_> = route.iter().map(|&link| &graph.links[link]).collect();
    let (full, packet) = (flow.full_packet(), flow.traffic.packet_range());
    match links[0].framing {
        Framing::Packets => {
            let smallest = packet.map_or(HEADERS, |[Bytes(octets), _]| octets);
            Idle { smallest: of_packet(&links, smallest), full: of_packet(&links, full) }
        }
        Framing::Cells => {
            let bare = flow.traffic.frame().filter(|_| packet.is_none());
            let full = bare.map_or_else(|| aal5.cells(full), u64::from);
            Idle { smallest: of_cells(&links, 1), full: of_cells(&links, full) }
        }
    }
}

/// Every link takes a cell as soon as it is there: the slowest one has to send all of them.
fn of_cells(links: &[&Link], cells: u64) -> Time {
    let slot = |link: &&Link| Slot::of_bits(CELL_BITS, link.fastest()).seconds();
    let slowest = links.iter().map(slot).fold(0.0, f64::max);
    rounded(links, links.iter().map(slot).sum::<f64>() + (cells - 1) as f64 * slowest)
}

/// Every link has to have all of a packet before the next one begins.
fn of_packet(links: &[&Link], octets: u64) -> Time {
    let time = |link: &&Link| Slot::of_bits(8, link.fastest()).seconds() * (octets + link.overhead.0) as f64;
    rounded(links, links.iter().map(time).sum())
}

/// The time of propagation and that of transmission, in seconds, together. Times are cut to picoseconds at every hop.
fn rounded(links: &[&Link], transmission: f64) -> Time {
    let propagation: Time = links.iter().map(|link| link.shortest_delay.ps()).sum();
    propagation + ((transmission * SECOND as f64) as Time).saturating_sub(links.len() as Time + 1)
}

#[cfg(test)]
mod tests {
    use celltrain_engine::time::MICROSECOND;

    use super::*;
    use crate::scenario::Scenario;

    /// Three links of 8 Mbit/s, on which an octet takes 1 us, and 1 ms each; rounded down by a few picoseconds.
    #[test]
    fn the_smallest_packet_takes_the_least_on_the_idle_path() {
        let idle = |traffic: &str| {
            let text = format!(
                "schema = 1\nname = \"idle\"\nduration = \"1 s\"\ntopology = {{ kind = \"n-source\", sources = 1 }}\n\
                 link = {{ framing = \"packets\", rate = \"8 Mbit/s\", delay = \"1 ms\" }}\nswitch.buffer = \"unlimited\"\n\
                 traffic = {{ {traffic} }}\n"
            );
            let scenario = Scenario::from_toml(&text, "idle.toml", &[]).unwrap();
            let graph = scenario.graph().unwrap();
            let Idle { smallest, full } = idle_path(&graph, &graph.flows[0], &scenario.spec().aal5);
            [smallest, full].map(|time| (time + 10) / MICROSECOND)
        };
        let of = |octets: [u64; 2]| octets.map(|octets| 3 * (1000 + octets));
        // The headers of TCP and IP alone, and with 1460 octets of data.
        assert_eq!(idle("kind = \"greedy\""), of([40, 1500]));
        let poisson = "kind = \"poisson\", rate = \"1 Mbit/s\", packet = \"500 B\"";
        assert_eq!(idle(poisson), of([500, 500]));
        // The smallest of those whose sizes are drawn has 40 octets.
        let drawn = format!("{poisson}, packet-distribution = \"exponential\"");
        assert_eq!(idle(&drawn), of([40, 500]));
    }
}
