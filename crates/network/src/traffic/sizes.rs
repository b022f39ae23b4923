//! Sizes of flows and messages: distributions, their means, and draws from them.

use celltrain_engine::{quantity::Bytes, random::Generator};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::scenario::forms;

/// The largest size of a flow in bytes, 1 TB.
pub const MAX_SIZE: Bytes = Bytes(1_000_000_000_000);
/// The most points of a measured distribution.
pub const MAX_POINTS: usize = 10_000;

forms! {
    /// How much data each flow, request or answer carries.
    FlowSize {
        /// All are of one size.
        Fixed(Fixed),
        /// Sizes are exponentially distributed, of one byte at least.
        Exponential(Exponential),
        /// Sizes have a Pareto distribution between two bounds: many are small, and most of the data is in a few large ones.
        Pareto(Pareto),
        /// Sizes have a measured distribution.
        Measured(Measured),
    }
}

/// `kind = "fixed"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fixed {
    /// Payload: 1 B to 1 TB.
    pub bytes: Bytes,
}

/// `kind = "exponential"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Exponential {
    /// Mean payload: 1 B to 1 TB.
    pub mean: Bytes,
}

/// `kind = "pareto"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pareto {
    /// Shape of the tail, 0.1 to 10; of the web about 1.2.
    #[schemars(range(min = 0.1, max = 10))]
    pub shape: f64,
    /// The smallest payload, 1 B or more.
    pub minimum: Bytes,
    /// The largest payload, above the smallest, up to 1 TB.
    pub maximum: Bytes,
}

/// `kind = "measured"`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measured {
    /// The distribution function: pairs of a payload in bytes and the share that is no larger. Both ascend, and
    /// the last share is 1. Sizes between two points are evenly distributed. Or the path of a CSV file with these two columns,
    /// relative to this file.
    #[schemars(schema_with = "array_or_file::<(f64, f64)>")]
    pub points: Vec<(f64, f64)>,
}

/// The schema of an array that may stand in a CSV file, whose path is given then.
pub(crate) fn array_or_file<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["array", "string"], "items": generator.subschema_for::<T>() })
}

impl FlowSize {
    /// Checks the parameters.
    ///
    /// # Errors
    /// The key of a parameter that makes no sense, and what is wrong with it.
    pub fn check(&self) -> Result<(), (String, String)> {
        let within = |key: &str, size: Bytes| {
            let fits = (Bytes(1)..=MAX_SIZE).contains(&size);
            let message = || (key.to_owned(), format!("expected 1 B to {MAX_SIZE}, found {size}"));
            if fits { Ok(()) } else { Err(message()) }
        };
        match self {
            Self::Fixed(form) => within("bytes", form.bytes),
            Self::Exponential(form) => within("mean", form.mean),
            Self::Pareto(form) => {
                within("minimum", form.minimum)?;
                within("maximum", form.maximum)?;
                if !(0.1..=10.0).contains(&form.shape) {
                    return Err(("shape".into(), format!("expected 0.1 to 10, found {}", form.shape)));
                }
                if form.minimum >= form.maximum {
                    let message =
                        format!("expected more than the smallest ({}), found {}", form.minimum, form.maximum);
                    return Err(("maximum".into(), message));
                }
                Ok(())
            }
            Self::Measured(form) => form.check(),
        }
    }

    /// The mean size in bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Fixed(form) => form.bytes.0 as f64,
            Self::Exponential(form) => form.mean.0 as f64,
            Self::Pareto(form) => form.mean(),
            Self::Measured(form) => form.mean(),
        }
    }

    /// A size in bytes, one at least.
    pub(crate) fn draw(&self, generator: &mut Generator) -> u64 {
        let size = match self {
            Self::Fixed(form) => return form.bytes.0,
            Self::Exponential(form) => -libm::log(1.0 - generator.unit()) * form.mean.0 as f64,
            Self::Pareto(form) => form.quantile(generator.unit()),
            Self::Measured(form) => form.quantile(generator.unit()),
        };
        (libm::round(size) as u64).clamp(1, MAX_SIZE.0)
    }
}

impl Pareto {
    /// The distribution function is (1 - (L/x)^a) / (1 - (L/H)^a) between the bounds L and H.
    fn quantile(&self, share: f64) -> f64 {
        let (low, high) = (self.minimum.0 as f64, self.maximum.0 as f64);
        let cut = 1.0 - libm::pow(low / high, self.shape);
        low * libm::pow(1.0 - share * cut, -1.0 / self.shape)
    }

