//! A run of a network in parts: the processes, streams and payload queues of each, taken apart for a run and put together after it.
//!
//! A payload queue has one sender and one receiver. If they are in different parts, each has an end of it, as a stream has: what the
//! sender's part has put in flight is posted to the receiver's after each visit.

use std::mem::take;

use celltrain_atm::Cell;
use celltrain_engine::{
    Time,
    parts::{self, Mail, Part, TooFewThreads},
    random::{Generator, Randomness},
    stream::{Stream, StreamId},
    time::NANOSECOND,
    visit::{Process, Schedule},
};

use crate::{
    flight::{InFlight, Packet, PayloadQueue, SentTimes, Streams},
    node::Node,
    partition::{Edge, Processes},
};

/// As [`celltrain_engine::visit::run`], process `n` in part `partition[n]`.
///
/// # Errors
/// [`TooFewThreads`] if there is no thread for each part: then nothing has happened to the network.
pub(crate) fn run(
    nodes: &mut Vec<Node>,
    streams: &mut Streams,
    schedule: &mut Schedule,
    partition: &[usize],
    end: Time,
    interrupt: &mut dyn FnMut() -> bool,
) -> Result<bool, TooFewThreads> {
    let ends = Ends::of(nodes, streams, partition);
    let mut parts = take_apart(take(nodes), streams, schedule, partition, &ends);
    let finished = parts::run(&mut parts, end, interrupt);
    *nodes = put_together(parts, streams, partition, &ends);
    finished
}

/// Joins the parts of `partition` to so many at the most, neighbours with each other.
pub(crate) fn fold(partition: &mut [usize], most: usize) {
    let number = partition.iter().max().map_or(1, |last| last + 1);
    partition.iter_mut().for_each(|part| *part = *part * most.min(number) / number);
}

type NetworkPart = Part<Node, Cell, InFlight, Posts>;

/// In which part something begins and in which it ends.
#[derive(Debug, Clone, Copy, Default)]
struct Way {
    from: Option<usize>,
    to: Option<usize>,
}

impl Way {
    /// The part that keeps what is under way.
    fn home(self) -> usize {
        self.to.or(self.from).unwrap_or(0)
    }

    /// The part of the sender, if it is not the receiver's.
    fn elsewhere(self) -> Option<usize> {
        self.from.filter(|&from| from != self.home())
    }
}

/// Where streams and payload queues begin and end.
#[derive(Debug)]
struct Ends {
    streams: Vec<Way>,
    packets: Vec<Way>,
    sent: Vec<Way>,
}

impl Ends {
    fn of(nodes: &[Node], streams: &Streams, partition: &[usize]) -> Self {
        let contents = &streams.contents;
        let mut ends = Self {
            streams: vec![Way::default(); streams.len()],
            packets: vec![Way::default(); contents.packets.len()],
            sent: vec![Way::default(); contents.sent.len()],
        };
        for (node, &part) in nodes.iter().zip(partition) {
            node.outputs().iter().for_each(|&stream| ends.streams[stream].from = Some(part));
            node.inputs().iter().for_each(|&stream| ends.streams[stream].to = Some(part));
            each_queue(node, |queue, sends| {
                let way = match queue {
                    Queue::Packets(queue) => &mut ends.packets[queue],
                    Queue::Sent(queue) => &mut ends.sent[queue],
                };
                let end = if sends { &mut way.from } else { &mut way.to };
                assert!(
                    end.is_none_or(|other| other == part),
                    "a payload queue has one sender and one receiver"
                );
                *end = Some(part);
            });
        }
        ends
    }
}

/// A payload queue, by number among its kind.
#[derive(Debug, Clone, Copy)]
enum Queue {
    Packets(usize),
    Sent(usize),
}

/// Calls `with` for every payload queue that a process sends to (`true`) or receives from.
fn each_queue(node: &Node, mut with: impl FnMut(Queue, bool)) {
    match node {
        Node::Host(host) => {
            for vc in &host.parts.outgoing {
                vc.payloads.into_iter().for_each(|queue| with(Queue::Packets(queue as usize), true));
                vc.sent.into_iter().for_each(|queue| with(Queue::Sent(queue as usize), true));
            }
            for vc in &host.parts.incoming {
                vc.payloads.into_iter().for_each(|queue| with(Queue::Packets(queue as usize), false));
                vc.sent.into_iter().for_each(|queue| with(Queue::Sent(queue as usize), false));
            }
        }
        Node::Channel(channel) => {
            channel.payload_ends(|queue, sends| with(Queue::Packets(queue), sends));
        }
        Node::Port(_) | Node::Switch(_) | Node::Shaper(_) => {}
    }
}

