//! ESPD where not the buffer but a limit of the VC, or the size of a packet, leaves no room.

use celltrain_atm::{
    Cell,
    buffer::{
        BufferPolicy, Occupancy, Reason, Snapshot, Verdict,
        espd::{self, Espd},
        espd_original::{self, EspdOriginal},
    },
};

use crate::model::{context, contracts};

const FULL: Verdict = Verdict::Discard(Reason::BufferFull);
const CAPTURED: Verdict = Verdict::Discard(Reason::VcCaptured);

/// What the policy, at a port of 100 cells, answers to the cells of VC 0 at these positions of frames of three, each with
/// the occupancy it finds and whether its VC is at its limit.
fn answers<P: BufferPolicy<Needs = Occupancy>>(
    params: &P::Params,
    cells: &[(u16, u64, bool)],
) -> Vec<Verdict> {
    let contracts = contracts(1);
    let mut policy = P::new(params, &context(100, &contracts)).unwrap();
    let answer = |&(position, occupancy, limited): &(u16, u64, bool)| {
        let port = Snapshot { limited, ..Snapshot::of(100, &[occupancy]) };
        let cell = Cell { position, length: 3, ..Cell::default() };
        policy.on_arrival(&cell, &port.view(position == 0), 0)
    };
    cells.iter().map(answer).collect()
}

/// "In case the buffer becomes full, we discard all incoming cells, make the status of corresponding VPI/VCI's red, and
/// keep discarding all subsequent cells as long as the status of VPI/VCI is red" (Cheon and Panwar, section 3.2). A VC
/// at its limit finds the buffer full, however little is in it.
#[test]
fn a_vc_that_finds_its_limit_reached_turns_red() {
    // Within a frame, at its first cell, at the end mark of a green VC and at that of a red one. It is released by an end
    // mark that finds room below the low threshold of 90 cells.
    let inner =
        [(0, 10, false), (1, 10, true), (2, 10, true), (0, 10, false), (2, 10, false), (0, 10, false)];
    let first = [(0, 10, true), (1, 10, false), (2, 10, false), (0, 10, false)];
    let last = [(0, 10, false), (1, 10, false), (2, 10, true), (0, 10, false)];
    let expected = [
        vec![Verdict::Accept, FULL, FULL, CAPTURED, Verdict::Accept, Verdict::Accept],
        vec![FULL, CAPTURED, Verdict::Accept, Verdict::Accept],
        vec![Verdict::Accept, Verdict::Accept, FULL, CAPTURED],
    ];
    for (cells, expected) in [&inner[..], &first, &last].into_iter().zip(expected) {
        assert_eq!(answers::<Espd>(&espd::Params::default(), cells), expected, "{cells:?}");
        let original = espd_original::Params::default();
        assert_eq!(answers::<EspdOriginal>(&original, cells), expected, "{cells:?}");
    }
}

/// A VC over the limit of red VCs loses the rest of its frame and no more.
#[test]
fn the_limit_of_red_vcs_holds_for_full_buffers_of_any_kind() {
    let contracts = contracts(2);
    let params = espd_original::Params { red_limit: Some(1), ..espd_original::Params::default() };
    let mut policy = EspdOriginal::new(&params, &context(100, &contracts)).unwrap();
    let mut answer = |vc, position, limited| {
        let port = Snapshot { limited, ..Snapshot::of(100, &[10, 10]) };
        policy.on_arrival(&Cell { vc, position, length: 3, ..Cell::default() }, &port.view(position == 0), 0)
    };
    assert_eq!([answer(0, 0, true), answer(1, 0, true)], [FULL, FULL]);
    assert_eq!([answer(0, 1, false), answer(1, 1, false)], [CAPTURED, Verdict::Discard(Reason::FrameBroken)]);
}
