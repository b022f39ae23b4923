//! Streams of pauses, from switches to the ports whose links lead to them.

use std::collections::BTreeMap;

use celltrain_engine::{Time, stream::StreamId};

use super::Builder;
use crate::scenario::{Graph, NodeKind};

/// The links that can be paused: those that VCs cross to a switch with priority flow control.
#[derive(Debug, Default)]
pub(super) struct PausedLinks {
    streams: BTreeMap<usize, Pause>,
    /// By switch: the streams to the ports of all links that lead to it, and how long pauses take there.
    to: BTreeMap<usize, Vec<(StreamId, Time)>>,
}

/// How a link is paused.
#[derive(Debug, Clone, Copy)]
struct Pause {
    /// Its number among those that lead to the same switch.
    number: usize,
    stream: StreamId,
}

impl PausedLinks {
    /// Whether a link can be paused.
    pub(super) fn contains(&self, link: usize) -> bool {
        self.streams.contains_key(&link)
    }

    /// On which stream pauses of a link come, if it can be paused.
    pub(super) fn stream(&self, link: usize) -> Option<StreamId> {
        self.streams.get(&link).map(|pause| pause.stream)
    }

    /// The number of a link among those that lead to the same switch.
    pub(super) fn number(&self, link: usize) -> usize {
        self.streams[&link].number
    }

    /// The streams to the ports of all links that lead to a switch, and how long pauses take there.
    pub(super) fn to(&self, switch: usize) -> Vec<(StreamId, Time)> {
        self.to.get(&switch).cloned().unwrap_or_default()
    }
}

impl Builder<'_> {
    /// Makes the streams of pauses of all links that VCs cross, which have ports.
    pub(super) fn paused_links(&mut self) -> PausedLinks {
        let mut paused = PausedLinks::default();
        if self.scenario.spec().switch.memory.is_none_or(|memory| memory.pause.is_none()) {
            return paused;
        }
        for link in (0..self.graph.links.len()).filter(|&link| leads_to_switch(self.graph, link)) {
            if self.ports.get(link).is_none() {
                continue;
            }
            let (switch, delay) = (self.graph.links[link].to, self.graph.links[link].delay.ps());
            let (to, stream) = (paused.to.entry(switch).or_default(), self.add_stream());
            paused.streams.insert(link, Pause { number: to.len(), stream });
            to.push((stream, delay));
        }
        paused
    }
}

fn leads_to_switch(graph: &Graph, link: usize) -> bool {
    graph.nodes[graph.links[link].to].kind == NodeKind::Switch
}
