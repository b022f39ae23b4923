//! In steady state over random loss the senders get the throughput that the known formulas give.

mod common;

use celltrain_engine::time::{MILLISECOND, SECOND};
use celltrain_tcp::Segment;
use common::{Random, Rig, params};

/// Loss rates, from 0.1 % to 3 %.
const LOSS: [f64; 4] = [0.001, 0.003, 0.01, 0.03];
/// Round trip and timeout in seconds; the timeout is at its minimum as the round trip is constant.
const RTT: f64 = 0.1;
const TIMEOUT: f64 = 0.4;

/// Segments a second of a greedy sender that meets no limit but random loss of its segments.
fn throughput(stack: &str, loss: f64) -> f64 {
    let params = params(&format!(
        "stack = '{stack}'\nmss = '1000 B'\nreceive-window = '16 MB'\nwindow-scaling = true\n\
         delayed-ack = '0 s'\nrto-min = '400 ms'"
    ));
    let mut random = Random(7);
    let limit = (loss * u64::MAX as f64) as u64;
    let script = move |_: &mut Segment, data: bool| (!data || random.next() >= limit).then_some(0);
    let mut rig = Rig::new(&params, &[(1_000_000_000, 50 * MILLISECOND, usize::MAX)], Box::new(script));
    rig.sender.offer(0, u64::MAX);
    // About two hundred thousand segments whatever the loss, after the first slow start is forgotten.
    let seconds = (200_000.0 / mathis(loss)) as u64;
    rig.run_until(seconds / 10 * SECOND);
    let before = rig.receiver.stats().delivered_bytes;
    rig.run_until((seconds / 10 + seconds) * SECOND);
    (rig.receiver.stats().delivered_bytes - before) as f64 / 1000.0 / seconds as f64
}

/// Segments a second without timeouts (Mathis, Semke, Mahdavi and Ott, 1997), with an ACK for each segment.
fn mathis(loss: f64) -> f64 {
    (1.5 / loss).sqrt() / RTT
}

/// Segments a second with timeouts (Padhye, Firoiu, Towsley and Kurose, 1998, equation 30), likewise.
fn pftk(loss: f64) -> f64 {
    let timeouts = f64::min(1.0, 3.0 * (3.0 * loss / 8.0).sqrt()) * loss * (1.0 + 32.0 * loss * loss);
    1.0 / (RTT * (2.0 * loss / 3.0).sqrt() + TIMEOUT * timeouts)
}

#[test]
fn throughput_agrees_with_pftk() {
    for stack in ["reno", "newreno", "sack"] {
        for loss in LOSS {
            let ratio = throughput(stack, loss) / pftk(loss);
            assert!((0.85..1.15).contains(&ratio), "{stack} at {loss}: {ratio} of the formula");
        }
    }
}

#[test]
fn throughput_agrees_with_mathis_where_timeouts_are_rare() {
    for stack in ["newreno", "sack"] {
        for loss in &LOSS[..3] {
            let ratio = throughput(stack, *loss) / mathis(*loss);
            assert!((0.85..1.15).contains(&ratio), "{stack} at {loss}: {ratio} of the formula");
        }
    }
}
