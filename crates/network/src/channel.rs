//! What happens to cells on their way along a link: some links lose some of them.
//!
//! A channel stands between a port and what receives its cells, on links that lose something or are captured. The port has
//! transmitted the cells, so that queues and utilisations do not depend on the losses. A capture of a link is taken there too,
//! of the cells that pass.

use celltrain_atm::{Cell, cell::Kind};
use celltrain_engine::{
    Fingerprint, Time,
    merge::{Merge, TieBreak},
    random::Generator,
    stream::{StreamId, Streams, Train},
};
use celltrain_tcp::{Flags, Segment};

use crate::{capture::CellTap, flight::InFlight, live::DiscardLog, scenario::LossDirection};

/// Why a link lost a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LossReason {
    /// By chance.
    Random,
    /// The scenario names it.
    Scripted,
}

impl LossReason {
    pub(crate) const ALL: [Self; 2] = [Self::Random, Self::Scripted];

    /// The name of the column that counts it in results.
    pub(crate) fn column(self) -> &'static str {
        match self {
            Self::Random => "lost_random",
            Self::Scripted => "lost_scripted",
        }
    }
}

/// Cells lost, by [`LossReason`].
pub(crate) type Lost = [u64; LossReason::ALL.len()];

/// Losses by chance, each on its own, with the same probability.
#[derive(Debug)]
pub(crate) struct RandomLoss {
    generator: Generator,
    /// Logarithm of the probability to pass; zero if nothing is ever lost.
    log_pass: f64,
    /// Units that pass before the next one is lost.
    passing: u64,
    /// Whether units are frames; otherwise cells.
    frames: bool,
}

impl RandomLoss {
    /// Loses a share `loss` of the frames or cells.
    pub(crate) fn new(loss: f64, frames: bool, generator: Generator) -> Self {
        let mut random = Self { generator, log_pass: libm::log1p(-loss), passing: 0, frames };
        random.draw();
        random
    }

    /// Draws how many units pass before the next loss: geometrically distributed, one number a loss, not one a unit.
    fn draw(&mut self) {
        let unit = 1.0 - self.generator.unit();
        // Conversion saturates: without losses this is the largest number, with loss 1 it is 0.
        self.passing = (libm::log(unit) / self.log_pass) as u64;
        if self.log_pass == 0.0 {
            self.passing = u64::MAX;
        }
    }

    /// How many of `count` units pass before one of them is lost.
    fn pass(&mut self, count: u32) -> u32 {
        if self.passing >= u64::from(count) {
            self.passing -= u64::from(count);
            return count;
        }
        let passed = self.passing as u32;
        self.draw();
        passed
    }
}

/// A segment to be lost.
#[derive(Debug)]
pub(crate) struct ScriptedLoss {
    /// The VC's payloads.
    pub(crate) payloads: usize,
    pub(crate) direction: LossDirection,
    /// A byte that the data carries, or that the ACK asks for.
    pub(crate) byte: u64,
    /// How many such segments are still to come until it is lost, this one included; 0 once it is.
    pub(crate) left: u32,
}

impl ScriptedLoss {
    fn matches(&self, segment: &Segment) -> bool {
        match self.direction {
            LossDirection::Data => (segment.seq..segment.end()).contains(&self.byte),
            LossDirection::Ack => {
                segment.len == 0 && segment.flags.contains(Flags::ACK) && segment.ack == self.byte
            }
        }
    }

    /// Whether this is the transmission to be lost.
    fn strikes(&mut self, segment: &Segment) -> bool {
        if self.left == 0 || !self.matches(segment) {
            return false;
        }
        self.left -= 1;
        self.left == 0
    }
}

/// A VC on the link.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Vc {
    /// Where the contents of its frames and of its RM cells wait, if they have any.
    payloads: Option<usize>,
    rm_payloads: Option<usize>,
    /// The frame of its last cell.
    frame: Option<u32>,
    /// Why that frame is lost, if it is.
    lost: Option<LossReason>,
}

