//! Sources that send at recorded times.

use celltrain_network::{
    RunResult,
    scenario::{Scenario, Traffic},
};

use crate::common::{folder, load, read, run_plain};

fn scenario(traffic: &str) -> String {
    format!(
        "schema = 1\nname = \"recorded\"\nduration = \"2 ms\"\nwarm-up = \"0 s\"\n\
         topology = {{ kind = \"n-source\", sources = 1 }}\nlink = {{ rate = \"155.52 Mbit/s\", delay = \"10 us\" }}\n[traffic]\n{traffic}\n"
    )
}

fn run(traffic: &str) -> RunResult {
    run_plain(&scenario(traffic), &[])
}

/// A cell at 424 Mbit/s takes a microsecond, and so do 53 B of a packet.
#[test]
fn a_trace_of_a_constant_rate_is_that_source() {
    let times: Vec<_> = (0..2_000).map(|number| format!("\"{number} us\"")).collect();
    let gaps: Vec<_> = (0..2_000).map(|number| if number == 0 { "\"0 s\"" } else { "\"1 us\"" }).collect();
    for keys in ["", "frame = 3\n", "packet = \"53 B\"\n", "frame = 2\nstart = \"700 ns\"\n"] {
        let constant = run(&format!("kind = \"cbr\"\nrate = \"424 Mbit/s\"\n{keys}"));
        assert!(constant.flows.counts("cells_sent")[0] >= 1_999, "{keys}");
        for (name, list) in [("times", times.join(", ")), ("gaps", gaps.join(", "))] {
            let recorded = run(&format!("kind = \"trace\"\n{name} = [{list}]\n{keys}"));
            assert_eq!(recorded.fingerprint, constant.fingerprint, "{name}, {keys}");
        }
    }
}

/// Cells that are sent at once leave one after another, and behind the last the source is silent.
#[test]
fn several_cells_at_once_are_all_carried() {
    for (keys, sent, frames) in [
        ("times = [\"0 s\", \"0 s\", \"0 s\", \"1 ms\", \"1 ms\", \"3 ms\"]", 5, 5),
        ("gaps = [\"1 ms\", \"0 s\", \"0 s\"]\nframe = 2", 3, 1),
        ("times = [\"1 ms\", \"1 ms\"]\npacket = \"500 B\"", 2 * 11, 2),
    ] {
        let result = run(&format!("kind = \"trace\"\n{keys}"));
        assert_eq!(result.flows.counts("cells_sent")[0], sent, "{keys}");
        assert_eq!(result.flows.counts("frames_delivered")[0], frames, "{keys}");
    }
}

#[test]
fn times_come_from_a_file_beside_the_scenario() {
    let times = "time\n# of a capture\n0.0001\n\n200 us\n 0.0002\n";
    let traffic = |keys: &str| scenario(&format!("kind = \"trace\"\n{keys}"));
    let folder = folder(
        "cell_trace",
        &[
            ("times.csv", times),
            // With a byte order mark.
            ("gaps.csv", "\u{feff}0.0001\n100 us\n0\n"),
            ("times.toml", &traffic("times = \"times.csv\"")),
            ("gaps.toml", &traffic("gaps = \"gaps.csv\"")),
        ],
    );
    for file in ["times.toml", "gaps.toml"] {
        let scenario = Scenario::load(folder.join(file), &[]).unwrap();
        let Traffic::Trace(form) = &scenario.spec().traffic else { panic!("a trace") };
        let found: Vec<_> = form.arrivals().collect();
        assert_eq!(found, [100_000_000, 200_000_000, 200_000_000], "{file}");
        let resolved = load(&scenario.resolved_toml(), &[]);
        assert_eq!(resolved.spec().traffic, scenario.spec().traffic, "what is resolved needs no file");
    }
}

#[test]
fn faults_of_a_file_are_told_with_their_lines() {
    for (name, csv, expected) in [
        ("times", "time\n0.1\n# a comment\n0.05\n", "line 4: expected 100 ms or later"),
        (
            "times",
            "0.1\nsoon\n",
            "line 2: expected a time, in seconds or with a unit such as \"1 ms\", found \"soon\"",
        ),
        (
            "times",
            "-1\n",
            "line 1: expected a time, in seconds or with a unit such as \"1 ms\", found \"-1\"",
        ),
        ("times", "0.1\n2e-1\n5e-2\n", "line 3: expected 200 ms or later"),
        ("gaps", "1 us,53\n", "line 1: expected one column, found 2"),
        ("gaps", "gap\n", "has no line with numbers"),
        ("times", "time\nO.001\n0.002\n", "line 2: expected a time"),
        ("times", "time\nnan\n", "line 2: expected a time"),
    ] {
        let text = scenario(&format!("kind = \"trace\"\n{name} = \"cells.csv\""));
        let folder = folder("cell_trace_faults", &[("cells.csv", csv), ("a.toml", &text)]);
        let error = Scenario::load(folder.join("a.toml"), &[]).unwrap_err().to_string();
        assert!(error.contains("cells.csv\"") && error.contains(expected), "{error}");
    }
}

#[test]
fn faults_of_a_list_are_told_by_their_keys() {
    for (keys, expected) in [
        ("times = [\"2 ms\", \"1 ms\"]", "traffic.times.1: expected 2 ms to"),
        ("times = [\"1 ms\"]\ngaps = [\"1 ms\"]", "traffic.gaps: give `times` or `gaps`, not both"),
        ("frame = 2", "traffic.times: give `times` or `gaps`"),
        ("times = []", "traffic.times: give `times` or `gaps`"),
        (
            "gaps = [\"600000 s\", \"600000 s\"]",
            "traffic.gaps.1: expected 600000 s to 1000000 s, found 1200000 s",
        ),
        (
            "times = [\"1 ms\"]\nframe = 2\npacket = \"100 B\"",
            "traffic.frame: a source sends packets or frames",
        ),
    ] {
        let text = scenario(&format!("kind = \"trace\"\n{keys}"));
        let error = read(&text, &[]).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn the_recorded_times_of_all_flows_are_bounded() {
    let gaps = "\"0 s\", ".repeat(100_000);
    let text =
        scenario(&format!("kind = \"trace\"\ngaps = [{gaps}]")).replace("sources = 1", "sources = 201");
    let error = load(&text, &[]).graph().unwrap_err().to_string();
    assert!(error.contains("traffic.gaps: the flows have more than 20000000 recorded times"), "{error}");
}
