//! RM cells in captures: read by rules of their own, followed from link to link, and compared with what the sources do.

use celltrain_network::{capture::Capture, run::RunResult, scenario::Scenario};

use crate::{big_endian, records, run, scenario};

/// Two TCP connections over ABR, one of which has a minimum rate, besides VBR.
pub(crate) const ABR: &str = r#"
schema = 1
name = "abr"
duration = "60 ms"
sample = "200 us"
[topology]
kind = "n-source"
sources = 3
[link]
delay = "100 us"
[switch]
buffer = "unlimited"
allocator.algorithm = "erica"
[vc]
category = "abr"
[abr]
rif = 1
icr = "10 Mbit/s"
rate-coding = "float"
[traffic]
kind = "greedy"
[[flow]]
name = "1"
abr.mcr = "40 Mbit/s"
[[flow]]
name = "3"
vc.category = "vbr"
traffic = { kind = "on-off", peak = "60 Mbit/s", on = "5 ms", off = "5 ms" }
"#;

/// From a cell's start on a link to its arrival at the other end, in nanoseconds: 424 bits at 155.52 Mbit/s, and the delay.
const CROSSING: f64 = 424.0 / 0.155_52 + 100_000.0;

/// A cell in a capture.
#[derive(Debug, Clone, PartialEq)]
struct Cell {
    at: u64,
    vci: u64,
    payload_type: u64,
    clp: bool,
    payload: Vec<u8>,
}

/// What an RM cell says: the codes of its rates, and its flags from DIR on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rm {
    at: u64,
    vci: u64,
    clp: bool,
    backward: bool,
    notification: bool,
    ci: bool,
    ni: bool,
    rates: [u64; 3],
}

const ER: usize = 0;
const CCR: usize = 1;
const MCR: usize = 2;

fn capture<'a>(result: &'a RunResult, place: &str) -> &'a Capture {
    result.captures.iter().find(|capture| capture.place == place).expect("the link was captured")
}

fn cells(result: &RunResult, place: &str) -> Vec<Cell> {
    let read = |&(at, record): &(u64, &[u8])| {
        let header = big_endian(&record[16..20]);
        let (vci, payload_type, clp) = (header >> 4 & 0xffff, header >> 1 & 7, header & 1 == 1);
        Cell { at, vci, payload_type, clp, payload: record[20..].to_vec() }
    };
    records(capture(result, place), 197).iter().map(read).collect()
}

/// The remainder of a division by the generator x^10 + x^9 + x^5 + x^4 + x + 1, one bit after the other.
fn remainder(bytes: &[u8]) -> u16 {
    let mut remainder = 0u16;
    for byte in bytes {
        for bit in (0..8).rev() {
            remainder = remainder << 1 | u16::from(byte >> bit & 1);
            if remainder & 1 << 10 != 0 {
                remainder ^= 0b110_0011_0011;
            }
        }
    }
    remainder
}

/// Reads an RM cell, all of whose octets it checks.
fn read(cell: &Cell) -> Rm {
    let Cell { at, vci, payload_type, clp, ref payload } = *cell;
    assert_eq!((payload_type, payload.len(), payload[0]), (6, 48, 1));
    assert_eq!(remainder(payload), 0, "CRC-10");
    // RA and three bits without a meaning; QL and SN; what is reserved.
    assert_eq!(payload[1] & 0x0f, 0);
    assert_eq!(payload[8..16], [0; 8]);
    assert_eq!(payload[16..46], [0x6a; 30]);
    assert_eq!(payload[46] & 0xfc, 0);
    let flag = |bit: u8| payload[1] >> bit & 1 == 1;
    let rates = [2, 4, 6].map(|place| big_endian(&payload[place..place + 2]));
    let (backward, notification, ci, ni) = (flag(7), flag(6), flag(5), flag(4));
    Rm { at, vci, clp, backward, notification, ci, ni, rates }
}

/// The RM cells on a link, of one direction.
fn rm_cells(result: &RunResult, place: &str, backward: bool) -> Vec<Rm> {
    let rm = cells(result, place).iter().filter(|cell| cell.payload_type == 6).map(read).collect::<Vec<_>>();
    rm.into_iter().filter(|rm| rm.backward == backward).collect()
}

