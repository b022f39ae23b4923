//! ERICA: explicit rate indication for congestion avoidance.
//!
//! The switch measures its ABR capacity, the input and the number of active VCs over intervals. A VC may send at the larger of two
//! rates: an equal share of the capacity, which is fair, and its present rate divided by the load factor, which fills the link.
//! Under light load no VC gets less than the largest rate given in the interval before. This makes rates equal even if both of
//! the two rules would accept unequal ones. Until the first interval ends, all ABR VCs of the port count as active, which
//! leaves no activity behind, and the load factor is 1.
//!
//! A VC is active in an interval in which a cell of it arrives, or a backward RM cell passes. The capacity is the target less what has
//! arrived in the interval under no rate control, of higher or the same priority, such as VBR. The input counts ABR cells as they arrive,
//! also those that find no room. No VC gets more than the capacity, however small the load factor.
//!
//! VCs with minimum rates get their minimum and, in addition, what the rules above give (MCR plus equal share, ATM Forum TM 4.0).
//! Shares, present rates and the largest rate are then rates above the minimum (Vandalore et al., ATM Forum 98-0408). The minimum
//! rates of active VCs are subtracted from the capacity before it is shared. What they send within their minimum is subtracted
//! from the capacity and the input before the load factor is computed. The switch counts those cells: a conforming source never
//! declares less than its minimum. As cells are whole, up to one cell that a VC did not send within its minimum counts in the next
//! interval. Beyond its minimum a VC gets no more than those cells leave of the capacity, or than its own minimum leaves, whichever
//! is less.

use std::{fmt::Debug, marker::PhantomData};

use celltrain_engine::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    Port, PortView, Rate, RateAllocator, RmCell,
    averaging::{self, Activity, Load, Traffic},
    interval::{self, Interval, Measured},
    queue_control, within,
};
use crate::catalogue::ParamError;

/// Parameters of ERICA.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Share of the link, or of what VBR leaves of it, that is to be used.
    #[schemars(range(min = 0, max = 1))]
    pub target_utilisation: f64,
    /// What the target utilisation is a share of.
    pub utilisation_of: UtilisationOf,
    /// The averaging interval.
    pub interval: interval::Params,
    /// Averaging over intervals.
    pub averaging: averaging::Params,
    /// How a VC's rate is computed.
    pub feedback: Feedback,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            target_utilisation: 0.9,
            utilisation_of: UtilisationOf::default(),
            interval: interval::Params::default(),
            averaging: averaging::Params::default(),
            feedback: Feedback::default(),
        }
    }
}

/// What the target utilisation is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UtilisationOf {
    /// The link: ABR gets the share less the VBR rate (Kalyanaraman 1997).
    #[default]
    Link,
    /// What VBR leaves of the link (ATM Forum 98-0408).
    Remainder,
}

/// How a VC's rate is computed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Feedback {
    /// Load above 1 up to which rates are still made equal.
    #[schemars(range(min = 0, max = 1))]
    pub delta: f64,
    /// Whether a VC gets at least the highest rate given in the interval before, under light load. Without it this is
    /// ERICA as of 1995.
    pub max_alloc_previous: bool,
    /// Whether a VC gets one answer in an interval, however many BRMs of it pass.
    pub one_answer: bool,
    /// Whether a VC below the fair share first rises to the fair share, before it gets more.
    pub two_steps: bool,
    /// Whether RM cells count as input, as they do as load.
    pub count_rm_cells: bool,
    /// Where a VC's present rate is taken from.
    pub present_rate: PresentRate,
    /// What a VC gets after an interval without input.
    pub without_input: WithoutInput,
}

impl Default for Feedback {
    fn default() -> Self {
        Self {
            delta: 0.1,
            max_alloc_previous: true,
            one_answer: true,
            two_steps: true,
            count_rm_cells: true,
            present_rate: PresentRate::Declared,
            without_input: WithoutInput::FairShare,
        }
    }
}

/// What a VC gets, above its minimum rate, after an interval without input above the minima, when the load factor is zero.
/// BRMs still pass then if traffic comes in bursts, as that of TCP does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutInput {
    /// The fair share: nothing was measured, so neither the VC's share nor the rates given before say anything (Kalyanaraman
    /// 1997, table 6.1).
    #[default]
    FairShare,
    /// At least the highest rate given in the interval before, as under any light load.
    Highest,
    /// The whole capacity, as its present rate over a load of zero is without bound. This or the one before is the
    /// over-allocation of which ATM Forum 96-1294, section 4.2.4, speaks.
    Capacity,
}

