//! Tables of numbers for a page: first how many rows each has, then the rows, one after the other.
//!
//! All numbers are `f64`: times in picoseconds are exact up to 2^53, two and a half hours. The head is the time and the number of rows
//! of each table, in the order of [`View`]'s fields.

use celltrain_atm::cell::Kind;
use celltrain_network::live::{
    Completion, Discard, FlowState, Live, PauseSignal, PortState, Reaction, Row, Vc, Whereabouts, reasons,
};

/// The tables of one answer.
#[derive(Default)]
pub(crate) struct View {
    /// link, place, VC, frame, position, length, count, after, step, octets, flags, the link of the port that comes next or -1.
    rows: Table<12>,
    /// link, in a switch, occupancy, discarded.
    ports: Table<4>,
    /// cwnd, delivered, timeouts.
    flows: Table<3>,
    /// The VCs captured by ports: link, VC.
    captured: Table<2>,
    /// time, link, VC, frame, position, length, count, reason.
    discards: Table<8>,
    /// time, flow, kind.
    reactions: Table<3>,
    /// time, flow, bytes, completion time.
    completions: Table<4>,
    /// Links whose rate or delay changes in the course of the run: link, present rate, present delay.
    links: Table<3>,
    /// Ports that have been paused: link, since when they are or -1, pauses so far, and how long these were together.
    paused: Table<4>,
    /// Pauses that arrived at ports, and their ends: time, link, whether one begins.
    pauses: Table<3>,
    /// time; then of every switch port the occupancy, then of every flow cwnd, bytes delivered and delay. The delay is TCP's last round
    /// trip, or the mean transfer delay of the frames of bare cells that arrived since the last sample; zero if there is none.
    samples: Vec<f64>,
    sampled: u64,
}

/// Rows of as many numbers.
#[derive(Default)]
struct Table<const COLUMNS: usize>(Vec<[f64; COLUMNS]>);

/// A VC as one number: twice the flow's, and one more for the VC back.
fn number(vc: Vc) -> f64 {
    (2 * vc.flow + usize::from(vc.back)) as f64
}

impl View {
    pub(crate) fn rows(&mut self, rows: &[Row]) {
        self.rows.0.extend(rows.iter().map(row));
    }

    pub(crate) fn ports(&mut self, ports: &[PortState]) {
        for port in ports {
            let link = port.link as f64;
            self.captured.0.extend(port.captured.iter().map(|&vc| [link, number(vc)]));
            let in_switch = f64::from(u8::from(port.in_switch));
            self.ports.0.push([link, in_switch, port.occupancy as f64, port.discarded as f64]);
        }
    }

    pub(crate) fn flows(&mut self, flows: &[FlowState]) {
        let numbers = |flow: &FlowState| [flow.cwnd, flow.delivered, flow.timeouts].map(|value| value as f64);
        self.flows.0.extend(flows.iter().map(numbers));
    }

    pub(crate) fn discards(&mut self, discards: &[Discard]) {
        let reasons = reasons();
        self.discards.0.extend(discards.iter().map(|discard| {
            let reason =
                reasons.iter().position(|reason| *reason == discard.reason).expect("all reasons are listed");
            let cell = &discard.cell;
            [
                discard.at as f64,
                discard.link as f64,
                number(discard.vc),
                f64::from(cell.frame),
                f64::from(cell.position),
                f64::from(cell.length),
                f64::from(discard.count),
                reason as f64,
            ]
        }));
    }

    pub(crate) fn reactions(&mut self, reactions: &[(u64, usize, Reaction)]) {
        self.reactions.0.extend(reactions.iter().map(|&(at, flow, reaction)| {
            let kind = match reaction {
                Reaction::FastRetransmit => 0.0,
                Reaction::Timeout => 1.0,
                Reaction::Mark => 2.0,
            };
            [at as f64, flow as f64, kind]
        }));
    }

    pub(crate) fn completions(&mut self, completions: &[Completion]) {
        self.completions.0.extend(completions.iter().map(|&Completion { at, flow, bytes, time }| {
            [at as f64, flow as f64, bytes as f64, time as f64]
        }));
    }

    pub(crate) fn links(&mut self, live: &Live) {
        let present =
            live.changing_links().map(|(link, rate, delay)| [link as f64, rate.0 as f64, delay as f64]);
        self.links.0.extend(present);
    }

    pub(crate) fn paused(&mut self, live: &Live) {
        self.paused.0.extend(live.pauses().map(|pauses| {
            let since = pauses.since.map_or(-1.0, |since| since as f64);
            [pauses.link as f64, since, pauses.count as f64, pauses.time as f64]
        }));
    }

    pub(crate) fn pauses(&mut self, signals: &[PauseSignal]) {
        self.pauses.0.extend(
            signals.iter().map(|&PauseSignal { at, link, begins }| {
                [at as f64, link as f64, f64::from(u8::from(begins))]
            }),
        );
    }

    pub(crate) fn sample(&mut self, live: &mut Live) {
        self.sampled += 1;
        self.samples.push(live.now() as f64);
        let transfers = live.drain_transfer_delays();
        let queues = live.occupancies().filter_map(|(in_switch, occupancy)| in_switch.then_some(occupancy));
        self.samples.extend(queues.map(|occupancy| occupancy as f64));
        let flows = live.progress().zip(transfers);
        let values = flows.flat_map(|([cwnd, delivered, round_trip], transfer)| {
            [cwnd, delivered, transfer.unwrap_or(round_trip)]
        });
        self.samples.extend(values.map(|value| value as f64));
    }

    /// The bytes of all tables, at time `now`.
    pub(crate) fn finish(self, now: u64) -> Vec<u8> {
        let mut numbers = vec![now as f64];
        let lengths = [
            self.rows.0.len(),
            self.ports.0.len(),
            self.flows.0.len(),
            self.captured.0.len(),
            self.discards.0.len(),
            self.reactions.0.len(),
            self.completions.0.len(),
            self.links.0.len(),
            self.paused.0.len(),
            self.pauses.0.len(),
            self.sampled as usize,
        ];
        numbers.extend(lengths.map(|length| length as f64));
        numbers.extend(self.rows.0.as_flattened());
        numbers.extend(self.ports.0.as_flattened());
        numbers.extend(self.flows.0.as_flattened());
        numbers.extend(self.captured.0.as_flattened());
        numbers.extend(self.discards.0.as_flattened());
        numbers.extend(self.reactions.0.as_flattened());
        numbers.extend(self.completions.0.as_flattened());
        numbers.extend(self.links.0.as_flattened());
        numbers.extend(self.paused.0.as_flattened());
        numbers.extend(self.pauses.0.as_flattened());
        numbers.extend(self.samples);
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

fn row(row: &Row) -> [f64; 12] {
    let cell = &row.cell;
    let place = match row.place {
        Whereabouts::Buffer => 0.0,
        Whereabouts::Stored => 1.0,
        Whereabouts::Link => 2.0,
        Whereabouts::Shaper => 3.0,
    };
    let flags = [row.broken, cell.clp, cell.ecn.is_set(), cell.kind != Kind::Data];
    let flags = (0..).zip(flags).map(|(bit, flag)| u32::from(flag) << bit).sum::<u32>();
    [
        row.link as f64,
        place,
        number(row.vc),
        f64::from(cell.frame),
        f64::from(cell.position),
        f64::from(cell.length),
        f64::from(row.count),
        row.after as f64,
        row.step as f64,
        f64::from(row.octets),
        f64::from(flags),
        row.next.map_or(-1.0, |link| link as f64),
    ]
}
