//! `[[loss]]`: from names to indices.

use std::collections::BTreeMap;

use super::{
    super::{
        error::{Problem, suggestion},
        spec::{LossDirection, LossSpec, Spec},
    },
    link::Link,
    nodes::{Names, find},
    parts::{Flow, Loss},
};

/// The segments that links lose.
pub(super) fn losses(
    spec: &Spec,
    names: &Names,
    links: &[Link],
    flows: &[Flow],
) -> Result<Vec<Loss>, Problem> {
    if spec.loss.is_empty() {
        return Ok(Vec::new());
    }
    let named = flows.iter().enumerate().map(|(number, flow)| (flow.name.as_str(), number));
    let numbers: BTreeMap<_, _> = named.collect();
    let entries = spec.loss.iter().enumerate();
    entries.map(|(index, entry)| loss(index, entry, names, links, flows, &numbers)).collect()
}

fn loss(
    index: usize,
    entry: &LossSpec,
    names: &Names,
    links: &[Link],
    flows: &[Flow],
    numbers: &BTreeMap<&str, usize>,
) -> Result<Loss, Problem> {
    let key = |part: &str| format!("loss.{index}.{part}");
    let Some(&number) = numbers.get(entry.flow.as_str()) else {
        let near = suggestion(&entry.flow, "flows", flows.iter().take(100).map(|flow| flow.name.as_str()));
        return Err(Problem::new(key("flow"), format!("unknown flow \"{}\"{near}", entry.flow)));
    };
    let flow = &flows[number];
    if !flow.traffic.uses_tcp() {
        let message = format!("flow \"{}\" is without TCP and has no segments to lose", entry.flow);
        return Err(Problem::new(key("flow"), message));
    }
    if entry.occurrence == 0 {
        return Err(Problem::new(key("occurrence"), "occurrences are counted from 1"));
    }
    let byte = entry.segment.checked_mul(u64::from(flow.tcp.mss));
    let Some(byte) = byte.filter(|&byte| byte < 1 << 62) else {
        return Err(Problem::new(key("segment"), "no flow gets so far"));
    };
    let [data, acks] = flow.hops();
    let way: Vec<usize> = match entry.direction {
        LossDirection::Data => data.collect(),
        LossDirection::Ack => acks.collect(),
    };
    let link = match &entry.link {
        None => way[0],
        Some([from, to]) => {
            let from_node = find(names, || key("link.0"), from)?;
            let to_node = find(names, || key("link.1"), to)?;
            let between = |link: &&usize| links[**link].from == from_node && links[**link].to == to_node;
            *way.iter().find(between).ok_or_else(|| {
                let message = format!(
                    "flow \"{}\" does not pass a link from \"{from}\" to \"{to}\" on this way",
                    entry.flow
                );
                Problem::new(key("link"), message)
            })?
        }
    };
    Ok(Loss { flow: number, direction: entry.direction, link, byte, occurrence: entry.occurrence })
}
