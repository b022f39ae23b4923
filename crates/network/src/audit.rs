//! What tests see of a network in the course of a run.

use celltrain_engine::Time;

use crate::{
    network::Network,
    port::{Location, Port},
};

/// A network at one time: what its ports have done since the start of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Audit {
    /// Changes when anything that happened changes.
    pub fingerprint: u64,
    /// The interfaces of hosts and the ports of switches.
    pub ports: Vec<PortAudit>,
}

/// What a port has done since the start of the run. Units are cells, or packets on a packet-framed link.
#[derive(Debug, Clone, PartialEq)]
pub struct PortAudit {
    /// The link behind it, by its number in the graph.
    pub link: usize,
    /// Whether it is a switch's.
    pub in_switch: bool,
    /// Units that arrived.
    pub arrived: u64,
    /// Units accepted.
    pub accepted: u64,
    /// Units discarded, those accepted first included.
    pub discarded: u64,
    /// Units accepted first and discarded later.
    pub withdrawn: u64,
    /// Units in the buffer.
    pub occupancy: u64,
    /// For how many seconds the link has transmitted.
    pub busy: f64,
    /// Units accepted and discarded of each VC that carries data, by the flow that set it up.
    pub vcs: Vec<(usize, [u64; 2])>,
}

impl Network {
    /// Handles every event before `end`; `false` if `interrupt`, which is asked now and then, said so.
    pub fn advance(&mut self, end: Time, interrupt: &mut dyn FnMut() -> bool) -> bool {
        self.run_until(end, interrupt)
    }

    /// Looks at everything, at the time up to which the network has run.
    ///
    /// # Panics
    /// If a cell was lost track of.
    #[must_use]
    pub fn audit(&self) -> Audit {
        self.check_conservation();
        Audit { fingerprint: self.fingerprint(), ports: self.ports().map(PortAudit::of).collect() }
    }
}

impl PortAudit {
    fn of(port: &Port) -> Self {
        Self {
            link: port.link,
            in_switch: port.location == Location::Switch,
            arrived: port.arrived(),
            accepted: port.accepted(),
            discarded: port.discarded(),
            withdrawn: port.withdrawn(),
            occupancy: port.occupancy(),
            busy: port.busy().seconds(),
            vcs: port.by_flow().collect(),
        }
    }
}
