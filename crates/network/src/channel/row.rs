//! Links that only lose, and by chance: what passes them goes on in rows.

use celltrain_atm::{Cell, cell::Kind};
use celltrain_engine::{Time, alone::Alone, stream::Train};

use super::{Channel, ChannelParts};
use crate::flight::Streams;

/// Whether nothing can happen to a unit that passes, but that it is lost by chance, for itself.
pub(super) fn only_loses_by_chance(parts: &ChannelParts) -> bool {
    let keeps_order = parts.reordering.is_none() && parts.delay.is_none() && parts.sprays.is_empty();
    let as_they_are = parts.tap.is_none() && parts.vcs.iter().all(|vc| vc.payloads_behind.is_none());
    keeps_order
        && as_they_are
        && parts.dark.is_none()
        && !parts.scripted.are_named()
        && parts.chance.bursts.is_none()
}

impl Channel {
    /// Handles the units of one VC that are next and pass, if they come one by one; returns how many there were.
    #[inline]
    pub(super) fn pass_row(&mut self, input: &mut Alone<Cell>, until: Time, streams: &mut Streams) -> u64 {
        let trains = input.rest();
        let Some(vc) = trains.first().map(|train| train.item.vc) else { return 0 };
        let frames = self.parts.chance.frames;
        let passes = |train: &&Train<Cell>| {
            let Cell { kind, length, vc: of, .. } = train.item;
            let is_unit = train.count == 1 && (!frames || length == 1);
            is_unit && of == vc && kind == Kind::Data && train.first.ps() < until
        };
        let most = usize::try_from(self.parts.chance.passing()).unwrap_or(usize::MAX);
        let count = trains.iter().take(most).take_while(passes).count();
        if count == 0 {
            return 0;
        }
        let next = self.parts.vcs.get(vc).next;
        streams[self.parts.outputs[next.output]].push_changed(&trains[..count], |cell| cell.vc = next.vci);
        input.pass(count);
        self.parts.chance.let_pass(count as u64);
        self.passed += count as u64;
        count as u64
    }
}
