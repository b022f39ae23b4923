//! The parameters of an ABR connection.

use celltrain_engine::{
    quantity::Duration,
    time::{MILLISECOND, SECOND},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rate::{Rate, RateCoding};
use crate::{
    catalogue::ParamError,
    quantity::{Capacity, Unit},
};

/// Parameters of an ABR connection (TM 4.0), as its source and its destination need them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Params {
    /// Peak cell rate (PCR): the source never exceeds it, nor the rate of its link, which is the peak if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcr: Option<Rate>,
    /// Minimum cell rate (MCR): the source may always send at it, whatever the network answers. Switches know it from when
    /// the connection is set up.
    pub mcr: Rate,
    /// Initial cell rate (ICR): the rate at the start and after an idle time; never above the
    /// PCR and TBE/FRTT. Without it, the PCR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icr: Option<Rate>,
    /// Rate increase factor (RIF): share of the PCR by which a BRM without CI and NI raises the rate. 1 jumps to the ER.
    #[schemars(range(min = 0, max = 1))]
    pub rif: f64,
    /// Rate decrease factor (RDF): share of the ACR that a BRM with CI takes away.
    #[schemars(range(min = 0, max = 1))]
    pub rdf: f64,
    /// Cells for each FRM (Nrm), itself included. An FRM that is due goes at the ACR, whether data wait or not.
    #[schemars(range(min = 2, max = 256))]
    pub nrm: u32,
    /// Time after which a source that has sent two cells or more since the last FRM sends one in any case (Trm).
    pub trm: Duration,
    /// Transient buffer exposure (TBE), in cells: what the source may send before the first BRM is back.
    #[schemars(range(min = 1, max = 16_777_215))]
    pub tbe: u32,
    /// FRMs without a BRM after which the rate falls (CRM). Without it, TBE/Nrm rounded down, at least 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub crm: Option<u32>,
    /// Cutoff decrease factor (CDF): share of the ACR that each FRM takes away once CRM of them are unanswered. 0: none.
    #[schemars(range(min = 0, max = 1))]
    pub cdf: f64,
    /// Tagged cell rate (TCR): the highest rate of out-of-rate FRMs. Not above the PCR, unless it is 10 cells/s or less.
    pub tcr: Rate,
    /// ACR decrease time factor (ADTF): a pause between FRMs that takes the rate back to the ICR.
    pub adtf: Duration,
    /// Fixed round-trip time (FRTT), as measured when the connection is set up. Without it TBE does not limit the ICR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frtt: Option<Duration>,
    /// Whether a source that has something to send, but is allowed less than the TCR, asks by out-of-rate FRMs. Without
    /// them a rate of zero is permanent.
    pub out_of_rate: bool,
    /// Whether a destination that sees a congestion mark while it has no FRM to turn round sends a BRM of its own (BN =
    /// 1, CI = 1), at most ten a second.
    pub backward_notification: bool,
    /// How RM cells carry rates.
    pub rate_coding: RateCoding,
    /// Cells that may wait at the source for its rate to let them go; further cells are dropped there.
    pub source_buffer: Capacity,
    /// What is dropped there if a frame does not fit.
    pub source_discard: SourceDiscard,
}

/// What is dropped of a frame that does not fit into the buffer at its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SourceDiscard {
    /// The cells that find none. Where a frame comes at once, its last cell is among them, and the frame after it is lost too, joined to
    /// what is left.
    #[default]
    Cells,
    /// All of it, as in a router that queues packets. Where its cells come one by one, it needs room for all when the first one comes.
    Frames,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            pcr: None,
            mcr: Rate::ZERO,
            icr: None,
            rif: 1.0 / 16.0,
            rdf: 1.0 / 16.0,
            nrm: 32,
            trm: Duration(100 * MILLISECOND),
            tbe: 16_777_215,
            crm: None,
            cdf: 1.0 / 16.0,
            tcr: Rate::of_cells(10.0),
            adtf: Duration(500 * MILLISECOND),
            frtt: None,
            out_of_rate: true,
            backward_notification: false,
            rate_coding: RateCoding::Exact,
            source_buffer: Capacity::UNLIMITED,
            source_discard: SourceDiscard::Cells,
        }
    }
}

impl Params {
    /// Checks what the types cannot.
    pub(super) fn check(&self, pcr: Rate) -> Result<(), ParamError> {
        let error = |key, message| Err(ParamError { key, message });
        for (key, factor) in [("rif", self.rif), ("rdf", self.rdf), ("cdf", self.cdf)] {
            if !(0.0..=1.0).contains(&factor) {
                return error(key, format!("expected a factor between 0 and 1, found {factor}"));
            }
        }
        if !(2..=256).contains(&self.nrm) {
            return error("nrm", format!("expected 2 to 256 cells, found {}", self.nrm));
        }
        if pcr == Rate::ZERO {
            return error("pcr", "a source of no cells sends nothing: give a rate above 0".into());
        }
        if self.mcr > pcr {
            return error("mcr", format!("the minimum ({}) is above the peak ({pcr})", self.mcr));
        }
        if !(1..1 << 24).contains(&self.tbe) {
            return error("tbe", format!("expected 1 to 16777215 cells, found {}", self.tbe));
        }
        if !matches!(self.source_buffer.unit(), None | Some(Unit::Cells)) {
            return error(
                "source-buffer",
                format!("expected a number of cells, found {}", self.source_buffer),
            );
        }
        if self.crm == Some(0) {
            return error("crm", "expected at least 1 FRM, found 0".into());
        }
        Ok(())
    }

    /// The ICR in force: within [MCR, PCR] and not above TBE/FRTT, though never below the MCR.
    pub(super) fn initial(&self, pcr: Rate) -> Rate {
        let exposure = self
            .frtt
            .filter(|frtt| frtt.ps() > 0)
            .map_or(pcr, |frtt| Rate::of_cells(f64::from(self.tbe) / (frtt.ps() as f64 / SECOND as f64)));
        self.icr.unwrap_or(pcr).min(pcr).min(exposure).max(self.mcr)
    }
}
