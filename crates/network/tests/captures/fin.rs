//! The end of a transfer, as captures show it.

use celltrain_network::RunResult;

use crate::{big_endian, check_packet, records, run, scenario};

/// Ten thousand bytes in ten packets.
const TRANSFER: &str = r#"
schema = 1
name = "a transfer"
duration = "10 s"
topology = { kind = "n-source", sources = 1 }
traffic = { kind = "finite", bytes = "10000 B" }
link = { rate = "10 Mbit/s", delay = "5 ms", framing = "packets" }
switch.buffer = "100 packets"
tcp = { stack = "sack", mss = "1000 B", receive-window = "60 kB", syn-exchange = true, fin = true }
"#;

/// The last segment is lost once.
const LAST_IS_LOST: &str = "[{ flow = \"1\", segment = 9, link = [\"switch1\", \"switch2\"] }]";

/// What the sender's host sees: sequence number, acknowledgement, bytes of payload, and whether the FIN bit is set.
fn packets(result: &RunResult) -> Vec<(u64, u64, usize, bool)> {
    let fields = |packet: &[u8]| {
        let (seq, ack) = (big_endian(&packet[24..28]), big_endian(&packet[28..32]));
        (seq, ack, check_packet(packet), packet[33] & 1 == 1)
    };
    records(&result.captures[0], 101).iter().map(|(_, packet)| fields(packet)).collect()
}

fn transfer(overrides: &[(&str, &str)]) -> RunResult {
    run(&scenario(TRANSFER, overrides), &["src1"], &[]).unwrap()
}

fn sent(result: &RunResult, column: &str) -> u64 {
    result.flows.counts(column)[0]
}

/// RFC 9293 section 3.6: the FIN goes behind all data, here in the packet of the last byte, which its number follows.
#[test]
fn a_transfer_ends_with_a_fin_in_its_last_packet() {
    let result = transfer(&[]);
    let packets = packets(&result);
    let fins: Vec<_> = packets.iter().filter(|packet| packet.3).collect();
    // Byte 0 has number 1 behind the SYN.
    assert_eq!(fins, [&(9001, 1, 1000, true)]);
    assert_eq!(packets.last().unwrap().1, 10_002, "the FIN is acknowledged");
    assert_eq!(sent(&result, "bytes_delivered"), 10_000);
    let open = transfer(&[("tcp.fin", "false")]);
    for column in ["segments_sent", "bytes_delivered", "segments_retransmitted", "duplicates_received"] {
        assert_eq!(sent(&result, column), sent(&open, column), "{column}");
    }
}

/// RFC 9293 section 3.10.8: what is not acknowledged is sent again, the FIN with the data before it.
#[test]
fn a_lost_fin_is_sent_again() {
    // SACK sends by ranges of data, so that the FIN goes by itself there.
    let lossy = [("loss", LAST_IS_LOST), ("tcp.stack", "newreno")];
    let result = transfer(&lossy);
    let packets = packets(&result);
    assert_eq!(packets.iter().filter(|packet| packet.3).count(), 2);
    assert_eq!(packets.last().unwrap().1, 10_002);
    assert_eq!(sent(&result, "bytes_delivered"), 10_000);
    let open = transfer(&[lossy[0], lossy[1], ("tcp.fin", "false")]);
    assert_eq!(sent(&result, "segments_retransmitted"), sent(&open, "segments_retransmitted"));
}