/// Where a VC's present rate is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PresentRate {
    /// The CCR field of its last forward RM cell.
    #[default]
    Declared,
    /// Its cells in the interval before, counted by the switch, with RM cells if these count as input.
    Measured,
}

/// What the variants of ERICA differ in.
pub trait Variant: Default + Clone + Debug + PartialEq + Serialize + DeserializeOwned + JsonSchema {
    /// One line for the catalogue.
    const SUMMARY: &'static str;
    /// Where the variant is described.
    const REFERENCE: &'static str;

    /// The configuration of the algorithm.
    ///
    /// # Errors
    /// A parameter of the variant's own outside its range.
    fn parts(&self) -> Result<Parts<'_>, ParamError>;
}

/// The configuration of the algorithm, from the parameters of any variant.
#[derive(Debug, Clone, Copy)]
pub struct Parts<'a> {
    pub(super) utilisation: f64,
    pub(super) utilisation_of: UtilisationOf,
    pub(super) queue_control: Option<&'a queue_control::Params>,
    pub(super) interval: &'a interval::Params,
    pub(super) averaging: &'a averaging::Params,
    pub(super) feedback: &'a Feedback,
}

impl Variant for Params {
    const SUMMARY: &'static str =
        "Fair shares and load factor from measurements; aims at a share of the link.";
    const REFERENCE: &'static str = "Jain, Kalyanaraman et al., ATM Forum 96-1172; Kalyanaraman 1997, chapter 6; minimum \
         rates: Vandalore et al., ATM Forum 98-0408";

    fn parts(&self) -> Result<Parts<'_>, ParamError> {
        within("target-utilisation", self.target_utilisation, 0.0, 1.0)?;
        Ok(Parts {
            utilisation: self.target_utilisation,
            utilisation_of: self.utilisation_of,
            queue_control: None,
            interval: &self.interval,
            averaging: &self.averaging,
            feedback: &self.feedback,
        })
    }
}

/// ERICA with a target utilisation.
pub type Erica = EricaOf<Params>;

/// Less than this of a cell comes of rounding.
const NO_CELL: f64 = 1e-6;

/// State of a VC.
#[derive(Debug, Clone, Default)]
struct Vc {
    /// Its present rate, declared or measured, in cells a second.
    ccr: f64,
    /// Its cells in the interval in progress.
    cells: u64,
    /// The answer it got in the interval in progress.
    answer: Option<Rate>,
    /// What its minimum rate has left over of earlier intervals, a cell at the most, and up to when: the seconds of all intervals until then.
    left: f64,
    until: f64,
}

impl Vc {
    const fn reset(&mut self) {
        (self.cells, self.answer) = (0, None);
    }
}

/// The algorithm, configured by the parameters of a variant: [`Erica`] aims at a share of the link, [`super::erica_plus`] at a
/// queueing delay.
#[derive(Debug, Clone)]
pub struct EricaOf<P> {
    utilisation: f64,
    utilisation_of: UtilisationOf,
    queue_control: Option<queue_control::Params>,
    feedback: Feedback,
    /// Rate of the link.
    link: f64,
    interval: Interval,
    activity: Activity,
    load: Load,
    state: State,
    vcs: Vec<Vc>,
    /// The seconds of all intervals so far.
    elapsed: f64,
    variant: PhantomData<P>,
}

/// What an interval leaves to the next: all rates in cells a second. Shares and allocations are above the minimum rates.
#[derive(Debug, Clone)]
struct State {
    rates: Traffic,
    /// What queue control makes of the capacity above the minimum rates.
    factor: f64,
    /// The capacity that minimum rates in use leave.
    excess: f64,
    load_factor: f64,
    fair_share: f64,
    max_alloc_previous: f64,
    max_alloc_current: f64,
}

impl State {
    /// An equal share of what the minimum rates of the active VCs leave.
    fn share(&self, activity: &Activity) -> f64 {
        beyond(activity.promised(), self.rates.capacity) * self.factor / activity.number()
    }
}

