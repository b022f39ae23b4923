//! Notes about contracts that cut every frame, that nothing acts on, and about buffers that hold less than a frame.

use celltrain_network::scenario::Scenario;

use crate::common::{self, delivered};

fn scenario(tables: &str) -> Scenario {
    let text = format!("schema = 1\nname = \"contracts\"\nduration = \"100 ms\"\n{tables}");
    Scenario::from_toml(&text, "test.toml", &[]).unwrap()
}

fn notes(tables: &str) -> Vec<String> {
    scenario(tables).notes().unwrap()
}

/// Frames of 32 cells that come one at a time. A policer that cuts one although nothing came for long cuts all of them.
#[test]
fn a_contract_that_cuts_every_frame_is_noted_and_no_other() {
    let mut cutting = 0;
    for policing in ["none", "tag", "discard-frames", "discard-cells", "tag-cells"] {
        for spacing in ["cells", "frames", "none"] {
            for limits in [
                "",
                "mfs = 30",
                "mfs = 31",
                "cdvt-pcr = \"1 ms\"",
                "cdvt-pcr = \"1.2 ms\"",
                "pcr = \"155.52 Mbit/s\"",
            ] {
                let pcr = if limits.starts_with("pcr") { "" } else { "pcr = \"10 Mbit/s\"\n" };
                let tables = format!(
                    "topology = {{ kind = \"n-source\", sources = 1 }}\nlink.delay = \"0.1 ms\"\nswitch.discard.policy = \"double-epd\"\n\
                     traffic = {{ kind = \"cbr\", packet = \"1500 B\", rate = \"1 Mbit/s\" }}\n\
                     [vc]\nmcr = \"5 Mbit/s\"\nscr = \"8 Mbit/s\"\n{pcr}policing = \"{policing}\"\nspacing = \"{spacing}\"\n{limits}\n"
                );
                let found = notes(&tables);
                let cut =
                    found.iter().any(|note| note.contains("cuts every full frame of flow \"1\", 32 cells"));
                let lost = delivered(&common::run(&scenario(&tables))) == 0;
                assert_eq!(cut, lost, "{tables}\n{found:?}");
                cutting += u32::from(cut);
            }
        }
    }
    assert!((10..80).contains(&cutting), "{cutting}");
}

/// What the note advises helps.
#[test]
fn what_cuts_frames_is_named_with_what_helps() {
    let of = |contract: &str| {
        format!(
            "topology = {{ kind = \"n-source\", sources = 3 }}\nswitch.discard.policy = \"double-epd\"\n[vc]\nmcr = \"5 Mbit/s\"\n\
             policing = \"tag\"\n{contract}\n"
        )
    };
    let cut = "vc.policing: the policer cuts every full frame of flow \"1\", 32 cells";
    let others = ", and the same holds for 2 other flows";
    assert_eq!(
        notes(&of("mfs = 20")),
        [format!("{cut}, as vc.mfs is 20: set vc.mfs = 32, or a smaller tcp.mss{others}")]
    );
    let early = of("pcr = \"10 Mbit/s\"\nspacing = \"none\"");
    // 31 times the time of a cell at 10 Mbit/s less that at 155.52 Mbit/s: 1229.9 us.
    let advice = "as its cells come at 155.52 Mbit/s and vc.pcr is 10 Mbit/s: set vc.spacing = \"cells\", or vc.cdvt-pcr = \"1.23 ms\" or more";
    assert_eq!(notes(&early), [format!("{cut}, {advice}{others}")]);
    assert_eq!(notes(&of("pcr = \"10 Mbit/s\"\nspacing = \"none\"\ncdvt-pcr = \"1.23 ms\"")), [""; 0]);
    assert_eq!(notes(&of("pcr = \"10 Mbit/s\"")), [""; 0]);
}

#[test]
fn priorities_and_minimum_rates_on_which_nothing_acts_are_noted() {
    let with = |switch: &str, contract: &str| {
        let network = "topology = { kind = \"n-source\", sources = 2 }";
        notes(&format!("{network}\n[switch]\n{switch}\n[vc]\n{contract}\n"))
    };
    let tagged = "mcr = \"5 Mbit/s\"\npolicing = \"tag\"";
    let unread = with("discard.policy = \"epd\"", tagged);
    assert_eq!(unread.len(), 1, "{unread:?}");
    assert!(
        unread[0].starts_with("vc.policing: no policy on the path of flow \"1\" looks at the priority (CLP)"),
        "{unread:?}"
    );
    assert!(with("discard.policy = \"epd\"", "clp = true")[0].starts_with("vc.clp: no policy"));
    for policy in ["double-epd", "per-vc", "wba", "dfba"] {
        assert_eq!(with(&format!("discard.policy = \"{policy}\""), tagged), [""; 0], "{policy}");
    }
    let rule =
        |rule: &str| with(&format!("discard = {{ policy = \"script\", script.rule = \"{rule}\" }}"), tagged);
    assert_eq!(rule("!low_priority || occupancy < low"), [""; 0]);
    assert_eq!(rule("occupancy < high").len(), 1);

    let rate = "mcr = \"5 Mbit/s\"";
    assert!(
        with("discard.policy = \"epd\"", rate)[0]
            .starts_with("vc.mcr: nothing on the path of flow \"1\" gives it this rate")
    );
    for switch in [
        "discard.policy = \"wba\"",
        "discard.policy = \"dfba\"",
        "discard.policy = \"abs-push-out\"",
        "discard.policy = \"epd-push-out\"",
        "scheduler = { discipline = \"wfq\", wfq.share = \"mcr\" }",
        "scheduler = { discipline = \"deficit-round-robin\", deficit-round-robin.share = \"mcr\" }",
    ] {
        assert_eq!(with(switch, rate), [""; 0], "{switch}");
    }
    // Weights are shares, too, but not of that rate; the source of an ABR VC knows its minimum.
    assert_eq!(with("scheduler.discipline = \"wfq\"", rate).len(), 1);
    assert_eq!(with("allocator.algorithm = \"erica\"", "category = \"abr\""), [""; 0]);
}

/// Two frames that come at once fill a buffer as fast as one of them comes.
#[test]
fn a_buffer_of_less_than_a_frame_is_noted_where_several_flows_meet() {
    let with = |sources: u32, buffer: &str, traffic: &str| {
        notes(&format!(
            "topology = {{ kind = \"n-source\", sources = {sources} }}\nswitch.buffer = \"{buffer}\"\n{traffic}\n"
        ))
    };
    let expected = "the buffer of the port \"switch1 > switch2\", 31 cells, holds less than a full frame of flow \"1\", 32 cells: where frames of \
        several flows come at once, they lose cells";
    assert_eq!(with(2, "31 cells", ""), [expected]);
    assert_eq!(with(2, "32 cells", ""), [""; 0]);
    assert_eq!(with(1, "31 cells", ""), [""; 0]);
    assert_eq!(with(2, "31 cells", "traffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }"), [""; 0]);
}
