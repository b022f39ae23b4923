//! In steady state over a lossy link the senders get the throughput that the known formulas give. One connection crosses
//! packet-framed links without queues; of its data segments a share p is lost, of its ACKs none.
//!
//! The formulas are models, and a sender may lie from them as far as models do from each other. That of M. Mathis, J. Semke,
//! J. Mahdavi and T. Ott ("The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997) leaves timeouts out; its
//! constant is 1.22 for losses at equal distances and 1.31 for random ones, 7 % more, both with an ACK a segment. That of
//! J. Padhye, V. Firoiu, D. Towsley and J. Kurose ("Modeling TCP Throughput: A Simple Model and its Empirical Validation",
//! 1998, equation 30) has timeouts, approximates their full model, and lets a loss take the rest of its round trip along,
//! where ours are independent: Reno answers several in a window several times. Twice those 7 % are
//! tolerated.

use celltrain_network::{Experiment, Options};

use crate::common::{load, of_flow};

/// A round trip without delayed ACKs and the smallest timeout, in seconds. The round trip hardly varies, so that timeouts
/// begin there.
const RTT: f64 = 0.1;
const TIMEOUT: f64 = 0.4;

/// Replications of each run, and about how many segments each delivers.
const REPLICATIONS: u64 = 10;
const SEGMENTS: f64 = 20_000.0;

/// How far a sender may lie from a formula, as a fraction.
const TOLERANCE: f64 = 0.15;

/// One lossy link forward, one back without losses. The formulas are older than limited transmit, which saves timeouts: at a
/// loss rate of 3 % it adds up to a tenth to what they say.
const NETWORK: &str = r#"
schema = 1
name = "steady state"
warm-up = "20 s"
topology.kind = "graph"
topology.node = [
    { name = "sender", kind = "host" },
    { name = "switch", kind = "switch" },
    { name = "receiver", kind = "host" },
]
topology.link = [
    { from = "sender", to = "switch" },
    { from = "switch", to = "receiver", delay = "50 ms", simplex = true, loss = 0 },
    { from = "receiver", to = "switch", delay = "50 ms", simplex = true },
]
link = { rate = "10 Gbit/s", delay = "0 s", framing = "packets" }
switch.buffer = "unlimited"
tcp = { mss = "1000 B", receive-window = "16 MiB", window-scaling = true, rto-min = "400 ms", limited-transmit = false }
[[flow]]
name = "1"
from = "sender"
to = "receiver"
"#;

/// Keys of a scenario and their values.
type Keys = &'static [(&'static str, &'static str)];

/// Segments a second in the last `seconds` of replications that last `warm_up` seconds longer; `losses` are tables of the
/// scenario.
fn throughput(keys: &[(&str, &str)], losses: &str, warm_up: u64, seconds: u64, replications: u64) -> f64 {
    let [warm_up, duration] = [warm_up, warm_up + seconds].map(|time| format!("{time} s"));
    let overrides = [keys, &[("warm-up", &warm_up), ("duration", &duration)]].concat();
    let scenario = load(&format!("{NETWORK}{losses}"), &overrides);
    let experiment = Experiment::new(&scenario).unwrap();
    let delivered = (0..replications).map(|replication| {
        let result = experiment.run(1, replication, Options::default(), &mut || false).unwrap();
        of_flow(&result, "frames_delivered")
    });
    delivered.sum::<u64>() as f64 / (replications * seconds) as f64
}

/// How receivers acknowledge and senders count, and b of the formulas: the segments for which the window grows as for one.
/// The formulas do not know the timer of delayed ACKs, which matters to small windows: it is short beside the round trip.
const ACKNOWLEDGEMENTS: [(&str, f64, Keys); 3] = [
    ("an ACK a segment", 1.0, &[("tcp.delayed-ack", "0 s")]),
    ("delayed ACKs, bytes counted", 1.0, &[("tcp.delayed-ack", "20 ms")]),
    (
        "delayed ACKs, ACKs counted",
        2.0,
        &[("tcp.delayed-ack", "20 ms"), ("tcp.congestion-avoidance", "per-ack")],
    ),
];