/// What of `rate` is beyond `minimum`.
fn beyond(minimum: f64, rate: f64) -> f64 {
    if rate > minimum { rate - minimum } else { 0.0 }
}

impl<P> EricaOf<P> {
    /// The load factor z of the last interval.
    #[must_use]
    pub fn load_factor(&self) -> f64 {
        self.state.load_factor
    }

    /// The equal share of the ABR capacity, beyond what active VCs are promised.
    #[must_use]
    pub fn fair_share(&self) -> Rate {
        Rate::of_cells(self.state.fair_share)
    }

    #[inline]
    fn see(&mut self, vc: u32) {
        if self.activity.see(vc) {
            self.share_anew();
        }
    }

    #[cold]
    fn share_anew(&mut self) {
        self.state.fair_share = self.state.share(&self.activity);
    }

    /// ABR cells that the interval had room for at the target.
    fn room(&self, measured: &Measured) -> f64 {
        let link = self.link * measured.seconds;
        let room = match self.utilisation_of {
            UtilisationOf::Link => self.utilisation * link - measured.priority_cells,
            UtilisationOf::Remainder => self.utilisation * (link - measured.priority_cells),
        };
        room.max(0.0)
    }

    /// The cells of the interval that VCs sent within their minimum rates, of so many that came. An interval ends between two cells: one that a
    /// VC was entitled to and has not sent counts in the next. What rounding makes of whole cells is none.
    fn entitled(&mut self, input: f64, seconds: f64) -> f64 {
        let minima = self.activity.minima();
        if minima.is_empty() {
            return 0.0;
        }
        let (began, vcs) = (self.elapsed, &mut self.vcs);
        self.elapsed += seconds;
        let mut entitled = |vc: usize| {
            let (minimum, vc) = (minima[vc], &mut vcs[vc]);
            // Since it was seen last it has sent nothing.
            let left = (vc.left + minimum * (began - vc.until)).min(1.0);
            let most = left + minimum * seconds;
            let used = (vc.cells as f64).min(most);
            (vc.left, vc.until) = ((most - used).min(1.0), began + seconds);
            used
        };
        let sum = match self.activity.last() {
            // The same sum: zeros add nothing.
            Some(seen) => seen.iter().fold(0.0, |sum, &vc| sum + entitled(vc as usize)),
            None => (0..minima.len()).map(entitled).sum(),
        };
        if (input - sum).abs() < NO_CELL { input } else { sum }
    }

    #[inline(never)]
    fn finish_interval(&mut self, now: Time, port: &impl PortView) {
        let measured = self.interval.finish(now, port);
        self.activity.finish();
        let entitled = self.entitled(measured.cells, measured.seconds);
        let cells = Traffic { capacity: self.room(&measured), input: measured.cells, entitled };
        let state = &mut self.state;
        state.rates = self.load.rates(cells, measured.seconds);
        if let Some(control) = &self.queue_control {
            state.factor = control.factor(port.queue(), state.rates.capacity);
        }
        let Traffic { capacity, input, entitled } = state.rates;
        state.excess = beyond(entitled, capacity) * state.factor;
        state.load_factor = self.load.update(state.excess, beyond(entitled, input));
        state.fair_share = state.share(&self.activity);
        state.max_alloc_previous = state.max_alloc_current;
        state.max_alloc_current = state.fair_share;
        self.begin_interval(measured.seconds);
    }

    /// VCs begin a new interval, after one of so many seconds.
    fn begin_interval(&mut self, seconds: f64) {
        match self.activity.last() {
            // The others had neither cells nor an answer.
            Some(seen) if self.feedback.present_rate == PresentRate::Declared => {
                seen.iter().for_each(|&vc| self.vcs[vc as usize].reset());
            }
            _ => {
                for vc in &mut self.vcs {
                    if self.feedback.present_rate == PresentRate::Measured {
                        vc.ccr = vc.cells as f64 / seconds;
                    }
                    vc.reset();
                }
            }
        }
    }

