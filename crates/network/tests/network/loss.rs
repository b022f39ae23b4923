//! Losses on links: scripted ones hit the segment that is named, random ones come at their rate, and nothing else changes.

use crate::common::{error, metric, numbers, of_flow, run_plain, total};

/// One connection over two links, with an ACK a segment.
const ONE_FLOW: &str = r#"
schema = 1
name = "one connection"
duration = "4 s"
topology.kind = "n-source"
topology.sources = 1
link.rate = "10 Mbit/s"
link.delay = "10 ms"
switch.buffer = "unlimited"
tcp = { stack = "newreno", mss = "1000 B", delayed-ack = "0 s", receive-window = "20 KiB" }
"#;

#[test]
fn without_losses_nothing_is_retransmitted() {
    let result = run_plain(ONE_FLOW, &[]);
    assert_eq!(of_flow(&result, "segments_retransmitted"), 0);
    assert_eq!((total(&result.ports, "lost_random"), total(&result.ports, "lost_scripted")), (0, 0));
}

#[test]
fn a_named_segment_is_lost_once() {
    let result = run_plain(&format!("{ONE_FLOW}[[loss]]\nflow = \"1\"\nsegment = 100\n"), &[]);
    // 1040 bytes and 16 of AAL5 and LLC/SNAP fill 22 cells.
    assert_eq!(total(&result.ports, "lost_scripted"), 22);
    assert_eq!(of_flow(&result, "segments_retransmitted"), 1);
    assert_eq!((of_flow(&result, "fast_retransmits"), of_flow(&result, "timeouts")), (1, 0));
    assert_eq!(of_flow(&result, "cells_useless"), 0, "a frame lost whole leaves nothing behind");
}

/// The cells of a frame come apart where those of another flow stand between them: the rest of it is lost too, although the scenario names
/// nothing else that is still to come.
#[test]
fn a_named_segment_is_lost_whole_where_its_cells_come_apart() {
    let two = ONE_FLOW.replace("sources = 1", "sources = 2\nlink.loss-unit = \"cell\"");
    let cells = "[[flow]]\nname = \"2\"\ntraffic = { kind = \"cbr\", rate = \"4 Mbit/s\" }\n";
    let loss = "[[loss]]\nflow = \"1\"\nsegment = 100\nlink = [\"switch1\", \"switch2\"]\n";
    let result = run_plain(&format!("{two}{cells}{loss}"), &[]);
    assert_eq!(total(&result.ports, "lost_scripted"), 22);
    assert_eq!(result.flows.counts("cells_useless"), [0, 0]);
    assert_eq!(result.flows.counts("segments_retransmitted"), [1, 0]);
}

#[test]
fn the_retransmission_can_be_lost_too() {
    let text = format!(
        "{ONE_FLOW}[[loss]]\nflow = \"1\"\nsegment = 100\n[[loss]]\nflow = \"1\"\nsegment = 100\noccurrence = 2\n"
    );
    let result = run_plain(&text, &[]);
    assert_eq!(total(&result.ports, "lost_scripted"), 44);
    assert_eq!(of_flow(&result, "timeouts"), 1, "a lost retransmission needs the timer");
}

#[test]
fn any_link_of_the_way_can_lose_and_the_loss_is_counted_there() {
    let text =
        format!("{ONE_FLOW}[[loss]]\nflow = \"1\"\nsegment = 100\nlink = [\"switch1\", \"switch2\"]\n");
    let result = run_plain(&text, &[]);
    let lost: Vec<_> = result.ports.counts("lost_scripted").to_vec();
    let arrived = result.ports.counts("cells_arrived");
    let place = lost.iter().position(|&cells| cells == 22).unwrap();
    assert_eq!(lost.iter().sum::<u64>(), 22);
    assert!(result.ports.counts("switch")[place] == 1 && arrived[place] > 22);
}

#[test]
fn a_lost_ack_is_made_good_by_the_next_one() {
    let result =
        run_plain(&format!("{ONE_FLOW}[[loss]]\nflow = \"1\"\nsegment = 100\ndirection = \"ack\"\n"), &[]);
    assert_eq!(total(&result.ports, "lost_scripted"), 2, "an ACK of 40 bytes fills two cells");
    assert_eq!(of_flow(&result, "segments_retransmitted"), 0);
}

/// Connections that share a VC are told apart: each loses the segment that is named of it, and no other does.
#[test]
fn a_segment_of_one_of_several_connections_on_a_vc_is_lost() {
    let shared =
        ONE_FLOW.replace("n-source", "backbone").replace("sources = 1", "pairs = 1\ntopology.flows = 3");
    for direction in ["data", "ack"] {
        for flow in 1..=3 {
            let loss = format!("[[loss]]\nflow = \"{flow}\"\nsegment = 10\ndirection = \"{direction}\"\n");
            let result = run_plain(&format!("{shared}{loss}"), &[]);
            assert!(total(&result.ports, "lost_scripted") > 0, "{direction} of flow {flow}");
            let mut expected = [0; 3];
            expected[flow - 1] = u64::from(direction == "data");
            assert_eq!(result.flows.counts("segments_retransmitted"), expected, "{direction} of flow {flow}");
        }
    }
}

