//! Links that do no more than lose packets by chance, or go dark: what passes them goes on in rows.

use celltrain_atm::{Cell, cell::Kind};
use celltrain_engine::{Time, alone::Alone};

use super::{Channel, ChannelParts};
use crate::flight::Streams;

/// Whether nothing can happen to what passes while the link is not dark, but that it is lost by chance, packet by packet.
pub(super) fn passes_rows(parts: &ChannelParts) -> bool {
    let keeps_order = parts.reordering.is_none() && parts.delay.is_none() && parts.sprays.is_empty();
    let keeps_numbers = parts.vcs.iter().all(|vc| vc.payloads_behind.is_none());
    let keeps_all = parts.packets && keeps_order && keeps_numbers;
    keeps_all && parts.tap.is_none() && !parts.scripted.are_named()
}

impl Channel {
    /// Handles the packets of one VC that are next, up to one that is lost; returns how many there were. The link is not dark before `until`.
    #[inline]
    pub(super) fn pass_row(&mut self, input: &mut Alone<Cell>, until: Time, streams: &mut Streams) -> u64 {
        let trains = input.rest();
        let Some(vc) = trains.first().map(|train| train.item.vc) else { return 0 };
        // Each is a frame, so that its loss is that of a frame as well.
        let row = trains.iter().take_while(|train| {
            let Cell { kind, vc: of, .. } = train.item;
            of == vc && kind == Kind::Data && train.first.ps() < until
        });
        let (passing, reason) = self.parts.chance.pass_each(row);
        if passing > 0 {
            let next = self.parts.vcs.get(vc).next;
            streams[self.parts.outputs[next.output]]
                .push_changed(&trains[..passing], |cell| cell.vc = next.vci);
            self.passed += passing as u64;
        }
        let Some(reason) = reason else {
            input.pass(passing);
            return passing as u64;
        };
        let lost = trains[passing];
        input.pass(passing + 1);
        self.lose(&lost, reason);
        passing as u64 + 1
    }
}
