//! `[link]`: links, and what they do to what they carry.

use std::{fmt, ops::Deref, str::FromStr, sync::Arc};

use celltrain_engine::{
    quantity::{BitRate, Bytes, Delay, Duration, Tolerance},
    string_form,
    time::MILLISECOND,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// `[link]`: links.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LinkSpec {
    /// Line rate; a cell takes 424 bits. 1 kbit/s to 100 Tbit/s.
    pub rate: BitRate,
    /// How far the rate of each link lies from `rate` at the most, up to 1000 ppm: evenly distributed, drawn once for a replication, and to
    /// 1 bit/s. Sources at a constant rate share the clock of their host's link. Clocks in the field differ by up to 20 ppm (SONET,
    /// GR-253-CORE: free running) or 100 ppm (Ethernet, IEEE 802.3).
    #[serde(skip_serializing_if = "is_zero")]
    pub rate_spread: Tolerance,
    /// Propagation delay, up to an hour, or the length of the link in kilometres, of 5 us each. Above 0 where packets travel
    /// at more than 8 Tbit/s.
    pub delay: Delay,
    /// Whether the link carries cells or packets. All links on the path of a flow must have the same framing.
    pub framing: Framing,
    /// Bytes that a packet-framed link adds to each IP packet (frame header, preamble, gap), up to 4 KiB.
    pub overhead: Bytes,
    /// Share of what the link loses at random, after its transmission: 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub loss: f64,
    /// What is lost at random, each on its own.
    pub loss_unit: LossUnit,
    /// Loss in bursts, after the same transmission, beside what is lost each on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLoss>,
    /// Which packets arrive late, so that others overtake them; packet-framed links only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// When the link loses everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dark: Option<Dark>,
    /// How its propagation delay changes in the course of a run: in the order of time, 10 000 changes at most.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub delay_changes: DelayChanges,
    /// How its rate changes in the course of a run: in the order of time, 10 000 changes at most. A unit in transmission keeps the rate
    /// at which it began. The `load` of short flows is a share of `rate`.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub rate_changes: RateChanges,
    /// Links from a source host to its switch (and back), where they differ.
    #[serde(skip_serializing_if = "LinkOverride::is_empty")]
    pub access: LinkOverride,
    /// Links between switches, where they differ.
    #[serde(skip_serializing_if = "LinkOverride::is_empty")]
    pub trunk: LinkOverride,
    /// Links from a switch to a destination host (and back), where they differ.
    #[serde(skip_serializing_if = "LinkOverride::is_empty")]
    pub exit: LinkOverride,
}

impl Default for LinkSpec {
    /// OC-3c over 200 km.
    fn default() -> Self {
        let none = LinkOverride::default();
        Self {
            rate: BitRate(155_520_000),
            rate_spread: Tolerance(0),
            delay: Delay(Duration(MILLISECOND)),
            framing: Framing::Cells,
            overhead: Bytes(0),
            loss: 0.0,
            loss_unit: LossUnit::Frame,
            burst_loss: None,
            reorder: None,
            dark: None,
            delay_changes: DelayChanges::default(),
            rate_changes: RateChanges::default(),
            access: none.clone(),
            trunk: none.clone(),
            exit: none,
        }
    }
}

fn is_zero(tolerance: &Tolerance) -> bool {
    *tolerance == Tolerance(0)
}

/// How the links of one place differ from `[link]`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct LinkOverride {
    /// Line rate; that of `[link]` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay, that of `[link]` if not given. A range is spread evenly over the links of the place, in the order of the
    /// flows or hosts: the first has the one delay, the last the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelayRange>,
    /// Whether the link carries cells or packets; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub framing: Option<Framing>,
    /// Bytes that a packet-framed link adds to each packet; those of `[link]` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Bytes>,
    /// Share of what is lost at random; that of `[link]` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub loss: Option<f64>,
    /// What is lost at random; that of `[link]` if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_unit: Option<LossUnit>,
    /// Loss in bursts; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burst_loss: Option<BurstLoss>,
    /// Which packets arrive late; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<Reorder>,
    /// When it loses everything; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dark: Option<Dark>,
    /// How its propagation delay changes; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_changes: Option<DelayChanges>,
    /// How its rate changes; as `[link]` says if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_changes: Option<RateChanges>,
}

/// `[[link-override]]`: a link of any topology that differs from the others of its place, in both directions if it carries both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LinkException {
    /// Name of the node at one end, such as `switch1`. A link that carries both directions may be named from either end.
    pub from: String,
    /// Name of the node at the other end. All links between the two are meant.
    pub to: String,
    /// What is different; a delay is no range.
    pub link: LinkOverride,
}

/// What a link carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// Cells of 53 bytes, into which AAL5 cuts every frame.
    #[default]
    Cells,
    /// IP packets, each in one piece: its transmission takes the time of its bytes, and a buffer takes it or discards it
    /// as a whole. Buffers are in packets or bytes.
    Packets,
}

/// What a link loses at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossUnit {
    /// Whole frames.
    #[default]
    Frame,
    /// Single cells; on a packet-framed link, packets.
    Cell,
}