/// Which payload queues of a part end in another, by the process that sends to them.
#[derive(Debug, Default)]
pub(crate) struct Posts {
    by_process: Vec<Vec<(Queue, usize)>>,
}

/// The contents of a frame, and the payload queue that they are in.
#[derive(Debug)]
pub(crate) enum Parcel {
    Packet(usize, Packet),
    Sent(usize, Time),
}

impl Mail<InFlight> for Posts {
    type Parcel = Parcel;

    fn collect(&mut self, process: usize, contents: &mut InFlight, post: &mut dyn FnMut(usize, Parcel)) {
        for &(queue, part) in &self.by_process[process] {
            match queue {
                Queue::Packets(queue) => {
                    contents.packets[queue].drain(|packet| post(part, Parcel::Packet(queue, packet)));
                }
                Queue::Sent(queue) => {
                    contents.sent[queue].drain(|time| post(part, Parcel::Sent(queue, time)));
                }
            }
        }
    }

    fn deliver(contents: &mut InFlight, parcel: Parcel) {
        match parcel {
            Parcel::Packet(queue, packet) => *contents.packets[queue].send().1 = packet,
            Parcel::Sent(queue, time) => {
                contents.sent[queue].send(time);
            }
        }
    }
}

/// What it costs, in cell-hops, to pass on how far a stream between two parts is known, each time that its lookahead has passed.
const LOOK: f64 = 50.0;

/// The processes of a network as they are shared out among parts: how much work each is in a time of `span`, and what passes on each
/// stream, by its sender.
pub(crate) fn processes(
    nodes: &[Node],
    streams: &Streams,
    span: Time,
    work: impl Fn(usize, &Node) -> f64,
    traffic: impl Fn(usize, StreamId) -> f64,
) -> Processes {
    let mut receivers = vec![None; streams.len()];
    for (place, node) in nodes.iter().enumerate() {
        node.inputs().iter().for_each(|&input| receivers[input] = Some(place));
    }
    let mut processes = Processes::default();
    for (from, node) in nodes.iter().enumerate() {
        processes.work.push(1 + work(from, node) as u64);
        for (place, &output) in node.outputs().iter().enumerate() {
            let Some(to) = receivers[output] else { continue };
            let lookahead = node.lookahead(place);
            // What is no time apart stays together anyway.
            let rounds = if lookahead > 0 { span / lookahead.max(NANOSECOND) } else { 0 };
            let traffic = 1 + (traffic(from, output) + LOOK * rounds as f64) as u64;
            processes.edges.push(Edge { from, to, lookahead, traffic });
        }
    }
    processes
}

/// The ties between the senders and the receivers of payload queues, each as strong as `strength` says.
pub(crate) fn ties(nodes: &[Node], streams: &Streams, strength: impl Fn(usize) -> f64) -> Vec<Edge> {
    let mut ends = vec![(None, None); streams.contents.packets.len()];
    for (place, node) in nodes.iter().enumerate() {
        each_queue(node, |queue, sends| {
            let Queue::Packets(queue) = queue else { return };
            let end = if sends { &mut ends[queue].0 } else { &mut ends[queue].1 };
            *end = Some(place);
        });
    }
    let tie = |(queue, (from, to)): (usize, (Option<usize>, Option<usize>))| {
        Some(Edge::tie(from?, to?, strength(queue) as u64))
    };
    ends.into_iter().enumerate().filter_map(tie).collect()
}

