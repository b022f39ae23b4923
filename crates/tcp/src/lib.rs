//! TCP sender and receiver as pure state machines: no clock, no network, four verbs.
//!
//! A [`Sender`] and a [`Receiver`] exchange [`Segment`]s. Both are told what happens and when, and asked what
//! they want to send and when they want to be woken:
//!
//! ```text
//! on_segment(now, &segment)   a segment arrived
//! on_timeout(now)             a timer may have expired
//! poll_segment(now)           the next segment to send; until there is none
//! next_timeout()              when to call on_timeout
//! ```
//!
//! A [`Duplex`] is both behind one header, for data in both directions. [`Tcp`] is any of the three.
//!
//! How the window grows ([`CongestionKind`], folder `congestion/`) and what a loss does ([`RecoveryKind`],
//! folder `recovery/`) are separate plug-ins; the rest, from RFC 6298's timer to delayed ACKs, is common to
//! all. A [`StackSpec`] is what a scenario's `[tcp]` table says; it names a preset and changes what it wants,
//! and [`StackSpec::resolve`] turns it into [`Params`].
//!
//! ```
//! use celltrain_engine::time::MILLISECOND;
//! use celltrain_tcp::{Receiver, Sender, StackSpec};
//!
//! let params = StackSpec::default().resolve().unwrap();
//! let (mut sender, mut receiver) = (Sender::new(&params), Receiver::new(&params));
//! let mut now = 0;
//! sender.offer(now, 1_000_000);
//! while !sender.is_done() {
//!     let flight: Vec<_> = std::iter::from_fn(|| sender.poll_segment(now)).collect();
//!     now += 10 * MILLISECOND;
//!     for segment in flight {
//!         receiver.on_segment(now, &segment);
//!         while let Some(ack) = receiver.poll_segment(now) {
//!             sender.on_segment(now, &ack);
//!         }
//!     }
//!     // An ACK that waits for a second segment is released by the receiver's timer.
//!     if let Some(timeout) = receiver.next_timeout() {
//!         now = now.max(timeout);
//!         receiver.on_timeout(now);
//!         sender.on_segment(now, &receiver.poll_segment(now).unwrap());
//!     }
//! }
//! assert_eq!(receiver.stats().delivered_bytes, 1_000_000);
//! ```

mod complete;
mod congestion;
mod delivery;
mod duplex;
mod endpoint;
mod event;
mod flow;
mod hystart;
mod limits;
mod pacing;
mod params;
mod quick_ack;
mod ranges;
mod reader;
mod receiver;
mod recovery;
pub mod rto;
mod segment;
mod sender;
mod spec;
mod stack;
mod stats;

pub use congestion::CongestionKind;
pub use duplex::Duplex;
pub use endpoint::Tcp;
pub use event::{BbrPhase, Event, EventKind, ExitCause, LossSign, TimeoutCause};
pub use limits::Limits;
pub use params::{
    CongestionAvoidance, CubicAlpha, CubicArithmetic, FastRetransmitGuard, Halving, HystartVariant,
    NewrenoFullAck, Params, Reductions, RtoArithmetic,
};
pub use receiver::Receiver;
pub use recovery::RecoveryKind;
pub use segment::{
    Ecn, Flags, IP_HEADER_BYTES, Outlet, SACK_BLOCKS_MAX, SACK_BLOCKS_MAX_WITH_TIMESTAMPS, SackBlocks,
    Segment, SynOptions, TCP_HEADER_BYTES, TIMESTAMPS_BYTES, Timestamps,
};
pub use sender::{Sender, Window};
pub use spec::{StackError, StackSpec};
pub use stack::Stack;
pub use stats::{ReceiverStats, SenderStats};
