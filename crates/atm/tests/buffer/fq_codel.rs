//! FQ-CoDel at a full buffer: "the queue with the largest current byte count is selected and half the number of packets from this queue
//! (up to a maximum of 64 packets) are dropped from the head of that queue" (RFC 8290 section 4.1).

use celltrain_atm::{
    Cell,
    buffer::{BufferPolicy, Reason, Verdict, codel::Params, fq_codel::FqCodel},
    quantity::Unit,
};

use crate::model::{Model, SLOT, context, contracts, is_queued};

/// A port of packets with the policy.
struct Packets {
    model: Model,
    policy: FqCodel,
    numbers: [u32; 3],
}

impl Packets {
    fn new(capacity: u64) -> Self {
        let policy = FqCodel::new(&Params::default(), &context(capacity, &contracts(3))).unwrap();
        Self { model: Model::limited(capacity, u64::MAX, Unit::Packets), policy, numbers: [0; 3] }
    }

    /// A packet arrives; returns whether it is queued.
    fn arrive(&mut self, vc: u32, octets: u32) -> bool {
        let frame = self.numbers[vc as usize];
        self.numbers[vc as usize] += 1;
        let packet = Cell { vc, frame, length: 1, octets, ..Cell::default() };
        is_queued(self.model.arrive(&mut self.policy, 0, packet))
    }

    /// The numbers of the packets of `vc` that were pushed out.
    fn pushed_out(&self, vc: u32) -> Vec<u32> {
        let gone = Verdict::Discard(Reason::PushedOut);
        let of_vc = self.model.asked.iter().filter(|asked| asked.cell.vc == vc && asked.verdict == gone);
        of_vc.map(|asked| asked.cell.frame).collect()
    }
}

#[test]
fn half_of_the_queue_with_most_bytes_is_dropped_at_its_head() {
    let mut port = Packets::new(10);
    // One is in transmission, five wait with 200 bytes, four with 6000.
    (0..6).for_each(|_| assert!(port.arrive(0, 40)));
    (0..4).for_each(|_| assert!(port.arrive(1, 1500)));
    assert!(port.arrive(0, 40));
    assert_eq!((port.pushed_out(0), port.pushed_out(1)), (vec![], vec![0, 1]));
}

#[test]
fn what_arrives_is_in_its_queue_already() {
    let mut port = Packets::new(5);
    assert!(port.arrive(2, 40));
    (0..2).for_each(|_| assert!(port.arrive(0, 1000)));
    (0..2).for_each(|_| assert!(port.arrive(1, 1000)));
    // With the packet that arrives VC 1 has three, half of which are two; the first go.
    assert!(port.arrive(1, 1000));
    assert_eq!((port.pushed_out(0), port.pushed_out(1)), (vec![], vec![0, 1]));
    // VC 0 has two then, and VC 1 one and what arrives now.
    (0..2).for_each(|_| assert!(port.arrive(1, 40)));
    assert_eq!(port.pushed_out(0), [0], "VC 1 has 1080 bytes with it, VC 0 has 2000");
}

#[test]
fn a_packet_that_would_be_alone_in_the_longest_queue_is_discarded() {
    let mut port = Packets::new(3);
    (0..3).for_each(|vc| assert!(port.arrive(vc, 40)));
    // VC 0 has a packet in transmission and none that waits.
    assert!(!port.arrive(0, 1500));
    assert_eq!((port.pushed_out(1), port.pushed_out(2)), (vec![], vec![]));
}

/// Below a limit of its VC other queues make no room, however long they are: its own does.
#[test]
fn a_vc_at_its_limit_drops_at_its_own_head() {
    let mut port = Packets::new(100);
    port.model.vc_capacity = 4;
    assert!(port.arrive(2, 40));
    (0..3).for_each(|_| assert!(port.arrive(0, 1500)));
    (0..4).for_each(|_| assert!(port.arrive(1, 40)));
    assert!(port.arrive(1, 40));
    assert_eq!((port.pushed_out(0), port.pushed_out(1)), (vec![], vec![0, 1, 2]));
}

/// Nothing is dropped for what finds no room in any case.
#[test]
fn a_packet_larger_than_the_buffer_pushes_nothing_out() {
    let mut policy = FqCodel::new(&Params::default(), &context(480, &contracts(1))).unwrap();
    let mut model = Model::limited(480, u64::MAX, Unit::Bytes);
    let packet = |frame, length| Cell {
        frame,
        length,
        position: length - 1,
        octets: 48 * u32::from(length),
        ..Cell::default()
    };
    (0..3).for_each(|frame| assert!(is_queued(model.arrive(&mut policy, 0, packet(frame, 2)))));
    assert!(!is_queued(model.arrive(&mut policy, 0, packet(3, 11))));
    assert_eq!(model.queue.len(), 3);
}

#[test]
fn at_most_64_packets_are_dropped_at_once() {
    let mut port = Packets::new(201);
    (0..201).for_each(|_| assert!(port.arrive(0, 1500)));
    assert!(port.arrive(1, 1500));
    // The first is in transmission.
    assert_eq!(port.pushed_out(0), (1..65).collect::<Vec<_>>());
}

#[test]
fn a_frame_of_which_cells_have_left_stays() {
    let mut policy = FqCodel::new(&Params::default(), &context(10, &contracts(2))).unwrap();
    let mut model = Model::new(10);
    let cell = |vc, frame, position| Cell { vc, frame, position, length: 4, ..Cell::default() };
    for frame in 0..2 {
        for position in 0..4 {
            assert!(is_queued(model.arrive(&mut policy, 0, cell(0, frame, position))));
        }
    }
    (0..2).for_each(|position| assert!(is_queued(model.arrive(&mut policy, 0, cell(1, 0, position)))));
    assert!(is_queued(model.arrive(&mut policy, SLOT, cell(1, 0, 2))));
    // VC 0 is the longest; of its two frames the first has lost a cell to the link, and another is in transmission.
    assert!(is_queued(model.arrive(&mut policy, SLOT, cell(1, 0, 3))));
    let left: Vec<_> = model.queue.iter().map(|cell| (cell.vc, cell.frame)).collect();
    assert_eq!(left, [[(0, 0); 3].as_slice(), &[(1, 0); 4]].concat());
}

/// A frame in progress is itself what is pushed out if nothing else waits in the longest queue: its rest is discarded.
#[test]
fn the_frame_that_arrives_can_be_what_is_pushed_out() {
    let mut policy = FqCodel::new(&Params::default(), &context(4, &contracts(2))).unwrap();
    let mut model = Model::new(4);
    let cell = |vc, position| Cell { vc, position, length: 6, ..Cell::default() };
    assert!(is_queued(model.arrive(&mut policy, 0, cell(1, 0))));
    (0..3).for_each(|position| assert!(is_queued(model.arrive(&mut policy, 0, cell(0, position)))));
    for position in 3..6 {
        assert!(!is_queued(model.arrive(&mut policy, 0, cell(0, position))), "{position}");
    }
    assert_eq!(model.queue.len(), 1);
}
