//! What happens to cells that arrive at a port: what concerns policies of frames, and what does not.

use crate::common::{run, value};

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
