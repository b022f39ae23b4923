//! What a viewer sees.

use celltrain_atm::Cell;
use celltrain_engine::Time;

/// A VC as a viewer knows it: that of a flow's data, or the one back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Vc {
    /// The flow, by its number in the graph; flows that share a VC count with the first of them.
    pub flow: usize,
    /// Whether it is the VC back: acknowledgements and backward RM cells.
    pub back: bool,
}

/// Where a run of cells is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// In the buffer of the link's port: [`Row::after`] is the end of the first cell's transmission.
    Buffer,
    /// In the buffer, and the scheduler has yet to choose it: [`Row::after`] means nothing.
    Stored,
    /// On the link: [`Row::after`] is the first cell's arrival at the other end.
    Link,
    /// In the sending host, in front of its interface, where a peak rate holds it back.
    Shaper,
}

/// Cells of one frame, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The link or the port in front of it, by its number in the graph.
    pub link: usize,
    /// Where on it.
    pub place: Whereabouts,
    /// Whose cells.
    pub vc: Vc,
    /// The link of the port that they come to after this one; none where that is a host, or is not decided yet, as where packets are still to
    /// be sprayed.
    pub next: Option<usize>,
    /// The first of them.
    pub cell: Cell,
    /// How many.
    pub count: u32,
    /// How long after the present moment.
    pub after: Time,
    /// From one cell to the next.
    pub step: Time,
    /// Octets that one of them takes on the link.
    pub octets: u32,
    /// Whether some of their frame has been lost: it is carried for nothing.
    pub broken: bool,
}

/// A port at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct PortState {
    /// Its link, by its number in the graph.
    pub link: usize,
    /// Whether it is a switch's; otherwise it is a host's interface.
    pub in_switch: bool,
    /// Cells or packets in the buffer, the one in transmission included.
    pub occupancy: u64,
    /// Cells or packets that arrived, and of these accepted, since the start.
    pub arrived: u64,
    /// As above.
    pub accepted: u64,
    /// Discarded since the start.
    pub discarded: u64,
    /// VCs that the policy holds under discard.
    pub captured: Vec<Vc>,
}

/// The pauses of a port that has been paused, at a moment (priority flow control).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pauses {
    /// The link whose port is paused by the switch at its end, by its number in the graph.
    pub link: usize,
    /// When the pause arrived in which the port is; none if it is in none. It still sends the unit that it had begun.
    pub since: Option<Time>,
    /// How many have arrived since the start.
    pub count: u64,
    /// How long they have been together.
    pub time: Time,
}

/// A pause that has arrived at a port, or the end of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PauseSignal {
    /// When it arrived.
    pub at: Time,
    /// The link of the port.
    pub link: usize,
    /// Whether a pause begins.
    pub begins: bool,
}

/// A flow at a moment. Bare cells have no windows, and short flows no common one.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FlowState {
    /// Congestion window in bytes.
    pub cwnd: u64,
    /// Slow-start threshold in bytes.
    pub ssthresh: u64,
    /// Bytes sent and not acknowledged.
    pub flight: u64,
    /// Distinct bytes delivered since the start; without TCP the payload of whole frames of cells, or whole packets.
    pub delivered: u64,
    /// Retransmission timeouts since the start.
    pub timeouts: u64,
    /// Segments sent again since the start.
    pub retransmitted: u64,
    /// The last round trip that the sender had measured when reactions were last handed over; zero before the first.
    pub round_trip: Time,
    /// Allowed cell rate in cells per second; zero without ABR.
    pub acr: f64,
}

/// Cells of one frame that were discarded or lost, one after the other, or taken out of the buffer at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Discard {
    /// When the first was.
    pub at: Time,
    /// The link or the port in front of it.
    pub link: usize,
    /// Whose cells.
    pub vc: Vc,
    /// The first cell: its frame and its place in it.
    pub cell: Cell,
    /// How many.
    pub count: u32,
    /// Why: the name of the column that counts it in results.
    pub reason: &'static str,
}

/// A short flow or finite transfer all of whose bytes have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Completion {
    /// When the last of them did.
    pub at: Time,
    /// The flow that it is a part of.
    pub flow: usize,
    /// Its size.
    pub bytes: u64,
    /// The time from its arrival until then.
    pub time: Time,
}

/// What happened to a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// It found a loss by duplicate acknowledgements.
    FastRetransmit,
    /// Its retransmission timer expired.
    Timeout,
    /// It answered a congestion mark.
    Mark,
}