    fn mean(&self) -> f64 {
        let (low, high, shape) = (self.minimum.0 as f64, self.maximum.0 as f64, self.shape);
        let cut = 1.0 - libm::pow(low / high, shape);
        if (shape - 1.0).abs() < 1e-9 {
            return low / cut * libm::log(high / low);
        }
        low / cut * shape / (shape - 1.0) * (1.0 - libm::pow(low / high, shape - 1.0))
    }
}

impl Measured {
    fn check(&self) -> Result<(), (String, String)> {
        let fault = |place: usize, message: String| Err((format!("points.{place}"), message));
        if self.points.is_empty() || self.points.len() > MAX_POINTS {
            let message = format!("expected 1 to {MAX_POINTS} points, found {}", self.points.len());
            return Err(("points".into(), message));
        }
        for (place, &(bytes, share)) in self.points.iter().enumerate() {
            if !(1.0..=MAX_SIZE.0 as f64).contains(&bytes) || !(0.0..=1.0).contains(&share) {
                return fault(
                    place,
                    format!(
                        "expected 1 to {} bytes and a share from 0 to 1, found [{bytes}, {share}]",
                        MAX_SIZE.0
                    ),
                );
            }
            let before = place.checked_sub(1).map_or((0.0, 0.0), |before| self.points[before]);
            if bytes <= before.0 || share < before.1 {
                return fault(
                    place,
                    format!("points ascend: [{bytes}, {share}] follows [{}, {}]", before.0, before.1),
                );
            }
        }
        let last = self.points.len() - 1;
        if self.points[last].1 < 1.0 {
            return fault(last, format!("expected 1 as the last share, found {}", self.points[last].1));
        }
        Ok(())
    }

    fn quantile(&self, share: f64) -> f64 {
        let place = self.points.partition_point(|point| point.1 < share).min(self.points.len() - 1);
        let (high, above) = self.points[place];
        let Some(&(low, below)) = place.checked_sub(1).map(|before| &self.points[before]) else {
            return high;
        };
        if above <= below { high } else { low + (high - low) * (share - below) / (above - below) }
    }

    fn mean(&self) -> f64 {
        let first = self.points[0].0 * self.points[0].1;
        let steps =
            self.points.windows(2).map(|pair| (pair[1].1 - pair[0].1) * (pair[0].0 + pair[1].0) / 2.0);
        first + steps.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use celltrain_engine::random::Randomness;

    use super::*;

    /// The mean of many draws is the mean of the distribution.
    #[test]
    fn draws_have_the_mean_of_their_distribution() {
        let bytes = |bytes| Bytes(bytes);
        let pareto =
            |shape| FlowSize::Pareto(Pareto { shape, minimum: bytes(1_000), maximum: bytes(100_000) });
        let sizes = [
            FlowSize::Fixed(Fixed { bytes: bytes(700) }),
            FlowSize::Exponential(Exponential { mean: bytes(20_000) }),
            pareto(1.0),
            pareto(1.2),
            pareto(3.0),
            FlowSize::Measured(Measured { points: vec![(100.0, 0.5), (1_000.0, 0.9), (20_000.0, 1.0)] }),
        ];
        for size in sizes {
            size.check().unwrap();
            let mut generator = Randomness { seed: 1, replication: 0 }.named("test");
            let count = 200_000;
            let draws: Vec<_> = (0..count).map(|_| size.draw(&mut generator) as f64).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(count);
            let variance =
                draws.iter().map(|draw| (draw - mean) * (draw - mean)).sum::<f64>() / f64::from(count);
            let bound = 4.0 * (variance / f64::from(count)).sqrt() + 0.5;
            assert!((mean - size.mean()).abs() < bound, "{size:?}: {mean}, {}", size.mean());
        }
    }

    #[test]
    fn distributions_that_cannot_be_are_told_by_their_keys() {
        let key = |size: FlowSize| size.check().unwrap_err().0;
        let measured = |points: &[(f64, f64)]| FlowSize::Measured(Measured { points: points.to_vec() });
        assert_eq!(key(FlowSize::Fixed(Fixed { bytes: Bytes(0) })), "bytes");
        assert_eq!(key(measured(&[])), "points");
        assert_eq!(key(measured(&[(10.0, 0.5)])), "points.0");
        assert_eq!(key(measured(&[(10.0, 0.5), (10.0, 1.0)])), "points.1");
        assert_eq!(key(measured(&[(10.0, 0.5), (f64::NAN, 1.0)])), "points.1");
        let pareto = Pareto { shape: 1.0, minimum: Bytes(10), maximum: Bytes(10) };
        assert_eq!(key(FlowSize::Pareto(pareto)), "maximum");
    }
}