/// Those of one VC.
fn of_vc(rm: &[Rm], vci: u64) -> Vec<Rm> {
    rm.iter().copied().filter(|rm| rm.vci == vci).collect()
}

/// The cells a second that a code stands for.
fn rate(code: u64) -> f64 {
    assert_eq!(code >> 15, 0, "reserved");
    let (is_rate, exponent, mantissa) = (code >> 14 & 1, code >> 9 & 31, code & 511);
    is_rate as f64 * (1u64 << exponent) as f64 * (1.0 + mantissa as f64 / 512.0)
}

fn abr(overrides: &[(&str, &str)]) -> RunResult {
    captured(&scenario(ABR, overrides))
}

fn captured(scenario: &Scenario) -> RunResult {
    run(scenario, &[], &["all"]).unwrap()
}

/// The links of flow `flow`, there and back.
fn ways(flow: u32) -> [[String; 3]; 2] {
    let link = |from: &str, to: &str| format!("{from} > {to}");
    let (source, destination) = (format!("src{flow}"), format!("dest{flow}"));
    [
        [link(&source, "switch1"), link("switch1", "switch2"), link("switch2", &destination)],
        [link(&destination, "switch2"), link("switch2", "switch1"), link("switch1", &source)],
    ]
}

/// The RM cells of flow `flow` on each link of one of its ways, where the k-th on one is the k-th on the next.
fn along(result: &RunResult, flow: u32, back: bool) -> [Vec<Rm>; 3] {
    ways(flow)[usize::from(back)].each_ref().map(|place| {
        let rm = rm_cells(result, place, back);
        // On the trunk the VCs are numbered in the order of the flows.
        if place.starts_with("switch") && place.contains("> switch") {
            of_vc(&rm, 31 + u64::from(flow))
        } else {
            rm
        }
    })
}

#[test]
fn rm_cells_change_on_their_way_as_switches_may_change_them() {
    let result = abr(&[]);
    for flow in [1, 2] {
        let (there, back) = (along(&result, flow, false), along(&result, flow, true));
        assert!(back[2].len() > 100, "{}", back[2].len());
        for (k, last) in there[2].iter().enumerate() {
            // Nothing changes on the way there, and an FRM asks for the rate of the link and says what it is promised.
            let Rm { clp, backward, notification, ci, ni, rates, .. } = *last;
            assert_eq!([clp, backward, notification, ci, ni], [false; 5]);
            assert!(there[..2].iter().all(|link| link[k].rates == rates));
            let link = 155.52e6 / 424.0;
            assert!(rate(rates[ER]) <= link && rate(rates[ER]) > link * 511.0 / 512.0);
            let promised = if flow == 1 { 40e6 / 424.0 } else { 0.0 };
            assert!(rate(rates[MCR]) <= promised && rate(rates[MCR]) >= promised * 511.0 / 512.0);
        }
        for (k, last) in back[2].iter().enumerate() {
            // The destination turns it round at once, and it goes when the link is free; each switch may lower ER, and nothing else.
            let (turned, passed) = (back[0][k], back[1][k]);
            assert_eq!(turned.rates, there[2][k].rates);
            assert!((0.0..50_000.0).contains(&(1.0 + turned.at as f64 - there[2][k].at as f64 - CROSSING)));
            for (before, after) in [(turned, passed), (passed, *last)] {
                assert!(rate(after.rates[ER]) <= rate(before.rates[ER]));
                let unchanged = |rm: Rm| [rm.rates[CCR], rm.rates[MCR]];
                assert_eq!(unchanged(after), unchanged(before));
                assert!([after.ci, after.ni, after.notification].iter().all(|flag| !flag));
            }
        }
        // The link to the destination has one VC, which gets its target; the trunk has three.
        let settled = back[1].len() / 2;
        let (passed, last) = (back[1][settled].rates[ER], back[2][settled].rates[ER]);
        assert!(rate(passed) > 0.89 * 155.52e6 / 424.0, "{}", rate(passed));
        assert!(rate(last) < 0.7 * rate(passed), "{}", rate(last));
    }
}