/// Segments a second without timeouts (Mathis, Semke, Mahdavi and Ott), losses at equal distances.
fn mathis(loss: f64, acked: f64) -> f64 {
    (1.5 / (acked * loss)).sqrt() / RTT
}

/// Segments a second with timeouts (Padhye, Firoiu, Towsley and Kurose).
fn pftk(loss: f64, acked: f64) -> f64 {
    let timeouts = f64::min(1.0, 3.0 * (3.0 * acked * loss / 8.0).sqrt()) * loss * (1.0 + 32.0 * loss * loss);
    1.0 / (1.0 / mathis(loss, acked) + TIMEOUT * timeouts)
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    let ratio = found / expected;
    assert!((ratio - 1.0).abs() < tolerance, "{what}: {ratio:.3} of the formula");
}

/// Checks a stack, the formula without timeouts up to a loss rate of `few_timeouts`.
fn check(stack: &str, few_timeouts: f64) {
    for (name, acked, keys) in ACKNOWLEDGEMENTS {
        for loss in [0.001, 0.003, 0.01, 0.03] {
            let share = loss.to_string();
            let keys = [&[("tcp.stack", stack), ("topology.link.1.loss", &share)], keys].concat();
            let seconds = (SEGMENTS / mathis(loss, acked)) as u64;
            let found = throughput(&keys, "", 20, seconds, REPLICATIONS);
            let what = format!("{stack}, {name}, loss {loss}");
            assert_close(found, pftk(loss, acked), TOLERANCE, &format!("{what}, Padhye et al."));
            if loss <= few_timeouts {
                assert_close(found, mathis(loss, acked), TOLERANCE, &format!("{what}, Mathis et al."));
            }
        }
    }
}

/// Reno needs a timeout for some windows with two losses already.
#[test]
fn reno_gets_what_the_formulas_say() {
    check("reno", 0.003);
}

#[test]
fn newreno_gets_what_the_formulas_say() {
    check("newreno", 0.01);
}

#[test]
fn sack_gets_what_the_formulas_say() {
    check("sack", 0.01);
}

/// CUBIC's mean window where one of `period` segments is lost, in segments (RFC 9438 section 5.1, with its constants).
fn cubic_window(period: u64) -> f64 {
    libm::pow(0.4 * 3.7 / (4.0 * 0.3), 0.25) * libm::pow(RTT * period as f64, 0.75)
}

/// Losses at equal distances keep the window near whatever it starts from: the curve is flat around its plateau, so that an
/// epoch cut ten per cent short ends less than a thousandth lower. Hence slow start ends on the plateau that belongs to the
/// formula's mean, and the first loss is soon.
#[test]
fn cubic_follows_its_response_function() {
    for period in [3_000, 10_000, 30_000] {
        let plateau = cubic_window(period) * 4.0 / 3.7;
        let losses: String = (0..60)
            .map(|number| {
                let segment = 2 * plateau as u64 + number * period;
                format!("[[loss]]\nflow = \"1\"\nsegment = {segment}\n")
            })
            .collect();
        let threshold = format!("{} kB", plateau as u64);
        let keys = [
            ("tcp.stack", "cubic"),
            ("tcp.delayed-ack", "0 s"),
            ("tcp.cubic-fast-convergence", "false"),
            ("tcp.initial-ssthresh", &threshold),
        ];
        let expected = cubic_window(period) / RTT;
        let epochs = |number: u64| (number as f64 * period as f64 / expected) as u64;
        let found = throughput(&keys, &losses, epochs(10), epochs(40), 1);

        assert_close(found, expected, 0.05, &format!("CUBIC, one of {period}"));
    }
}
