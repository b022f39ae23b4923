//! What happens to cells that arrive at a port: what concerns policies of frames, and what does not.

use crate::common::{metric, run, value};

/// A resource management cell belongs to no frame (TM 4.0, section 5.10): EPD, which refuses frames (Romanow and Floyd 1995), lets it
/// pass however full the buffer is, and the answer returns.
#[test]
fn a_policy_of_frames_has_no_say_about_rm_cells() {
    let result = run(
        "duration = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"10 us\"\n\
         trunk.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n[switch.discard]\npolicy = \"epd\"\n\
         epd.threshold = \"1 cells\"\n[vc]\ncategory = \"abr\"\n[abr]\nicr = \"60 Mbit/s\"\n\
         pcr = \"60 Mbit/s\"\nmcr = \"60 Mbit/s\"\nsource-buffer = \"100 cells\"\n\
         [traffic]\nkind = \"cbr\"\nrate = \"100 Mbit/s\"\nframe = 4\n",
    );
    assert!(value(&result.ports, "switch1 > switch2", "discarded_frame_refused") > 1000.0);
    for number in [1, 2] {
        let sent = value(&result.ports, &format!("src{number} > switch1"), "cells_arrived");
        let answered = value(&result.ports, &format!("dest{number} > switch2"), "cells_arrived");
        // One cell in 32 is one, the first among them; one or two are on their way at the end.
        let asked = (sent / 32.0).ceil();
        assert!((asked - 3.0..=asked).contains(&answered), "{asked} sent, {answered} answered");
    }
}

/// RM cells wait in the same queue as data and take as long on the link, so the delay that PIE keeps at its target is of all of them (RFC 8033
/// section 4.3). Here each fourth cell of two VCs that offer 20 Mbit/s to 10 Mbit/s is one; where queues are stored too.
#[test]
fn pie_counts_rm_cells_in_the_delay() {
    for vc_buffer in ["", "vc-buffer = \"19000 cells\"\n"] {
        let result = run(&format!(
            "duration = \"8 s\"\nwarm-up = \"4 s\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nrate = \"10 Mbit/s\"\n\
             access.rate = \"20 Mbit/s\"\n[switch]\nbuffer = \"20000 cells\"\n{vc_buffer}discard.policy = \"pie\"\n\
             [vc]\ncategory = \"abr\"\n[abr]\nnrm = 4\n[traffic]\nkind = \"cbr\"\nrate = \"10 Mbit/s\"\nframe = 32\n"
        ));
        let of_trunk = |column: &str| value(&result.ports, "switch1 > switch2", column);
        assert!(of_trunk("discarded_frame_refused") > 1000.0);
        // The target is 15 ms.
        assert!(of_trunk("delay_mean") < 0.018, "{} s", of_trunk("delay_mean"));
    }
}

/// A rule in the scenario reads the number of tagged cells in the buffer: it refuses frames while there are 20 or more.
#[test]
fn a_rule_is_told_how_many_tagged_cells_the_buffer_holds() {
    let refused = |rule: &str| {
        let result = run(&format!(
            "duration = \"100 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\ndelay = \"10 us\"\n\
             trunk.rate = \"100 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n[switch.discard]\npolicy = \"script\"\n\
             script = {{ rule = \"{rule}\", low = \"5 cells\", high = \"20 cells\" }}\n\
             [vc]\nmcr = \"10 Mbit/s\"\npolicing = \"tag\"\nmfs = 10\nmbs = 19\n\
             [traffic]\nkind = \"cbr\"\nrate = \"80 Mbit/s\"\nframe = 10\n"
        ));
        let of_trunk = |column: &str| value(&result.ports, "switch1 > switch2", column);
        assert!(of_trunk("cells_accepted_clp1") > 1000.0, "{rule}");
        of_trunk("discarded_frame_refused")
    };
    assert!(refused("low_priority_occupancy < high") > 1000.0, "160 Mbit/s on 100 Mbit/s");
    assert_eq!(refused("low_priority_occupancy >= 0"), 0.0);
}

