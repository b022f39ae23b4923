//! What a policy may know of its port, and how it says what it needs: [`Needs`] is part of a policy's type, and asking
//! for what is not there does not compile.
//!
//! ```
//! use celltrain_atm::buffer::{Occupancy, PerVc, Snapshot, View};
//!
//! let port = Snapshot::of(100, &[40, 2]);
//! let view: View<'_, PerVc, _> = port.view(true);
//! assert_eq!(view.vc_occupancy(1), 2);
//! let narrow: View<'_, Occupancy, _> = view.narrow();
//! assert_eq!(narrow.occupancy(), 42);
//! ```
//!
//! ```compile_fail,E0599
//! # use celltrain_atm::buffer::{Occupancy, Snapshot, View};
//! # let port = Snapshot::of(100, &[40, 2]);
//! let view: View<'_, Occupancy, _> = port.view(true);
//! view.vc_occupancy(1);
//! ```
//!
//! ```compile_fail,E0277
//! # use celltrain_atm::buffer::{Occupancy, PerVc, Snapshot, View};
//! # let port = Snapshot::of(100, &[40, 2]);
//! # let view: View<'_, Occupancy, _> = port.view(true);
//! let wider: View<'_, PerVc, _> = view.narrow();
//! ```

use std::{convert::Infallible, fmt::Debug, marker::PhantomData};

use celltrain_engine::Time;

use crate::{Cell, scheduler::Side};

/// A port's buffer as it stands when a unit, a cell or a packet, arrives. The port implements it; a policy sees it
/// through a [`View`].
pub trait PortState {
    /// Size of the buffer in its units; `u64::MAX` when unlimited.
    fn capacity(&self) -> u64;

    /// What is in the buffer, the unit in transmission included: a unit leaves the buffer when its last bit is sent.
    fn occupancy(&self) -> u64;

    /// Whether there is no room for the unit at hand, in the buffer or below a limit of its VC.
    fn is_full(&self) -> bool;

    /// Whether there is no room for it in the buffer, or in a memory that ports share, whatever the limit of its VC.
    fn is_buffer_full(&self) -> bool {
        self.is_full()
    }

    /// Whether the unit at hand would exceed a limit of its VC, or is larger than the buffer, so that it finds no room whatever other VCs
    /// have there.
    fn is_vc_full(&self) -> bool;

    /// Whether the unit at hand would exceed a limit of its VC that is below the size of the buffer.
    fn exceeds_vc_limit(&self) -> bool {
        self.is_vc_full()
    }

    /// Whether units are packets of a packet-framed link: whole frames.
    fn is_packet(&self) -> bool;

    /// What `vc` has in the buffer, the unit in transmission included.
    fn vc_occupancy(&self, vc: u32) -> u64;

    /// What is in the buffer with priority `clp`, the unit in transmission included.
    fn clp_occupancy(&self, clp: bool) -> u64;

    /// VCs that have something in the buffer.
    fn active_vcs(&self) -> u64;

    /// Those VCs in any order, if the port keeps a list of them.
    fn busy_vcs(&self) -> Option<&[u32]> {
        None
    }

    /// Units of the last frame of `vc` in the buffer, complete or not, if all that has arrived of it is still there and
    /// none of it is in transmission: what [`Victim::Last`] removes.
    fn last_frame(&self, vc: u32) -> Option<u64>;

    /// Whether the unit at hand would find no room if everything went that waits.
    fn is_too_large(&self) -> bool;

    /// The number of the queue of `vc` at that side: that of the VC unless the discipline lets VCs share queues.
    fn queue_of(&self, vc: u32, side: Side) -> u32 {
        let _ = side;
        vc
    }

    /// Frames of `vc`, complete or not, of which nothing has left the queue: what [`FirstFrames`] can be of. `shared`: of all VCs in the
    /// queue in which those of `vc` wait, or into which the next one comes.
    fn waiting_frames(&self, vc: u32, shared: bool) -> u64;

    /// What waits of `vc`, in bytes of packets or in cells, whatever the unit of the buffer; `shared` as in [`PortState::waiting_frames`].
    fn waiting_load(&self, vc: u32, shared: bool) -> u64;

    /// Whether more than `load` waits, in bytes of packets or in cells.
    fn holds_more(&self, load: u64) -> bool;

    /// How often the link has looked for something to send of the category of `vc` and found nothing; not counted where all VCs are of one.
    fn empty_looks(&self, vc: u32) -> u64 {
        let _ = vc;
        0
    }

    /// How often the queue that the unit at hand, of `vc`, joins or has left was empty when its turn came; nothing if a queue that empties has no
    /// turn.
    fn empty_turns(&self, vc: u32) -> Option<u64> {
        let _ = vc;
        None
    }
}

/// The frames to be pushed out at the head of a queue: the first ones of which nothing has left it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstFrames {
    /// Whose frames they are.
    pub vc: u32,
    /// How many, which are there.
    pub count: u64,
    /// Whether those of all VCs are meant that wait in the queue of `vc`, in their order there.
    pub shared: bool,
}

