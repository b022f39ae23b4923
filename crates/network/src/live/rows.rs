//! Where cells are: read from the streams between the ports, and from the queues that ports store.

use celltrain_atm::{
    Cell,
    cell::{CELL_OCTETS, Ecn, Kind},
};
use celltrain_engine::{
    Instant, Time,
    stream::{Item, Train},
};

use super::{Live, Row, Vc, Whereabouts};
use crate::{
    port::{Location, Port},
    scenario::Framing,
};

impl Live {
    /// All cells, or packets, in buffers and on links: those of a link in the order of their departures from its port, output by
    /// output.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for port in self.network.all_ports() {
            self.rows_of(port, &mut rows);
        }
        rows
    }

    pub(super) fn rows_of(&self, port: &Port, rows: &mut Vec<Row>) {
        let (_, streams) = self.network.parts();
        let (outputs, delay) = port.along_link();
        for &output in outputs {
            for train in streams[output].trains() {
                let Some(vc) = self.vc(output, train.item.vc) else { continue };
                // Its first cells may be on the link while the last are in the buffer.
                let sent = Instant::start_of(self.now + delay);
                for (first, last, step) in even_parts(train, sent) {
                    let arrival = train.arrival(first);
                    let (place, base) = match (port.location, arrival > sent) {
                        (Location::Shaper, _) => (Whereabouts::Shaper, self.now),
                        (_, true) => (Whereabouts::Buffer, self.now + delay),
                        (_, false) => (Whereabouts::Link, self.now),
                    };
                    let mut cell = train.item;
                    cell.advance(first);
                    rows.push(Row {
                        after: arrival.ps() - base,
                        step,
                        count: last - first + 1,
                        ..self.row(port.link, place, vc, cell)
                    });
                }
            }
        }
        for cell in port.stored() {
            let vc = port.hops(cell.vc).first().and_then(|&(stream, vci)| self.vc(stream, vci));
            let Some(vc) = vc else { continue };
            match rows.last_mut().filter(|row| row.place == Whereabouts::Stored && continues(row, vc, &cell))
            {
                Some(row) => row.count += 1,
                None => rows.push(self.row(port.link, Whereabouts::Stored, vc, cell)),
            }
        }
    }

    /// One cell.
    fn row(&self, link: usize, place: Whereabouts, vc: Vc, cell: Cell) -> Row {
        let data = cell.kind == Kind::Data;
        // What is lost of a frame of one unit is all of it, and behind a link that reorders numbers are others.
        let broken =
            data && cell.length > 1 && self.broken[vc.flow][usize::from(vc.back)].contains(&cell.frame);
        let octets = self.octets(link, &cell);
        Row { link, place, vc, cell, count: 1, after: 0, step: 0, octets, broken }
    }

    /// Octets that a cell or packet takes on a link.
    fn octets(&self, link: usize, cell: &Cell) -> u32 {
        let link = &self.graph.links[link];
        match link.framing {
            Framing::Cells => CELL_OCTETS as u32,
            Framing::Packets => cell.octets + link.overhead.0 as u32,
        }
    }
}

/// Whether a cell continues the frame at the end of a row.
fn continues(row: &Row, vc: Vc, cell: &Cell) -> bool {
    let expected = u32::from(row.cell.position) + row.count;
    let marked = |cell: &Cell| cell.ecn == Ecn::Marked;
    (row.vc, row.cell.frame, row.cell.clp, row.cell.kind) == (vc, cell.frame, cell.clp, cell.kind)
        && u32::from(cell.position) == expected
        && marked(&row.cell) == marked(cell)
}

/// The parts of a train whose cells are evenly spaced and on one side of `limit`: first and last place, and the step.
fn even_parts(train: &Train<Cell>, limit: Instant) -> Vec<(u32, u32, Time)> {
    let (mut parts, mut first) = (Vec::new(), 0);
    while first < train.count {
        let gap = |place: u32| train.slots_to(place + 1) - train.slots_to(place);
        let before = train.arrival(first) <= limit;
        let mut last = first;
        while last + 1 < train.count
            && (last == first || gap(last) == gap(first))
            && (train.arrival(last + 1) <= limit) == before
        {
            last += 1;
        }
        let step = if last > first { train.arrival(first + 1).ps() - train.arrival(first).ps() } else { 0 };
        parts.push((first, last, step));
        first = last + 1;
    }
    parts
}
