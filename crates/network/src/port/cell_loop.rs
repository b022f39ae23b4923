//! Cells at a port whose departures are computed. Where nothing has to look at each, trains pass as trains where the policy accepts the
//! rest of a frame ([`super::bursts`]), rows of them at once where they find the link idle ([`super::straight`]), and cells that take turns
//! in rounds.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Needs},
};
use celltrain_engine::{
    Instant, Time,
    alone::Alone,
    merge::{Many, Taken},
    stream::Train,
};

use super::{
    cells::CellFifo,
    computed::{Computed, NOTHING, RATES, UNITS},
    core::PortCore,
    fifo::Fifo,
    tally::Tally,
};
use crate::flight::Streams;

impl PortCore<Computed<CellFifo>> {
    /// Whether it handles cells that take turns in rounds: nothing has to look at each.
    pub(super) fn takes_rounds(&self) -> bool {
        !self.service.keeps_per_vc() && self.control.is_none() && self.policers.is_empty()
    }

    /// Handles every arrival before `until`; returns how many cells there were.
    pub(super) fn serve<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        streams: &mut Streams,
    ) -> u64 {
        // What a policy cannot come to is not compiled for it, as the conditions are constants.
        if P::Needs::PUSH_OUT {
            unreachable!("a port whose policy pushes out stores its queues");
        }
        let fifo = &mut self.service.fifo;
        let levels = fifo.lend_levels().map(|levels| (levels, fifo.slot()));
        let mut tally = Tally::new(self.service.longest, fifo.slot(), levels);
        let sums = &mut tally;
        let rates = self.control.is_some();
        let cells = if let Some(mut alone) = self.merge.lend_alone(streams) {
            let input = &mut alone;
            let cells = if P::Needs::PER_VC || !self.policers.is_empty() {
                self.run_alone_observed::<UNITS, P>(policy, until, input, sums, streams)
            } else if rates {
                self.run_alone_observed::<RATES, P>(policy, until, input, sums, streams)
            } else {
                self.run_alone(policy, until, input, sums, streams)
            };
            self.merge.give_back(alone, streams);
            cells
        } else if let Some(mut many) = self.merge.lend() {
            let inputs = &mut *many;
            let cells = if P::Needs::PER_VC || !self.policers.is_empty() {
                self.run_observed::<UNITS, P>(policy, until, inputs, sums, streams)
            } else if rates {
                self.run_observed::<RATES, P>(policy, until, inputs, sums, streams)
            } else if inputs.takes_turns(streams) {
                self.run_turns(policy, until, inputs, sums, streams)
            } else {
                self.run_rounds(policy, until, inputs, sums, streams)
            };
            self.merge.take_back(many);
            cells
        } else {
            0
        };
        self.settle(policy, tally, Instant::start_of(until));
        cells
    }

    /// As [`PortCore::serve`], where only one input has any cells, and nothing has to look at them.
    #[inline(never)]
    fn run_alone<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let mut cells = 0;
        loop {
            cells += self.run_straight(policy, until, alone, tally, streams);
            let Some(train) = alone.next_or_weave(until) else { return cells };
            if train.count > 1 && train.woven() > 0 {
                cells += self.on_weave(policy, until, alone, tally, streams);
            } else {
                cells += self.on_train(policy, train, tally, streams);
            }
        }
    }

    /// A weave arrives on the only input: handles its rounds before `until`, or its first cell. Returns how many cells there were.
    #[inline(never)]
    fn on_weave<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let mut bursts = self.service.lend_bursts();
        let cells = if let Some(cells) = alone.rounds(until, &mut bursts) {
            self.on_rounds(policy, cells, &mut bursts, tally, streams);
            cells.into()
        } else if let Some(train) = alone.next(until) {
            self.on_train(policy, train, tally, streams)
        } else {
            0
        };
        self.service.give_back_bursts(bursts);
        cells
    }

    /// As [`PortCore::serve`], where cells of several inputs take turns in rounds.
    #[inline(never)]
    fn run_rounds<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        inputs: &mut Many,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let (mut units, mut train) = (0, Train::default());
        let link = self.service.fifo.slot();
        let mut bursts = self.service.lend_bursts();
        loop {
            match inputs.next_or_rounds(until, link, streams, &mut train, &mut bursts) {
                Taken::Nothing => break,
                Taken::Train => units += self.on_train(policy, &mut train, tally, streams),
                Taken::Rounds(cells) => {
                    units += u64::from(cells);
                    self.on_rounds(policy, cells, &mut bursts, tally, streams);
                }
            }
        }
        self.service.give_back_bursts(bursts);
        units
    }

    /// As [`PortCore::serve`], where cells of several inputs take turns, and no rounds are sought.
    #[inline(never)]
    fn run_turns<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        inputs: &mut Many,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let (mut cells, mut train) = (0, Train::default());
        while inputs.next::<true, _>(until, streams, &mut train) {
            cells += self.on_train(policy, &mut train, tally, streams);
        }
        cells
    }

    /// A train arrives, with no cell of another input in between; returns how many cells it has.
    #[inline(always)]
    fn on_train<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let count = u64::from(train.count);
        if count > 1 {
            self.on_burst(policy, train, tally, streams);
        } else {
            self.on_unit::<NOTHING, P>(policy, train, tally, streams);
        }
        count
    }

    /// As [`PortCore::serve`], where only one input has any cells. `OBSERVED`: what has to look at them, such as [`RATES`].
    #[inline(never)]
    fn run_alone_observed<const OBSERVED: u8, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        alone: &mut Alone<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let mut cells = 0;
        while let Some(train) = alone.next(until) {
            cells += self.on_observed::<OBSERVED, P>(policy, train, tally, streams);
        }
        cells
    }

    /// As [`PortCore::serve`]. `OBSERVED`: what has to look at cells.
    #[inline(never)]
    fn run_observed<const OBSERVED: u8, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        until: Time,
        inputs: &mut Many,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let (mut cells, mut train) = (0, Train::default());
        while inputs.next::<true, _>(until, streams, &mut train) {
            cells += self.on_observed::<OBSERVED, P>(policy, &mut train, tally, streams);
        }
        cells
    }

    /// A train arrives at a port with observers; returns how many cells there were for the link.
    #[inline(always)]
    fn on_observed<const OBSERVED: u8, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        if train.count == 1 {
            self.on_observed_cell::<OBSERVED, P>(policy, train, tally, streams)
        } else if OBSERVED == RATES {
            self.on_rated_train(policy, train, tally, streams)
        } else {
            self.on_observed_train(policy, train, tally, streams)
        }
    }

    /// A cell arrives at a port with observers, as a train of its own; returns how many cells there were for the link.
    #[inline(always)]
    fn on_observed_cell<const OBSERVED: u8, P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        cell: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        self.advance::<OBSERVED, P>(policy, cell.first);
        if !self.notify_allocator(cell.first, &mut cell.item, streams) {
            self.relay(cell, streams);
            return 0;
        }
        self.on_unit::<OBSERVED, P>(policy, cell, tally, streams);
        1
    }

    /// A train of more than one cell arrives at a port whose allocator has to look at them; returns how many cells there were for the link.
    /// Those of which it only needs the number are reported at once, as far as they arrive within one of its intervals.
    #[inline(never)]
    fn on_rated_train<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let cells = u64::from(train.count);
        loop {
            self.advance::<RATES, P>(policy, train.first);
            let reported = self.control.as_mut().map_or(0, |control| control.on_burst(train));
            if reported == train.count {
                self.on_burst(policy, train, tally, streams);
                return cells;
            }
            let count = reported.max(1);
            let mut part = *train;
            part.truncate(count);
            if reported > 0 {
                self.on_burst(policy, &mut part, tally, streams);
            } else {
                self.on_observed_cell::<RATES, P>(policy, &mut part, tally, streams);
            }
            if train.count == count {
                return cells;
            }
            train.advance(count);
        }
    }

    /// A train of more than one cell arrives at a port where each has to be looked at; returns how many cells there were for the link.
    #[inline(never)]
    fn on_observed_train<P: BufferPolicy>(
        &mut self,
        policy: &mut P,
        train: &mut Train<Cell>,
        tally: &mut Tally,
        streams: &mut Streams,
    ) -> u64 {
        let cells = u64::from(train.count);
        loop {
            self.advance::<UNITS, P>(policy, train.first);
            let handled = if self.comes_alone(train) {
                self.pass(policy, train, tally, streams)
            } else {
                let mut cell = *train;
                cell.truncate(1);
                self.on_observed_cell::<UNITS, P>(policy, &mut cell, tally, streams);
                1
            };
            if handled == train.count {
                return cells;
            }
            train.advance(handled);
        }
    }

    /// Whether the cells of `train` find the link free one after another, and no policer nor rate control has to look at each.
    #[inline]
    fn comes_alone(&self, train: &Train<Cell>) -> bool {
        let fifo = &self.service.fifo;
        train.slot >= fifo.slot()
            && fifo.last_departure() <= train.first
            && self.control.is_none()
            && self.policers.is_empty()
    }
}
