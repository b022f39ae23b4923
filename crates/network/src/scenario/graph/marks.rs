//! Whether marks of switches meet transports that answer them.

use celltrain_atm::{
    buffer::{BufferPolicy, Policy, PolicyName},
    scheduler::DisciplineName,
    with_policy,
};

use super::{
    super::spec::{EcnField, NodeKind, Spec, Traffic},
    link::Link,
    parts::{Flow, Graph},
    ports::{Crossing, context, crossing, place},
};

impl Flow {
    /// Whether its TCP answers marks, and switches may set them: the EFCI bit of an ABR VC is that of rate control.
    fn answers_marks(&self) -> bool {
        self.asks_for_marks() && self.abr.is_none()
    }

    fn asks_for_marks(&self) -> bool {
        self.traffic.uses_tcp() && self.tcp.ecn
    }

    /// Whether switches may mark its packets and nothing answers that.
    fn ignores_marks(&self) -> bool {
        self.traffic.ecn() != EcnField::NotEct
    }

    /// The links that its data cross: ACKs without data are not marked.
    fn data_hops(&self) -> impl Iterator<Item = usize> {
        let [there, back] = self.hops();
        let both = matches!(*self.traffic, Traffic::RequestResponse(_));
        there.chain(back.filter(move |_| both))
    }

    /// Whether its data cross one of some links.
    fn data_crosses(&self, links: &[bool]) -> bool {
        self.data_hops().any(|link| links[link])
    }
}

/// Whether a port's policy asks if the transport of a frame answers marks, whatever it does then.
fn asks(port: &Link) -> bool {
    port.discard.policy == PolicyName::Script && port.discard.script.reads_ecn()
}

/// What is said of other flows than the first.
fn and_others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " and of another flow".to_owned(),
        more => format!(" and of {more} other flows"),
    }
}

impl Graph {
    /// Sentences about ECN that has no effect: switches that do not mark what could be marked, or mark for nobody.
    pub(in crate::scenario) fn marks_without_effect(&self, spec: &Spec) -> Vec<String> {
        let of_abr = self.flows.iter().find(|flow| flow.asks_for_marks() && flow.abr.is_some());
        let of_abr = of_abr.map(|flow| {
            format!(
                "tcp.ecn has no effect on a VC of ABR, as that of flow \"{}\": its EFCI bit is that of rate control, and policies discard \
                 what they would mark; leave tcp.ecn out, or choose another category",
                flow.name
            )
        });
        let unmet = if self.flows.iter().any(Flow::answers_marks) {
            self.answers_without_marks(spec)
        } else {
            self.marks_without_answers()
        };
        let fields = [(EcnField::Ect0, "ect0"), (EcnField::Ect1, "ect1")];
        let idle =
            fields.into_iter().filter_map(|(field, name)| self.field_without_effect(spec, field, name));
        of_abr.into_iter().chain(unmet).chain(idle).collect()
    }

    /// A sentence about the first flow that answers marks, where no switch marks the data of any of them.
    fn answers_without_marks(&self, spec: &Spec) -> Option<String> {
        let marking = self.ports_of_switches(|port, vcs| asks(port) || self.marks(port, vcs));
        let mut answering = self.flows.iter().filter(|flow| flow.answers_marks());
        if answering.clone().any(|flow| flow.data_crosses(&marking)) {
            return None;
        }
        let first = answering.next()?;
        let others = and_others(answering.count());
        let bottleneck = self.bottleneck_link(spec).filter(|&link| first.data_hops().any(|hop| hop == link));
        let remedy = self.remedy(spec, bottleneck);
        Some(format!(
            "tcp.ecn is on and no switch marks on the path of flow \"{}\"{others}: it has no effect; {remedy}",
            first.name
        ))
    }

    /// What makes one of some ports mark: the key of its policy, if one has such a key that is off.
    fn remedy(&self, spec: &Spec, ports: impl IntoIterator<Item = usize>) -> String {
        let can = |&port: &&Link| port.discard.ecn() == Some(false);
        let Some(port) = ports.into_iter().map(|link| &self.links[link]).find(can) else {
            return "choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true"
                .to_owned();
        };
        let table = place(spec, &self.nodes, port, "discard", |port| port.discard.is_some());
        format!("set {table}.{}.ecn = true", port.discard.policy.name())
    }

    /// A sentence about the first flow without TCP whose packets carry an ECN field that no switch on their way looks at.
    fn field_without_effect(&self, spec: &Spec, field: EcnField, name: &str) -> Option<String> {
        let mut carrying = self.flows.iter().filter(|flow| flow.traffic.ecn() == field).peekable();
        carrying.peek()?;
        let low_latency = field == EcnField::Ect1;
        let reading = self.ports_of_switches(|port, vcs| {
            let serves_apart = low_latency && port.scheduler.discipline == DisciplineName::DualQueue;
            serves_apart || asks(port) || self.marks(port, vcs)
        });
        let mut idle = carrying.filter(|flow| flow.route.len() > 1 && !flow.data_crosses(&reading));
        let first = idle.next()?;
        let does = if low_latency { "marks, or has a queue of low latency," } else { "marks" };
        let (others, remedy) = (and_others(idle.count()), self.remedy(spec, first.data_hops()));
        Some(format!(
            "traffic.ecn = \"{name}\" of flow \"{}\"{others} has no effect, as no switch {does} on the way: {remedy}, or leave it out",
            first.name
        ))
    }

    /// A sentence about policies that were told to mark what no transport answers. DualPI2 is not told to: it marks one queue and drops from
    /// the other by intent.
    fn marks_without_answers(&self) -> Option<String> {
        let marking =
            self.ports_of_switches(|port, vcs| port.discard.ecn() == Some(true) && self.marks(port, vcs));
        let mut unmarked: Vec<_> = self.flows.iter().filter(|flow| flow.data_crosses(&marking)).collect();
        unmarked.retain(|flow| !flow.ignores_marks());
        let (said, remedy) = if unmarked.is_empty() {
            return None;
        } else if unmarked.iter().any(|flow| flow.traffic.uses_tcp() && flow.abr.is_none()) {
            ("no TCP answers marks", "set tcp.ecn = true")
        } else if unmarked.iter().any(|flow| flow.abr.is_some()) {
            ("frames of ABR are not marked", "choose a policy that does not mark")
        } else {
            ("no traffic answers marks", "choose a policy that does not mark")
        };
        Some(format!("a switch would mark and {said}: it discards what it would mark; {remedy}"))
    }

    /// For each link whether it leaves a switch by a port of some property.
    fn ports_of_switches(&self, has: impl Fn(&Link, &[Crossing]) -> bool) -> Vec<bool> {
        let vcs = crossing(self.links.len(), &self.flows);
        let in_switch = |port: &Link| self.nodes[port.from].kind == NodeKind::Switch;
        std::iter::zip(&self.links, vcs).map(|(port, vcs)| in_switch(port) && has(port, &vcs)).collect()
    }

    fn marks(&self, port: &Link, vcs: &[Crossing]) -> bool {
        let contracts: Vec<_> = vcs.iter().map(|vc| vc.contract(&self.flows)).collect();
        // A policy that cannot be made is an error elsewhere.
        let policy = Policy::new(&port.discard, &context(port, &contracts));
        policy.is_ok_and(|policy| with_policy!(&policy, policy => policy.marks()))
    }
}