impl Vc {
    pub(crate) fn new(payloads: Option<usize>, rm_payloads: Option<usize>) -> Self {
        Self { payloads, rm_payloads, frame: None, lost: None }
    }
}

/// A link's way to one of the processes behind it.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The link, by its number in the graph.
    pub(crate) link: usize,
    input: [StreamId; 1],
    output: [StreamId; 1],
    merge: Merge,
    /// By label.
    vcs: Vec<Vc>,
    loses: bool,
    random: RandomLoss,
    scripted: Vec<ScriptedLoss>,
    tap: Option<CellTap>,
    clock: Time,
    passed: u64,
    lost: Lost,
    /// Number of the last cell passed on; the trains of a channel do not join.
    number: u64,
    fingerprint: Fingerprint,
    /// Losses, if somebody watches.
    log: Option<Box<DiscardLog>>,
}

/// What a channel is made of.
#[derive(Debug)]
pub(crate) struct ChannelParts {
    pub(crate) link: usize,
    pub(crate) input: StreamId,
    pub(crate) output: StreamId,
    /// By label.
    pub(crate) vcs: Vec<Vc>,
    /// Whether anything is to be lost; a link that is only captured loses nothing.
    pub(crate) loses: bool,
    pub(crate) random: RandomLoss,
    pub(crate) scripted: Vec<ScriptedLoss>,
    /// Records the cells that pass, if the link is captured.
    pub(crate) tap: Option<CellTap>,
}

/// Between the numbers of cells that are not on one grid of slots.
const APART: u64 = 1 << 32;

impl Channel {
    pub(crate) fn new(parts: ChannelParts) -> Self {
        let input = [parts.input];
        Self {
            link: parts.link,
            merge: Merge::new(&input, TieBreak::InputId),
            input,
            output: [parts.output],
            vcs: parts.vcs,
            loses: parts.loses,
            random: parts.random,
            scripted: parts.scripted,
            tap: parts.tap,
            clock: 0,
            passed: 0,
            lost: Lost::default(),
            number: 0,
            fingerprint: Fingerprint::default(),
            log: None,
        }
    }

    /// Keeps a log of the losses from now on.
    pub(crate) fn watch(&mut self) {
        self.log.get_or_insert_default();
    }

    /// The log of the losses, if one is kept: what a viewer may read.
    pub(crate) fn log(&mut self) -> Option<&mut DiscardLog> {
        self.log.as_deref_mut()
    }

    pub(crate) fn inputs(&self) -> &[StreamId] {
        &self.input
    }

    pub(crate) fn outputs(&self) -> &[StreamId] {
        &self.output
    }

    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// What happened, where anything can: what only watches a link leaves no trace in a run.
    pub(crate) fn fingerprint(&self) -> Option<Fingerprint> {
        self.loses.then_some(self.fingerprint)
    }

    /// What the link's capture is made of, if it is captured.
    pub(crate) fn tap(&self) -> Option<&CellTap> {
        self.tap.as_ref()
    }

    /// Cells lost so far.
    pub(crate) fn lost(&self) -> Lost {
        self.lost
    }

    /// Handles the arrivals before `until`.
    pub(crate) fn visit(&mut self, until: Time, streams: &mut Streams<Cell>, flight: &InFlight) -> u64 {
        self.merge.refill(streams);
        let (mut cells, mut train) = (0, Train::default());
        while self.merge.next::<false, _>(until, streams, &mut train) {
            cells += u64::from(train.count);
            self.on_train(train, streams, flight);
        }
        self.clock = until;
        streams[self.output[0]].advance_horizon(until);
        cells
    }

