//! The preset `ns-2` against recorded runs of ns-2: after one to eight losses in a window, the same packets in the same order.
//! The Python test of these runs compares their times as well.

mod common;

use celltrain_engine::time::{MILLISECOND, SECOND};
use common::{Rig, Step};

/// The agents' records, and our names of their recoveries.
const RECORDS: &[(&str, &str)] = &[
    ("tahoe", include_str!("../../../tests/ns-2/recorded/tahoe.txt")),
    ("reno", include_str!("../../../tests/ns-2/recorded/reno.txt")),
    ("newreno", include_str!("../../../tests/ns-2/recorded/newreno.txt")),
    ("sack-pipe", include_str!("../../../tests/ns-2/recorded/sack.txt")),
];

/// The first `count` packets that our sender sends from packet `first` on, where `lost` are lost once each.
fn sent(recovery: &str, lost: &[u64], first: u64, count: usize) -> Vec<u64> {
    let params = common::params(&format!(
        "stack = 'ns-2'\nrecovery = '{recovery}'\nreceive-window = '28000 B'\ninitial-ssthresh = '28000 B'\n\
         syn-exchange = true\ntick-phase = '5 ms'"
    ));
    let losses: Vec<_> = lost.iter().map(|segment| (segment * 1000, 1)).collect();
    let links = [(8_000_000, 0, 1000), (800_000, 100 * MILLISECOND, 1000)];
    let mut rig = Rig::new(&params, &links, common::lose(&losses));
    rig.sender.offer(0, u64::MAX);
    let mut packets = Vec::new();
    while packets.len() < count && rig.now < 10 * SECOND {
        if let Step::Sent(segment, true) = rig.step() {
            let number = segment.seq / 1000;
            if segment.len > 0 && (number == first || !packets.is_empty()) {
                packets.push(number);
            }
        }
    }
    packets
}

#[test]
fn packets_after_losses_are_those_of_ns2() {
    let mut different = Vec::new();
    for (recovery, record) in RECORDS {
        for block in record.split("# ").skip(1) {
            let (head, lines) = block.split_once('\n').expect("a block has a head");
            let lost = head.split_once(": ").expect("a head names what is lost").1;
            let lost: Vec<u64> = lost.split(' ').map(|number| number.parse().expect("a number")).collect();
            let theirs: Vec<u64> = lines
                .lines()
                .map(|line| line.split_once(' ').expect("time and number").1.parse().expect("a number"))
                .collect();
            let ours = sent(recovery, &lost, theirs[0], theirs.len());
            if ours != theirs {
                let place = ours.iter().zip(&theirs).position(|(our, their)| our != their);
                different.push(format!("{recovery}, {head}: packet {place:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}
