//! Whether the contracts of VCs suit what is sent on them, and whether anything on the way acts on them.

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Policy, Reads},
    cell::CELL_BITS,
    contract::{Category, Contract, Policing, Spacing},
    policing::{Action, Policer},
    quantity::CellRate,
    scheduler::Share,
    with_policy,
};
use celltrain_engine::{
    Instant, Slot,
    quantity::{BitRate, Duration},
};

use super::{
    super::spec::{Framing, NodeKind, Spec},
    parts::{Flow, Graph},
    ports::{context, crossing},
};

/// How the cells of a frame come to the policer of a VC, one after the other.
#[derive(Debug, Clone, Copy)]
struct Arrivals {
    cells: u64,
    rate: BitRate,
}

impl Arrivals {
    /// Whether a policer of `contract` behind a line of `line` discards some of them, although nothing came before.
    fn are_cut(self, contract: &Contract, line: BitRate) -> bool {
        let (Some(mut policer), Ok(length)) = (Policer::new(contract, line), u16::try_from(self.cells))
        else {
            return false;
        };
        let (slot, start) = (Slot::of_bits(CELL_BITS, self.rate), Instant::default());
        (0..length).any(|position| {
            let cell = Cell { position, length, clp: contract.clp, ..Cell::default() };
            policer.conform(&cell, start.plus_slots(slot, position.into())) == Action::Discard
        })
    }

    /// A tolerance that lets all of them pass a policer of the peak rate `rate`: the least one in three digits.
    fn tolerance(self, CellRate(rate): CellRate) -> Duration {
        let last = |rate| Slot::of_bits(CELL_BITS, rate).multiplied(self.cells - 1).ps();
        let least = last(rate).saturating_sub(last(self.rate)) + 1;
        Duration(least.next_multiple_of(10_u64.pow(least.ilog10().saturating_sub(2))))
    }
}

impl Flow {
    /// How the cells of a full frame come to the policer behind a line of `line`, if they come in frames.
    fn arrivals(&self, spec: &Spec, line: BitRate) -> Option<Arrivals> {
        let by_cell = match self.contract.spacing {
            Spacing::Cells => true,
            Spacing::Frames => !self.traffic.uses_tcp(),
            Spacing::None => false,
        };
        let spaced = self.contract.pcr.filter(|_| by_cell);
        let rate = spaced.map_or(line, |CellRate(rate)| rate.min(line));
        Some(Arrivals { cells: self.full_frame(spec)?, rate })
    }
}

impl Graph {
    /// A sentence about the first flow of which a policer cuts every full frame, also where it has sent nothing for long.
    pub(in crate::scenario) fn contracts_that_cut(&self, spec: &Spec) -> Option<String> {
        let mut cut = self.flows.iter().filter_map(|flow| {
            let access = &self.links[*flow.route.first()?];
            let arrivals = flow.arrivals(spec, access.rate).filter(|_| access.framing == Framing::Cells)?;
            arrivals.are_cut(&flow.contract, access.rate).then_some((flow, arrivals, access.rate))
        });
        let (flow, arrivals, line) = cut.next()?;
        let others = match cut.count() {
            0 => String::new(),
            1 => ", and the same holds for another flow".to_owned(),
            more => format!(", and the same holds for {more} other flows"),
        };
        let (contract, cells) = (&*flow.contract, arrivals.cells);
        let passes = |contract: &Contract| !arrivals.are_cut(contract, line);
        let longer = Contract { mfs: u32::try_from(cells).unwrap_or(u32::MAX), ..contract.clone() };
        let why = if passes(&longer) {
            format!(", as vc.mfs is {}: set vc.mfs = {cells}, or a smaller tcp.mss", contract.mfs)
        } else if let Some(peak) = contract.pcr.filter(|peak| peak.0 < arrivals.rate) {
            let needed = arrivals.tolerance(peak);
            let tolerant = Contract { cdvt_pcr: needed.max(contract.cdvt_pcr), ..longer };
            let tolerance = if passes(&tolerant) {
                format!(", or vc.cdvt-pcr = \"{needed}\" or more")
            } else {
                String::new()
            };
            format!(
                ", as its cells come at {} and vc.pcr is {peak}: set vc.spacing = \"cells\"{tolerance}",
                arrivals.rate
            )
        } else {
            String::new()
        };
        Some(format!(
            "vc.policing: the policer cuts every full frame of flow \"{}\", {cells} cells{why}{others}",
            flow.name
        ))
    }

    /// Sentences about parts of contracts on which nothing acts: priorities that no policy looks at, and minimum rates that nothing gives.
    pub(in crate::scenario) fn contracts_without_effect(&self) -> Vec<String> {
        let reads = self.reads();
        let on_way = |flow: &Flow| {
            let [there, _] = flow.hops();
            there.map(|link| reads[link]).fold(Reads::default(), |one, other| Reads {
                clp: one.clp || other.clp,
                mcr: one.mcr || other.mcr,
            })
        };
        let unread_priority = self.flows.iter().find(|flow| flow.has_priorities() && !on_way(flow).clp);
        let unread_priority = unread_priority.map(|flow| {
            let key = if flow.contract.clp { "vc.clp" } else { "vc.policing" };
            format!(
                "{key}: no policy on the path of flow \"{}\" looks at the priority (CLP) of its cells, so that tagged frames fare as others; \
                 choose one that does, as \"double-epd\", \"per-vc\", \"wba\" and \"dfba\" do",
                flow.name
            )
        });
        let unread_rate = self.flows.iter().find(|flow| flow.asks_for_rate() && !on_way(flow).mcr);
        let unread_rate = unread_rate.map(|flow| {
            format!(
                "vc.mcr: nothing on the path of flow \"{}\" gives it this rate; choose a policy that does, as \"wba\", \"dfba\" and \
                 \"abs-push-out\" do, or divide the link by rates, as in switch.scheduler = {{ discipline = \"wfq\", wfq.share = \"mcr\" }}",
                flow.name
            )
        });
        unread_priority.into_iter().chain(unread_rate).collect()
    }

    /// What is read of contracts at each link's port.
    fn reads(&self) -> Vec<Reads> {
        let vcs = crossing(self.links.len(), &self.flows);
        let at_port = |(port, vcs): (&super::Link, Vec<super::ports::Crossing>)| {
            if self.nodes[port.from].kind != NodeKind::Switch {
                return Reads::default();
            }
            let contracts: Vec<_> = vcs.iter().map(|vc| vc.contract(&self.flows)).collect();
            // A policy that cannot be made is an error elsewhere.
            let policy = Policy::new(&port.discard, &context(port, &contracts));
            let reads = policy
                .map_or_else(|_| Reads::default(), |policy| with_policy!(&policy, policy => policy.reads()));
            Reads { mcr: reads.mcr || port.scheduler.share() == Some(Share::Mcr), ..reads }
        };
        std::iter::zip(&self.links, vcs).map(at_port).collect()
    }
}

impl Flow {
    /// Whether some of its cells have another priority than others.
    fn has_priorities(&self) -> bool {
        self.contract.clp || matches!(self.contract.policing, Policing::Tag | Policing::TagCells)
    }

    /// Whether it asks for a minimum rate of which no policer nor ABR source knows.
    fn asks_for_rate(&self) -> bool {
        let policed = matches!(self.contract.policing, Policing::Tag | Policing::DiscardFrames);
        self.contract.mcr.is_some() && !policed && self.contract.category != Category::Abr
    }
}
