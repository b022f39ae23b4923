//! Notes about ports that let nothing of a flow pass: they have no room for it, or their policies refuse it.

use celltrain_network::{RunResult, scenario::Scenario};

use crate::common::{self, delivered};

fn scenario(tables: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"passage\"\nduration = \"60 ms\"\n{tables}");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap()
}

fn notes(tables: &str) -> Vec<String> {
    scenario(tables).notes().unwrap()
}

fn run(tables: &str) -> RunResult {
    common::run(&scenario(tables))
}

/// A buffer in bytes may be smaller than the packets that cross it.
#[test]
fn a_buffer_without_room_for_a_packet_is_noted() {
    let noted = |buffer: &str, traffic: &str| {
        let tables = format!(
            "topology = {{ kind = \"n-source\", sources = 2 }}\nlink.framing = \"packets\"\nswitch.buffer = \"{buffer}\"\n{traffic}"
        );
        notes(&tables)
    };
    let cbr = "traffic = { kind = \"cbr\", rate = \"1 Mbit/s\", packet = \"700 B\" }";
    let found = noted("699 B", cbr);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0]
            .contains("\"switch1 > switch2\", 699 B, is too small for a full packet of flow \"1\", 700 B"),
        "{found:?}"
    );
    assert!(found[0].ends_with("at 2 other ports"), "{found:?}");
    assert!(noted("1499 B", "")[0].contains(", 1500 B"));
    // Time stamps take twelve bytes of every packet.
    assert!(noted("1511 B", "tcp.timestamps = true")[0].contains(", 1512 B"));
    for (buffer, traffic) in [
        ("700 B", cbr),
        ("1500 B", ""),
        ("1512 B", "tcp.timestamps = true"),
        ("1 packets", ""),
        ("unlimited", ""),
    ] {
        assert_eq!(noted(buffer, traffic), [""; 0], "{buffer}");
    }
}

/// What limits a port may also be what a VC may take of its buffer, or the memory that it shares.
#[test]
fn what_has_no_room_for_a_packet_is_named() {
    let with = |switch: &str| {
        let switch = format!(
            "topology = {{ kind = \"n-source\", sources = 2 }}\nlink.framing = \"packets\"\n[switch]\n{switch}\n"
        );
        let found = notes(&switch);
        assert_eq!(found.is_empty(), delivered(&run(&switch)) > 0, "{found:?}");
        found
    };
    let of_vc = with("buffer = \"9 kB\"\nvc-buffer = \"1499 B\"");
    let expected = "what a VC may take of the buffer of the port \"switch1 > switch2\" (vc-buffer), 1499 B, is too small for a full packet of \
        flow \"1\", 1500 B: the port discards all of these, and the same holds at 2 other ports";
    assert_eq!(of_vc, [expected]);
    let memory = with("buffer = \"unlimited\"\nmemory.size = \"1499 B\"");
    let expected = "the memory of the switch of the port \"switch1 > switch2\" (switch.memory.size), 1499 B, is too small for a full packet \
        of flow \"1\", 1500 B: the port discards all of these, and the same holds at 2 other ports";
    assert_eq!(memory, [expected]);
    // The smallest of them is named.
    assert!(with("buffer = \"1400 B\"\nmemory.size = \"1450 B\"")[0].starts_with("the buffer of the port"));
    assert!(with("buffer = \"1450 B\"\nmemory.size = \"1400 B\"")[0].starts_with("the memory of the switch"));
    assert!(with("buffer = \"1450 B\"\nvc-buffer = \"1400 B\"")[0].starts_with("what a VC may take"));
    assert_eq!(with("buffer = \"9 kB\"\nvc-buffer = \"1500 B\""), [""; 0]);
    assert_eq!(with("buffer = \"unlimited\"\nmemory.size = \"1500 B\""), [""; 0]);
    assert_eq!(with("buffer = \"unlimited\"\nmemory.size = \"8 packets\""), [""; 0]);
}

/// A policy with the given parameters, at switches that frames of three cells cross.
fn refusing(policy: &str, parameters: &str, more: &str) -> String {
    let discard = format!("discard = {{ policy = \"{policy}\", {policy} = {{ {parameters} }} }}");
    format!(
        "traffic = {{ kind = \"cbr\", rate = \"2 Mbit/s\", frame = 3 }}\n{more}\n\
         topology = {{ kind = \"n-source\", sources = 1 }}\nswitch = {{ buffer = \"20 cells\", {discard} }}\n"
    )
}

