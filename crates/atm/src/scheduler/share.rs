//! In what proportion a weighted discipline divides the line among VCs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vcs;
use crate::{
    catalogue::ParamError,
    contract::{Category, Contract},
    quantity::CellRate,
};

/// What a VC's share is proportional to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// The weight in the VC's contract.
    #[default]
    Weight,
    /// The minimum cell rate in the VC's contract (for ABR, `abr.mcr`). Among the VCs of a category at a port either all have one or none
    /// has, as with acknowledgements; if none has, all have equal shares. An ABR VC without one, and the reverse path of ABR, has the
    /// smallest share of the others.
    Mcr,
}

impl Share {
    /// The shares of `vcs` by label, without a common divisor: 1 : 2 rather than 10 000 000 : 20 000 000. The labels of
    /// other VCs hold ones.
    ///
    /// # Errors
    /// A VC without a minimum rate among VCs with one, or a share of nothing.
    pub(super) fn of(self, vcs: Vcs<'_>) -> Result<Vec<u64>, ParamError> {
        let mut shares = vec![1; vcs.labels()];
        let guaranteed = vcs.iter().find(|(_, contract)| contract.mcr.is_some());
        let least = vcs.iter().filter_map(|(_, contract)| contract.mcr).map(|CellRate(rate)| rate.0).min();
        for (label, contract) in vcs.iter() {
            shares[label] = match (self, guaranteed) {
                (Self::Weight, _) => u64::from(contract.weight),
                (Self::Mcr, None) => 1,
                // The reverse path of ABR is in the category of the data and has no rate.
                (Self::Mcr, _) if contract.mcr.is_none() && contract.category == Category::Abr => {
                    least.unwrap_or(1)
                }
                (Self::Mcr, Some((other, _))) => minimum_rate(label, contract, other)?,
            };
            if shares[label] == 0 {
                return Err(error(format!(
                    "VC {label} has no share: give its contract a weight or rate above 0"
                )));
            }
        }
        let divisor = vcs
            .iter()
            .fold(0, |divisor, (label, _)| greatest_common_divisor(u128::from(shares[label]), divisor));
        let divisor = u64::try_from(divisor).expect("a divisor of a share is no larger");
        vcs.iter().for_each(|(label, _)| shares[label] /= divisor);
        Ok(shares)
    }
}

fn minimum_rate(label: usize, contract: &Contract, other: usize) -> Result<u64, ParamError> {
    contract.mcr.map(|CellRate(rate)| rate.0).ok_or_else(|| {
        error(format!(
            "VC {label} has no minimum cell rate while VC {other} has one: give its contract `mcr = \"1 Mbit/s\"`, \
             say, or share by weight"
        ))
    })
}

fn error(message: String) -> ParamError {
    ParamError { key: "share", message }
}

pub(super) fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
