//! AAL5: the number of cells of a frame, and reassembly against its definition.

use celltrain_atm::{
    Cell,
    aal5::{Delivery, LLC_SNAP, Params, Reassembly, TRAILER},
    cell::Ecn,
};
use celltrain_engine::quantity::Bytes;
use proptest::prelude::*;

/// TCP and IP headers without options.
const HEADERS: u64 = 20 + 20;

fn cells(overhead: Bytes, octets: u64) -> u64 {
    Params { overhead }.cells(octets)
}

/// `cells = ceil((data + headers + overhead) / 48)`; RFC 2684 section 5.1 for LLC/SNAP, ITU-T I.363.5 for the trailer.
#[test]
fn segments_fill_the_cells_that_arithmetic_says() {
    let llc_snap = Bytes(TRAILER.0 + LLC_SNAP.0);
    // (data, options, cells): 512 + 40 + 16 = 568 = 11 × 48 + 40, and so on.
    for (data, options, expected) in [
        (0, 0, 2),      // a pure ACK: 56 octets
        (512, 0, 12),   // 568
        (512, 12, 13),  // 580: the timestamps of RFC 7323 cost a cell
        (1460, 0, 32),  // 1516
        (1500, 0, 33),  // 1556
        (2048, 0, 44),  // 2104
        (9140, 0, 192), // 9196: the default MTU of IP over ATM, 9180
    ] {
        assert_eq!(cells(llc_snap, data + options + HEADERS), expected, "{data} + {options}");
    }
    assert_eq!(cells(TRAILER, HEADERS), 1, "without LLC/SNAP an ACK fits one cell: 48 octets");
    assert_eq!(cells(TRAILER, HEADERS + 1), 2, "and not one octet more");
    // Cheon and Panwar, section 4: 14 octets of overhead make 12 cells of a 500-octet packet and 33 of 1500 octets.
    assert_eq!(cells(Bytes(14), 500 + HEADERS), 12);
    assert_eq!(cells(Bytes(14), 1500 + HEADERS), 33);
}

#[test]
fn the_default_is_trailer_and_llc_snap() {
    assert_eq!(Params::default().overhead, Bytes(16));
}

/// What reassembly should say of the cells that arrived, by the definition: cells are collected up to an end mark, and
/// they are a frame if they are exactly its cells.
fn by_definition(arrived: &[Cell]) -> Vec<Delivery> {
    let groups =
        arrived.split_inclusive(Cell::is_last).filter(|group| group.last().is_some_and(Cell::is_last));
    let delivery = |group: &[Cell]| {
        let last = group[group.len() - 1];
        let whole =
            group.len() == usize::from(last.length) && group.iter().all(|cell| cell.frame == last.frame);
        if whole { Delivery::Frame(last.frame) } else { Delivery::Corrupt(group.len() as u32) }
    };
    groups.map(delivery).collect()
}

/// Frames of the given lengths cell by cell, without the cells that are lost.
fn with_losses(lengths: &[u16], lost: &[bool]) -> Vec<Cell> {
    let frames = lengths.iter().zip(0..).flat_map(|(&length, frame)| {
        (0..length).map(move |position| Cell { vc: 0, frame, position, length, ..Cell::default() })
    });
    frames
        .zip(lost.iter().chain(std::iter::repeat(&false)))
        .filter(|(_, lost)| !**lost)
        .map(|(cell, _)| cell)
        .collect()
}

/// The number of cells that stand together in a frame from the first on, at most `most`.
fn together(cells: &[Cell], most: usize) -> usize {
    let follows = |pair: &[Cell]| pair[0].frame == pair[1].frame && pair[0].position + 1 == pair[1].position;
    cells.windows(2).take(most - 1).take_while(|pair| follows(pair)).count() + 1
}

fn reassemble(arrived: &[Cell], most: usize) -> Vec<Delivery> {
    let (mut reassembly, mut deliveries, mut rest) = (Reassembly::default(), Vec::new(), arrived);
    while let Some(head) = rest.first() {
        let count = together(rest, most);
        deliveries.extend(reassembly.on_cells(head, count as u32));
        rest = &rest[count..];
    }
    deliveries
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_frame_is_delivered_if_and_only_if_all_of_it_arrived_alone(
        lengths in prop::collection::vec(1u16..9, 1..30),
        lost in prop::collection::vec(prop::bool::weighted(0.1), 0..200),
        most in 1usize..9,
    ) {
        let arrived = with_losses(&lengths, &lost);
        prop_assert_eq!(reassemble(&arrived, most), by_definition(&arrived));
    }
}

#[test]
fn a_lost_end_mark_costs_two_frames() {
    // Three frames of three cells; the end mark of the first is lost: its two cells and the second frame are glued.
    let mut lost = [false; 9];
    lost[2] = true;
    let arrived = with_losses(&[3, 3, 3], &lost);
    assert_eq!(reassemble(&arrived, 1), [Delivery::Corrupt(5), Delivery::Frame(2)]);
    // Without a cell in the middle only its own frame is lost.
    let arrived = with_losses(&[3, 3, 3], &[false, true]);
    assert_eq!(reassemble(&arrived, 1), [Delivery::Corrupt(2), Delivery::Frame(1), Delivery::Frame(2)]);
}

/// Cells are of no use once one before them is missing, whether or not the end mark comes, on which AAL5 notices (I.363.5 section 6.1).
#[test]
fn cells_are_held_in_vain_once_one_is_missing() {
    let cell = |frame, position| Cell { frame, position, length: 4, ..Cell::default() };
    let held = |arrived: &[(u32, u16)]| {
        let mut reassembly = Reassembly::default();
        for &(frame, position) in arrived {
            reassembly.on_cells(&cell(frame, position), 1);
        }
        (reassembly.held(), reassembly.held_in_vain())
    };
    assert_eq!(held(&[]), (0, 0));
    assert_eq!(held(&[(0, 0), (0, 1), (0, 2)]), (3, 0));
    assert_eq!(held(&[(0, 0), (0, 2)]), (2, 2));
    assert_eq!(held(&[(0, 1)]), (1, 1));
    // The end of the first frame is lost; the second has as many cells as would come next in the first.
    assert_eq!(held(&[(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)]), (5, 5));
    assert_eq!(held(&[(0, 0), (1, 1)]), (2, 2));
    assert_eq!(held(&[(0, 0), (0, 2), (0, 3), (1, 0)]), (1, 0));
}

/// The mark of a frame is that of any of its cells, as a packet is marked if one of its fragments is (RFC 3168, section 5.3), and the
/// next frame begins without it.
#[test]
fn a_frame_is_marked_if_one_of_its_cells_is() {
    for marked_cell in [None, Some(0), Some(1), Some(2)] {
        let mut reassembly = Reassembly::default();
        for frame in [0, 1] {
            for position in 0..3 {
                let marked = frame == 0 && marked_cell == Some(position);
                let ecn = if marked { Ecn::Marked } else { Ecn::Capable };
                reassembly.on_cells(&Cell { frame, position, length: 3, ecn, ..Cell::default() }, 1);
            }
            assert_eq!(reassembly.marked(), frame == 0 && marked_cell.is_some(), "cell {marked_cell:?}");
        }
    }
}
