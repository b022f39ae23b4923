//! Notes about ports that let nothing of a flow pass.

use celltrain_network::{Experiment, Options, RunResult, scenario::Scenario, table::Column};

fn scenario(tables: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"passage\"\nduration = \"60 ms\"\n{tables}");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap()
}

fn notes(tables: &str) -> Vec<String> {
    scenario(tables).notes().unwrap()
}

fn run(tables: &str) -> RunResult {
    Experiment::new(&scenario(tables)).unwrap().run(1, 0, Options::default(), &mut || false).unwrap()
}

/// The frames of all flows that arrived.
fn delivered(result: &RunResult) -> u64 {
    let columns = result.flows.columns();
    let (_, _, column) = columns.iter().find(|column| column.0 == "frames_delivered").unwrap();
    let Column::Count(counts) = column else { panic!("frames are counted") };
    counts.iter().sum()
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
        found[0].contains("\"switch1 > switch2\", 699 B, has no room for a full packet of flow \"1\", 700 B"),
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
    let expected = "what a VC may take of the buffer of the port \"switch1 > switch2\" (vc-buffer), 1499 B, has no room for a full packet of \
        flow \"1\", 1500 B: the port discards all of these, and so it is at 2 other ports";
    assert_eq!(of_vc, [expected]);
    let memory = with("buffer = \"unlimited\"\nmemory.size = \"1499 B\"");
    let expected = "the memory of the switch of the port \"switch1 > switch2\" (switch.memory.size), 1499 B, has no room for a full packet \
        of flow \"1\", 1500 B: the port discards all of these, and so it is at 2 other ports";
    assert_eq!(memory, [expected]);
    // The smallest of them is named.
    assert!(with("buffer = \"1400 B\"\nmemory.size = \"1450 B\"")[0].starts_with("the buffer of the port"));
    assert!(with("buffer = \"1450 B\"\nmemory.size = \"1400 B\"")[0].starts_with("the memory of the switch"));
    assert!(with("buffer = \"1450 B\"\nvc-buffer = \"1400 B\"")[0].starts_with("what a VC may take"));
    assert_eq!(with("buffer = \"9 kB\"\nvc-buffer = \"1500 B\""), [""; 0]);
    assert_eq!(with("buffer = \"unlimited\"\nmemory.size = \"1500 B\""), [""; 0]);
    assert_eq!(with("buffer = \"unlimited\"\nmemory.size = \"8 packets\""), [""; 0]);
}
