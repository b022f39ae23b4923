//! Scenarios that differ in words only must give the same run.

use celltrain_atm::buffer::PolicyName;
use celltrain_network::RunResult;

use crate::common::{discarded, metric, names, row_text, run, value};

/// Everything a run says, with NaN equal to NaN.
fn everything(result: &RunResult) -> String {
    let tables = [&result.flows, &result.ports];
    let rows = tables.iter().flat_map(|table| names(table).into_iter().map(|name| row_text(table, name)));
    format!("{:x} {}", result.fingerprint, rows.collect::<Vec<_>>().join("\n"))
}

/// Everything that was counted, with the fingerprint. Times in the queue are left out: a port that stores its queue counts them
/// when a cell leaves, a plain FIFO when it comes. So is the largest occupancy, where arrivals in one picosecond may see a
/// cell more or less.
pub(crate) fn counts(result: &RunResult) -> String {
    let timed = |word: &&str| !["occupancy_", "delay_"].iter().any(|name| word.starts_with(name));
    everything(result).split(' ').filter(timed).collect::<Vec<_>>().join(" ")
}

/// A loaded parking lot behind buffers of `buffer`, under the discard tables `discard`.
fn parking_lot(buffer: &str, discard: &str) -> RunResult {
    run(&format!(
        "duration = \"60 ms\"\nwarm-up = \"5 ms\"\n[topology]\nkind = \"parking-lot\"\nswitches = 3\nsources = 2\n\
         [link]\ndelay = \"50 us\"\n[switch]\nbuffer = \"{buffer}\"\n[switch.discard]\n{discard}\n\
         [tcp]\nmss = \"500 B\"\nrto-min = \"10 ms\"\nrto-initial = \"10 ms\"\n[traffic]\nkind = \"greedy\"\n\
         start = \"0 ms .. 2 ms\"\n"
    ))
}

#[test]
fn policies_do_not_differ_where_nothing_is_lost() {
    // Default thresholds of a buffer of 2^32 cells lie far above anything a run can fill.
    let results = PolicyName::ALL.iter().map(|policy| {
        (policy.name(), parking_lot("4294967296 cells", &format!("policy = \"{}\"", policy.name())))
    });
    // The run without any limit is that of the others.
    let reference = parking_lot("unlimited", "policy = \"tail-drop\"");
    assert!(value(&reference.ports, "switch2 > switch3", "occupancy_max") > 100.0, "there is a queue");
    for (name, result) in results {
        assert_eq!(discarded(&result), 0.0, "{name}");
        assert_eq!(counts(&result), counts(&reference), "{name}");
    }
}

#[test]
fn thresholds_in_cells_serve_an_unlimited_buffer() {
    let reference = parking_lot("unlimited", "policy = \"ppd\"");
    for discard in [
        "policy = \"epd\"\nepd.threshold = \"1000000 cells\"",
        "policy = \"espd\"\nespd = { high = \"1000000 cells\", low = \"900000 cells\" }",
    ] {
        assert_eq!(everything(&parking_lot("unlimited", discard)), everything(&reference), "{discard}");
    }
}

#[test]
fn epd_with_its_threshold_at_the_buffer_is_ppd() {
    // At 100 % EPD refuses a frame exactly when its first cell finds the buffer full, which is where PPD loses it too.
    for marks in ["broken", "always", "never"] {
        let discard = |policy: &str, threshold: &str| {
            format!("policy = \"{policy}\"\n{policy} = {{ end-marks = \"{marks}\"{threshold} }}")
        };
        let ppd = parking_lot("60 cells", &discard("ppd", ""));
        let epd = parking_lot("60 cells", &discard("epd", ", threshold = \"100 %\""));
        assert!(discarded(&ppd) > 50.0, "{marks}");
        assert_eq!(everything(&epd), everything(&ppd), "{marks}");
        let early = parking_lot("60 cells", &discard("epd", ", threshold = \"90 %\""));
        assert_ne!(early.fingerprint, ppd.fingerprint, "a lower threshold is another policy");
    }
}

