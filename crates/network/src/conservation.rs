//! No cell is lost track of: at every port, on every stream, and on every VC from one port to the next.

use std::collections::BTreeMap;

use celltrain_engine::stream::StreamId;

use crate::{network::Network, rate_control::RateControl};

/// A VC on a stream: the stream, and the VC's number where it ends.
type Hop = (StreamId, u32);

impl Network {
    /// Checks that no cell was lost track of.
    ///
    /// # Panics
    /// If one was: the simulator is wrong then, and so would be every result.
    pub(crate) fn check_conservation(&self) {
        let (_, streams) = self.parts();
        for port in self.ports() {
            port.check_conservation(streams);
            let came: u64 = port.inputs().iter().map(|&input| streams[input].pushed()).sum();
            let coming: u64 = port.inputs().iter().map(|&input| streams[input].waiting()).sum();
            let relayed = port.control().map_or(0, RateControl::relayed);
            assert_eq!(
                came,
                coming + port.arrived() + relayed,
                "port of link {}: cells sent to it",
                port.link
            );
        }
        self.channels().for_each(|channel| channel.check_conservation(streams));
        self.shapers().for_each(|shaper| shaper.check_conservation(streams));
        self.check_vcs();
    }

    /// Checks for each VC that what a port has sent of it has arrived at the next port or is on its way there. Links that lose cells
    /// count theirs by link, and hosts by frame: the last hop of a VC, and one of such a link, are left out.
    fn check_vcs(&self) {
        let (receivers, travelling) = (self.receiving_ports(), self.travelling());
        for port in self.ports() {
            for vc in 0..port.vcs() {
                let (mut open, mut on_the_way, mut arrived) = (port.hops(vc), 0, None);
                while let Some(hop @ (stream, vci)) = open.pop() {
                    let Some(next) = receivers[stream] else {
                        arrived = None;
                        break;
                    };
                    on_the_way += travelling.get(&hop).unwrap_or(&0);
                    if vci < next.vcs() {
                        arrived = Some(next.arrived_of(vci));
                    } else {
                        // A port on the way relays its backward RM cells.
                        open.extend(next.hops(vci));
                    }
                }
                if let Some(arrived) = arrived {
                    let sent = port.sent_of(vc);
                    assert_eq!(
                        sent,
                        arrived + on_the_way,
                        "port of link {}: cells of VC {vc} sent",
                        port.link
                    );
                }
            }
        }
    }

    /// Cells on their way, by stream and VC.
    fn travelling(&self) -> BTreeMap<Hop, u64> {
        let (_, streams) = self.parts();
        let mut cells = BTreeMap::new();
        for (stream, trains) in streams.iter().map(|stream| stream.trains()).enumerate() {
            for train in trains {
                *cells.entry((stream, train.item.vc)).or_default() += u64::from(train.count);
            }
        }
        cells
    }
}
