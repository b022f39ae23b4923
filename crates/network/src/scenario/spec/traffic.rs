//! `[traffic]`: what a flow carries.

use std::{fmt, str::FromStr};

use celltrain_engine::{
    quantity::{BitRate, Bytes, Duration},
    string_form,
    time::SECOND,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    bare::{Bernoulli, Cbr, Distribution, LongRange, Mmpp, OnOff, Poisson},
    forms::forms,
    trace::Trace,
};
use crate::traffic::sizes::{FlowSize, array_or_file};

forms! {
    /// `[traffic]`: what a flow carries.
    Traffic {
        /// TCP that always has data to send, as for a long file transfer.
        Greedy(Greedy),
        /// TCP that sends an amount of data once.
        Finite(Finite),
        /// TCP that is given an amount of data at regular times, whether or not the last has been sent.
        Bursty(Bursty),
        /// TCP connections that come one after the other, each with an amount of data of its own.
        ShortFlows(ShortFlows),
        /// Requests and answers, one after the other, on one TCP connection.
        RequestResponse(RequestResponse),
        /// Cells or packets at a constant rate, without TCP.
        Cbr(Cbr),
        /// Frames of cells, or packets, at exponentially distributed distances, without TCP. The cells of a frame follow each other at
        /// the rate of the link; single cells are a Poisson process.
        Poisson(Poisson),
        /// Cells or packets in slots that each hold one with the same probability, without TCP.
        Bernoulli(Bernoulli),
        /// Frames of cells, or packets, at exponentially distributed distances whose mean rate follows a Markov chain: a Markov-modulated
        /// Poisson process (MMPP), without TCP. The cells of a frame follow each other at the rate of the link.
        Mmpp(Mmpp),
        /// Cells or packets at the peak rate during on times and none during off times, without TCP.
        OnOff(OnOff),
        /// Cells or packets at a rate with long-range dependence, as of compressed video, without TCP.
        LongRange(LongRange),
        /// Cells or packets at recorded times, without TCP.
        Trace(Trace),
    }
}

impl Default for Traffic {
    fn default() -> Self {
        Self::Greedy(Greedy::default())
    }
}

impl Traffic {
    /// When the flow starts.
    #[must_use]
    pub fn start(&self) -> Start {
        match self {
            Self::Greedy(form) => form.start,
            Self::Finite(form) => form.start,
            Self::Bursty(form) => form.start,
            Self::ShortFlows(form) => form.start,
            Self::RequestResponse(form) => form.start,
            Self::Cbr(form) => form.start,
            Self::Poisson(form) => form.start,
            Self::Bernoulli(form) => form.start,
            Self::Mmpp(form) => form.start,
            Self::OnOff(form) => form.start,
            Self::LongRange(form) => form.start,
            Self::Trace(form) => form.start,
        }
    }

    /// Whether TCP carries the flow.
    #[must_use]
    pub fn uses_tcp(&self) -> bool {
        match self {
            Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => true,
            Self::Cbr(_)
            | Self::Poisson(_)
            | Self::Bernoulli(_)
            | Self::Mmpp(_)
            | Self::OnOff(_)
            | Self::LongRange(_)
            | Self::Trace(_) => false,
        }
    }
}

/// `kind = "greedy"`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Greedy {
    /// When the connection starts.
    pub start: Start,
}

/// `kind = "finite"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Finite {
    /// Payload to send.
    pub bytes: Bytes,
    /// When the connection starts.
    #[serde(default)]
    pub start: Start,
}

/// `kind = "bursty"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bursty {
    /// Payload of a burst.
    pub bytes: Bytes,
    /// Time from one burst to the next, 1 us or more.
    pub every: Duration,
    /// When the first burst is given.
    #[serde(default)]
    pub start: Start,
}

/// `kind = "short-flows"`. Each flow is a TCP connection of its own, from its arrival until all its data are acknowledged. How often
/// flows arrive is said by `load` or `every`, or by `trace`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShortFlows {
    /// How much data each flow carries; required without a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<FlowSize>,
    /// The payload that arrives, as a share of what the slowest link on the path carries, headers not counted: above 0, up to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 10))]
    pub load: Option<f64>,
    /// Mean time from one arrival to the next, 1 us or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// How the times between arrivals are distributed.
    #[serde(default)]
    pub arrivals: ArrivalTimes,
    /// The flows themselves, in the order of time. Or the path of a CSV file, relative to this file, with the columns `at` (in seconds, or
    /// with a unit) and `bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "array_or_file::<TraceFlow>")]
    pub trace: Vec<TraceFlow>,
    /// The most flows that are under way at once, 1 to 100 000. One that arrives when there are as many is turned away, and
    /// counted.
    #[serde(default = "usual_most_active")]
    #[schemars(range(min = 1, max = 100_000))]
    pub most_active: u32,
    /// When the first flow may arrive.
    #[serde(default)]
    pub start: Start,
}