#[test]
fn frames_are_lost_at_their_rate_and_whole() {
    let result = run_plain(&ONE_FLOW.replace("link.delay", "link.loss = 0.02\nlink.delay"), &[]);
    let (arrived, lost) = (total(&result.ports, "cells_arrived"), total(&result.ports, "lost_random"));
    let share = lost as f64 / arrived as f64;
    assert!((0.015..0.025).contains(&share), "{lost} of {arrived}");
    assert_eq!(of_flow(&result, "cells_useless"), 0);
}

#[test]
fn cells_are_lost_at_their_rate_and_break_frames() {
    let text = ONE_FLOW.replace("link.delay", "link.loss = 0.002\nlink.loss-unit = \"cell\"\nlink.delay");
    let result = run_plain(&text, &[]);
    let (arrived, lost) = (total(&result.ports, "cells_arrived"), total(&result.ports, "lost_random"));
    let share = lost as f64 / arrived as f64;
    assert!((0.0015..0.0025).contains(&share), "{lost} of {arrived}");
    // A lost cell costs the rest of its frame, and a lost end mark that of the next one.
    let useless = of_flow(&result, "cells_useless");
    assert!(useless > 10 * lost && useless < 50 * lost, "{useless} useless cells for {lost} lost ones");
}

#[test]
fn a_link_that_loses_everything_passes_nothing() {
    let result = run_plain(&ONE_FLOW.replace("link.delay", "link.exit.loss = 1\nlink.delay"), &[]);
    assert_eq!(of_flow(&result, "frames_delivered"), 0);
    assert!(of_flow(&result, "timeouts") > 0);
}

#[test]
fn bare_cells_are_lost_too() {
    let text = ONE_FLOW.replace("link.delay", "link.loss = 0.1\nlink.loss-unit = \"cell\"\nlink.delay")
        + "[traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n";
    let result = run_plain(&text, &[]);
    let delivered = of_flow(&result, "cells_useful") as f64 / (4e6 / 424.0);
    // Three links.
    assert!((delivered - 0.9 * 0.9 * 0.9).abs() < 0.02, "{delivered}");
}

#[test]
fn impossible_losses_are_errors() {
    let cases = [
        ("[[loss]]\nflow = \"2\"\nsegment = 1\n", "unknown flow \"2\""),
        ("[[loss]]\nflow = \"1\"\nsegment = 1\noccurrence = 0\n", "counted from 1"),
        ("[[loss]]\nflow = \"1\"\nsegment = 1\nlink = [\"switch2\", \"switch1\"]\n", "does not pass a link"),
        (
            "[[loss]]\nflow = \"1\"\nsegment = 1\nlink = [\"switch9\", \"switch1\"]\n",
            "unknown node \"switch9\"",
        ),
        ("[[loss]]\nflow = \"1\"\nsegment = 9000000000000000000\n", "no flow gets so far"),
        ("[link.trunk]\nloss = 1.5\n", "expected 0 to 1, found 1.5"),
    ];
    for (tables, expected) in cases {
        let found = error(&format!("{ONE_FLOW}{tables}"), &[]);
        assert!(found.contains(expected), "{found}");
    }
    let cells = format!(
        "{ONE_FLOW}[traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n[[loss]]\nflow = \"1\"\nsegment = 1\n"
    );
    assert!(error(&cells, &[]).contains("no segments to lose"));
}

/// Cells that the last link loses have not reached a host (ITU-T I.356 section 6.3 counts what is delivered): the ratio of the run is that of
/// its flows.
#[test]
fn the_cell_loss_ratio_of_the_run_does_not_count_what_the_last_link_loses_as_delivered() {
    let text = r#"
schema = 1
name = "losses on the last link"
duration = "1 s"
topology = { kind = "n-source", sources = 2 }
link = { rate = "100 Mbit/s", delay = "10 us", trunk.rate = "50 Mbit/s", exit = { loss = 0.5, loss-unit = "cell" } }
switch.buffer = "100 cells"
traffic = { kind = "cbr", rate = "50 Mbit/s" }
"#;
    let result = run_plain(text, &[]);
    // The trunk lets half of the cells through, of which a half arrives: of three parts, two are discarded and one arrives.
    let ratio = metric(&result, "cell_loss_ratio");
    assert!((ratio - 2.0 / 3.0).abs() < 0.01, "{ratio}");
    for of_flow in numbers(&result.flows, "cell_loss_ratio") {
        assert!((ratio - of_flow).abs() < 0.02, "{ratio} and {of_flow}");
    }
}