#[test]
fn a_policy_that_refuses_everything_is_noted_and_no_other() {
    let low_priority = "vc.clp = true";
    for (policy, parameters, more, refuses) in [
        ("epd", "threshold = \"0 cells\"", "", true),
        ("epd", "threshold = \"0 %\"", "", true),
        ("epd", "threshold = \"1 cells\"", "", false),
        ("espd", "low = \"0 %\", high = \"0 %\"", "", true),
        ("espd", "low = \"0 %\", high = \"1 cells\"", "", false),
        ("espd-original", "low = \"0 %\", high = \"0 %\"", "", true),
        ("espd-original", "low = \"0 %\", high = \"0 %\", drop-timer = \"1 ms\"", "", true),
        ("double-epd", "low = \"0 %\"", "", false),
        ("double-epd", "low = \"0 %\"", low_priority, true),
        ("double-epd", "low = \"0 %\", high = \"0 %\"", "", true),
        ("per-vc", "low = \"0 %\", high = \"0 %\"", "", false),
        ("per-vc", "low = \"0 %\"", low_priority, true),
        ("selective-drop", "threshold = \"0 %\", scale = 0", "", false),
        ("fba", "threshold = \"0 %\", scale = 0", "", false),
        ("wba", "threshold = \"0 %\", scale = 0", low_priority, false),
        ("dfba", "low = \"0 %\"", "", false),
        ("dfba", "low = \"0 %\"", low_priority, true),
        ("dfba", "low = \"0 %\", high = \"0 %\"", "", true),
        ("red", "min = \"0 %\"", "", false),
        ("red", "min = \"0 %\", max = \"0 %\"", "", true),
        ("red", "epd = \"0 %\"", "", true),
        ("dynamic-threshold", "alpha = 0.01", "", false),
        ("epd-per-vc", "threshold = \"0 %\"", "", true),
        ("virtual-queuing", "threshold = \"0 %\"", "", true),
        ("improved-virtual-queuing", "threshold = \"0 %\"", "", true),
        ("epd-push-out", "threshold = \"0 %\", until = \"threshold\"", "", true),
        ("script", "rule = \"false\"", "", true),
        ("script", "rule = \"refused\"", "", false),
        ("script", "rule = \"!last && occupancy < high\"", "", false),
        ("script", "rule = \"low_priority\"", "", true),
        ("script", "rule = \"low_priority\"", low_priority, false),
    ] {
        let tables = refusing(policy, parameters, more);
        let found = notes(&tables);
        assert_eq!(found.len(), usize::from(refuses), "{policy}, {parameters}, {more}: {found:?}");
        let frames = delivered(&run(&tables));
        assert_eq!(frames == 0, refuses, "{policy}, {parameters}, {more}: {frames} frames arrived");
    }
}

/// A rule may ask how many VCs cross the port, of which each is asked about with all others beside it.
#[test]
fn all_vcs_of_a_port_are_there_when_its_policy_is_asked() {
    for (rule, refuses) in [("vcs == 2", false), ("vcs == 1", true), ("vcs == 2 && weight > 1", true)] {
        let tables = format!(
            "traffic = {{ kind = \"cbr\", rate = \"2 Mbit/s\", frame = 3 }}\n\
             topology = {{ kind = \"n-source\", sources = 2 }}\n\
             [[port]]\nfrom = \"switch1\"\nto = \"switch2\"\ndiscard = {{ policy = \"script\", script.rule = \"{rule}\" }}\n"
        );
        let found = notes(&tables);
        assert_eq!(found.len(), usize::from(refuses), "{rule}: {found:?}");
        assert_eq!(delivered(&run(&tables)) == 0, refuses, "{rule}");
    }
}

#[test]
fn the_note_names_key_flow_and_port() {
    let found = notes(&refusing("double-epd", "low = \"0 cells\", high = \"0 %\"", ""));
    let expected = "switch.discard.double-epd: with low = \"0 cells\" and high = \"0 %\" the policy refuses every frame of flow \"1\" at the \
        port \"switch1 > switch2\", even while the buffer is empty, and the same holds at another port";
    assert_eq!(found, [expected]);
    let back = "topology = { kind = \"n-source\", sources = 2 }\n[[port]]\nfrom = \"switch2\"\nto = \"switch1\"\n\
        discard = { policy = \"epd\", epd.threshold = \"0 cells\" }\n";
    let expected = "port.0.discard.epd: with threshold = \"0 cells\" the policy refuses every frame of flow \"1\" on the reverse path at the \
        port \"switch2 > switch1\", even while the buffer is empty";
    assert_eq!(notes(back), [expected]);
    assert!(
        notes(&refusing("script", "rule = \"false\"", ""))[0]
            .starts_with("switch.discard.script: with this rule the policy")
    );
}

