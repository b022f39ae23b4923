//! Captures: valid packets and cells, read back by rules of their own, and what taking them does to a run (nothing).

mod fin;
mod rm;

use celltrain_network::{
    capture::{Capture, CaptureError},
    run::{Experiment, Options, RunResult},
    scenario::Scenario,
};

const FALL_FLOYD: &str = include_str!("../../../../scenarios/teaching/fall-floyd.toml");

/// Two connections over cells, with every option of TCP, and a source of bare cells.
const CELLS: &str = r#"
schema = 1
name = "cells"
duration = "300 ms"
topology = { kind = "n-source", sources = 3 }
[link]
rate = "20 Mbit/s"
delay = "2 ms"
trunk = { loss = 0.002, loss-unit = "cell" }
[switch]
buffer = "400 cells"
[tcp]
stack = "sack"
mss = "1000 B"
timestamps = true
window-scaling = true
syn-exchange = true
receive-window = "256 KiB"
[traffic]
kind = "greedy"
[[flow]]
name = "bare"
from = "src3"
to = "dest3"
traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 7 }
"#;

pub(crate) fn scenario(text: &str, overrides: &[(&str, &str)]) -> Scenario {
    let overrides: Vec<_> =
        overrides.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Scenario::from_toml(text, "test.toml", &overrides).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn run(scenario: &Scenario, hosts: &[&str], links: &[&str]) -> Result<RunResult, CaptureError> {
    let own = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let mut experiment = Experiment::new(scenario).unwrap();
    experiment.capture(&own(hosts), &own(links))?;
    let mut options = Options::default();
    options.trace |= true;
    Ok(experiment.run(1, 0, options, &mut || false).unwrap())
}

/// The records of a file as (nanoseconds, bytes).
pub(crate) fn records(capture: &Capture, link_type: u32) -> Vec<(u64, &[u8])> {
    let word = |at: usize| u32::from_le_bytes(capture.bytes[at..at + 4].try_into().unwrap());
    assert_eq!((word(0), word(20)), (0xa1b2_3c4d, link_type));
    let (mut at, mut records) = (24, Vec::new());
    while at < capture.bytes.len() {
        let length = word(at + 8) as usize;
        assert_eq!(word(at + 8), word(at + 12), "nothing is cut");
        let time = u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4));
        records.push((time, &capture.bytes[at + 16..at + 16 + length]));
        at += 16 + length;
    }
    assert!(records.is_sorted_by_key(|record| record.0));
    records
}

pub(crate) fn big_endian(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The ones' complement sum of 16-bit words.
fn sum(bytes: &[u8]) -> u64 {
    let total: u64 = bytes.chunks(2).map(|word| big_endian(word) << (8 * (2 - word.len()))).sum();
    (0..4).fold(total, |total, _| (total & 0xffff) + (total >> 16))
}

/// Checks an IP packet's lengths and checksums; returns its payload bytes.
fn check_packet(packet: &[u8]) -> usize {
    assert_eq!(big_endian(&packet[2..4]), packet.len() as u64);
    assert_eq!(sum(&packet[..20]), 0xffff, "IP checksum");
    let mut covered = packet[12..20].to_vec();
    covered.extend([0, 6]);
    covered.extend((packet.len() as u16 - 20).to_be_bytes());
    covered.extend(&packet[20..]);
    assert_eq!(sum(&covered), 0xffff, "TCP checksum");
    packet.len() - 20 - usize::from(packet[32] >> 4) * 4
}

/// AAL5's CRC-32 bit by bit.
fn crc_residue(frame: &[u8]) -> u32 {
    frame.iter().fold(u32::MAX, |crc, &byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| (crc << 1) ^ ((crc >> 31) * 0x04c1_1db7))
    })
}