#[test]
fn the_original_espd_without_its_limits_is_espd() {
    let thresholds = "high = \"90 %\", low = \"60 %\"";
    let original = |more: &str| {
        parking_lot(
            "60 cells",
            &format!("policy = \"espd-original\"\nespd-original = {{ {thresholds}{more} }}"),
        )
    };
    let espd = parking_lot("60 cells", &format!("policy = \"espd\"\nespd = {{ {thresholds} }}"));
    assert!(discarded(&espd) > 100.0);
    assert_eq!(everything(&original("")), everything(&espd));
    assert_ne!(original(", red-limit = 1").fingerprint, espd.fingerprint, "a limit is noticed");
    assert_ne!(original(", drop-timer = \"100 us\"").fingerprint, espd.fingerprint, "a timer is noticed");
}

/// Flows that draw random numbers for their starts, cells, service times and ties; `extra` goes before them.
fn with_extra(extra: &str) -> RunResult {
    let hosts = ["a", "b", "c", "x", "y"].map(|name| format!("{{ name = \"{name}\", kind = \"host\" }}"));
    let links = ["a", "b", "c", "x", "y"].map(|name| format!("{{ from = \"{name}\", to = \"switch\" }}"));
    run(&format!(
        "duration = \"40 ms\"\ntie-break = \"random\"\n[topology]\nkind = \"graph\"\n\
         node = [{}, {{ name = \"switch\", kind = \"switch\" }}]\nlink = [{}]\n\
         [link]\nrate = \"25.6 Mbit/s\"\ndelay = \"20 us\"\n[switch]\nbuffer = \"50 cells\"\n\
         [host]\nip-rate = \"9000 packet/s\"\nip-spread = 0.5\n\
         [tcp]\nrto-min = \"5 ms\"\nrto-initial = \"5 ms\"\n{extra}\
         [[flow]]\nname = \"transfer\"\nfrom = \"a\"\nto = \"c\"\nstart = \"0 ms .. 5 ms\"\n\
         [[flow]]\nname = \"cells\"\nfrom = \"b\"\nto = \"c\"\n\
         traffic = {{ kind = \"poisson\", rate = \"20 Mbit/s\", frame = 4, start = \"0 ms .. 5 ms\" }}\n",
        hosts.join(", "),
        links.join(", "),
    ))
}

#[test]
fn a_source_elsewhere_shifts_nobody_s_random_numbers() {
    let alone = with_extra("");
    let extra = "[[flow]]\nname = \"extra\"\nfrom = \"x\"\nto = \"y\"\n\
        traffic = { kind = \"on-off\", peak = \"20 Mbit/s\", on = \"1 ms\", off = \"1 ms\", \
        distribution = \"exponential\", start = \"0 ms .. 5 ms\" }\n";
    let together = with_extra(extra);
    assert!(value(&together.flows, "extra", "frames_delivered") > 100.0);
    assert!(discarded(&alone) > 100.0, "the flows meet in a full buffer");
    let both = [(&alone.flows, &together.flows), (&alone.ports, &together.ports)];
    for (before, after) in both {
        for name in names(before) {
            assert_eq!(row_text(after, name), row_text(before, name));
        }
    }
}

/// Turner (1996) counts what is useful of what arrives, whichever connection it is for. The second connection of a VC sends each of its two
/// segments three times, as its timer is shorter than the round trip; the first one sends its two once. All are equally long.
#[test]
fn the_efficiency_of_connections_that_share_a_vc_is_that_of_all_of_them() {
    let result = run("duration = \"400 ms\"\n[topology]\nkind = \"backbone\"\npairs = 1\nflows = 2\n\
         [link]\nrate = \"10 Mbit/s\"\ndelay = \"1 ms\"\n[switch]\nbuffer = \"unlimited\"\n\
         [tcp]\nstack = \"newreno\"\nmss = \"1460 B\"\nrto-min = \"1 ms\"\nrto-initial = \"5 ms\"\nrto-max = \"5 ms\"\n\
         delayed-ack = \"100 ms\"\n\
         [traffic]\nkind = \"bursty\"\nbytes = \"1460 B\"\nevery = \"200 ms\"\n\
         [[flow]]\nname = \"1\"\n\
         tcp = { delayed-ack = \"0 s\", rto-initial = \"100 ms\", rto-min = \"100 ms\", rto-max = \"1 s\" }\n");
    let of = |flow, column| value(&result.flows, flow, column);
    assert_eq!((of("1", "duplicates_received"), of("2", "duplicates_received")), (0.0, 4.0));
    assert_eq!((of("1", "segments_sent"), of("2", "segments_sent")), (2.0, 6.0));
    assert_eq!(metric(&result, "efficiency"), 0.5);
}
