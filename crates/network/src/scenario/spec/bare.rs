//! Traffic without TCP: bare cells and packets.

use celltrain_atm::{cell::CELL_BITS, quantity::CellRate};
use celltrain_engine::quantity::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    is_default,
    traffic::{Start, Traffic},
};
use crate::traffic::long_range;

/// `kind = "cbr"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cbr {
    /// Rate of the cells, up to ten times that of the first link on the route.
    pub rate: CellRate,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the first cell is sent: the phase.
    #[serde(default)]
    pub start: Start,
}

/// `kind = "poisson"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Poisson {
    /// Mean rate of the cells, up to ten times that of the first link on the route.
    pub rate: CellRate,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// How the sizes of packets are distributed, whose mean `packet` then is.
    #[serde(default, skip_serializing_if = "is_default")]
    pub packet_distribution: PacketDistribution,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the process starts. The first frame comes an exponentially distributed time after it, as every other comes after
    /// the one before.
    #[serde(default)]
    pub start: Start,
}

/// How the sizes of packets are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PacketDistribution {
    /// Always the same: with Poisson arrivals, a port is an M/D/1 queue.
    #[default]
    Fixed,
    /// Exponentially, in whole bytes, of which less than 40 B are 40 B and more than 65535 B are 65535 B: a port is an M/M/1 queue. The mean
    /// is 400 B to 14 kB, so that these limits change it by less than 1 %. Packet-framed links carry such packets.
    Exponential,
}

/// The smallest packet: the headers of IP and TCP, as of an ACK. Packet-framed links take the time of one as their lookahead.
pub const MIN_PACKET: Bytes = Bytes(40);
/// The largest packet of IP.
pub const MAX_PACKET: Bytes = Bytes(65_535);

/// `kind = "bernoulli"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Bernoulli {
    /// Rate of the slots, up to ten times that of the first link on the route: the rate of the cells if every slot held one.
    pub peak: CellRate,
    /// Probability that a slot holds a cell, above 0 and up to 1.
    #[schemars(range(min = 0, max = 1))]
    pub probability: f64,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the first slot is.
    #[serde(default)]
    pub start: Start,
}

/// `kind = "mmpp"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Mmpp {
    /// The states of the Markov chain, 2 to 16. From each it goes to one of the others, to all with the same probability, so that the
    /// mean rate is that of the states weighted by their mean times.
    #[schemars(length(min = 2, max = 16))]
    pub states: Vec<MmppState>,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the process starts. It is stationary from then on.
    #[serde(default)]
    pub start: Start,
}

/// A state of a Markov-modulated Poisson process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct MmppState {
    /// Mean rate of the cells in this state, up to ten times that of the first link on the route. It may be 0, though not in every
    /// state.
    pub rate: CellRate,
    /// Mean time in this state, 1 us or more. The time is exponentially distributed.
    pub mean_time: Duration,
}

/// `kind = "on-off"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OnOff {
    /// Rate of the cells during an on time, up to ten times that of the first link on the route.
    pub peak: CellRate,
    /// Length of an on time, or its mean. On and off times together are 10 ns or more; with a Pareto distribution the shortest of them.
    pub on: Duration,
    /// Length of an off time, or its mean.
    pub off: Duration,
    /// How the lengths are distributed.
    #[serde(default)]
    pub distribution: Distribution,
    /// Shape of a Pareto distribution of the lengths, above 1 and up to 100; 1.5 if not given. The variance is infinite up to 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub shape: Option<f64>,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the first on time starts.
    #[serde(default)]
    pub start: Start,
}

/// `kind = "long-range"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LongRange {
    /// Rate of the cells, 424 bits each, as it varies, up to ten times that of the first link on the route.
    pub rate: long_range::Params,
    /// Cells in a frame; an AAL5 frame has at most 1366.
    #[serde(default = "single")]
    #[schemars(range(min = 1, max = 1366))]
    pub frame: u16,
    /// Size of an IP packet, its headers included, 40 B to 65535 B. If given, the source sends such packets in place of cells: as frames
    /// on cell-framed links, whole on packet-framed ones, which carry nothing else. Rates are then those of their bits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<Bytes>,
    /// ECN field of the packets; needs `packet`. The source does not respond to marks.
    #[serde(default, skip_serializing_if = "super::is_default")]
    pub ecn: EcnField,
    /// When the cells start. The process of the rate is stationary from the first cell on.
    #[serde(default)]
    pub start: Start,
}

/// The ECN field in the headers of packets of a source without TCP (RFC 3168 section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// Not ECN-capable: a policy discards what it would mark.
    #[default]
    NotEct,
    /// ECT(0): a policy that marks marks them in place of discarding them.
    Ect0,
    /// ECT(1): as ECT(0), and served in the queue of low latency where there is one (RFC 9331, RFC 9332).
    Ect1,
}

pub(super) fn single() -> u16 {
    1
}

/// How times are distributed: of on and off periods, of service and thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Always the same.
    #[default]
    Fixed,
    /// Exponentially.
    Exponential,
    /// With a Pareto distribution: many on-off sources together have long-range dependence (Willinger, Taqqu, Sherman and
    /// Wilson 1997).
    Pareto,
}

