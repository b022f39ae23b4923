//! A port does the same however its visits are cut: trains that arrive on three inputs, as trains and cell by cell.

use celltrain_atm::{
    Cell,
    cell::{CELL_BITS, Ecn},
};
use celltrain_engine::{
    Instant, Slot, Time,
    quantity::BitRate,
    stream::{Stream, Train},
    time::MILLISECOND,
};
use proptest::prelude::*;

use super::{
    AnyCore, Location, Port,
    tests::{network, with_streams},
    with_core,
};
use crate::flight::Streams;

/// How the cells of a frame come.
#[derive(Debug, Clone, Copy)]
enum Form {
    Train,
    OneByOne,
    /// In two trains.
    Parted,
    /// With gaps.
    Gaps,
}

#[derive(Debug, Clone)]
struct Frame {
    form: Form,
    cells: u16,
    /// Time since the last cell of the frame before, in eighths of a slot; 8 is a slot to the last bit.
    pause: u64,
    clp: bool,
    ecn: Ecn,
    /// Whether the first cell was lost before, and the last.
    lost: (bool, bool),
}

fn frames() -> impl Strategy<Value = Vec<Frame>> {
    let form = prop_oneof![4 => Just(Form::Train), 1 => Just(Form::OneByOne), 1 => Just(Form::Parted), 1 => Just(Form::Gaps)];
    let pause = prop_oneof![4 => 8_u64..10, 2 => 8_u64..17, 1 => 8_u64..100];
    let ecn = prop_oneof![4 => Just(Ecn::NotCapable), 1 => Just(Ecn::Capable)];
    let lost = (prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    let frame = (form, 2_u16..20, pause, prop::bool::weighted(0.1), ecn, lost);
    let frame =
        frame.prop_map(|(form, cells, pause, clp, ecn, lost)| Frame { form, cells, pause, clp, ecn, lost });
    prop::collection::vec(frame, 1..10)
}

/// What arrives on one input: the trains.
fn trains(vc: u32, frames: &[Frame], slot: Slot, phase: u64) -> Vec<Train<Cell>> {
    let eighth = Slot::of_ps(slot.ps() / 8);
    let (mut at, mut trains) = (Instant::start_of(1000).plus_slots(eighth, phase), Vec::new());
    for (number, frame) in frames.iter().enumerate() {
        let &Frame { cells, clp, ecn, lost, .. } = frame;
        let item = Cell { vc, frame: number as u32, length: cells, clp, ecn, ..Cell::default() };
        let mut train = Train { slot, count: cells.into(), ..Train::single(at, item) };
        if matches!(frame.form, Form::Gaps) {
            train.gaps = 0x21 & ((1 << (4 * (u32::from(cells) - 1).min(8))) - 1);
        }
        let last = train.last();
        if lost.0 {
            train.advance(1);
        }
        if lost.1 && train.count > 1 {
            train.truncate(train.count - 1);
        }
        match frame.form {
            Form::OneByOne => (0..train.count).for_each(|place| trains.push(cell(&train, place))),
            Form::Parted if train.count > 1 => {
                let mut begin = train;
                begin.truncate(train.count / 2);
                train.advance(train.count / 2);
                trains.extend([begin, train]);
            }
            _ => trains.push(train),
        }
        at = if frame.pause == 8 { last.plus(slot) } else { last.plus_slots(eighth, frame.pause) };
    }
    trains
}

/// A cell of a train, as a train of its own.
fn cell(train: &Train<Cell>, place: u32) -> Train<Cell> {
    let item = Cell { position: train.item.position + place as u16, ..train.item };
    Train::single(train.arrival(place), item)
}

/// What the port says of itself on the way.
fn on_the_way(port: &Port) -> String {
    format!("{} {:?} {:?}", port.occupancy(), port.occupancy_integral(), port.busy())
}

/// What the port has done in the end.
fn in_the_end(port: &Port) -> String {
    let levels = port.levels().map(|levels| levels.bins().collect::<Vec<_>>());
    with_core!(&port.core, core => {
        format!("{:?} {:?} {:?} {} {levels:?}", core.stats, core.entries, core.fingerprint, port.occupancy_max())
    })
}

/// What has left the port, by stream, cell by cell.
fn sent(port: &Port, streams: &Streams) -> Vec<Vec<(Instant, Cell)>> {
    let cells = |train: &Train<Cell>| {
        let train = *train;
        (0..train.count).map(move |place| (train.arrival(place), cell(&train, place).item))
    };
    port.outputs.iter().map(|&output| streams[output].trains().iter().flat_map(cells).collect()).collect()
}

/// How a port is made, and run.
#[derive(Debug, Clone)]
struct Setting {
    policy: &'static str,
    marks: bool,
    buffer: &'static str,
    random: bool,
    levels: bool,
    /// Whether all VCs leave by one stream.
    together: bool,
    /// How many times as fast as the link the inputs are, and whether the third is as fast as it.
    faster: u64,
    mixed: bool,
    runs_until: Time,
}

fn settings() -> impl Strategy<Value = Setting> {
    let policies = vec!["tail-drop", "epd", "espd", "red", "ppd", "espd-original"];
    let policy = (prop::sample::select(policies), any::<bool>());
    let buffer = prop::sample::select(vec!["2 cells", "3 cells", "12 cells", "40 cells", "1000 cells"]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let faster = prop::sample::select(vec![1_u64, 2, 3]);
    let runs = prop::sample::select(vec![0_u64, 30_000_000, 100_000_000, 1_000_000_000]);
    let all = (policy, buffer, switches, faster, runs);
    all.prop_map(|((policy, marks), buffer, (random, levels, together, mixed), faster, runs_until)| {
        let marks = marks && policy == "epd";
        Setting { policy, marks, buffer, random, levels, together, faster, mixed, runs_until }
    })
}

impl Setting {
    /// What a port does with `inputs` in visits that end at `stops` and, if it is to be `cut`, at every cell.
    fn run(
        &self,
        inputs: &[Vec<Frame>],
        phases: &[u64],
        stops: &[Time],
        cut: bool,
    ) -> (Vec<Vec<(Instant, Cell)>>, Vec<String>) {
        let mut overrides = vec![
            ("topology.sources", "3"),
            ("switch.buffer", self.buffer),
            ("switch.discard.policy", self.policy),
        ];
        if self.marks {
            overrides.extend([
                ("switch.discard.epd.ecn", "true"),
                ("switch.discard.epd.threshold", "\"2 cells\""),
            ]);
        }
        if self.random {
            overrides.push(("tie-break", "random"));
        }
        let mut network = network(&overrides);
        let mut streams = with_streams(&network);
        let port = network.ports_mut().find(|port| port.location == Location::Switch).expect("a switch");
        port.run_on(self.runs_until);
        if self.levels {
            port.follow_levels();
        }
        if self.together {
            with_core!(&mut port.core, core => {
                let output = core.entries[0].output;
                for (vc, entry) in core.entries.iter_mut().enumerate() {
                    (entry.output, entry.next_vc) = (output, vc as u32);
                }
            });
        }
        let mut ends = stops.to_vec();
        for (vc, frames) in inputs.iter().enumerate() {
            let faster = if self.mixed && vc == 2 { 1 } else { self.faster };
            let slot = Slot::of_bits(CELL_BITS, BitRate(155_520_000 * faster));
            let stream: &mut Stream<Cell> = &mut streams[port.inputs()[vc]];
            for train in trains(vc as u32, frames, slot, phases[vc]) {
                stream.push(0, 0, &train);
                if cut {
                    ends.extend((0..train.count).map(|place| train.arrival(place).ps() + 1));
                }
            }
        }
        ends.sort_unstable();
        let mut said = Vec::new();
        for end in ends {
            port.visit(end, &mut streams);
            if stops.contains(&end) {
                said.push(on_the_way(port));
            }
        }
        port.visit(10 * MILLISECOND, &mut streams);
        port.run_on(10 * MILLISECOND);
        said.push(in_the_end(port));
        said.dedup();
        (sent(port, &streams), said)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn a_port_does_the_same_however_its_visits_are_cut(
        inputs in prop::collection::vec(frames(), 3..=3),
        phases in prop::collection::vec(0_u64..9, 3..=3),
        stops in prop::collection::btree_set(1_u64..300_000_000, 0..5),
        setting in settings(),
    ) {
        let stops: Vec<_> = stops.into_iter().collect();
        let [whole, cut] = [false, true].map(|cut| setting.run(&inputs, &phases, &stops, cut));
        prop_assert_eq!(whole, cut);
    }
}