    fn on_train(&mut self, mut train: Train<Cell>, streams: &mut Streams<Cell>, flight: &InFlight) {
        if train.car.kind != Kind::Data {
            return self.on_management_cell(&train, streams, flight);
        }
        let vc = self.vcs[train.car.vc as usize];
        let mut lost = vc.lost;
        if vc.frame != Some(train.car.frame) {
            lost = self.on_frame(vc.payloads, train.car.frame, flight);
            self.vcs[train.car.vc as usize] = Vc { frame: Some(train.car.frame), lost, ..vc };
            if let Some(reason) = lost {
                self.note_loss(&train, reason);
            }
        }
        if let Some(reason) = lost {
            self.lost[reason as usize] += u64::from(train.count);
            return;
        }
        if self.random.frames {
            return self.pass(&train, streams, flight);
        }
        loop {
            let passing = self.random.pass(train.count);
            if passing == train.count {
                return self.pass(&train, streams, flight);
            }
            if passing > 0 {
                let mut head = train;
                head.truncate(passing);
                self.pass(&head, streams, flight);
                train.advance(passing);
            }
            self.note_loss(&train, LossReason::Random);
            self.lost[LossReason::Random as usize] += 1;
            if train.count == 1 {
                return;
            }
            train.advance(1);
        }
    }

    /// An RM cell, which stands for itself among frames and among cells.
    fn on_management_cell(&mut self, train: &Train<Cell>, streams: &mut Streams<Cell>, flight: &InFlight) {
        if self.random.pass(1) == 1 {
            return self.pass(train, streams, flight);
        }
        self.note_loss(train, LossReason::Random);
        self.lost[LossReason::Random as usize] += 1;
    }

    /// A frame begins: whether and why it is lost as a whole.
    fn on_frame(&mut self, payloads: Option<usize>, frame: u32, flight: &InFlight) -> Option<LossReason> {
        let mut lost = (self.random.frames && self.random.pass(1) == 0).then_some(LossReason::Random);
        for scripted in self.scripted.iter_mut().filter(|scripted| Some(scripted.payloads) == payloads) {
            if scripted.strikes(&flight.packets[scripted.payloads].get(frame).segment) {
                lost = Some(LossReason::Scripted);
            }
        }
        lost
    }

    /// Mixes a loss into the fingerprint: of the first cell of `train`, once for a frame that is lost as a whole. How many
    /// trains its cells come in depends on the visits.
    fn note_loss(&mut self, train: &Train<Cell>, reason: LossReason) {
        let place = u64::from(train.car.position) << 32 | u64::from(train.car.vc);
        self.fingerprint.mix(train.first.ps() ^ place << 8 ^ reason as u64);
        if let Some(log) = &mut self.log {
            log.add(train.first.ps(), &train.car, reason.column());
        }
    }

    fn pass(&mut self, train: &Train<Cell>, streams: &mut Streams<Cell>, flight: &InFlight) {
        if let Some(tap) = &mut self.tap {
            let (Vc { payloads, rm_payloads, .. }, number) =
                (self.vcs[train.car.vc as usize], train.car.frame);
            if train.car.kind == Kind::Data {
                tap.record(train, payloads.map(|payloads| &flight.packets[payloads].get(number).segment));
            } else {
                // As the ports that it has passed have left it.
                let payloads = rm_payloads.expect("a VC with RM cells has a payload queue for them");
                tap.record_rm(train, flight.rm[payloads].get(number));
            }
        }
        self.passed += u64::from(train.count);
        self.number += APART;
        let first = self.number;
        self.number += train.slots_to(train.count - 1);
        streams[self.output[0]].push(first, self.number, train);
    }

    /// Checks that no cell was lost track of.
    ///
    /// # Panics
    /// If one was.
    pub(crate) fn check_conservation(&self, streams: &Streams<Cell>) {
        let input = &streams[self.input[0]];
        let lost: u64 = self.lost.iter().sum();
        assert_eq!(
            input.pushed(),
            input.waiting() + self.passed + lost,
            "link {}: cells passed and lost",
            self.link
        );
        assert_eq!(self.passed, streams[self.output[0]].pushed(), "link {}: cells passed", self.link);
    }
}
