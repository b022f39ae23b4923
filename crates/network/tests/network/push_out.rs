//! Push-out with tracking of the available buffer space lets whole frames through and no others, in networks of any shape:
//! wherever VCs come no faster than the line sends, and everywhere if a frame is admitted only if all of it has room.

use proptest::{prelude::*, sample::select};

use crate::common::{cases, run_plain, total};

/// Cells that reached a destination as parts of broken frames, and those of whole frames.
fn received(tables: &str) -> [u64; 2] {
    let text = format!("schema = 1\nname = \"push-out\"\nduration = \"20 ms\"\n{tables}");
    let result = run_plain(&text, &[]);
    ["cells_useless", "cells_useful"].map(|column| total(&result.flows, column))
}

fn topology() -> impl Strategy<Value = String> {
    let lot = (2u32..5, 1u32..4).prop_map(|(switches, sources)| {
        format!("kind = \"parking-lot\"\nswitches = {switches}\nsources = {sources}\n")
    });
    let pairs = (2u32..12).prop_map(|sources| format!("kind = \"n-source\"\nsources = {sources}\n"));
    let chain = (1u32..4, 1u32..4, 0u32..4).prop_map(|(trunks, long, cross)| {
        format!("kind = \"chain\"\ntrunks = {trunks}\nlong = {long}\ncross = {cross}\n")
    });
    let backbone = (2u32..6, 1u32..4)
        .prop_map(|(pairs, flows)| format!("kind = \"backbone\"\npairs = {pairs}\nflows = {flows}\n"));
    prop_oneof![lot, pairs, chain, backbone]
}

/// TCP and sources of bare cells, in frames of at most 16 cells, with and without a peak rate of their VCs.
fn traffic() -> impl Strategy<Value = String> {
    let vc = select(vec!["", "pcr = \"40 Mbit/s\"", "pcr = \"40 Mbit/s\"\nspacing = \"frames\""]);
    let tcp = select(vec![
        "stack = \"newreno\"\ndelayed-ack = \"0 s\"",
        "stack = \"reno\"",
        "stack = \"opnet-1998\"",
        "stack = \"sack\"\ninitial-window = 10",
    ]);
    let own = select(vec![
        "kind = \"greedy\"",
        "kind = \"bursty\", bytes = \"40 KiB\", every = \"3 ms\"",
        "kind = \"cbr\", rate = \"100 Mbit/s\", frame = 16",
        "kind = \"poisson\", rate = \"100 Mbit/s\", frame = 7",
    ]);
    // A backbone's flows share VCs, which takes TCP: the flow with traffic of its own is one of more.
    (vc, tcp, own).prop_map(|(vc, tcp, own)| {
        format!(
            "[vc]\nmcr = \"10 Mbit/s\"\nmfs = 16\n{vc}\n[tcp]\nmss = \"512 B\"\nrto-min = \"2 ms\"\n\
             rto-initial = \"2 ms\"\n{tcp}\n[[flow]]\nname = \"more\"\nfrom = \"src1\"\nto = \"dest1\"\n\
             traffic = {{ {own} }}\n"
        )
    })
}

/// Links of which no VC comes faster than the next line sends: none is faster than the access.
fn alike() -> impl Strategy<Value = (String, &'static str)> {
    let delays = select(vec!["500 ns", "20 us", "300 us"]);
    delays.prop_map(|delay| (format!("rate = \"155.52 Mbit/s\"\ndelay = \"{delay}\"\n"), "any-space"))
}

/// Links of all kinds.
fn mixed() -> impl Strategy<Value = (String, &'static str)> {
    let rates = || select(vec!["155.52 Mbit/s", "51.84 Mbit/s", "25.6 Mbit/s", "424 Mbit/s"]);
    (rates(), rates(), rates()).prop_map(|(access, trunk, exit)| {
        let link = format!(
            "access.rate = \"{access}\"\ntrunk.rate = \"{trunk}\"\nexit.rate = \"{exit}\"\ndelay = \"20 us\"\n"
        );
        (link, "whole-frame")
    })
}

fn network() -> impl Strategy<Value = String> {
    let links = prop_oneof![alike(), mixed()];
    let policy = (select(vec!["abs-push-out", "abs-push-out-hardware"]), 1u32..200);
    (topology(), links, policy, select(vec!["port-id", "random"]), traffic()).prop_map(
        |(topology, (link, admission), (policy, buffer), ties, traffic)| {
            format!(
                "tie-break = \"{ties}\"\n[topology]\n{topology}[link]\n{link}[switch]\nbuffer = \"{buffer} cells\"\n\
                 [switch.discard]\npolicy = \"{policy}\"\n{policy} = {{ admission = \"{admission}\" }}\n{traffic}"
            )
        },
    )
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn no_part_of_a_frame_leaves_a_switch_without_the_rest(tables in network()) {
        prop_assert_eq!(received(&tables)[0], 0, "{}", tables);
    }
}

/// What the property says is worth something: the other policies break frames in such a network.
#[test]
fn other_policies_break_frames_where_push_out_does_not() {
    let of_policy = |policy: &str| {
        received(&format!(
            "[topology]\nkind = \"n-source\"\nsources = 10\n[link]\ndelay = \"20 us\"\n[switch]\n\
             buffer = \"100 cells\"\n[switch.discard]\npolicy = \"{policy}\"\n[vc]\nmfs = 12\n[traffic]\n\
             kind = \"poisson\"\nrate = \"20 Mbit/s\"\nframe = 12\n"
        ))
    };
    for policy in ["tail-drop", "epd", "epd-push-out"] {
        let [broken, whole] = of_policy(policy);
        assert!(
            broken > 0 && whole > 1000,
            "{policy}: {broken} cells of broken frames, {whole} of whole ones"
        );
    }
    let [broken, whole] = of_policy("abs-push-out");
    assert!(broken == 0 && whole > 1000, "{broken} cells of broken frames, {whole} of whole ones");
}

/// A cell within a frame that finds the memory of its switch full pushes frames out, as it does where its port's own buffer is full: hardly a
/// frame is broken, where EPD breaks many.
#[test]
fn hardly_a_frame_breaks_in_a_shared_memory() {
    let broken = |policy: &str| {
        let [useless, useful] = received(&format!(
            "topology = {{ kind = \"n-source\", sources = 10 }}\nlink.delay = \"20 us\"\nvc.mfs = 12\n\
             traffic = {{ kind = \"poisson\", rate = \"20 Mbit/s\", frame = 12 }}\n\
             switch = {{ buffer = \"100 cells\", memory = {{ size = \"100 cells\", alpha = 1.0 }}, {policy} }}\n"
        ));
        useless as f64 / (useless + useful) as f64
    };
    let epd = broken("discard.policy = \"epd\"");
    assert!(epd > 0.2, "{epd}");
    let room = "discard = { policy = \"epd-push-out\", epd-push-out.until = \"room\" }";
    for policy in ["discard.policy = \"abs-push-out\"", "discard.policy = \"abs-push-out-hardware\"", room] {
        let found = broken(policy);
        assert!(found < 0.02, "{policy}: {found}, where EPD breaks {epd}");
    }
}
