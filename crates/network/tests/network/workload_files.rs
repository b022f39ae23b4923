//! Sizes, traces and transfers that stand in CSV files.

use std::{fs, path::PathBuf};

use celltrain_engine::quantity::{Bytes, Duration};
use celltrain_network::scenario::{Scenario, Traffic};

use crate::common::{error, folder, load};

const MS: u64 = 1_000_000_000;

fn scenario(tables: &str) -> String {
    format!("schema = 1\nname = \"files\"\nduration = \"1 s\"\n{tables}\n")
}

const SIZES: &str = "[topology]\nkind = \"n-source\"\nsources = 1\n\
    [traffic]\nkind = \"short-flows\"\nload = 0.1\nsize = { kind = \"measured\", points = \"sizes.csv\" }";

#[test]
fn sizes_come_from_a_file_beside_the_scenario() {
    let csv = "# measured\nbytes,share\n\n1000, 0.5\n3000.0,1\n";
    let folder = folder("sizes", &[("sizes.csv", csv), ("base.toml", &scenario(SIZES))]);
    let above = "extends = \"../sizes/base.toml\"\nname = \"above\"\n";
    fs::create_dir_all(folder.join("../above")).unwrap();
    fs::write(folder.join("../above/above.toml"), above).unwrap();
    for file in ["base.toml", "../above/above.toml"] {
        let scenario = Scenario::load(folder.join(file), &[]).unwrap();
        let Traffic::ShortFlows(form) = &scenario.spec().traffic else { panic!("short flows") };
        // Half of the sizes evenly from 0 to 1000, or all of that size, and half from there to 3000 bytes.
        let inline = SIZES.replace("\"sizes.csv\"", "[[1000, 0.5], [3000, 1]]");
        let inline = load(&self::scenario(&inline), &[]);
        assert_eq!(&scenario.spec().traffic, &inline.spec().traffic);
        assert!(form.interval(scenario.spec().link.rate).is_some());
        let resolved = load(&scenario.resolved_toml(), &[]);
        assert_eq!(resolved.spec().traffic, scenario.spec().traffic, "what is resolved needs no file");
    }
    let sizes = folder.join("sizes.csv").display().to_string();
    let other = scenario("[topology]\nkind = \"n-source\"\nsources = 1");
    for overrides in [
        vec![(
            "traffic",
            format!(
                "{{ kind = \"short-flows\", load = 0.1, size = {{ kind = \"measured\", points = '{sizes}' }} }}"
            ),
        )],
        vec![
            ("traffic.kind", "short-flows".to_owned()),
            ("traffic.load", "0.1".to_owned()),
            ("traffic.size.kind", "measured".to_owned()),
            ("traffic.size.points", sizes.clone()),
        ],
    ] {
        let overrides: Vec<_> = overrides.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let scenario = Scenario::from_toml(&other, "test.toml", &overrides).unwrap();
        let base = Scenario::load(folder.join("base.toml"), &[]).unwrap();
        assert_eq!(scenario.spec().traffic, base.spec().traffic, "--set reads files too");
    }
}

/// A file counts where it is named in the end: what another layer replaces is not read, and need not be there.
#[test]
fn a_file_that_is_replaced_is_not_read() {
    let sizes = scenario(SIZES);
    let above = "extends = \"base.toml\"\nname = \"above\"\ntraffic.size.points = \"there.csv\"\n";
    let files = [("there.csv", "1000,0.5\n3000,1\n"), ("base.toml", sizes.as_str()), ("above.toml", above)];
    let folder = folder("replaced", &files);
    let base = folder.join("base.toml");
    let there = folder.join("there.csv").display().to_string();
    let points = |value: &str| vec![("traffic.size.points".to_owned(), value.to_owned())];
    let above = Scenario::load(folder.join("above.toml"), &[]).unwrap();
    for overrides in [points(&there), points("[[1000, 0.5], [3000, 1]]")] {
        let replaced = Scenario::load(&base, &overrides).unwrap();
        assert_eq!(replaced.spec().traffic, above.spec().traffic);
    }
    // An element of a file that a later layer names, and of one that it does not.
    let element = ("traffic.size.points.0.0".to_owned(), "2000".to_owned());
    let overrides: Vec<_> = points(&there).into_iter().chain([element.clone()]).collect();
    assert_ne!(Scenario::load(&base, &overrides).unwrap().spec().traffic, above.spec().traffic);
    for overrides in [vec![], vec![element]] {
        let error = Scenario::load(&base, &overrides).unwrap_err().to_string();
        let named = error.contains("base.toml:10: traffic.size.points: ") && error.contains("sizes.csv\": ");
        assert!(named, "{error}");
    }
    let error = Scenario::load(&base, &points("nowhere.csv")).unwrap_err().to_string();
    assert!(error.starts_with("--set traffic.size.points=nowhere.csv: traffic.size.points: "), "{error}");
}

