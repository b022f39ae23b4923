//! Reading and writing scenario files: layers, defaults, overrides, and errors that say where they are.

use std::{fs, path::PathBuf};

use celltrain_engine::quantity::{BitRate, Delay, Duration, PacketRate};
use celltrain_network::scenario::{Scenario, TieBreak, Topology, Traffic};

const MINIMAL: &str = r#"
schema = 1
name = "minimal"
duration = "1 s"

[topology]
kind = "n-source"
sources = 2
"#;

fn set(key: &str, value: &str) -> Vec<(String, String)> {
    vec![(key.to_owned(), value.to_owned())]
}

fn parse(text: &str) -> Scenario {
    Scenario::from_toml(text, "test.toml", &[]).unwrap()
}

/// The error of a text that is read and made a network.
fn error(text: &str, overrides: &[(String, String)]) -> String {
    match Scenario::from_toml(text, "test.toml", overrides).and_then(|scenario| scenario.graph()) {
        Ok(_) => panic!("no error in {text}"),
        Err(error) => error.to_string(),
    }
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

#[test]
fn a_minimal_scenario_has_documented_defaults() {
    let scenario = parse(MINIMAL);
    let spec = scenario.spec();
    assert_eq!((spec.warm_up, spec.seed, spec.replications), (Duration(0), 1, 1));
    assert_eq!(spec.tie_break, TieBreak::Random);
    assert_eq!(spec.link.rate, BitRate(155_520_000));
    assert_eq!(spec.switch.buffer.units(), 2_000);
    assert_eq!(spec.host.ip_rate, None);
    assert!(matches!(spec.traffic, Traffic::Greedy(_)));
}

#[test]
fn every_quantity_is_read_in_its_unit() {
    let text = format!(
        "{MINIMAL}
        [link]
        rate = \"149.76 Mbit/s\"
        delay = \"45.3 us\"
        trunk.delay = \"498 us\"
        [switch]
        buffer = \"unlimited\"
        delay = \"11.3 us\"
        [host]
        ip-rate = \"10500 packet/s\"
        ip-spread = 0.1
        [traffic]
        kind = \"on-off\"
        peak = \"10000 cells/s\"
        on = \"1 ms\"
        off = \"2 ms\"
        distribution = \"exponential\"
        start = \"0 ms .. 10 ms\""
    );
    let scenario = parse(&text);
    let spec = scenario.spec();
    assert_eq!(spec.link.trunk.delay, "498 us".parse().ok());
    assert_eq!(spec.switch.buffer.0, None);
    assert_eq!(spec.host.ip_rate, Some(PacketRate(10_500_000)));
    let Traffic::OnOff(on_off) = &spec.traffic else { panic!("{:?}", spec.traffic) };
    assert_eq!(on_off.peak.0, BitRate(4_240_000));
    assert_eq!((on_off.start.from, on_off.start.to), (Duration(0), Duration(10_000_000_000)));
    assert_eq!(on_off.frame, 1);
}

#[test]
fn what_is_written_reads_the_same() {
    let text = format!(
        "{MINIMAL}
        [link.exit]
        rate = \"1 Gbit/s\"
        [switch.discard]
        policy = \"epd\"
        epd.threshold = \"12.5 %\"
        espd.high = \"99 %\"
        [[port]]
        from = \"switch2\"
        to = \"dest1\"
        buffer = \"7 cells\"
        discard.policy = \"ppd\"
        [tcp]
        stack = \"sack\"
        [[flow]]
        name = \"2\"
        tcp.mss = \"512 B\"
        start = \"3 ms\"
        [[flow]]
        name = \"background\"
        from = \"dest1\"
        to = \"src2\"
        route = [\"dest1\", \"switch2\", \"switch1\", \"src2\"]
        traffic = {{ kind = \"cbr\", rate = \"353207.55 cells/s\", frame = 3 }}"
    );
    let scenario = parse(&text);
    let again = parse(&scenario.to_toml());
    assert_eq!(again, scenario);
    assert_eq!(again.to_toml(), scenario.to_toml());
    assert_eq!(again.key(), scenario.key());
    // Every value written out is another spelling of the same scenario.
    let resolved = Scenario::from_toml(&scenario.resolved_toml(), "resolved.toml", &[]).unwrap();
    assert_eq!(resolved.key(), scenario.key());
    assert_eq!(scenario.to_json()["port"][0]["buffer"], "7 cells");
}

#[test]
fn the_key_ignores_seed_and_replications_only() {
    let scenario = parse(MINIMAL);
    let changed = |key: &str, value: &str| scenario.with_overrides(&set(key, value)).unwrap();
    assert_eq!(changed("seed", "7").key(), scenario.key());
    assert_eq!(changed("replications", "7").key(), scenario.key());
    assert_ne!(changed("switch.buffer", "7 cells").key(), scenario.key());
    assert_ne!(changed("name", "other").key(), scenario.key());
    assert!(scenario.key().len() == 16 && scenario.key().bytes().all(|digit| digit.is_ascii_hexdigit()));
}

#[test]
fn an_extending_file_wins_key_by_key() {
    let folder = folder("extends");
    fs::create_dir(folder.join("variants")).unwrap();
    let base = format!("{MINIMAL}\n[link]\ndelay = \"5 ms\"\nrate = \"10 Mbit/s\"\n");
    fs::write(folder.join("base.toml"), base).unwrap();
    let middle = "extends = \"../base.toml\"\nname = \"middle\"\n[link]\ndelay = \"6 ms\"\n";
    fs::write(folder.join("variants/middle.toml"), middle).unwrap();
    let top = "extends = \"variants/middle.toml\"\nseed = 9\n[topology]\nkind = \"parking-lot\"\nswitches = 3\nsources = 1\n";
    fs::write(folder.join("top.toml"), top).unwrap();
    let scenario = Scenario::load(folder.join("top.toml"), &set("link.delay", "7 ms")).unwrap();
    let spec = scenario.spec();
    assert_eq!((spec.name.as_str(), spec.seed, &spec.extends), ("middle", 9, &None));
    assert_eq!(spec.link.rate, BitRate(10_000_000), "kept from the base");
    assert_eq!(spec.link.delay, Delay(Duration(7_000_000_000)), "overrides come last");
    assert!(matches!(spec.topology, Topology::ParkingLot(_)), "another kind replaces the table");
    assert_eq!(parse(&scenario.to_toml()), scenario, "nothing of the files is needed any more");
}

/// Only the file that runs as a sweep can have the table.
#[test]
fn a_file_that_others_extend_is_no_sweep() {
    let folder = folder("extended_sweep");
    let sweep = "\n[sweep]\nreplications = 2\n[sweep.grid]\n\"link.delay\" = [\"1 ms\", \"2 ms\"]\n";
    fs::write(folder.join("base.toml"), format!("{MINIMAL}{sweep}")).unwrap();
    fs::write(folder.join("top.toml"), "extends = \"base.toml\"\n").unwrap();
    let extended = Scenario::load(folder.join("top.toml"), &[]).unwrap_err();
    assert_eq!(extended.source, folder.join("base.toml").to_str().unwrap());
    assert_eq!(extended.key, "sweep");
    assert_eq!(
        extended.message,
        "a file that others extend has no [sweep]: move it to a file of its own with extends = \"base.toml\""
    );
    let said = error(&format!("{MINIMAL}{sweep}"), &[]);
    assert!(said.contains("read where `celltrain sweep` runs the file that has it"), "{said}");
}

/// What groups and flows inherit is wrong where it was given.
#[test]
fn errors_name_the_key_that_was_given() {
    let group = "[[group]]\nname = \"g\"\nflows = 2\ntcp = { stack = \"linux\" }\n";
    let flow = "[[flow]]\nname = \"g1\"\ntcp.rto-min = \"1 s\"\n";
    let text = format!(
        "schema = 1\nname = \"g\"\nduration = \"1 s\"\n[topology]\nkind = \"dumbbell\"\n{group}{flow}"
    );
    for (key, value) in
        [("tcp.nagle", "yes"), ("tcp.bogus", "1"), ("group.0.tcp.nagle", "yes"), ("flow.0.tcp.nagle", "yes")]
    {
        let error = Scenario::from_toml(&text, "a.toml", &set(key, value)).unwrap_err();
        assert_eq!(error.to_string().split(": ").nth(1), Some(key), "{error}");
    }
    let own = text.replace("stack = \"linux\"", "nagle = \"yes\"");
    assert_eq!(Scenario::from_toml(&own, "a.toml", &[]).unwrap_err().key, "group.0.tcp.nagle");
}

/// Two keys that differ in spaces would be one.
#[test]
fn keys_of_overrides_have_no_spaces_around_them() {
    for key in [" link.delay", "link.delay ", "link. delay", "link.delay\t"] {
        let error = Scenario::from_toml(MINIMAL, "a.toml", &set(key, "2 ms")).unwrap_err();
        assert!(error.message.ends_with("no spaces around it or its dots: write link.delay"), "{error}");
    }
}

#[test]
fn errors_name_the_file_they_are_in() {
    let folder = folder("blame");
    fs::write(folder.join("base.toml"), format!("{MINIMAL}\n[link]\ndelay = \"5 parsec\"\n")).unwrap();
    fs::write(folder.join("top.toml"), "extends = \"base.toml\"\n\n\nwarmup = \"1 ms\"\n").unwrap();
    let top = folder.join("top.toml");
    let error = Scenario::load(&top, &[]).unwrap_err();
    assert_eq!((error.source.as_str(), error.line), (folder.join("base.toml").to_str().unwrap(), Some(11)));
    let error = Scenario::load(&top, &set("link.delay", "5 ms")).unwrap_err();
    assert_eq!((error.source.as_str(), error.line), (top.to_str().unwrap(), Some(4)));
    assert!(
        error.message.starts_with("unknown key \"warmup\"; did you mean \"warm-up\"? (keys: schema, "),
        "{error}"
    );
}

#[test]
fn files_that_cannot_be_read_are_errors() {
    let folder = folder("unreadable");
    fs::write(folder.join("loop.toml"), "extends = \"pool.toml\"\n").unwrap();
    fs::write(folder.join("pool.toml"), "\nextends = \"./loop.toml\"\n").unwrap();
    fs::write(folder.join("dangling.toml"), "extends = \"nothing.toml\"\n").unwrap();
    fs::write(folder.join("latin.toml"), b"name = \"caf\xe9\"\n").unwrap();
    fs::File::create(folder.join("huge.toml")).unwrap().set_len(100_000_000).unwrap();
    for (name, expected) in [
        ("", "cannot be read: "),
        ("missing.toml", "missing.toml: cannot be read: "),
        ("loop.toml", "pool.toml:2: extends: \""),
        ("dangling.toml", "dangling.toml:1: extends: \""),
        ("latin.toml", "latin.toml: is not UTF-8 text (byte 11)"),
        ("huge.toml", "huge.toml: is larger than 16 MB"),
    ] {
        let error = Scenario::load(folder.join(name), &[]).unwrap_err().to_string();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn a_long_chain_of_files_is_an_error() {
    let folder = folder("chain");
    for number in 0..30 {
        let text = format!("extends = \"{}.toml\"\n", number + 1);
        fs::write(folder.join(format!("{number}.toml")), text).unwrap();
    }
    let error = Scenario::load(folder.join("0.toml"), &[]).unwrap_err();
    assert_eq!(error.message, "more than 16 files extend each other");
}

#[test]
fn overrides_need_no_quotes() {
    let scenario = parse(MINIMAL);
    let changed = |key: &str, value: &str| scenario.with_overrides(&set(key, value)).unwrap();
    assert_eq!(changed("switch.buffer", "500 cells"), changed("switch.buffer", "\"500 cells\""));
    assert_eq!(changed("seed", "0x10").spec().seed, 16);
    let flow = changed("flow", "[{ name = \"1\", start = \"1 ms\" }]");
    let flow = flow.with_overrides(&set("flow.0.start", "2 ms")).unwrap();
    assert_eq!(flow.spec().flow[0].start.unwrap().to, Duration(2_000_000_000));
}

#[test]
fn a_flow_has_the_tcp_of_the_scenario_where_it_says_nothing_else() {
    let text = format!(
        "{MINIMAL}\n[tcp]\nstack = \"sack\"\nmss = \"1000 B\"\n[[flow]]\nname = \"2\"\ntcp.mss = \"500 B\"\n"
    );
    let scenario = parse(&text);
    let flows = scenario.graph().unwrap().flows;
    assert_eq!((flows[0].tcp.mss, flows[0].tcp.sack), (1000, true));
    assert_eq!((flows[1].tcp.mss, flows[1].tcp.sack), (500, true));
    // What the flow does not say follows a later change of the scenario.
    let scenario = scenario.with_overrides(&set("tcp.stack", "newreno")).unwrap();
    assert!(scenario.graph().unwrap().flows.iter().all(|flow| !flow.tcp.sack));
}

/// Errors in a file: what is added to the minimal scenario from line 9 on, and what is said.
#[test]
fn errors_say_line_key_and_what_was_expected() {
    for (added, expected) in [
        (
            "[link]\nrate = 155",
            "10: link.rate: expected a bit rate, in quotes, such as \"155.52 Mbit/s\", found 155",
        ),
        (
            "[link]\nrate = \"155\"",
            "10: link.rate: expected a bit rate such as \"155.52 Mbit/s\" (units: bit/s, kbit/s, Mbit/s, Gbit/s, Tbit/s), found \"155\"",
        ),
        ("[link]\nrate = \"0 Mbit/s\"", "10: link.rate: expected 1 kbit/s to 100 Tbit/s, found 0 bit/s"),
        ("[link.trunk]\ndelay = \"2 h\"", "10: link.trunk.delay: expected a delay such as \"1 ms\""),
        ("[link.trunk]\ndelay = \"5000 s\"", "10: link.trunk.delay: expected 0 s to 3600 s, found 5000 s"),
        (
            "[switch]\nbuffer = \"0 cells\"",
            "10: switch.buffer: expected a buffer size such as \"2000 cells\"",
        ),
        (
            "[switch.discard]\npolicy = \"espdd\"",
            "10: switch.discard.policy: unknown name \"espdd\"; did you mean \"espd\"? (one of: tail-drop, ppd, epd, espd,",
        ),
        ("[switch.discard]\nespd.high = \"95 %\"", "9: switch.discard.policy: this key is required"),
        (
            "[switch.discard.espd]\nhihg = \"95 %\"",
            "10: switch.discard.espd.hihg: unknown key \"hihg\"; did you mean \"high\"? (keys: high, low)",
        ),
        (
            "[switch.discard]\npolicy = \"epd\"\nepd.threshold = \"2001 cells\"",
            "11: switch.discard.epd.threshold: 2001 cells is above the buffer of 2000 cells",
        ),
        (
            "[switch.discard]\npolicy = \"espd\"\n[switch.discard.espd]\nhigh = \"50 %\"",
            "11: switch.discard.espd.low: the low threshold (90 %) is above the high threshold (50 %)",
        ),
        (
            "[switch.discard]\npolicy = \"dynamic-threshold\"\ndynamic-threshold.alpha = 1e-300",
            "11: switch.discard.dynamic-threshold.alpha: 1e-300 is below 1e-9, the smallest ratio above 0",
        ),
        (
            "[switch.discard]\npolicy = \"dynamic-threshold\"\ndynamic-threshold.alpha = 0",
            "11: switch.discard.dynamic-threshold.alpha: at 0 no VC may send: give a ratio above 0",
        ),
        ("[[flow]]\nname = \"\"", "10: flow.0.name: expected a name, found an empty one"),
        ("[[group]]\nname = \" \"", "10: group.0.name: expected a name, found an empty one"),
        (
            "[[flow]]\nname = \"a\\nb\"",
            "10: flow.0.name: expected a name on one line, without tabs, found \"a\\nb\"",
        ),
        (
            "[[group]]\nname = \"a\\u2028b\"",
            "10: group.0.name: expected a name on one line, without tabs, found \"a\\u{2028}b\"",
        ),
        (
            "[[group]]\nname = \"a, b\"",
            "10: group.0.name: expected a name without commas, which divide lists of measures, found \"a, b\"",
        ),
        (
            "[[flow]]\nname = \"a,b\"",
            "10: flow.0.name: expected a name without commas, which divide lists of measures, found \"a,b\"",
        ),
        (
            "[[group]]\nname = \"web \"",
            "10: group.0.name: expected a name without blanks at its ends, which names of measures lose, found \"web \"",
        ),
        (
            "[[flow]]\nname = \" a\"",
            "10: flow.0.name: expected a name without blanks at its ends, which names of measures lose, found \" a\"",
        ),
        (
            "[[group]]\nname = \"group 2\"",
            "10: group.0.name: expected another name than \"group 2\", which stands for a group without one",
        ),
        (
            "[[flow]]\nname = \"group 2\"",
            "10: flow.0.name: expected another name than \"group 2\", which stands for a group without one",
        ),
        ("[host]\nip-spread = 1.5", "10: host.ip-spread: expected 0 to 1, found 1.5"),
        (
            "[host]\nip-rate = \"0 packet/s\"",
            "10: host.ip-rate: expected 0.001 packet/s to 1000000000 packet/s",
        ),
        ("[tcp]\nmss = \"0 B\"", "10: tcp.mss: "),
        (
            "[tcp]\nmss = \"1000.5 B\"",
            "10: tcp.mss: \"1000.5 B\" is not a whole number of bytes: write \"1001 B\"",
        ),
        (
            "[switch]\nbuffer = \"64.0003 kB\"",
            "10: switch.buffer: \"64.0003 kB\" is not a whole number of bytes: write \"64 kB\"",
        ),
        (
            "[switch]\nbuffer = \"99.5 cells\"",
            "10: switch.buffer: \"99.5 cells\" is not a whole number of cells: write \"100 cells\"",
        ),
        (
            "[switch.discard]\npolicy = \"epd\"\nepd.threshold = \"2.4 packets\"",
            "11: switch.discard.epd.threshold: \"2.4 packets\" is not a whole number of packets: write \"2 packets\"",
        ),
        (
            "[switch.discard]\npolicy = \"epd\"\nepd.threshold = \"0.00001 %\"",
            "11: switch.discard.epd.threshold: \"0.00001 %\" would be rounded to 0: the smallest value above 0 is 0.0001 %",
        ),
        (
            "[link]\ndelay = \"0.4 ps\"",
            "10: link.delay: \"0.4 ps\" would be rounded to 0: the smallest value above 0 is 1 ps",
        ),
        (
            "[traffic]\nkind = \"greedy\"\nstart = \"0 s .. 0.4 ps\"",
            "11: traffic.start: \"0.4 ps\" would be rounded to 0: the smallest value above 0 is 1 ps",
        ),
        (
            "[traffic]\nkind = \"cbr\"\nrate = \"0.001 cells/s\"",
            "11: traffic.rate: \"0.001 cells/s\" would be rounded to 0: the smallest value above 0 is 1 bit/s",
        ),
        (
            "[abr]\nicr = \"0.4 bit/s\"",
            "10: abr.icr: \"0.4 bit/s\" would be rounded to 0: the smallest value above 0 is 1 bit/s",
        ),
        ("[aal5]\noverhead = \"1 MB\"", "10: aal5.overhead: expected 0 B to 4 KiB, found 1 MB"),
        ("[traffic]\nkind = \"cbr\"", "9: traffic.rate: this key is required"),
        (
            "[traffic]\nrate = \"1 Mbit/s\"",
            "9: traffic.kind: this key is required (one of: greedy, finite, bursty,",
        ),
        (
            "[traffic]\nkind = \"greedy\"\nbytes = \"1 B\"",
            "11: traffic.bytes: unknown key \"bytes\": it is a key of kind = \"finite\" or \"bursty\" (keys: start)",
        ),
        (
            "[traffic]\nkind = \"cbr\"\nrate = \"0 cells/s\"",
            "11: traffic.rate: expected 1 kbit/s to 100 Tbit/s",
        ),
        (
            "[traffic]\nkind = \"poisson\"\npacket = \"40 B\"\nrate = \"320 bit/s\"",
            "12: traffic.rate: expected 1 kbit/s to 100 Tbit/s, found 320 bit/s; kind = \"trace\" sends at given times, however far apart",
        ),
        (
            "[traffic]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\nframe = 1367",
            "12: traffic.frame: expected 1 to 1366, found",
        ),
        (
            "[traffic]\nkind = \"bernoulli\"\npeak = \"1 Mbit/s\"\nprobability = 0",
            "12: traffic.probability: expected a number above 0 and up to 1, found 0",
        ),
        ("[traffic]\nkind = \"mmpp\"\nstates = []", "11: traffic.states: expected 2 to 16 states, found 0"),
        (
            "[traffic]\nkind = \"mmpp\"\n[[traffic.states]]\nrate = \"0 Mbit/s\"\nmean-time = \"1 ms\"\n\
             [[traffic.states]]\nrate = \"0 Mbit/s\"\nmean-time = \"1 ms\"",
            "11: traffic.states: the rate is 0 in every state: give one of them a rate",
        ),
        (
            "[traffic]\nkind = \"on-off\"\npeak = \"1 Mbit/s\"\non = \"1 ms\"\noff = \"1 ms\"\nshape = 1.2",
            "14: traffic.shape: only a Pareto distribution has a shape: give distribution = \"pareto\", or no shape",
        ),
        (
            "[traffic]\nkind = \"on-off\"\npeak = \"1 Mbit/s\"\non = \"1 ms\"\noff = \"1 ms\"\ndistribution = \"pareto\"\nshape = 1",
            "15: traffic.shape: expected a number above 1 (up to 1 the mean is infinite) and up to 100, found 1",
        ),
        (
            "[traffic]\nkind = \"finite\"\nbytes = \"1 B\"\nstart = \"2 s .. 1 s\"",
            "12: traffic.start: the range \"2 s .. 1 s\" ends before it begins",
        ),
        ("[[port]]\nfrom = \"switch1\"", "9: port.0.to: this key is required"),
        ("[port]\nfrom = \"switch1\"", "9: port: expected an array, found a table"),
        ("[link\nrate = \"1 Mbit/s\"", "9: unclosed table, expected `]`"),
        ("[topology]\nsources = 3", "9: duplicate key \"topology\""),
        (
            "[cells]\nseed = 18446744073709551615",
            "10: expected a whole number up to 9223372036854775807, found 18446744073709551615",
        ),
    ] {
        let found = error(&format!("{MINIMAL}{added}\n"), &[]);
        let expected = format!("test.toml:{expected}");
        assert!(found.starts_with(&expected), "{added}\nfound:    {found}\nexpected: {expected}");
    }
}

#[test]
fn scenarios_have_names_that_can_be_seen() {
    for name in ["", " "] {
        let text = MINIMAL.replace("\"minimal\"", &format!("\"{name}\""));
        assert_eq!(error(&text, &[]), "test.toml:3: name: expected a name, found an empty one");
    }
}

#[test]
fn nodes_have_names_that_can_be_seen() {
    for (name, expected) in [
        ("", "expected a name, found an empty one"),
        ("a\\tb", "expected a name on one line, without tabs, found \"a\\tb\""),
    ] {
        let nodes = format!(
            "[topology]\nkind = \"graph\"\nlink = []\n[[topology.node]]\nkind = \"host\"\nname = \"{name}\""
        );
        let text = format!("schema = 1\nname = \"names\"\nduration = \"1 s\"\n{nodes}\n");
        assert_eq!(error(&text, &[]), format!("test.toml:9: topology.node.0.name: {expected}"));
    }
}

#[test]
fn errors_in_overrides_name_the_override() {
    for (key, value, expected) in [
        ("duration", "1", "duration: expected a duration, in quotes, such as \"1 ms\", found 1"),
        ("duration", "1000001 s", "duration: expected 1 ps to 1000000 s, found 1000001 s"),
        ("duration", "0 s", "duration: expected 1 ps to 1000000 s, found 0 s"),
        ("warm-up", "1 s", "warm-up: the warm-up (1 s) must be shorter than the duration (1 s)"),
        ("sample", "1 ps", "sample: expected 100 ns or more (at most 10000000 samples per run), found 1 ps"),
        ("seed", "-1", "seed: expected a whole number from 0 to 9223372036854775807, found -1"),
        ("topology.sources", "-2", "topology.sources: expected a whole number, 1 or more, found -2"),
        ("topology.sources", "0", "topology.sources: expected 1 or more, found 0"),
        ("replications", "0", "replications: expected 1 to 100000, found 0"),
        ("schema", "2", "schema: expected 1, the only version, found 2"),
        ("name", "2026-11-20", "name: expected a string, found 2026-11-20"),
        ("name", "[1]", "name: expected a string, found an array"),
        ("topology.sources", "1000001", "topology.sources: expected at most 1000000 flows, found 1000001"),
        ("topology.sources", "600000", "topology.sources: expected at most 1000000 nodes, found 1200002"),
        (
            "topology.sources",
            "5000000000",
            "topology.sources: expected a whole number, 4294967295 at most, found 5000000000",
        ),
        (
            "topology.kind",
            "star",
            "topology.kind: unknown name \"star\" (one of: parking-lot, n-source, dumbbell, peer-to-peer,",
        ),
        ("traffic", "greedy", "traffic: expected a table such as { kind = \"greedy\", … }, found \"greedy\""),
        (
            "switch.scheduler",
            "wfq",
            "switch.scheduler: expected a table such as { discipline = \"wfq\", … }, found \"wfq\"",
        ),
        (
            "switch.discard",
            "epd",
            "switch.discard: expected a table such as { policy = \"epd\", … }, found \"epd\"",
        ),
        ("link", "10 Mbit/s", "link: expected a table, found \"10 Mbit/s\""),
        ("tie-break", "{ kind = \"random\" }", "tie-break: expected a name, found a table"),
        ("host.ip-spread", "nan", "host.ip-spread: expected a number from 0 to 1, found NaN"),
        (
            "swtich.buffer",
            "1 cell",
            "swtich: unknown key \"swtich\"; did you mean \"switch\"? (keys: schema, name,",
        ),
        (
            "discard.policy",
            "epd",
            "discard: unknown key \"discard\": it is switch.discard, or stands in a [[port]]",
        ),
        ("extends", "base.toml", "extends: only a file can extend another"),
        ("switch..buffer", "1 cell", "switch..buffer: expected a dotted key such as switch.buffer"),
        (
            "switch__discard__epd.threshold",
            "1 cell",
            "switch__discard__epd.threshold: a key is written with dots: write switch.discard.epd.threshold",
        ),
    ] {
        let found = error(MINIMAL, &set(key, value));
        let expected = format!("--set {key}={value}: {expected}");
        assert!(found.starts_with(&expected), "found:    {found}\nexpected: {expected}");
    }
}

/// A number, or true or false, that is written as a text is told as it has to be written.
#[test]
fn values_in_quotes_are_told_how_to_write_them() {
    for (key, value, expected) in [
        ("link.loss", "1 %", "expected a number from 0 to 1, found \"1 %\": write 0.01"),
        ("link.loss", "\"2.9%\"", "expected a number from 0 to 1, found \"2.9%\": write 0.029"),
        (
            "link.loss",
            "\"0.01\"",
            "expected a number from 0 to 1, found \"0.01\": write 0.01, without quotes",
        ),
        ("abr.rif", "1/16", "expected a number from 0 to 1, found \"1/16\": write 0.0625"),
        ("switch.discard.red.max-p", "2 %", "expected a number, found \"2 %\": write 0.02"),
        (
            "traffic",
            "{ kind = \"short-flows\", load = \"80 %\" }",
            "expected a number from 0 to 10, found \"80 %\": write 0.8",
        ),
        (
            "replications",
            "\"3\"",
            "expected a whole number from 1 to 100000, found \"3\": write 3, without quotes",
        ),
        ("replications", "3.0", "expected a whole number from 1 to 100000, found 3.0: write 3"),
        ("tcp.ecn", "\"true\"", "expected true or false, found \"true\": write true, without quotes"),
        // What the key does not take is no advice.
        ("link.loss", "150 %", "expected a number from 0 to 1, found \"150 %\""),
        ("link.loss", "1/0", "expected a number from 0 to 1, found \"1/0\""),
        ("link.loss", "a %", "expected a number from 0 to 1, found \"a %\""),
        ("replications", "2.5", "expected a whole number from 1 to 100000, found 2.5"),
        ("replications", "\"0\"", "expected a whole number from 1 to 100000, found \"0\""),
        ("tcp.ecn", "yes", "expected true or false, found \"yes\""),
    ] {
        let found = error(MINIMAL, &set(key, value));
        assert!(found.ends_with(&format!(": {expected}")), "found:    {found}\nexpected: {expected}");
    }
}

/// What a table does not take, where it belongs, and what the table takes in its place.
#[test]
fn a_key_of_another_table_is_told_as_such() {
    const DUMBBELL: &str = "schema = 1\nname = \"a\"\nduration = \"1 s\"\ntopology.kind = \"dumbbell\"\n";
    for (text, key, value, expected) in [
        (
            DUMBBELL,
            "topology.pairs",
            "3",
            "it is a key of kind = \"backbone\"; kind = \"dumbbell\" takes no keys of its own; its flows are those of [[group]], each with \
             `flows` of them",
        ),
        (
            DUMBBELL,
            "topology.sources",
            "3",
            "it is a key of kind = \"parking-lot\", \"n-source\" or \"peer-to-peer\"; kind = \"dumbbell\" takes no keys",
        ),
        (DUMBBELL, "topology.width", "3", "kind = \"dumbbell\" takes no keys of its own"),
        (
            MINIMAL,
            "topology.flows",
            "3",
            "it is a key of kind = \"backbone\"; `sources` is the number of flows (keys: sources)",
        ),
        (
            MINIMAL,
            "topology.hosts",
            "3",
            "it is a key of kind = \"leaf-spine\", \"torus\" or \"random\" (keys: sources)",
        ),
        (MINIMAL, "topology.delay", "1 ms", "it is link.delay or switch.delay (keys: sources)"),
        (
            MINIMAL,
            "group",
            "[{ name = \"a\", connections = 3 }]",
            "\"connections\": `flows` is the number of its flows, of each pair of hosts (keys:",
        ),
        (
            MINIMAL,
            "traffic",
            "{ kind = \"cbr\", rate = \"1 Mbit/s\", load = 0.5 }",
            "it is a key of kind = \"short-flows\" (keys: rate,",
        ),
        (MINIMAL, "switch.discard.threshold", "80 %", "it is switch.discard."),
        (
            MINIMAL,
            "switch.discard",
            "{ policy = \"epd\", threshold = \"80 %\" }",
            "it is switch.discard.epd.threshold (keys: policy,",
        ),
        (
            MINIMAL,
            "switch.discard",
            "{ policy = \"epd\", epd.high = \"80 %\" }",
            "it is a key of policy = \"espd\"",
        ),
        (MINIMAL, "switch.scheduler", "{ discipline = \"wfq\", quantum = 3 }", "it is switch.scheduler."),
        (MINIMAL, "vc.icr", "1 Mbit/s", "it is abr.icr (keys: category,"),
        (MINIMAL, "mss", "1000 B", "it is tcp.mss (keys: schema,"),
        (MINIMAL, "tcp.ecn-threshold", "3", ""),
        (MINIMAL, "switch.loss", "0.1", "it is link.loss"),
        (
            MINIMAL,
            "switch.from",
            "'a'",
            "it stands in a [[link-override]], a [[port]], a [[group]] or a [[flow]] (keys:",
        ),
        (MINIMAL, "measures.sample", "1 ms", "it is a key of the scenario itself, above its tables"),
        (MINIMAL, "vc.switch", "{}", "[switch] is a table of its own"),
        (MINIMAL, "link.grid", "{}", "unknown key \"grid\" (keys:"),
        (MINIMAL, "vc-buffer", "3 cells", "it is switch.vc-buffer, or stands in a [[port]]"),
    ] {
        let found = error(text, &set(key, value));
        assert!(
            found.contains("unknown key \"") && found.contains(expected),
            "{key}\nfound:    {found}\nexpected: {expected}"
        );
    }
}

/// Every topology says what its number of flows is.
#[test]
fn every_topology_says_how_many_flows_it_has() {
    let schema = Scenario::schema();
    let forms = schema["definitions"]["Topology"]["oneOf"].as_array().unwrap();
    for kind in forms.iter().map(|form| form["properties"]["kind"]["const"].as_str().unwrap()) {
        let text = format!(
            "schema = 1\nname = \"a\"\nduration = \"1 s\"\ntopology = {{ kind = \"{kind}\", connections = 3 }}\n"
        );
        let found = error(&text, &[]);
        assert!(found.contains("topology.connections: unknown key") && found.contains("flows"), "{found}");
    }
}

#[test]
fn a_threshold_must_also_fit_a_port_with_a_smaller_buffer() {
    let text = format!(
        "{MINIMAL}[switch.discard]\npolicy = \"epd\"\nepd.threshold = \"1000 cells\"\n\
         [[port]]\nfrom = \"switch1\"\nto = \"switch2\"\nbuffer = \"500 cells\"\n"
    );
    let expected = "test.toml:15: port.0.buffer: switch.discard.epd.threshold: 1000 cells is above the buffer of 500 cells";
    assert_eq!(error(&text, &[]), expected);
}

#[test]
fn elements_of_arrays_are_counted_from_0() {
    let text = format!("{MINIMAL}[[flow]]\nname = \"1\"\n");
    let found = error(&text, &set("flow.1.start", "1 ms"));
    assert!(found.ends_with("\"1\" is no element of this array: it has 1, counted from 0"), "{found}");
    let found = error(MINIMAL, &set("flow.0.start", "1 ms"));
    assert!(
        found.ends_with("there is no element 0 to change: the scenario has no such array of tables"),
        "{found}"
    );
}
