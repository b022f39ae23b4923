//! Packets of one VC that take several ways behind a link.

use celltrain_engine::random::Generator;

use super::NextHop;

/// One of the ways.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lane {
    /// The share of packets that takes it.
    pub(crate) share: f64,
    pub(crate) next: NextHop,
    /// Where the contents of the packets wait that take it.
    pub(crate) payloads: usize,
}

/// Deals the packets of a VC out to its ways at random: each takes one of them, whatever others took.
///
/// A way is as likely as it is if every switch draws one of its next links, independently of the others.
#[derive(Debug)]
pub(crate) struct Spray {
    lanes: Vec<Lane>,
    generator: Generator,
}

impl Spray {
    /// # Panics
    /// Without a way.
    pub(crate) fn new(lanes: Vec<Lane>, generator: Generator) -> Self {
        assert!(!lanes.is_empty(), "a VC takes a way");
        Self { lanes, generator }
    }

    pub(crate) fn lanes(&self) -> &[Lane] {
        &self.lanes
    }

    /// The way of the next packet, and its number.
    pub(crate) fn draw(&mut self) -> (usize, Lane) {
        let mut left = self.generator.unit();
        let last = self.lanes.len() - 1;
        for (number, lane) in self.lanes[..last].iter().enumerate() {
            if left < lane.share {
                return (number, *lane);
            }
            left -= lane.share;
        }
        (last, self.lanes[last])
    }
}