#[test]
fn a_trace_of_flows_comes_from_a_file() {
    let tables = "[topology]\nkind = \"n-source\"\nsources = 1\n[traffic]\nkind = \"short-flows\"\ntrace = \"trace.csv\"";
    let csv = "at,bytes\n0.25,1000\n300 ms,64 KiB\n";
    let folder = folder("trace", &[("trace.csv", csv), ("trace.toml", &scenario(tables))]);
    let scenario = Scenario::load(folder.join("trace.toml"), &[]).unwrap();
    let Traffic::ShortFlows(form) = &scenario.spec().traffic else { panic!("short flows") };
    let flows: Vec<_> = form.trace.iter().map(|flow| (flow.at, flow.bytes)).collect();
    assert_eq!(flows, [(Duration(250 * MS), Bytes(1000)), (Duration(300 * MS), Bytes(65_536))]);
}

#[test]
fn transfers_between_hosts_come_from_a_file() {
    let tables = "[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts = 2\npattern = \"none\"\n\
        [[group]]\nname = \"t\"\ntransfers = \"flows.csv\"\nstart = \"5 ms\"";
    let csv =
        "start,source,destination,size\n0,host1,host4,1000\n0.001,host2,host1,2000\n0.001,host1,host4,3000\n";
    let folder = folder("transfers", &[("flows.csv", csv), ("flows.toml", &scenario(tables))]);
    let graph = Scenario::load(folder.join("flows.toml"), &[]).unwrap().graph().unwrap();
    let flows: Vec<_> = graph
        .flows
        .iter()
        .map(|flow| {
            let Traffic::ShortFlows(form) = &*flow.traffic else { panic!("short flows") };
            let trace: Vec<_> = form.trace.iter().map(|flow| (flow.at.ps() / MS, flow.bytes.0)).collect();
            let ends = [flow.from, flow.to].map(|node| graph.nodes[node].name.as_str());
            (flow.name.as_str(), ends, trace, flow.start.to.ps() / MS)
        })
        .collect();
    let expected = [
        ("t1", ["host1", "host4"], vec![(0, 1000), (1, 3000)], 5),
        ("t2", ["host2", "host1"], vec![(1, 2000)], 5),
    ];
    assert_eq!(flows, expected);
}

/// The first line of a file is a transfer too, where its numbers have units: a fault in it is none of a line of names.
#[test]
fn a_wrong_first_line_is_no_line_of_names() {
    let csv = "1 ms,src1,dest1,much\n2 ms,src1,dest1,1 kB\n";
    let topology = "[topology]\nkind = \"n-source\"\nsources = 1\n";
    let text = scenario(&format!("{topology}[[group]]\nname = \"t\"\ntransfers = \"transfers.csv\""));
    let folder = folder("first", &[("transfers.csv", csv), ("a.toml", &text)]);
    let error = Scenario::load(folder.join("a.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("line 1: expected a number, of B or with its unit, found \"much\""), "{error}");
}

/// A number in quotes is no name of a column: its line was left out in silence where it was the first.
#[test]
fn a_first_line_in_quotes_is_no_line_of_names() {
    let csv = "\"0.001\",\"1 kB\"\n0.002,1 kB\n";
    let text = scenario(
        "[topology]\nkind = \"n-source\"\nsources = 1\n[traffic]\nkind = \"short-flows\"\ntrace = \"trace.csv\"",
    );
    let folder = folder("quotes", &[("trace.csv", csv), ("a.toml", &text)]);
    let error = Scenario::load(folder.join("a.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("trace.csv\", line 1: expected"), "{error}");
}

/// A number that is not finite is no name of a column either: its line was left out in silence where it was the first.
#[test]
fn a_first_line_without_a_finite_number_is_no_line_of_names() {
    for number in ["nan", "NaN", "inf", "infinity", "\"nan\""] {
        let text = scenario(
            "[topology]\nkind = \"n-source\"\nsources = 1\n[traffic]\nkind = \"trace\"\ntimes = \"times.csv\"",
        );
        let files = [("times.csv", format!("{number}\n0.002\n")), ("a.toml", text)];
        let folder = folder("not-finite", &files.each_ref().map(|(name, text)| (*name, text.as_str())));
        let error = Scenario::load(folder.join("a.toml"), &[]).unwrap_err().to_string();
        assert!(
            error.contains(&format!(
                "line 1: expected a time, in seconds or with a unit such as \"1 ms\", found \"{number}\""
            )),
            "{error}"
        );
    }
}