impl OnOff {
    /// The shape of a Pareto distribution where none is given.
    pub const USUAL_SHAPE: f64 = 1.5;
}

impl Mmpp {
    /// Mean rate in bit/s: the share of time in a state is in proportion to its mean time, as the chain enters all equally often.
    #[must_use]
    pub fn mean_rate(&self) -> f64 {
        let weighted = |state: &MmppState| state.rate.0.0 as f64 * state.mean_time.ps() as f64;
        let time: f64 = self.states.iter().map(|state| state.mean_time.ps() as f64).sum();
        self.states.iter().map(weighted).sum::<f64>() / time
    }
}

impl Traffic {
    /// The cells of a frame of a source without TCP; none if TCP carries the traffic.
    #[must_use]
    pub fn frame(&self) -> Option<u16> {
        match self {
            Self::Cbr(form) => Some(form.frame),
            Self::Poisson(form) => Some(form.frame),
            Self::Bernoulli(form) => Some(form.frame),
            Self::Mmpp(form) => Some(form.frame),
            Self::OnOff(form) => Some(form.frame),
            Self::LongRange(form) => Some(form.frame),
            Self::Trace(form) => Some(form.frame),
            Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => None,
        }
    }

    /// The size of the packets of a source without TCP, or its mean; none if it sends cells.
    #[must_use]
    pub fn packet(&self) -> Option<Bytes> {
        match self {
            Self::Cbr(form) => form.packet,
            Self::Poisson(form) => form.packet,
            Self::Bernoulli(form) => form.packet,
            Self::Mmpp(form) => form.packet,
            Self::OnOff(form) => form.packet,
            Self::LongRange(form) => form.packet,
            Self::Trace(form) => form.packet,
            Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => None,
        }
    }

    /// Whether the packets of a source without TCP differ in size.
    #[must_use]
    pub fn varies_packets(&self) -> bool {
        matches!(self, Self::Poisson(form) if form.packet_distribution != PacketDistribution::Fixed)
    }

    /// The sizes of the smallest and of the largest packet of a source without TCP; none if it sends cells.
    #[must_use]
    pub fn packet_range(&self) -> Option<[Bytes; 2]> {
        let packet = self.packet()?;
        Some(if self.varies_packets() { [MIN_PACKET, MAX_PACKET] } else { [packet; 2] })
    }

    /// The ECN field of the packets of a source without TCP.
    #[must_use]
    pub fn ecn(&self) -> EcnField {
        match self {
            Self::Cbr(form) => form.ecn,
            Self::Poisson(form) => form.ecn,
            Self::Bernoulli(form) => form.ecn,
            Self::Mmpp(form) => form.ecn,
            Self::OnOff(form) => form.ecn,
            Self::LongRange(form) => form.ecn,
            Self::Trace(form) => form.ecn,
            Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => EcnField::NotEct,
        }
    }

    /// The bits that count for the rate of a source without TCP, each time it sends: those of a cell, or of a packet with its headers.
    #[must_use]
    pub fn unit_bits(&self) -> u64 {
        self.packet().map_or(CELL_BITS, |packet| 8 * packet.0)
    }

    /// The highest mean rate of a source without TCP, over times long against the distances of its frames, and the key that gives it.
    /// A trace has none: its times say all.
    #[must_use]
    pub fn highest_rate(&self) -> Option<(String, BitRate)> {
        let (key, CellRate(rate)) = match self {
            Self::Cbr(form) => ("rate", form.rate),
            Self::Poisson(form) => ("rate", form.rate),
            Self::Bernoulli(form) => ("peak", form.peak),
            Self::Mmpp(form) => {
                let (index, state) = form.states.iter().enumerate().max_by_key(|(_, state)| state.rate.0)?;
                return Some((format!("states.{index}.rate"), state.rate.0));
            }
            Self::OnOff(form) => ("peak", form.peak),
            Self::LongRange(form) => ("rate.maximum", CellRate(form.rate.maximum)),
            Self::Trace(_)
            | Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => return None,
        };
        Some((key.to_owned(), rate))
    }

    /// The mean rate of the cells of a source without TCP in a run of some duration, in bit/s.
    #[must_use]
    pub fn mean_rate(&self, duration: Duration) -> Option<f64> {
        match self {
            Self::Cbr(form) => Some(form.rate.0.0 as f64),
            Self::Poisson(form) => Some(form.rate.0.0 as f64),
            Self::Bernoulli(form) => Some(form.peak.0.0 as f64 * form.probability),
            Self::Mmpp(form) => Some(form.mean_rate()),
            Self::OnOff(form) => {
                let (on, off) = (form.on.ps() as f64, form.off.ps() as f64);
                Some(form.peak.0.0 as f64 * on / (on + off))
            }
            Self::LongRange(form) => Some(form.rate.mean.0 as f64),
            Self::Trace(form) => Some(form.rate(self.unit_bits(), duration)),
            Self::Greedy(_)
            | Self::Finite(_)
            | Self::Bursty(_)
            | Self::ShortFlows(_)
            | Self::RequestResponse(_) => None,
        }
    }
}