    /// The rate for a VC.
    #[inline]
    fn allocate(&mut self, vc: u32) -> Rate {
        let minimum = self.activity.minimum(vc);
        let present = beyond(minimum, self.vcs[vc as usize].ccr);
        let (state, feedback) = (&mut self.state, &self.feedback);
        let has_input = state.load_factor > 0.0;
        let vc_share = match feedback.without_input {
            _ if has_input => present / state.load_factor,
            WithoutInput::Capacity => state.excess,
            WithoutInput::FairShare | WithoutInput::Highest => 0.0,
        };
        let mut rate = state.fair_share.max(vc_share);
        let remembers = has_input || feedback.without_input == WithoutInput::Highest;
        if remembers && feedback.max_alloc_previous && state.load_factor <= 1.0 + feedback.delta {
            rate = rate.max(state.max_alloc_previous);
        }
        state.max_alloc_current = state.max_alloc_current.max(rate);
        if feedback.two_steps && present < state.fair_share {
            rate = rate.min(state.fair_share);
        }
        // Nobody gets more than the capacity, nor less than its minimum.
        let entitled = state.rates.entitled;
        let most = if entitled < minimum { beyond(minimum, entitled + state.excess) } else { state.excess };
        Rate::of_cells(minimum + rate.min(most))
    }
}

impl<P: Variant> RateAllocator for EricaOf<P> {
    type Params = P;

    const SUMMARY: &'static str = P::SUMMARY;
    const REFERENCE: &'static str = P::REFERENCE;

    fn check(params: &P) -> Result<(), ParamError> {
        let parts = params.parts()?;
        parts.averaging.check()?;
        within("feedback.delta", parts.feedback.delta, 0.0, 1.0)?;
        Interval::new(parts.interval).map(|_| ())
    }

    fn new(params: &P, port: &Port<'_>) -> Result<Self, ParamError> {
        Self::check(params)?;
        let parts = params.parts()?;
        let link = port.link.cells();
        let capacity = parts.utilisation * link;
        let activity = Activity::new(parts.averaging, port.minima);
        // Before anything is measured, all VCs under rate control use what they are promised.
        let rates = Traffic { capacity, input: capacity, entitled: activity.promised() };
        let mut state = State {
            rates,
            factor: 1.0,
            excess: beyond(rates.entitled, capacity),
            load_factor: 1.0,
            fair_share: 0.0,
            max_alloc_previous: 0.0,
            max_alloc_current: 0.0,
        };
        state.fair_share = state.share(&activity);
        (state.max_alloc_previous, state.max_alloc_current) = (state.fair_share, state.fair_share);
        Ok(Self {
            utilisation: parts.utilisation,
            utilisation_of: parts.utilisation_of,
            queue_control: parts.queue_control.cloned(),
            feedback: parts.feedback.clone(),
            link,
            interval: Interval::new(parts.interval)?,
            activity,
            load: Load::new(parts.averaging),
            state,
            vcs: vec![Vc::default(); port.minima.len()],
            elapsed: 0.0,
            variant: PhantomData,
        })
    }

    fn on_cell(&mut self, now: Time, vc: u32, is_rm: bool, port: &impl PortView) -> bool {
        self.see(vc);
        if self.feedback.count_rm_cells || !is_rm {
            self.vcs[vc as usize].cells += 1;
            if self.interval.count(now) {
                self.finish_interval(now, port);
            }
        }
        false
    }

    fn allowance(&self) -> u64 {
        if self.activity.is_immediate() { 0 } else { self.interval.left() }
    }

    fn on_cells(&mut self, vc: u32, cells: u64) {
        self.see(vc);
        self.vcs[vc as usize].cells += cells;
        self.interval.count_all(cells);
    }

    fn on_forward_rm(&mut self, _: Time, vc: u32, rm: &mut RmCell, _: &impl PortView) {
        if self.feedback.present_rate == PresentRate::Declared {
            self.vcs[vc as usize].ccr = rm.ccr().cells();
        }
    }

    fn on_backward_rm(&mut self, _: Time, vc: u32, rm: &mut RmCell, _: &impl PortView) {
        self.see(vc);
        let rate = match self.vcs[vc as usize].answer {
            Some(rate) if self.feedback.one_answer => rate,
            _ => self.allocate(vc),
        };
        self.vcs[vc as usize].answer = Some(rate);
        rm.lower_er(rate);
    }

    fn next_interval(&self) -> Time {
        self.interval.end()
    }

    fn on_interval(&mut self, now: Time, port: &impl PortView) {
        self.finish_interval(now, port);
    }
}