#[test]
fn sources_do_what_the_last_backward_rm_cell_said() {
    let result = abr(&[]);
    for flow in [1, 2] {
        let (there, back) = (along(&result, flow, false), along(&result, flow, true));
        let first = if flow == 1 { 40e6 } else { 10e6 } / 424.0;
        // With RIF = 1 the ACR is the ER, or the MCR; in RM cells rates are cut to sixteen bits.
        let acr = |at: f64| {
            let before = back[2].iter().rev().find(|rm| (rm.at as f64) < at);
            before.map_or(first, |rm| rate(rm.rates[ER])).max(if flow == 1 { first } else { 0.0 })
        };
        for frm in &there[0] {
            // Times are cut to whole nanoseconds: what arrives when the cell leaves may seem to come after it.
            let (declared, left) = (rate(frm.rates[CCR]), frm.at as f64 - CROSSING);
            let says = |allowed: f64| declared <= allowed && declared > allowed * 511.0 / 512.0;
            assert!(says(acr(left)) || says(acr(left + 1.0)), "{declared} at {}", frm.at);
        }
        let flow = flow.to_string();
        let series = result.series.iter().find(|series| series.entity == flow && series.metric == "acr");
        let series = series.expect("ABR sources have series of their ACR");
        assert!(series.values.len() > 200);
        for (&at, &value) in series.times.iter().zip(&series.values) {
            assert_eq!(value, acr(at * 1e9), "flow {flow} at {at} s");
        }
    }
}

/// A switch that marks, soon.
const MARKING: [(&str, &str); 3] = [
    ("switch.allocator.algorithm", "efci"),
    ("switch.allocator.efci.low", "10 cells"),
    ("switch.allocator.efci.high", "20 cells"),
];

/// The destination says CI = 1 if the data cell before the FRM came with the EFCI bit.
#[test]
fn marks_on_data_become_congestion_indication() {
    let result = abr(&MARKING);
    let [there, back] = ways(2);
    let (mut marked, mut expected) = (false, Vec::new());
    for cell in cells(&result, &there[2]) {
        match cell.payload_type {
            6 => expected.push(std::mem::take(&mut marked)),
            user => marked = user & 2 != 0,
        }
    }
    let found: Vec<_> = rm_cells(&result, &back[0], true).iter().map(|rm| rm.ci).collect();
    assert_eq!(found[..], expected[..found.len()]);
    assert!(found.len() + 3 > expected.len() && found.len() > 50);
    assert!(found.contains(&true) && found.contains(&false));
}

#[test]
fn cells_beyond_the_rate_and_cells_of_the_destination_say_so() {
    // Sources that may send five cells a second ask by tagged cells.
    let slow = abr(&[("abr.icr", "5 cells/s"), ("duration", "300 ms")]);
    let frms = rm_cells(&slow, &ways(2)[0][0], false);
    assert!(!frms[0].clp && frms[1].clp, "the first cell is in rate");
    assert_eq!(rate(frms[0].rates[CCR]), 5.0);
    // A destination that sees marks before the first FRM after them makes cells of its own.
    let result = abr(&[&MARKING[..], &[("abr.backward-notification", "true")]].concat());
    let made: Vec<_> =
        rm_cells(&result, &ways(2)[1][0], true).into_iter().filter(|rm| rm.notification).collect();
    assert!(!made.is_empty() && made.iter().all(|rm| rm.ci && rm.rates[CCR] == 0));
}

/// Frames are whole although RM cells stand between their cells.
#[test]
fn data_between_rm_cells_are_frames() {
    let result = abr(&[]);
    let mut frame = Vec::new();
    let mut frames = 0;
    for cell in cells(&result, &ways(1)[0][2]).iter().filter(|cell| cell.payload_type != 6) {
        frame.extend(&cell.payload);
        if cell.payload_type & 1 == 1 {
            frames += u32::from(crate::check_frame(&frame));
            frame.clear();
        }
    }
    assert!(frames > 100, "{frames}");
}
