//! The VC table of a port.

use celltrain_atm::cell::Kind;
use celltrain_engine::stream::StreamId;

/// The entry of a VC that crosses a port: where its cells go next, and its counters.
#[derive(Debug, Clone)]
pub(crate) struct VcEntry {
    /// The stream to the VC's next port or host.
    pub(super) output: StreamId,
    /// The VC's number there.
    pub(super) next_vc: u32,
    /// Where its backward RM cells go first and the VC's number there, if a port stamps them on their way to the next one. In a box,
    /// so that an entry is as long as a line of the cache.
    relay: Option<Box<(StreamId, u32)>>,
    /// Whether the next cell that reaches the policy begins a frame.
    pub(super) at_frame_start: bool,
    /// Units accepted, by priority: CLP = 0, CLP = 1.
    pub(super) accepted: [u64; 2],
    /// Units discarded, by priority.
    pub(super) discarded: [u64; 2],
    /// Of those, units that were accepted first: pushed out, or dropped at the head of the queue.
    pub(super) withdrawn: u64,
}

impl VcEntry {
    /// A VC whose cells go on to `output`, where it has the number `next_vc`; its backward RM cells go to `relay` first.
    pub(crate) fn new(output: StreamId, next_vc: u32, relay: Option<(StreamId, u32)>) -> Self {
        let (relay, accepted, discarded) = (relay.map(Box::new), [0; 2], [0; 2]);
        Self { output, next_vc, relay, at_frame_start: true, accepted, discarded, withdrawn: 0 }
    }

    /// Where its cells go next, and its backward RM cells if they go elsewhere: what a viewer may read.
    pub(super) fn next_hops(&self) -> impl Iterator<Item = (StreamId, u32)> {
        [Some((self.output, self.next_vc)), self.relay.as_deref().copied()].into_iter().flatten()
    }

    /// Where a cell of `kind` goes next, and the VC's number there.
    #[inline]
    pub(super) fn next_hop(&self, kind: Kind) -> (StreamId, u32) {
        if kind == Kind::BackwardRm { self.next_hop_back() } else { (self.output, self.next_vc) }
    }

    #[cold]
    fn next_hop_back(&self) -> (StreamId, u32) {
        self.relay.as_deref().copied().unwrap_or((self.output, self.next_vc))
    }
}