#[test]
fn a_host_sees_every_packet_once() {
    let scenario = scenario(FALL_FLOYD, &[("tcp.recovery", "sack"), ("tcp.timestamps", "true")]);
    let result = run(&scenario, &["all"], &[]).unwrap();
    let places: Vec<_> = result.captures.iter().map(|capture| capture.place.as_str()).collect();
    assert_eq!(places, ["sender", "receiver"]);
    let data = |capture| {
        let records = records(capture, 101);
        records.iter().filter(|(_, packet)| check_packet(packet) > 0).count() as u64
    };
    assert_eq!(data(&result.captures[0]), result.flows.counts("segments_sent")[0]);
    let acks = records(&result.captures[1], 101).len() as u64 - data(&result.captures[1]);
    assert_eq!(acks, result.flows.counts("acks_sent")[0]);
}

#[test]
fn data_begin_at_sequence_number_one() {
    let result = run(&scenario(FALL_FLOYD, &[]), &["sender"], &[]).unwrap();
    let records = records(&result.captures[0], 101);
    let (at, first) = records[0];
    assert_eq!((at, big_endian(&first[24..28])), (0, 1));
    // 1040 bytes over both links, 40 back, 100 ms each way.
    let (at, ack) = records[1];
    assert_eq!(at, 200_000_000 + (1040 + 40) * 8 * (125 + 1250));
    assert_eq!((&ack[12..16], big_endian(&ack[28..32])), (&first[16..20], 1001));
}

#[test]
fn options_stand_where_the_documents_put_them() {
    let result = run(&scenario(CELLS, &[]), &["src1"], &[]).unwrap();
    let records = records(&result.captures[0], 101);
    let syn = records[0].1;
    // MSS 1000 and 12 bytes of options (RFC 9293 section 3.7.1), SACK permitted in front of the timestamps, window scale.
    assert_eq!(&syn[40..48], [2, 4, 0x03, 0xf4, 4, 2, 8, 10]);
    assert_eq!(&syn[56..59], [1, 3, 3]);
    let with_sack = records.iter().filter(|(_, packet)| packet.get(52..55) == Some(&[1, 1, 5])).count();
    assert!(with_sack > 0, "losses make the receiver report blocks");
    records.iter().for_each(|(_, packet)| {
        check_packet(packet);
    });
}

#[test]
fn ecn_is_agreed_when_the_connection_opens() {
    let result = run(&scenario(CELLS, &[("tcp.ecn", "true")]), &["src1"], &[]).unwrap();
    // The first packets are the SYN, its answer and data; bytes 1 and 33 hold the ECN field and the control bits.
    let bits: Vec<_> =
        records(&result.captures[0], 101)[..3].iter().map(|(_, packet)| (packet[1], packet[33])).collect();
    let [syn, ack, ece, cwr] = [0x02, 0x10, 0x40, 0x80];
    assert_eq!(bits, [(0, syn | ece | cwr), (0, syn | ack | ece), (2, ack)]);
}

#[test]
fn cells_reassemble_to_valid_frames() {
    // Nothing is lost: a lost cell would break its frame.
    let lossless = scenario(CELLS, &[("link.trunk.loss", "0"), ("switch.buffer", "unlimited")]);
    let result = run(&lossless, &[], &["all"]).unwrap();
    let ports = |column: &str| result.ports.counts(column).iter().sum::<u64>();
    assert_eq!(result.captures.len(), result.ports.counts("switch").len());
    let (mut cells, mut frames) = (0, 0);
    for capture in &result.captures {
        let mut partial = std::collections::BTreeMap::<u64, Vec<u8>>::new();
        for (_, record) in records(capture, 197) {
            cells += 1;
            assert_eq!((record[8], record.len()), (3, 68));
            let (header, payload) = record[16..].split_at(4);
            let header = big_endian(header);
            let frame = partial.entry(header >> 4).or_default();
            frame.extend(payload);
            if header & 2 != 0 {
                frames += u64::from(check_frame(frame));
                frame.clear();
            }
        }
    }
    assert!(frames > 500, "{frames}");
    // A port forwards what then is on its way; the difference at the end is what has not arrived.
    let under_way = ports("cells_forwarded").abs_diff(cells);
    assert!(under_way < 1000, "{under_way} of {cells}");
}

