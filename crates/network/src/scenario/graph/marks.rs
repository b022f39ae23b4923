//! Whether marks of switches meet transports that answer them.

use celltrain_atm::{
    buffer::{BufferPolicy, Policy},
    with_policy,
};

use super::{
    super::spec::{EcnField, NodeKind, Traffic},
    Flow, Graph, Link,
    ports::{Crossing, context, crossing},
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
}

impl Graph {
    /// Sentences about ECN that has no effect: switches that do not mark what could be marked, or mark for nobody.
    pub(in crate::scenario) fn marks_without_effect(&self) -> Vec<String> {
        let of_abr = self.flows.iter().find(|flow| flow.asks_for_marks() && flow.abr.is_some());
        let of_abr = of_abr.map(|flow| {
            format!(
                "tcp.ecn has no effect on a VC of ABR, as that of flow \"{}\": its EFCI bit is that of rate control, and policies discard \
                 what they would mark; leave tcp.ecn out, or choose another category",
                flow.name
            )
        });
        of_abr.into_iter().chain(self.unmet_marks()).collect()
    }

    fn unmet_marks(&self) -> Option<String> {
        let marking = self.marking_ports();
        let crosses_one = |flow: &&Flow| flow.data_hops().any(|link| marking[link]);
        let mut answering = self.flows.iter().filter(|flow| flow.answers_marks()).peekable();
        if let Some(&first) = answering.peek() {
            let unmarked = answering.clone().count() - 1;
            let others = match unmarked {
                0 => String::new(),
                1 => " and of another flow".to_owned(),
                more => format!(" and of {more} other flows"),
            };
            return (!answering.any(|flow| crosses_one(&flow))).then(|| {
                format!(
                    "tcp.ecn is on and no switch marks on the path of flow \"{}\"{others}: it has no effect; choose a policy that can mark and \
                     turn that on, as in switch.discard.red.ecn = true",
                    first.name
                )
            });
        }
        let mut unmarked: Vec<_> = self.flows.iter().filter(crosses_one).collect();
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

    /// Which links leave ports whose policies mark.
    fn marking_ports(&self) -> Vec<bool> {
        let vcs = crossing(self.links.len(), &self.flows);
        let in_switch = |port: &Link| self.nodes[port.from].kind == NodeKind::Switch;
        std::iter::zip(&self.links, vcs)
            .map(|(port, vcs)| in_switch(port) && self.marks(port, &vcs))
            .collect()
    }

    fn marks(&self, port: &Link, vcs: &[Crossing]) -> bool {
        let contracts: Vec<_> = vcs.iter().map(|vc| vc.contract(&self.flows)).collect();
        // A policy that cannot be made is an error elsewhere.
        let policy = Policy::new(&port.discard, &context(port, &contracts));
        policy.is_ok_and(|policy| with_policy!(&policy, policy => policy.marks()))
    }
}