/// A level of 0 has a use: everything is marked.
#[test]
fn a_policy_that_marks_everything_lets_it_pass() {
    let tables = "topology = { kind = \"n-source\", sources = 2 }\ntcp.ecn = true\n\
        switch.discard = { policy = \"epd\", epd = { threshold = \"0 cells\", ecn = true } }\n";
    let all = tables.replace("tcp.ecn = true", "tcp = { ecn = true, congestion-control = \"dctcp\" }");
    assert_eq!(notes(&all), [""; 0]);
    assert!(delivered(&run(&all)) > 0);
    // Without that congestion control pure ACKs are not ECN-capable.
    assert!(notes(tables)[0].contains("refuses every frame of flow \"1\" on the reverse path"));
    let unmarked = notes(&tables.replace("tcp.ecn = true", ""));
    assert!(
        unmarked.last().is_some_and(|note| note.contains("the policy refuses every frame")),
        "{unmarked:?}"
    );
    // Single cells have no frame that could be refused before its end mark.
    let single = refusing("espd", "low = \"0 %\", high = \"0 %\"", "").replace("frame = 3", "frame = 1");
    assert_eq!(notes(&single), [""; 0]);
    assert!(delivered(&run(&single)) > 0);
}

/// RFC 8033 section 4.1: PIE drops nothing while at most two mean packets wait. What one VC has sent is no queue for the next.
#[test]
fn each_vc_finds_a_policy_of_its_own() {
    let tables = "topology = { kind = \"n-source\", sources = 2 }\nlink.framing = \"packets\"\n\
        switch = { buffer = \"3 packets\", discard = { policy = \"pie\", pie.mean-packet = 962 } }\n\
        [[flow]]\nname = \"1\"\ntcp.mss = \"9000 B\"\n";
    assert_eq!(notes(tables), [""; 0]);
}

/// The larger of exponentially distributed packets have no room where all those of one size have.
#[test]
fn packets_of_drawn_sizes_need_room_for_the_larger_ones() {
    let tables = |buffer: &str, sizes: &str| {
        format!(
            "topology = {{ kind = \"n-source\", sources = 1 }}\nlink.framing = \"packets\"\nswitch.buffer = \"{buffer}\"\n\
             traffic = {{ kind = \"poisson\", rate = \"1 Mbit/s\", packet = \"500 B\"{sizes} }}\n"
        )
    };
    let drawn = ", packet-distribution = \"exponential\"";
    let said =
        "too small for the larger packets of flow \"1\", of 500 B on average: the port discards all of these";
    assert!(notes(&tables("2499 B", drawn))[0].contains(said));
    for (buffer, sizes) in [("2500 B", drawn), ("500 B", "")] {
        assert_eq!(notes(&tables(buffer, sizes)), [""; 0], "{buffer}");
    }
}

#[test]
fn packets_are_refused_as_frames_are() {
    let tables = "topology = { kind = \"n-source\", sources = 2 }\nlink.framing = \"packets\"\n\
        switch = { buffer = \"9 packets\", discard = { policy = \"espd\", espd = { low = \"0 %\", high = \"0 %\" } } }\n";
    assert!(notes(tables)[0].contains("refuses every frame of flow \"1\" at the port \"switch1 > switch2\""));
    assert_eq!(delivered(&run(tables)), 0);
}

/// What comes at once has to wait at its ABR source as a whole; cells that come one by one need not.
#[test]
fn an_abr_source_without_room_for_a_frame_is_noted() {
    let tables = |buffer: u64, discard: &str, traffic: &str| {
        format!(
            "topology = {{ kind = \"n-source\", sources = 3 }}\nvc.category = \"abr\"\nswitch.allocator.algorithm = \"erica\"\n\
             abr = {{ source-buffer = \"{buffer} cells\", source-discard = \"{discard}\" }}\n{traffic}\n"
        )
    };
    let with = |buffer: u64, discard: &str, traffic: &str| {
        let tables = tables(buffer, discard, traffic);
        let found = notes(&tables);
        assert_eq!(
            found.is_empty(),
            delivered(&run(&tables)) > 0,
            "{buffer}, {discard}, {traffic}: {found:?}"
        );
        found
    };
    let tcp = "tcp.mss = \"500 B\"";
    let packets = "traffic = { kind = \"cbr\", rate = \"2 Mbit/s\", packet = \"540 B\" }";
    let frames = "traffic = { kind = \"cbr\", rate = \"2 Mbit/s\", frame = 12 }";
    for (discard, traffic) in
        [("cells", tcp), ("frames", tcp), ("cells", packets), ("frames", packets), ("frames", frames)]
    {
        let found = with(11, discard, traffic);
        let expected = "abr.source-buffer = \"11 cells\" has no space for a full frame of flow \"1\", 12 cells: no such frame leaves its \
            source whole, and the same holds for 2 other flows";
        assert_eq!(found, [expected], "{discard}, {traffic}");
        assert_eq!(with(12, discard, traffic), [""; 0]);
    }
    assert_eq!(with(2, "cells", frames), [""; 0]);
    // A transfer may be shorter than a segment.
    assert_eq!(notes(&tables(12, "cells", "traffic = { kind = \"finite\", bytes = \"500 B\" }")), [""; 0]);
}