fn usual_most_active() -> u32 {
    100
}

/// How the times between the arrivals of short flows are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ArrivalTimes {
    /// Exponentially: a Poisson process.
    #[default]
    Poisson,
    /// Always the same time.
    Regular,
}

/// `[[trace]]`: a short flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceFlow {
    /// When it arrives, counted from `start`.
    pub at: Duration,
    /// Its payload: 1 B to 1 TB.
    pub bytes: Bytes,
}

/// An element of `transfers`: a short flow, and between which hosts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Transfer {
    /// When it arrives, counted from `start`.
    pub at: Duration,
    /// Name of the sending host.
    pub from: String,
    /// Name of the receiving host.
    pub to: String,
    /// Its payload: 1 B to 1 TB.
    pub bytes: Bytes,
}

impl ShortFlows {
    /// The flows of `trace`.
    #[must_use]
    pub fn of_trace(trace: Vec<TraceFlow>) -> Self {
        Self {
            size: None,
            load: None,
            every: None,
            arrivals: ArrivalTimes::default(),
            trace,
            most_active: usual_most_active(),
            start: Start::default(),
        }
    }

    /// The most of its flows that can be under way at once: no more than arrive at all, where that is known.
    #[must_use]
    pub fn most_at_once(&self) -> u32 {
        let all = u32::try_from(self.trace.len()).unwrap_or(u32::MAX);
        if all == 0 { self.most_active } else { self.most_active.min(all) }
    }

    /// Mean time between arrivals in picoseconds, behind a slowest link of rate `slowest`; `None` with a trace.
    #[must_use]
    pub fn interval(&self, slowest: BitRate) -> Option<f64> {
        let of_load =
            |load| Some(self.size.as_ref()?.mean() * 8.0 / (load * slowest.0 as f64) * SECOND as f64);
        self.every.map(|every| every.ps() as f64).or_else(|| self.load.and_then(of_load))
    }

    /// Mean payload in bit/s; of a trace over `duration`.
    #[must_use]
    pub fn offered(&self, slowest: BitRate, duration: Duration) -> f64 {
        let bytes: f64 = self.trace.iter().map(|flow| flow.bytes.0 as f64).sum();
        let of_interval = |interval| self.size.as_ref().map(|size| size.mean() / interval);
        let bytes = self.interval(slowest).and_then(of_interval).unwrap_or(bytes / duration.ps() as f64);
        bytes * 8.0 * SECOND as f64
    }
}

/// `kind = "request-response"`. The flow goes from the server to the client, as its answers do; requests take the path of the ACKs. The
/// client opens the connection, sends a request, reads the answer, thinks, and sends the next request on the same connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequestResponse {
    /// Payload of each request.
    pub request: FlowSize,
    /// Payload of each answer.
    pub response: FlowSize,
    /// Time, or mean time, from the last byte of a request at the server to the first byte of its answer.
    #[serde(default)]
    pub service: Duration,
    /// How the service times are distributed; a Pareto distribution has the shape 1.5.
    #[serde(default)]
    pub service_distribution: Distribution,
    /// Time, or mean time, from the last byte of an answer at the client to the first byte of the next request.
    #[serde(default)]
    pub think: Duration,
    /// How the think times are distributed; a Pareto distribution has the shape 1.5.
    #[serde(default)]
    pub think_distribution: Distribution,
    /// When the client sends the first request.
    #[serde(default)]
    pub start: Start,
}

/// When a flow starts: a time, or a range from which the run draws one uniformly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Start {
    /// The earliest start.
    pub from: Duration,
    /// The latest start.
    pub to: Duration,
}

impl FromStr for Start {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let parse = |part: &str| {
            let expected = || {
                format!(
                    "expected a time such as \"1 ms\" or a range such as \"0 ms .. 10 ms\", found \"{text}\""
                )
            };
            part.parse::<Duration>().map_err(|fault| fault.with_form(expected))
        };
        let start = Self { from: parse(from)?, to: parse(to)? };
        if start.from > start.to {
            return Err(format!("the range \"{text}\" ends before it begins"));
        }
        Ok(start)
    }
}

impl fmt::Display for Start {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to {
            return self.from.fmt(formatter);
        }
        write!(formatter, "{} .. {}", self.from, self.to)
    }
}

string_form!(
    Start,
    "a time or a range of times",
    "0 ms .. 10 ms",
    "^[0-9_. ]+(ps|ns|us|µs|ms|s) *(\\.\\. *[0-9_. ]+(ps|ns|us|µs|ms|s) *)?$".to_owned()
);