/// What is to be pushed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Victim {
    /// The last frame of this VC.
    Last(u32),
    /// Frames at the head of a queue.
    First(FirstFrames),
}

impl Victim {
    /// Whose frames they are, or whose are among them.
    #[inline]
    #[must_use]
    pub fn vc(self) -> u32 {
        match self {
            Self::Last(vc) | Self::First(FirstFrames { vc, .. }) => vc,
        }
    }

    /// Whether frames of `vc` may be among them.
    #[inline]
    #[must_use]
    pub fn can_be_of(self, vc: u32) -> bool {
        match self {
            Self::Last(of) => of == vc,
            Self::First(FirstFrames { vc: of, shared, .. }) => shared || of == vc,
        }
    }
}

/// The data cell or packet whose last bit was sent at `now`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// What was sent.
    pub cell: Cell,
    /// When its last bit was sent.
    pub now: Time,
}

/// A frame of a VC, as far as it had arrived, was pushed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removed {
    /// Whose frame it was.
    pub vc: u32,
    /// Its data cells or packets that were in the buffer.
    pub count: u64,
    /// Whether nothing of it is still to come, as the queue tells: its end mark was among them, or units of a later frame are there. If not,
    /// the rest is the policy's to discard, unless the VC's next frame has begun and was refused.
    pub complete: bool,
}

impl From<Infallible> for Removed {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The data cell or packet that goes next, as it leaves its queue for the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The unit.
    pub cell: Cell,
    /// How long it has waited.
    pub sojourn: Time,
    /// The time at which its transmission would begin.
    pub now: Time,
}

impl From<Infallible> for Head {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// What becomes of the unit at the head of its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fate {
    /// It is sent.
    #[default]
    Send,
    /// It is sent with a congestion mark.
    Mark,
    /// It is discarded, and the next one is looked at.
    Drop,
}

mod sealed {
    pub trait Sealed {}
}

/// What a policy needs of its port: [`Occupancy`], [`PerVc`], [`PushOut`] or [`Dequeue`]. The less it is, the faster the port.
pub trait Needs: sealed::Sealed {
    /// Whether the port keeps occupancies per VC and reports departures.
    const PER_VC: bool;
    /// Whether the port stores its queues, so that frames can be pushed out of them.
    const PUSH_OUT: bool;
    /// Whether the port asks the policy about each unit that leaves its queue for the link.
    const DEQUEUE: bool;

    /// What is to be pushed out: the last frame of a VC, or [`FirstFrames`]; [`Infallible`] where nothing can be.
    type Victim: Copy + Debug + PartialEq;
    /// A departure as it is reported to the policy; [`Infallible`] where it is not.
    type Departure: Copy;
    /// A push-out as it is reported to the policy; [`Infallible`] where there is none.
    type Removed: Copy + Into<Removed>;
    /// The unit at the head of a queue, if the policy decides about it; [`Infallible`] if it does not.
    type Head: Copy + Into<Head>;

    /// What is to be pushed out, for all needs alike.
    fn victim(victim: Self::Victim) -> Victim;

    /// What to report when the last bit of `cell` was sent at `now`.
    fn departure(cell: &Cell, now: Time) -> Option<Self::Departure>;

    /// What to report when `count` data cells or packets of a frame of `vc` were pushed out.
    fn removed(vc: u32, count: u64, complete: bool) -> Option<Self::Removed>;

    /// What to ask about the unit `head`.
    fn head(head: Head) -> Option<Self::Head>;
}

/// Needs that include occupancies per VC.
pub trait SeesVcs: Needs {}

/// Needs that include the queues of VCs.
pub trait SeesQueues: SeesVcs {}

/// Needs that `N` covers.
pub trait CoveredBy<N: Needs>: Needs {}

macro_rules! needs {
    ($(
        $(#[$doc:meta])* $needs:ident {
            per_vc: $per_vc:literal, push_out: $push_out:literal, dequeue: $dequeue:literal,
            victim: $victim:ty, |$of:ident| $label:expr,
            departure: $departure:ty, |$cell:ident, $now:ident| $departed:expr,
            removed: $removed:ty, |$vc:ident, $count:ident, $complete:ident| $gone:expr,
            head: $head:ty, |$next:ident| $asked:expr,
        }
    )*) => { $(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub enum $needs {}

        impl sealed::Sealed for $needs {}

        impl Needs for $needs {
            const PER_VC: bool = $per_vc;
            const PUSH_OUT: bool = $push_out;
            const DEQUEUE: bool = $dequeue;

            type Victim = $victim;
            type Departure = $departure;
            type Removed = $removed;
            type Head = $head;

            #[inline]
            fn victim($of: $victim) -> Victim {
                $label
            }

            #[inline]
            fn departure(&$cell: &Cell, $now: Time) -> Option<$departure> {
                $departed
            }

            fn removed($vc: u32, $count: u64, $complete: bool) -> Option<$removed> {
                $gone
            }

            #[inline]
            fn head($next: Head) -> Option<$head> {
                $asked
            }
        }
    )* };
}