impl LinkOverride {
    pub(in crate::scenario) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These settings, and those of `below` where there are none.
    pub(in crate::scenario) fn over(&self, below: &Self) -> Self {
        Self {
            rate: self.rate.or(below.rate),
            delay: self.delay.or(below.delay),
            framing: self.framing.or(below.framing),
            overhead: self.overhead.or(below.overhead),
            loss: self.loss.or(below.loss),
            loss_unit: self.loss_unit.or(below.loss_unit),
            burst_loss: self.burst_loss.or(below.burst_loss),
            reorder: self.reorder.or(below.reorder),
            dark: self.dark.or(below.dark),
            delay_changes: self.delay_changes.clone().or_else(|| below.delay_changes.clone()),
            rate_changes: self.rate_changes.clone().or_else(|| below.rate_changes.clone()),
        }
    }
}

/// One delay, or a range of them over several links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DelayRange {
    /// The delay of the first link.
    pub from: Delay,
    /// The delay of the last one, no shorter.
    pub to: Delay,
}

impl DelayRange {
    /// The delay of all links.
    pub(in crate::scenario) const fn of(delay: Delay) -> Self {
        Self { from: delay, to: delay }
    }

    /// The delay of link number `place`, from 0, of `count`.
    pub(in crate::scenario) fn at(self, place: usize, count: usize) -> Delay {
        let (from, to) = (u128::from(self.from.0.ps()), u128::from(self.to.0.ps()));
        let steps = (count.max(2) - 1) as u128;
        let delay = from + ((to - from) * place as u128 + steps / 2) / steps;
        Delay(Duration(delay as u64))
    }
}

impl FromStr for DelayRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once("..").unwrap_or((text, text));
        let parse = |part: &str| {
            part.parse::<Delay>().map_err(|error| {
                if from == to { error.to_string() } else { format!("{error}, in the range \"{text}\"") }
            })
        };
        let range = Self { from: parse(from)?, to: parse(to)? };
        if range.from > range.to {
            return Err(format!("the range \"{text}\" ends before it begins"));
        }
        Ok(range)
    }
}

impl fmt::Display for DelayRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.from == self.to {
            return self.from.fmt(formatter);
        }
        write!(formatter, "{} .. {}", self.from, self.to)
    }
}

string_form!(
    DelayRange,
    "a delay, a length of link, or a range of them",
    "1 ms .. 20 ms",
    "^[0-9_. ]+(ps|ns|us|µs|ms|s|km) *(\\.\\. *[0-9_. ]+(ps|ns|us|µs|ms|s|km) *)?$".to_owned()
);

/// `burst-loss`: losses in bursts. The link is in a good or a bad state, loses a unit with the probability of its state, and
/// then changes it or not (E. N. Gilbert, 1960; E. O. Elliott, 1963). Units are those of `loss-unit`. A run begins in the good
/// state; the share of units that find the bad one is p/(p + r), and a stay in it is 1/r units long on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BurstLoss {
    /// Probability of a change from the good state to the bad one after a unit: 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub p: f64,
    /// Probability of a change back: above 0, up to 1.
    #[schemars(range(min = 0, max = 1))]
    pub r: f64,
    /// Probability that a unit is lost in the good state: 0 to 1.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1))]
    pub loss_good: f64,
    /// Probability that a unit is lost in the bad state: 0 to 1.
    #[serde(default = "certain")]
    #[schemars(range(min = 0, max = 1))]
    pub loss_bad: f64,
}

fn certain() -> f64 {
    1.0
}

/// `reorder`: packets that arrive late, as over several paths. The others overtake them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reorder {
    /// Share of the packets that are held back, drawn for each on its own: 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub share: f64,
    /// How much later they arrive: above 0, up to an hour.
    pub delay: Duration,
}

/// `dark`: periods in which the link loses all that enters it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dark {
    /// When the first period begins.
    pub from: Duration,
    /// How long a period lasts: above 0.
    pub length: Duration,
    /// Time from the beginning of one period to that of the next, 1 us or more and above `length`; one period only if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
}

/// An element of `delay-changes`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DelayChange {
    /// When it changes, for what enters the link from then on; later than the change before.
    pub at: Duration,
    /// Propagation delay from then on, up to an hour, or the length of the link in kilometres. A link keeps the order: what
    /// would overtake something arrives together with it.
    pub delay: Delay,
}

/// An element of `rate-changes`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RateChange {
    /// When it changes, for what begins to be transmitted from then on; later than the change before.
    pub at: Duration,
    /// Line rate from then on. 1 kbit/s to 100 Tbit/s.
    pub rate: BitRate,
}

/// How the delay of a link changes.
pub type DelayChanges = Changes<DelayChange>;

/// How the rate of a link changes.
pub type RateChanges = Changes<RateChange>;

/// The changes of something about a link, in the order of time. Many links may have the same: they share them.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes<T>(Arc<Vec<T>>);

impl<T> Changes<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Changes<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> From<Vec<T>> for Changes<T> {
    fn from(changes: Vec<T>) -> Self {
        Self(Arc::new(changes))
    }
}

impl<T> Deref for Changes<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Serialize> Serialize for Changes<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_slice().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Changes<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl<T: JsonSchema> JsonSchema for Changes<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}s", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}
