//! Notes about ECN that has no effect.

use celltrain_network::scenario::Scenario;

const ON: &str = "tcp.ecn is on and no switch marks on the path";
const UNREAD: &str = "a switch would mark and no TCP answers marks";
const OF_ABR: &str = "tcp.ecn has no effect on a VC of ABR";

fn notes(tables: &str) -> Vec<String> {
    let text = format!(
        "schema = 1\nname = \"marks\"\nduration = \"10 ms\"\ntopology = {{ kind = \"n-source\", sources = 2 }}\n{tables}"
    );
    Scenario::from_toml(&text, "test.toml", &[]).unwrap().notes().unwrap()
}

/// Transports that ask for marks by their preset, and policies that mark without a key that says so.
#[test]
fn marks_without_an_answer_and_answers_without_marks_are_noted() {
    let plain = "";
    let (ecn, prague) = ("tcp.ecn = true", "tcp.stack = \"prague\"");
    for (policy, key, scheduler) in [
        ("epd", "", ""),
        ("red", "ecn = true", ""),
        ("codel", "ecn = true", ""),
        ("cobalt", "ecn = true", ""),
        ("fq-codel", "ecn = true", "scheduler.discipline = \"flow-queue\""),
        ("dualpi2", "", "scheduler.discipline = \"dual-queue\""),
        ("red", "", ""),
        ("codel", "", ""),
        ("cobalt", "", ""),
        ("fq-codel", "", "scheduler.discipline = \"flow-queue\""),
    ] {
        let told = !key.is_empty();
        let marks = policy == "dualpi2" || told;
        let switch = format!(
            "[switch]\nbuffer = \"100 packets\"\ndiscard = {{ policy = \"{policy}\", {policy} = {{ {key} }} }}\n{scheduler}"
        );
        for (tcp, expected) in [
            // DualPI2 marks one queue and drops from the other by intent.
            (plain, told.then_some(UNREAD)),
            (ecn, (!marks).then_some(ON)),
            (prague, (!marks).then_some(ON)),
        ] {
            let found = notes(&format!("link.framing = \"packets\"\n{tcp}\n{switch}"));
            assert_eq!(found.len(), usize::from(expected.is_some()), "{policy}, {key}, {tcp}: {found:?}");
            assert!(expected.is_none_or(|part| found[0].contains(part)), "{found:?}");
        }
    }
}

/// The sentence names the key of the policy that the bottleneck has, where `[switch]` or `[[port]]` sets it.
#[test]
fn the_policy_that_there_is_is_told_to_mark() {
    const CHOOSE: &str =
        "choose a policy that can mark and turn that on, as in switch.discard.red.ecn = true";
    let switch = |policy: &str| format!("switch.discard.policy = \"{policy}\"");
    let port = |to: &str, discard: &str| {
        format!("[[port]]\nfrom = \"switch1\"\nto = \"{to}\"\ndiscard = {{ {discard} }}")
    };
    let remedy = |tables: &str| {
        let found = notes(&format!("tcp.ecn = true\n{tables}"));
        assert!(found.len() == 1 && found[0].starts_with(ON), "{found:?}");
        found[0].split_once("it has no effect; ").expect("a remedy").1.to_owned()
    };
    for policy in
        ["epd", "selective-drop", "fba", "dynamic-threshold", "red", "codel", "cobalt", "pie", "script"]
    {
        let key = format!("switch.discard.{policy}.ecn = true");
        assert_eq!(remedy(&switch(policy)), format!("set {key}"));
        assert_eq!(notes(&format!("tcp.ecn = true\n{}\n{key}", switch(policy))), [""; 0], "{policy}");
    }
    for policy in ["tail-drop", "ppd", "espd", "double-epd"] {
        assert_eq!(remedy(&switch(policy)), CHOOSE);
    }
    let own = port("switch2", "policy = \"fba\"");
    assert_eq!(remedy(&format!("{}\n{own}", switch("ppd"))), "set port.0.discard.fba.ecn = true");
    let own = port("switch2", "policy = \"ppd\"");
    assert_eq!(remedy(&format!("{}\n{own}", switch("fba"))), CHOOSE);
    // A rule may ask whether a transport answers marks without marking.
    let capable = "policy = \"script\", script = { rule = \"capable || occupancy < 100\" }";
    assert_eq!(notes(&format!("tcp.ecn = true\nswitch.discard = {{ {capable} }}")), [""; 0]);
    // Told to mark, and never to: another value of `ecn` would not help.
    let never = "policy = \"pie\", pie = { ecn = true, mark-threshold = 0.0 }";
    assert_eq!(remedy(&format!("switch.discard = {{ {never} }}")), CHOOSE);
}