/// `at` counts from the `start` of the flow or its group; that of `[traffic]`, which the group does not carry, is none of theirs.
#[test]
fn transfers_do_not_start_as_the_traffic_of_others() {
    let topology = "[topology]\nkind = \"n-source\"\nsources = 1\n\
        [traffic]\nkind = \"greedy\"\nstart = \"100 ms .. 200 ms\"\n";
    let one = "[[group]]\nname = \"t\"\n\
        transfers = [{ at = \"1 ms\", from = \"src1\", to = \"dest1\", bytes = \"1 kB\" }]\n";
    for (keys, expected) in [("", 0), ("start = \"7 ms\"\n", 7 * MS)] {
        let text = scenario(&format!("{topology}{one}{keys}"));
        let graph = load(&text, &[]).graph().unwrap();
        let start = graph.flows[1].start;
        assert_eq!((start.from, start.to), (Duration(expected), Duration(expected)), "{keys}");
    }
}

/// A `[[flow]]` changes the flow that it names: its traffic stands in place of the transfers.
#[test]
fn a_flow_of_transfers_can_carry_something_else() {
    let text = scenario(
        "[topology]\nkind = \"n-source\"\nsources = 1\n[[group]]\nname = \"t\"\n\
         transfers = [{ at = \"1 ms\", from = \"src1\", to = \"dest1\", bytes = \"1 kB\" }]\n\
         [[flow]]\nname = \"t1\"\ntraffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }",
    );
    let graph = load(&text, &[]).graph().unwrap();
    assert!(matches!(*graph.flows[1].traffic, Traffic::Cbr(_)), "{:?}", graph.flows[1].traffic);
}

#[test]
fn files_that_cannot_be_used_are_errors_with_their_line() {
    let toml = scenario(SIZES);
    for (number, (csv, expected)) in [
        ("1,0\n2,0.5\n3;1\n", "line 3: expected 2 columns, found 1"),
        ("1,0\n2,0.5,7\n", "line 2: expected 2 columns, found 3"),
        ("1 kB,half\n2,1\n", "line 1: expected a number, found \"1 kB\""),
        ("-x,share\n2,1\n", "line 1: expected a number, found \"-x\""),
        ("1,0\nbig,0.5\n", "line 2: expected a number, found \"big\""),
        ("1,0\n2,100 %\n", "line 2: expected a number, found \"100 %\": write 1"),
        ("1,0\n2,nan\n", "line 2: expected a number, found \"nan\""),
        ("bytes,share\n", "has no line with numbers"),
        ("bytes,share\nmore,names\n", "line 2: expected a number, found \"more\""),
        ("", "has no line with numbers"),
        ("5,0\n2,1\n", "traffic.size.points.1"),
        ("5,0\n6,0.9\n", "traffic.size.points"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = folder(&format!("wrong{number}"), &[("sizes.csv", csv), ("a.toml", &toml)]);
        let error = Scenario::load(folder.join("a.toml"), &[]).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("a.toml:10"), "{csv}: {error}");
    }
    let missing = Scenario::from_toml(&toml, "nowhere/a.toml", &[]).unwrap_err().to_string();
    assert!(missing.contains("traffic.size.points: \"nowhere/sizes.csv\": cannot be read"), "{missing}");
    let group = |keys: &str| {
        let topology = "[topology]\nkind = \"n-source\"\nsources = 1\n";
        let text = scenario(&format!("{topology}[[group]]\nname = \"t\"\n{keys}"));
        error(&text, &[])
    };
    let one = "transfers = [{ at = \"1 ms\", from = \"src1\", to = \"dest1\", bytes = \"1 kB\" }]\n";
    for (keys, expected) in [
        (format!("{one}from = \"src1\""), "group.0.from: the transfers say which hosts send"),
        (format!("{one}flows = 2"), "group.0.flows: the transfers say"),
        (format!("{one}senders = 1"), "group.0.senders: the transfers say which hosts send"),
        (
            one.replace("dest1", "dst1"),
            "group.0.transfers.0.to: unknown host \"dst1\"; did you mean \"dest1\"?",
        ),
        (one.replace("dest1", "switch1"), "group.0.transfers.0.to: unknown host \"switch1\""),
        (one.replace("dest1", "src1"), "a flow joins two different hosts"),
        (one.replace("1 kB", "0 B"), "group.0.transfers.0.bytes: expected 1 B to"),
        (
            one.replace("}]", "}, { at = \"0 ms\", from = \"src1\", to = \"dest1\", bytes = \"1 B\" }]"),
            "group.0.transfers.1.at: expected 1 ms to",
        ),
    ] {
        let error = group(&keys);
        assert!(error.contains(expected), "{keys}: {error}");
    }
}

/// The published distributions are there, with a source each.
#[test]
fn published_sizes_can_be_drawn_from() {
    let workloads = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/workloads");
    let mut count = 0;
    for file in fs::read_dir(&workloads).unwrap() {
        let path = file.unwrap().path();
        assert!(
            fs::read_to_string(&path).unwrap().starts_with("# Sizes of flows"),
            "{path:?} names its source"
        );
        let tables = SIZES.replace("sizes.csv", &path.display().to_string());
        load(&scenario(&tables), &[]);
        count += 1;
    }
    assert!(count >= 2);
}
