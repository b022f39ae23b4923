//! What a flow is told by its own entry, by its group, or by the scenario: the first of them that says it.

use celltrain_atm::{abr, contract::Contract};
use celltrain_engine::quantity::Duration;
use celltrain_tcp::StackSpec;

use super::super::{
    error::Problem,
    spec::{FlowSpec, GroupSpec, Spec, Start, Traffic},
};

/// The tables that a flow's settings come from.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    spec: &'a Spec,
    entry: Option<(usize, &'a FlowSpec)>,
    group: Option<(usize, &'a GroupSpec)>,
}

impl<'a> Settings<'a> {
    /// The settings of a flow that is the subject of `[[flow]]` number `entry` and a member of `[[group]]` number `group`.
    pub(super) fn new(spec: &'a Spec, entry: Option<usize>, group: Option<usize>) -> Self {
        Self {
            spec,
            entry: entry.map(|index| (index, &spec.flow[index])),
            group: group.map(|index| (index, &spec.group[index])),
        }
    }

    /// The flow's own entry.
    pub(super) fn entry(self) -> Option<&'a FlowSpec> {
        self.entry.map(|(_, entry)| entry)
    }

    /// The dotted key of the table that makes the flow.
    pub(super) fn key(self) -> String {
        match (self.entry, self.group) {
            (Some((index, _)), _) => format!("flow.{index}"),
            (None, Some((index, _))) => format!("group.{index}"),
            (None, None) => "topology".to_owned(),
        }
    }

    /// What it carries, and the dotted key of the table that says so.
    pub(super) fn traffic(self) -> (String, &'a Traffic) {
        self.of("traffic", |flow| flow.traffic.as_ref(), |group| group.traffic.as_ref())
            .unwrap_or(("traffic".to_owned(), &self.spec.traffic))
    }

    /// Its own TCP, or that of its group, with its dotted key.
    pub(super) fn tcp(self) -> Option<(String, &'a StackSpec)> {
        self.of("tcp", |flow| flow.tcp.as_ref(), |group| group.tcp.as_ref())
    }

    /// Its contract, with its dotted key.
    pub(super) fn contract(self) -> (String, &'a Contract) {
        self.of("vc", |flow| flow.vc.as_ref(), |group| group.vc.as_ref())
            .unwrap_or(("vc".to_owned(), &self.spec.vc))
    }

    /// The ends of its VC, if the category is ABR, and the dotted key of the table that describes them.
    pub(super) fn abr(self) -> (String, &'a abr::Params) {
        self.of("abr", |flow| flow.abr.as_ref(), |group| group.abr.as_ref())
            .unwrap_or(("abr".to_owned(), &self.spec.abr))
    }

    /// When it starts, as its `traffic` says if nothing else does, and, if ever, stops.
    ///
    /// # Errors
    /// It would stop before it may have started.
    pub(super) fn times(self, traffic: &Traffic) -> Result<(Start, Option<Duration>), Problem> {
        let start = self.of("start", |flow| flow.start.as_ref(), |group| group.start.as_ref());
        let start = start.map_or_else(|| traffic.start(), |(_, start)| *start);
        let stop = self.of("stop", |flow| flow.stop.as_ref(), |group| group.stop.as_ref());
        match stop {
            Some((key, stop)) if *stop <= start.to => {
                let message = format!("expected a time after the start ({start}), found {stop}");
                Err(Problem::new(key, message))
            }
            stop => Ok((start, stop.map(|(_, stop)| *stop))),
        }
    }

    /// What the flow's entry says or, if that says nothing, its group.
    fn of<T>(
        self,
        name: &str,
        of_flow: impl Fn(&'a FlowSpec) -> Option<&'a T>,
        of_group: impl Fn(&'a GroupSpec) -> Option<&'a T>,
    ) -> Option<(String, &'a T)> {
        let entry =
            self.entry.and_then(|(index, flow)| Some((format!("flow.{index}.{name}"), of_flow(flow)?)));
        entry.or_else(|| {
            self.group.and_then(|(index, group)| Some((format!("group.{index}.{name}"), of_group(group)?)))
        })
    }
}
