//! The destination: congestion marks become CI, the newest FRM goes back, cells of its own are rare.

use celltrain_atm::abr::{Destination, Params, Rate, RateCoding, RmCell};
use celltrain_engine::time::MILLISECOND;

fn frm(ccr: f64) -> RmCell {
    RmCell::forward(Rate::of_cells(1000.0), Rate::of_cells(ccr), Rate::ZERO, RateCoding::Exact)
}

#[test]
fn the_mark_of_the_last_data_cell_goes_back_once() {
    let mut destination = Destination::new(&Params::default());
    assert!(!destination.has_brm() && destination.take_brm().is_none());
    let mut turn = |marks: &[bool]| {
        marks.iter().for_each(|&mark| destination.on_data(0, mark));
        destination.on_frm(&frm(1.0));
        destination.take_brm().expect("an FRM came")
    };
    assert!(!turn(&[]).ci());
    let back = turn(&[false, true]);
    assert!(back.ci() && back.is_backward() && !back.is_notification());
    assert!(!turn(&[]).ci(), "it has been said");
    assert!(!turn(&[true, false]).ci(), "only the last cell counts");
    assert!(!destination.has_brm());
}

#[test]
fn a_newer_frm_overwrites_one_that_waits_but_not_the_mark() {
    let mut destination = Destination::new(&Params::default());
    destination.on_data(0, true);
    destination.on_frm(&frm(1.0));
    destination.on_frm(&frm(2.0));
    let back = destination.take_brm().expect("an FRM came");
    assert!(back.ccr() == Rate::of_cells(2.0) && back.ci());
    assert_eq!((destination.overwritten(), destination.has_brm()), (1, false));
}

#[test]
fn cells_of_its_own_are_ten_a_second_at_most() {
    let mut destination = Destination::new(&Params { backward_notification: true, ..Params::default() });
    destination.on_data(0, false);
    assert!(!destination.has_brm());
    let mut made = Vec::new();
    for ms in 0..1000 {
        destination.on_data(ms * MILLISECOND, true);
        made.extend(destination.take_brm().map(|rm| (ms, rm.is_notification(), rm.ci())));
    }
    let expected: Vec<_> = (0..10).map(|tenth| (tenth * 100, true, true)).collect();
    assert_eq!(made, expected);
}