fn take_apart(
    nodes: Vec<Node>,
    streams: &mut Streams,
    schedule: &mut Schedule,
    partition: &[usize],
    ends: &Ends,
) -> Vec<NetworkPart> {
    let number = partition.iter().max().map_or(1, |last| last + 1);
    let (streams, contents) = streams.parts();
    let streams = apart(streams, &ends.streams, number, Stream::split_off_sender);
    let packets = apart(&mut contents.packets, &ends.packets, number, PayloadQueue::split_off_sender);
    let sent = apart(&mut contents.sent, &ends.sent, number, SentTimes::split_off_sender);
    let flights = packets.into_iter().zip(sent).map(|(packets, sent)| InFlight {
        packets,
        sent,
        ..InFlight::default()
    });
    let part = |(streams, flight)| Part {
        processes: Vec::new(),
        streams: Streams::new(streams, flight),
        schedule: Schedule { order: Vec::new(), shuffle: schedule.shuffle.as_mut().map(fork), ..*schedule },
        mail: Posts::default(),
    };
    let mut parts: Vec<_> = streams.into_iter().zip(flights).map(part).collect();
    let mut places = Vec::with_capacity(nodes.len());
    for (node, &part) in nodes.into_iter().zip(partition) {
        let part = &mut parts[part];
        places.push(part.processes.len());
        part.mail.by_process.push(posts(&node, ends));
        part.processes.push(node);
    }
    for &node in &schedule.order {
        parts[partition[node]].schedule.order.push(places[node]);
    }
    parts
}

/// A generator of its own for a part.
fn fork(generator: &mut Generator) -> Generator {
    Randomness { seed: generator.below(u64::MAX), replication: 0 }.named("schedule")
}

/// The payload queues that a process sends to and that end in another part.
fn posts(node: &Node, ends: &Ends) -> Vec<(Queue, usize)> {
    let mut posts = Vec::new();
    each_queue(node, |queue, sends| {
        let way = match queue {
            Queue::Packets(queue) => ends.packets[queue],
            Queue::Sent(queue) => ends.sent[queue],
        };
        if sends && way.elsewhere().is_some() {
            posts.push((queue, way.home()));
        }
    });
    posts
}

/// Each of `all` in the part where it ends, and what `split` makes of it in the part where it begins, if that is another.
fn apart<T: Default>(all: &mut [T], ways: &[Way], parts: usize, split: impl Fn(&T) -> T) -> Vec<Vec<T>> {
    let empty = || all.iter().map(|_| T::default()).collect::<Vec<_>>();
    let mut apart: Vec<_> = (0..parts).map(|_| empty()).collect();
    for (place, (one, way)) in all.iter_mut().zip(ways).enumerate() {
        if let Some(part) = way.elsewhere() {
            apart[part][place] = split(one);
        }
        apart[way.home()][place] = take(one);
    }
    apart
}

fn put_together(
    parts: Vec<NetworkPart>,
    streams: &mut Streams,
    partition: &[usize],
    ends: &Ends,
) -> Vec<Node> {
    let mut processes = Vec::with_capacity(parts.len());
    let (mut of_streams, mut of_packets, mut of_sent) = (Vec::new(), Vec::new(), Vec::new());
    for mut part in parts {
        processes.push(part.processes.into_iter());
        let (streams, contents) = part.streams.parts();
        of_streams.push(streams.iter_mut().map(take).collect());
        of_packets.push(take(&mut contents.packets));
        of_sent.push(take(&mut contents.sent));
    }
    let (streams, contents) = streams.parts();
    together(streams, of_streams, &ends.streams, Stream::put_back_sender);
    together(&mut contents.packets, of_packets, &ends.packets, |queue, sender| queue.put_back_sender(sender));
    together(&mut contents.sent, of_sent, &ends.sent, |times, sender| times.put_back_sender(sender));
    partition.iter().map(|&part| processes[part].next().expect("every process comes back")).collect()
}

/// Undoes [`apart`].
fn together<T: Default>(all: &mut [T], mut parts: Vec<Vec<T>>, ways: &[Way], put_back: impl Fn(&mut T, &T)) {
    for (place, (one, way)) in all.iter_mut().zip(ways).enumerate() {
        *one = take(&mut parts[way.home()][place]);
        if let Some(part) = way.elsewhere() {
            put_back(one, &parts[part][place]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn a_folded_partition_has_as_many_parts_as_it_may() {
        let folded = |most| {
            let mut partition = vec![0, 4, 2, 1, 3, 4];
            fold(&mut partition, most);
            partition
        };
        assert_eq!(folded(5), [0, 4, 2, 1, 3, 4]);
        assert_eq!(folded(9), [0, 4, 2, 1, 3, 4]);
        assert_eq!(folded(2), [0, 1, 0, 0, 1, 1]);
        assert_eq!(folded(1), [0; 6]);
    }
}
