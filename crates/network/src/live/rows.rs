//! Where cells are: read from the streams between the ports, and from the queues that ports store.

use std::collections::BTreeMap;

use celltrain_atm::{
    Cell,
    cell::{CELL_OCTETS, Kind},
};
use celltrain_engine::{
    Instant, Time,
    stream::{Item, StreamId, Train},
};

use super::{Live, Row, Whereabouts, vcs::Carried};
use crate::{port::Port, scenario::Framing, shaper::Shaper};

/// How many cells have been seen in the output streams of ports.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<StreamId, u64>);

impl Live {
    /// All cells, or packets, in buffers and on links: those of a link in the order of their departures from its port, output by
    /// output.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for port in self.network.ports() {
            self.rows_of(port, &mut rows);
        }
        for shaper in self.network.shapers() {
            self.rows_of_shaper(shaper, &mut rows);
        }
        rows
    }

    fn rows_of(&self, port: &Port, rows: &mut Vec<Row>) {
        let (_, streams) = self.network.parts();
        for &output in port.along_link().0 {
            streams[output].trains().iter().for_each(|train| self.add_train(port, output, train, rows));
        }
        self.add_stored(port, rows);
    }

    /// Of the cells in the output streams of a port those that the last call with `known` has not seen, output by output.
    pub(super) fn new_rows(&self, port: &Port, known: &mut Known, rows: &mut Vec<Row>) {
        let (_, streams) = self.network.parts();
        for &output in port.along_link().0 {
            let stream = &streams[output];
            let mut new = stream.pushed() - known.0.insert(output, stream.pushed()).unwrap_or(0);
            let trains = stream.trains();
            let mut first = trains.len();
            while first > 0 && new >= u64::from(trains[first - 1].count) {
                first -= 1;
                new -= u64::from(trains[first].count);
            }
            if first > 0 && new > 0 {
                // It has grown.
                let mut grown = trains[first - 1];
                grown.advance(grown.count - new as u32);
                self.add_train(port, output, &grown, rows);
            }
            trains[first..].iter().for_each(|train| self.add_train(port, output, train, rows));
        }
    }

    /// The cells of a train in an output stream of a port: in its buffer, or on the link behind it.
    fn add_train(&self, port: &Port, output: StreamId, train: &Train<Cell>, rows: &mut Vec<Row>) {
        let Some(carried) = self.carried(output, train.item.vc) else { return };
        let (_, delay) = port.along_link();
        // Its first cells may be on the link while the last are in the buffer.
        let sent = Instant::start_of(self.now + delay);
        for (first, last, step) in even_parts(train, sent) {
            let arrival = train.arrival(first);
            let (place, base) = if arrival > sent {
                (Whereabouts::Buffer, self.now + delay)
            } else {
                (Whereabouts::Link, self.now)
            };
            let row = self.row(port.link, place, carried, train.item);
            rows.push(part_of(row, (first, last, step), arrival.ps() - base));
        }
    }

    /// The cells that a shaper holds back.
    fn rows_of_shaper(&self, shaper: &Shaper, rows: &mut Vec<Row>) {
        let ((_, streams), (output, vci)) = (self.network.parts(), shaper.hop());
        let Some(carried) = self.carried(output, vci) else { return };
        for train in streams[output].trains() {
            for (first, last, step) in even_parts(train, Instant::start_of(self.now)) {
                let row = self.row(shaper.link(), Whereabouts::Shaper, carried, train.item);
                rows.push(part_of(row, (first, last, step), train.arrival(first).ps() - self.now));
            }
        }
    }

    /// The cells that a port stores.
    pub(super) fn add_stored(&self, port: &Port, rows: &mut Vec<Row>) {
        for cell in port.stored() {
            let carried = port.hops(cell.vc).first().and_then(|&(stream, vci)| self.carried(stream, vci));
            let Some(carried) = carried else { continue };
            let same = |row: &&mut Row| (row.link, row.place) == (port.link, Whereabouts::Stored);
            match rows.last_mut().filter(|row| same(row) && continues(row, carried, &cell)) {
                Some(row) => row.count += 1,
                None => rows.push(self.row(port.link, Whereabouts::Stored, carried, cell)),
            }
        }
    }

    /// One cell.
    fn row(&self, link: usize, place: Whereabouts, Carried { vc, next }: Carried, cell: Cell) -> Row {
        let data = cell.kind == Kind::Data;
        // What is lost of a frame of one unit is all of it, and behind a link that reorders numbers are others.
        let broken =
            data && cell.length > 1 && self.broken[vc.flow][usize::from(vc.back)].contains(&cell.frame);
        let octets = self.octets(link, &cell);
        Row { link, place, vc, next, cell, count: 1, after: 0, step: 0, octets, broken }
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

/// Of the cells of a train, of which `row` is the first, those from `first` to `last`, which are evenly spaced.
fn part_of(mut row: Row, (first, last, step): (u32, u32, Time), after: Time) -> Row {
    row.cell.advance(first);
    Row { after, step, count: last - first + 1, ..row }
}

/// Whether a cell continues the frame at the end of a row.
fn continues(row: &Row, Carried { vc, next }: Carried, cell: &Cell) -> bool {
    let expected = u32::from(row.cell.position) + row.count;
    let marked = |cell: &Cell| cell.ecn.is_set();
    (row.vc, row.next, row.cell.frame, row.cell.clp, row.cell.kind)
        == (vc, next, cell.frame, cell.clp, cell.kind)
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

#[cfg(test)]
mod tests {
    use celltrain_engine::{random::Randomness, time::MICROSECOND};

    use super::*;
    use crate::scenario::Scenario;

    /// Two sources whose cells are interleaved on links that are long for the time between two looks.
    const LONG: &str = r#"
schema = 1
name = "long"
duration = "200 ms"
topology = { kind = "n-source", sources = 2 }
link = { rate = "155.52 Mbit/s", delay = "3 ms" }
switch = { buffer = "100 cells", discard.policy = "epd" }
traffic = { kind = "greedy" }
"#;

    /// What a shaper holds back is in its rows: frame by frame, when each cell goes on, and to which link. Three frames of 8 cells come at once into
    /// 8 cells a millisecond, the first of them 10 us after the start.
    #[test]
    fn what_a_shaper_holds_back_is_shown() {
        let text = r#"
            schema = 1
            name = "shaped"
            duration = "20 ms"
            topology = { kind = "n-source", sources = 2 }
            link = { rate = "155.52 Mbit/s", delay = "1 ms" }
            switch.buffer = "100 cells"
            traffic = { kind = "trace", times = ["10 us", "10 us", "10 us"], packet = "368 B" }
            [[flow]]
            name = "2"
            vc.pcr = "8000 cells/s"
        "#;
        let scenario = Scenario::from_toml(text, "shaped.toml", &[]).unwrap();
        let mut live = Live::new(scenario, 1, 0).unwrap();
        let interface = live.graph().flows[1].route[0];
        let held = |live: &Live| -> Vec<Row> {
            live.rows().into_iter().filter(|row| row.place == Whereabouts::Shaper).collect()
        };
        assert!(live.advance(5 * MICROSECOND, &mut || false));
        assert!(held(&live).is_empty());
        // Cells go on at 10 us and every 125 us from then on: at 1 ms, eight have, and the next does in 10 us.
        assert!(live.advance(1000 * MICROSECOND, &mut || false));
        let rows = held(&live);
        let of_rows = |of: &dyn Fn(&Row) -> u64| rows.iter().map(of).collect::<Vec<_>>();
        assert_eq!(of_rows(&|row| row.count.into()), [8, 8]);
        assert_eq!(of_rows(&|row| row.cell.frame.into()), [1, 2]);
        assert_eq!(of_rows(&|row| row.after / MICROSECOND), [10, 1010]);
        assert_eq!(of_rows(&|row| row.step / MICROSECOND), [125, 125]);
        assert_eq!(of_rows(&|row| row.cell.position.into()), [0, 0]);
        assert!(rows.iter().all(|row| (row.link, row.next) == (interface, Some(interface))));
        let vc = crate::live::Vc { flow: 1, back: false };
        assert!(rows.iter().all(|row| row.vc == vc && row.octets == 53 && !row.broken));
        // In the middle of a frame.
        assert!(live.advance(1200 * MICROSECOND, &mut || false));
        let rows = held(&live);
        let first = &rows[0];
        assert_eq!((rows.len(), first.count, first.cell.position, first.after / MICROSECOND), (2, 6, 2, 60));
        assert!(live.advance(3000 * MICROSECOND, &mut || false));
        assert!(held(&live).is_empty());
    }

    /// Frequent looks show each cell of an output stream once, also when its train has grown or lost its first cells since the look before.
    #[test]
    fn each_cell_is_new_once() {
        let scenario = Scenario::from_toml(LONG, "long.toml", &[]).unwrap();
        let mut live = Live::new(scenario, 1, 0).unwrap();
        let mut lots = Randomness { seed: 1, replication: 0 }.named("looks");
        let (mut known, mut seen) = (Known::default(), BTreeMap::new());
        while !live.is_over() {
            let until = live.now + lots.below(2000 * MICROSECOND);
            assert!(live.advance(until, &mut || false));
            for port in live.network.ports() {
                let mut rows = Vec::new();
                live.new_rows(port, &mut known, &mut rows);
                for row in &rows {
                    for place in 0..row.count as u16 {
                        let cell = (row.vc, row.cell.frame, row.cell.position + place);
                        *seen.entry((port.link, cell)).or_insert(0) += 1;
                    }
                }
            }
        }
        let twice = seen.iter().find(|(_, times)| **times > 1);
        assert_eq!(twice, None, "seen more than once");
        let (_, streams) = live.network.parts();
        for port in live.network.ports() {
            let sent: u64 = port.along_link().0.iter().map(|&output| streams[output].pushed()).sum();
            let cells = seen.keys().filter(|(link, _)| *link == port.link).count() as u64;
            assert_eq!(cells, sent, "port of link {}", port.link);
        }
        assert!(seen.len() > 5000, "{} cells", seen.len());
    }
}