/// ESPD lets the end marks of a captured VC pass, but a packet is no mere end mark: what finds the queue at the high threshold is refused.
#[test]
fn a_captured_vc_sends_no_packets() {
    for policy in ["espd", "espd-original"] {
        let result = run(&format!(
            "duration = \"500 ms\"\n[topology]\nkind = \"n-source\"\nsources = 4\n[link]\ndelay = \"1 ms\"\n\
             framing = \"packets\"\ntrunk.rate = \"20 Mbit/s\"\n[switch]\nbuffer = \"unlimited\"\n[switch.discard]\n\
             policy = \"{policy}\"\n{policy} = {{ low = \"10 packets\", high = \"20 packets\" }}\n[traffic]\nkind = \"greedy\"\n"
        ));
        let of_trunk = |column: &str| value(&result.ports, "switch1 > switch2", column);
        assert!(of_trunk("cells_discarded") > 10.0, "{policy}");
        assert!(of_trunk("occupancy_max") <= 20.0, "{policy}: {}", of_trunk("occupancy_max"));
    }
}

/// A VC at its own limit finds no more room if frames of other VCs go: none of these is pushed out for it. Where a policy saves the line from
/// broken frames, the frame that reaches the limit goes itself, unless it is being sent.
#[test]
fn a_vc_at_its_limit_pushes_no_other_out() {
    let mut broken = Vec::new();
    for policy in ["epd-push-out", "abs-push-out", "abs-push-out-hardware"] {
        let result = run(&format!(
            "duration = \"20 ms\"\n[topology]\nkind = \"n-source\"\nsources = 2\n[link]\nrate = \"622.08 Mbit/s\"\n\
             delay = \"10 us\"\ntrunk.rate = \"155.52 Mbit/s\"\n[switch]\nbuffer = \"1000 cells\"\nvc-buffer = \"41 cells\"\n\
             discard.policy = \"{policy}\"\n[vc]\nmfs = 4\n\
             [[flow]]\nname = \"1\"\nvc.mcr = \"100 Mbit/s\"\ntraffic = {{ kind = \"cbr\", rate = \"200 Mbit/s\", frame = 4 }}\n\
             [[flow]]\nname = \"2\"\nvc.mcr = \"1 Mbit/s\"\ntraffic = {{ kind = \"cbr\", rate = \"20 Mbit/s\", frame = 4 }}\n"
        ));
        assert!(value(&result.ports, "switch1 > switch2", "cells_discarded") > 1000.0, "{policy}");
        let of_flow = |flow: &str, column: &str| value(&result.flows, flow, column);
        assert_eq!(of_flow("2", "cells_discarded"), 0.0, "{policy}");
        broken.push(of_flow("1", "cells_useless"));
    }
    assert!(broken[0] > 500.0 && broken[1..].iter().all(|&cells| cells < 100.0), "{broken:?}");
}

/// Frames that come four times as fast as they leave, to an idle link: what finds room enters, and no more.
#[test]
fn a_fast_frame_fills_the_buffer_and_no_more() {
    for policy in ["tail-drop", "epd", "espd", "fba"] {
        let result = run(&format!(
            "duration = \"50 ms\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\nrate = \"622.08 Mbit/s\"\n\
             delay = \"10 us\"\ntrunk.rate = \"155.52 Mbit/s\"\n[switch]\nbuffer = \"10 cells\"\ndiscard.policy = \"{policy}\"\n\
             [traffic]\nkind = \"on-off\"\npeak = \"622.08 Mbit/s\"\non = \"20 us\"\noff = \"980 us\"\nframe = 29\n"
        ));
        let of_trunk = |column: &str| value(&result.ports, "switch1 > switch2", column);
        assert_eq!(of_trunk("occupancy_max"), 10.0, "{policy}");
        assert!(of_trunk("cells_discarded") > 200.0, "{policy}");
    }
}

/// Turner 1996: what arrives without its whole frame was carried in vain. A line of half the rate loses each second cell, nearly always the
/// last one of a frame among them, so that no frame ends at the host.
#[test]
fn cells_of_frames_that_never_end_count_against_the_efficiency() {
    let result = run(
        "duration = \"400 ms\"\n[topology]\nkind = \"n-source\"\nsources = 1\n[link]\ndelay = \"1 us\"\nrate = \"20 Mbit/s\"\n\
         trunk.rate = \"10 Mbit/s\"\n[switch]\nbuffer = \"50 cells\"\n[traffic]\nkind = \"cbr\"\nrate = \"20 Mbit/s\"\nframe = 4\n",
    );
    let [useful, useless] = ["cells_useful", "cells_useless"].map(|column| value(&result.flows, "1", column));
    let forwarded = value(&result.ports, "switch2 > dest1", "cells_forwarded");
    assert!((useful + useless - forwarded).abs() <= 4.0, "{useful} and {useless} of {forwarded}");
    let efficiency = metric(&result, "efficiency");
    assert!((efficiency - useful / forwarded).abs() < 0.001 && efficiency < 0.05, "{efficiency}");
}