needs! {
    /// The total occupancy and nothing else.
    Occupancy {
        per_vc: false, push_out: false, dequeue: false,
        victim: Infallible, |never| match never {},
        departure: Infallible, |_cell, _now| None,
        removed: Infallible, |_vc, _count, _complete| None,
        head: Infallible, |_head| None,
    }
    /// Occupancies per VC and departures.
    PerVc {
        per_vc: true, push_out: false, dequeue: false,
        victim: Infallible, |never| match never {},
        departure: Departure, |cell, now| Some(Departure { cell, now }),
        removed: Infallible, |_vc, _count, _complete| None,
        head: Infallible, |_head| None,
    }
    /// Occupancies per VC, departures, and queues of which the last frames can be pushed out.
    PushOut {
        per_vc: true, push_out: true, dequeue: false,
        victim: u32, |vc| Victim::Last(vc),
        departure: Departure, |cell, now| Some(Departure { cell, now }),
        removed: Removed, |vc, count, complete| Some(Removed { vc, count, complete }),
        head: Infallible, |_head| None,
    }
    /// Occupancies per VC, departures, queues of which the first frames can be pushed out, and a say in what leaves them for the link:
    /// active queue management by the time that units have waited.
    Dequeue {
        per_vc: true, push_out: true, dequeue: true,
        victim: FirstFrames, |frames| Victim::First(frames),
        departure: Departure, |cell, now| Some(Departure { cell, now }),
        removed: Removed, |vc, count, complete| Some(Removed { vc, count, complete }),
        head: Head, |head| Some(head),
    }
}

impl SeesVcs for PerVc {}
impl SeesVcs for PushOut {}
impl SeesVcs for Dequeue {}
impl SeesQueues for PushOut {}
impl SeesQueues for Dequeue {}

impl<N: Needs> CoveredBy<N> for Occupancy {}
impl<N: SeesVcs> CoveredBy<N> for PerVc {}
impl CoveredBy<Self> for PushOut {}

/// The port as a policy that needs `N` sees it just before the unit at hand. It is read-only.
#[derive(Debug)]
pub struct View<'a, N, S> {
    state: &'a S,
    first: bool,
    needs: PhantomData<N>,
}

/// Methods of the view that are those of the state.
macro_rules! shows {
    ($($method:ident($($label:ident: $type:ty),*) -> $answer:ty;)*) => { $(
        #[doc = concat!("As [`PortState::", stringify!($method), "`].")]
        #[inline(always)]
        #[must_use]
        pub fn $method(&self $(, $label: $type)*) -> $answer {
            self.state.$method($($label),*)
        }
    )* };
}

impl<'a, N: Needs, S: PortState> View<'a, N, S> {
    /// The view of `state` by the unit at hand; `first` as [`View::is_first`].
    #[inline(always)]
    pub fn new(state: &'a S, first: bool) -> Self {
        Self { state, first, needs: PhantomData }
    }

    /// Whether the unit at hand is the first of its frame: as it came, the one before it on the VC carried an end mark.
    #[inline(always)]
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.first
    }

    /// The same view by a policy that needs less: for a rule made of another one.
    #[inline(always)]
    #[must_use]
    pub fn narrow<M: CoveredBy<N>>(&self) -> View<'a, M, S> {
        View::new(self.state, self.first)
    }

    shows! {
        capacity() -> u64;
        occupancy() -> u64;
        is_full() -> bool;
        is_vc_full() -> bool;
        is_packet() -> bool;
    }
}

impl<N: SeesVcs, S: PortState> View<'_, N, S> {
    shows! {
        vc_occupancy(vc: u32) -> u64;
        clp_occupancy(clp: bool) -> u64;
        active_vcs() -> u64;
    }
}

impl<S: PortState> View<'_, PushOut, S> {
    shows! {
        last_frame(vc: u32) -> Option<u64>;
    }
}

impl<S: PortState> View<'_, Dequeue, S> {
    shows! {
        is_buffer_full() -> bool;
        exceeds_vc_limit() -> bool;
        is_too_large() -> bool;
        queue_of(vc: u32, side: Side) -> u32;
        waiting_frames(vc: u32, shared: bool) -> u64;
        waiting_load(vc: u32, shared: bool) -> u64;
        holds_more(load: u64) -> bool;
        empty_looks(vc: u32) -> u64;
        empty_turns(vc: u32) -> Option<u64>;
    }
}

impl<N: SeesQueues, S: PortState> View<'_, N, S> {
    /// Of the port's `vcs` VCs, in any order, all that have something in the buffer, and few others if those are few.
    pub fn busy_vcs(&self, vcs: usize) -> impl Iterator<Item = u32> {
        // A long list costs more than the VCs one after the other.
        let listed = self.state.busy_vcs().filter(|listed| listed.len() < vcs / 2);
        let others = if listed.is_some() { 0 } else { vcs as u32 };
        listed.unwrap_or_default().iter().copied().chain(0..others)
    }
}