/// A policy that marks for nobody is one on the path that was told to.
#[test]
fn what_no_flow_crosses_is_not_told_to_mark() {
    let dual = "[switch]\nbuffer = \"100 packets\"\ndiscard.policy = \"dualpi2\"\nscheduler.discipline = \"dual-queue\"";
    let red = |from: &str, to: &str| {
        let own = "discard = { policy = \"red\", red = { ecn = true } }\nscheduler.discipline = \"fifo\"";
        format!("link.framing = \"packets\"\n{dual}\n[[port]]\nfrom = \"{from}\"\nto = \"{to}\"\n{own}")
    };
    assert_eq!(notes(&red("switch2", "switch1")), [""; 0]);
    let found = notes(&red("switch1", "switch2"));
    assert!(found.len() == 1 && found[0].contains(UNREAD), "{found:?}");
}

#[test]
fn what_counts_is_the_path_of_a_flow() {
    let red = "discard = { policy = \"red\", red = { ecn = true } }";
    let there = format!("tcp.ecn = true\n[[port]]\nfrom = \"switch1\"\nto = \"switch2\"\n{red}");
    assert_eq!(notes(&there), [""; 0]);
    // ACKs are not marked.
    let back = there.replace("from = \"switch1\"\nto = \"switch2\"", "from = \"switch2\"\nto = \"switch1\"");
    assert!(notes(&back)[0].starts_with(ON), "{:?}", notes(&back));
    assert_eq!(notes(&back.replace("tcp.ecn = true", "")), [""; 0]);
    // The flows leave by the ports to dest1 and dest2; one of them answers marks, the other one's port sets them.
    let elsewhere = format!(
        "flow = [{{ name = \"1\", tcp.ecn = true }}, {{ name = \"2\" }}]\n[[port]]\nfrom = \"switch2\"\nto = \"dest2\"\n{red}"
    );
    let found = notes(&elsewhere);
    assert!(found.len() == 1 && found[0].contains("on the path of flow \"1\""), "{found:?}");
}

/// The EFCI bit of an ABR VC is that of rate control.
#[test]
fn frames_of_abr_are_not_marked() {
    let abr = "vc.category = \"abr\"\nswitch.allocator.algorithm = \"erica\"";
    let red = "switch.discard = { policy = \"red\", red = { ecn = true } }";
    let found = notes(&format!("{abr}\n{red}"));
    assert!(found.len() == 1 && found[0].contains("frames of ABR are not marked"), "{found:?}");
    let found = notes(&format!("tcp.ecn = true\n{abr}\n{red}"));
    assert!(found.len() == 2 && found[0].contains(OF_ABR), "{found:?}");
    assert!(found[1].contains("frames of ABR are not marked"), "{found:?}");
    assert_eq!(notes(abr), [""; 0]);
    let bare = "traffic = { kind = \"cbr\", rate = \"1 Mbit/s\" }";
    let found = notes(&format!("{bare}\n{red}"));
    assert!(found.len() == 1 && found[0].contains("no traffic answers marks"), "{found:?}");
}

/// An ECN field is one of packets. What does not respond to marks may carry it.
#[test]
fn packets_without_tcp_have_an_ecn_field() {
    let red = "[switch]\nbuffer = \"100 packets\"\ndiscard = { policy = \"red\", red = { ecn = true } }";
    let source = |more: &str| {
        format!(
            "traffic = {{ kind = \"poisson\", rate = \"1 Mbit/s\"{more} }}\nlink.framing = \"packets\"\n{red}"
        )
    };
    let found = notes(&source(", packet = \"200 B\""));
    assert!(found.len() == 1 && found[0].contains("no traffic answers marks"), "{found:?}");
    for ecn in ["ect0", "ect1"] {
        assert_eq!(notes(&source(&format!(", packet = \"200 B\", ecn = \"{ecn}\""))), [""; 0]);
    }
    let refused = |tables: &str| {
        let text = format!(
            "schema = 1\nname = \"marks\"\nduration = \"10 ms\"\ntopology = {{ kind = \"n-source\", sources = 2 }}\n{tables}"
        );
        let scenario = Scenario::from_toml(&text, "test.toml", &[]);
        scenario.and_then(|scenario| scenario.graph()).expect_err(tables).to_string()
    };
    let cells = refused("traffic = { kind = \"cbr\", rate = \"1 Mbit/s\", ecn = \"ect1\" }");
    assert!(cells.contains("traffic.ecn") && cells.contains("give `packet`"), "{cells}");
    let abr = refused(
        "traffic = { kind = \"cbr\", rate = \"1 Mbit/s\", packet = \"200 B\", ecn = \"ect1\" }\nvc.category = \"abr\"",
    );
    assert!(abr.contains("is ABR") && abr.contains("leave `ecn`"), "{abr}");
}
