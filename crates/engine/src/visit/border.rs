//! The border between the processes that are visited here and those of other parts of the network.

use crate::{
    stream::Streams,
    time::{NEVER, Time},
};

/// What lies between the processes that are visited here and those of other parts of the network.
pub(crate) trait Border<C, P> {
    /// Whether it brings something to processes that have reached the end: it arrives later, and has to be taken in.
    const BRINGS_MORE: bool;

    /// Takes in what has been sent to a process from elsewhere.
    fn receive(&mut self, process: usize, streams: &mut Streams<C, P>);

    /// Events are going to be handled.
    fn begin_work(&mut self);

    /// Hands over what a process has sent elsewhere; it was visited, or only its outputs are known further.
    fn send(&mut self, process: usize, visited: bool, streams: &mut Streams<C, P>);

    /// How far a visit may go, so that no part runs far ahead of the others.
    fn limit(&self) -> Time;
}

/// There are no other parts.
impl<C, P> Border<C, P> for () {
    const BRINGS_MORE: bool = false;

    #[inline]
    fn receive(&mut self, _: usize, _: &mut Streams<C, P>) {}

    #[inline]
    fn begin_work(&mut self) {}

    #[inline]
    fn send(&mut self, _: usize, _: bool, _: &mut Streams<C, P>) {}

    #[inline]
    fn limit(&self) -> Time {
        NEVER
    }
}
