//! ERICA+: [`super::erica`] with the whole link as its target, scaled by a function of the queueing delay.
//!
//! Below the target delay the function is above one, so that the link is filled. Above the target it falls, down to a limit, and
//! the queue drains. It scales what cells within minimum rates leave of the capacity, and what the minimum rates of active VCs
//! leave to be shared; until the first interval ends it is one. Intervals, fair shares, load factor and averages are those of ERICA.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    averaging,
    erica::{EricaOf, Feedback, Parts, UtilisationOf, Variant},
    interval, queue_control,
};
use crate::catalogue::ParamError;

/// Parameters of ERICA+.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// The function of the queueing delay.
    pub queue_control: queue_control::Params,
    /// The averaging interval.
    pub interval: interval::Params,
    /// Averaging over intervals.
    pub averaging: averaging::Params,
    /// How a VC's rate is computed.
    pub feedback: Feedback,
}

impl Variant for Params {
    const SUMMARY: &'static str = "ERICA with the whole link for a target, scaled to keep a short queue.";
    const REFERENCE: &'static str = "Jain, Kalyanaraman et al., ATM Forum 96-1172; Kalyanaraman 1997, chapter 6; minimum \
         rates: Vandalore et al., ATM Forum 98-0408";

    fn parts(&self) -> Result<Parts<'_>, ParamError> {
        self.queue_control.check()?;
        Ok(Parts {
            utilisation: 1.0,
            utilisation_of: UtilisationOf::Link,
            queue_control: Some(&self.queue_control),
            interval: &self.interval,
            averaging: &self.averaging,
            feedback: &self.feedback,
        })
    }
}

/// ERICA+.
pub type EricaPlus = EricaOf<Params>;