/// A capture ends with the run, as the tables do, whatever is still on its way then.
#[test]
fn cells_are_captured_as_they_arrive() {
    let changes: &[(&str, &str)] = &[
        ("duration", "0.3 s"),
        ("link.delay", "20 ms"),
        ("link.delay-changes", "[{ at = \"1 ms\", delay = \"30 ms\" }]"),
    ];
    let end = 300_000_000;
    for changes in [&changes[..2], changes] {
        let result = run(&scenario(CELLS, changes), &[], &["all"]).unwrap();
        let times: Vec<_> =
            result.captures.iter().flat_map(|capture| records(capture, 197)).map(|(at, _)| at).collect();
        let last = times.iter().max().unwrap();
        assert!((end - 20_000_000..end).contains(last), "{last}");
    }
}

/// Checks a frame's trailer and what it carries; says whether that is a packet.
fn check_frame(frame: &[u8]) -> bool {
    assert_eq!(crc_residue(frame), 0xc704_dd7b, "CRC");
    let (end, length) = (frame.len(), big_endian(&frame[frame.len() - 6..frame.len() - 4]) as usize);
    assert!(length + 8 <= end && end < length + 8 + 48);
    let carries_packet = frame.starts_with(&[0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
    if carries_packet {
        check_packet(&frame[8..length]);
    }
    carries_packet
}

#[test]
fn capturing_changes_nothing() {
    // Without a capture, packets are sent before the IP layer's clock has come to them.
    let ip: &[_] =
        &[("host.ip-rate", "3000 packet/s"), ("host.ip-spread", "0.3"), ("host.ip-serves", "both")];
    for (text, overrides, links) in [
        (FALL_FLOYD, &[][..], vec![]),
        (CELLS, &[], vec!["all"]),
        (CELLS, ip, vec!["all"]),
        (rm::ABR, &[], vec!["all"]),
    ] {
        let scenario = scenario(text, overrides);
        let plain = run(&scenario, &[], &[]).unwrap();
        let captured = run(&scenario, &["all"], &links).unwrap();
        assert!(plain.captures.is_empty() && !captured.captures.is_empty());
        assert_eq!(captured.fingerprint, plain.fingerprint);
        assert_eq!(RunResult { captures: Vec::new(), ..captured }.flows, plain.flows);
    }
}

#[test]
fn what_cannot_be_captured_is_an_error() {
    let (packets, cells) = (scenario(FALL_FLOYD, &[]), scenario(CELLS, &[]));
    let error = |result: Result<RunResult, CaptureError>| result.unwrap_err().to_string();
    let found = error(run(&packets, &["sendr"], &[]));
    assert!(found.contains("\"sendr\"") && found.contains("did you mean \"sender\"?"), "{found}");
    let found = error(run(&cells, &[], &["switch1 > switch3"]));
    assert!(found.contains("no link \"switch1 > switch3\" carries cells"), "{found}");
    for link in ["switch > receiver", "all"] {
        assert_eq!(
            error(run(&packets, &[], &[link])),
            "cells are captured on links framed in cells, and no flow of the scenario takes one"
        );
    }
    let bare = scenario(CELLS, &[("traffic", "{ kind = \"cbr\", rate = \"1 Mbit/s\" }")]);
    for host in ["src1", "all"] {
        assert_eq!(
            error(run(&bare, &[host], &[])),
            "packets are captured at hosts with TCP, and no flow of the scenario carries TCP"
        );
    }
    assert!(run(&cells, &["src1"], &[]).is_ok());
    let short = scenario(CELLS, &[("aal5.overhead", "0 B")]);
    assert!(error(run(&short, &[], &["all"])).contains("at least 8 B"));
}
