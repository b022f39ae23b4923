//! Contracts that make sense, and those that do not.

use celltrain_atm::{
    contract::{Category, Contract, Policing},
    policing::Policer,
    quantity::CellRate,
};
use celltrain_engine::quantity::{BitRate, Duration};

const LINE: BitRate = BitRate(155_520_000);

/// What is wrong with `contract`: the key and the message.
fn refused(contract: &Contract) -> (&'static str, String) {
    let error = contract.check(LINE).unwrap_err();
    (error.key, error.message)
}

fn mbit(rate: u64) -> Option<CellRate> {
    Some(CellRate(BitRate(rate * 1_000_000)))
}

#[test]
fn a_contract_without_guarantee_or_policing_makes_sense_and_needs_no_policer() {
    let contract = Contract::default();
    assert_eq!(contract.check(LINE), Ok(()));
    assert!(Policer::new(&contract, LINE).is_none());
}

#[test]
fn counts_are_at_least_one() {
    let none = [
        ("weight", Contract { weight: 0, ..Contract::default() }),
        ("mbs", Contract { mbs: 0, ..Contract::default() }),
        ("mfs", Contract { mfs: 0, ..Contract::default() }),
    ];
    for (key, contract) in none {
        assert_eq!(refused(&contract), (key, "expected 1 or more, found 0".to_owned()));
    }
}

#[test]
fn the_minimum_rate_is_not_above_the_peak_rate() {
    let contract = Contract { mcr: mbit(10), pcr: mbit(10), ..Contract::default() };
    assert_eq!(contract.check(LINE), Ok(()));
    let (key, message) = refused(&Contract { mcr: mbit(11), ..contract });
    assert_eq!(key, "mcr");
    assert_eq!(message, "the minimum cell rate (11 Mbit/s) is above the peak cell rate (10 Mbit/s)");
    let (key, message) = refused(&Contract { scr: mbit(11), pcr: mbit(10), ..Contract::default() });
    assert_eq!(key, "scr");
    assert_eq!(message, "the sustainable cell rate (11 Mbit/s) is above the peak cell rate (10 Mbit/s)");
    // Without a peak rate the line sets the limit.
    let (key, message) = refused(&Contract { mcr: mbit(156), ..Contract::default() });
    assert_eq!(key, "mcr");
    assert_eq!(message, "the minimum cell rate (156 Mbit/s) is above the rate of the line (155.52 Mbit/s)");
}

#[test]
fn rates_and_tolerances_stay_within_the_range_of_time() {
    let slow = Some(CellRate(BitRate(999)));
    assert_eq!(refused(&Contract { pcr: slow, ..Contract::default() }).0, "pcr");
    assert_eq!(refused(&Contract { mcr: slow, ..Contract::default() }).0, "mcr");
    let long = Duration(1_000_001_000_000_000_000);
    assert_eq!(refused(&Contract { cdvt_pcr: long, ..Contract::default() }).0, "cdvt-pcr");
    assert_eq!(refused(&Contract { cdvt_mcr: long, ..Contract::default() }).0, "cdvt-mcr");
    let burst = Contract { mcr: Some(CellRate(BitRate(1_000))), mbs: u32::MAX, ..Contract::default() };
    assert_eq!(refused(&burst).0, "mbs");
    assert_eq!(refused(&Contract { scr: burst.mcr, mcr: None, ..burst }).0, "mbs");
    assert_eq!(refused(&Contract { scr: slow, ..Contract::default() }).0, "scr");
}

#[test]
fn policing_by_frames_needs_a_minimum_rate() {
    for policing in [Policing::Tag, Policing::DiscardFrames] {
        assert_eq!(refused(&Contract { policing, ..Contract::default() }).0, "mcr");
        let contract = Contract { policing, mcr: mbit(1), ..Contract::default() };
        assert_eq!(contract.check(LINE), Ok(()));
        assert!(Policer::new(&contract, LINE).is_some());
    }
    let marked = Contract { clp: true, mcr: mbit(1), ..Contract::default() };
    assert_eq!(Contract { policing: Policing::Tag, ..marked.clone() }.check(LINE), Ok(()));
    assert_eq!(refused(&Contract { policing: Policing::DiscardFrames, ..marked }).0, "policing");
}

#[test]
fn tagging_cells_needs_a_sustainable_rate() {
    let contract = Contract { policing: Policing::TagCells, ..Contract::default() };
    assert_eq!(refused(&contract).0, "scr");
    assert_eq!(Contract { scr: mbit(1), ..contract }.check(LINE), Ok(()));
}

/// `[abr]` has the rates of an ABR VC, and a contract that repeats them is refused: an error that asks for one could not be mended, and
/// beyond the rate of the line, all that is left to police cells by, none ever comes.
#[test]
fn policing_is_refused_for_abr_and_asks_for_no_rate() {
    for policing in [Policing::Tag, Policing::DiscardFrames, Policing::TagCells, Policing::DiscardCells] {
        let abr = Contract { category: Category::Abr, policing, ..Contract::default() };
        let (key, message) = refused(&abr);
        assert_eq!(key, "policing");
        assert_eq!(
            message,
            "a VC of ABR is not policed: its source keeps to the rates that the network allows"
        );
    }
}
