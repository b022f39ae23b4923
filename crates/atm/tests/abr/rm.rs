//! The RM cell and its 16-bit rates.

use celltrain_atm::abr::{Choice, MAX, Params, Rate, RateCoding, RmCell, Source, Waiting, decode, encode};
use proptest::prelude::*;

#[test]
fn every_code_reads_as_the_rate_it_was_written_for() {
    let mut last = Rate::ZERO;
    for code in 1 << 14..1u16 << 15 {
        let rate = decode(code);
        assert_eq!(encode(rate), code);
        assert!(rate > last, "codes rise with rates");
        assert!(
            last == Rate::ZERO || rate.cells() / last.cells() <= 1.0 + 1.0 / 512.0,
            "{rate} after {last}"
        );
        last = rate;
    }
    assert_eq!((decode(1 << 14), last), (Rate::of_cells(1.0), MAX));
    // Without nz, the other bits mean nothing; the reserved bit never does.
    assert_eq!((decode(0x3fff), decode(0xffff)), (Rate::ZERO, MAX));
}

#[test]
fn rates_out_of_range_become_the_nearest_in_it() {
    assert_eq!((encode(Rate::ZERO), encode(Rate::of_cells(0.999))), (0, 0));
    assert_eq!(decode(encode(Rate::of_cells(1e12))), MAX);
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn coding_rounds_down_by_less_than_one_in_512(cells in 1.0..4_290_772_992.0) {
        let coded = RateCoding::Float.carry(Rate::of_cells(cells)).cells();
        prop_assert!(coded <= cells && cells - coded < cells / 512.0, "{} became {}", cells, coded);
    }

    #[test]
    fn rates_read_as_they_are_written(cells in 0.0..4_290_772_992.0) {
        let rate = Rate::of_cells(cells);
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
    }
}

#[test]
fn a_multiple_of_a_rate_is_a_rate() {
    let rate = Rate::of_cells(1000.0);
    for (factor, cells) in [(0.0, 0.0), (0.25, 250.0), (1.0, 1000.0), (1.5, 1500.0)] {
        assert_eq!(rate.times(factor), Rate::of_cells(cells));
    }
}

#[test]
#[should_panic(expected = "is not a rate")]
fn no_multiple_of_a_rate_is_below_zero() {
    let _ = Rate::of_cells(1000.0).times(-0.5);
}

#[test]
fn rates_are_read_in_cells_and_in_bits() {
    assert_eq!("155.52 Mbit/s".parse(), Ok(Rate::of_cells(155.52e6 / 424.0)));
    assert_eq!("353_207.55 cells/s".parse(), Ok(Rate::of_cells(353_207.55)));
    assert_eq!("3.5e5 cells/s".parse(), Ok(Rate::of_cells(350_000.0)));
    for text in ["", "5", "-1 cells/s", "1e3e3 cells/s", "inf cells/s", "nan cells/s", ". cells/s", "9 cells"]
    {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
    assert!("99999999999 cells/s".parse::<Rate>().unwrap_err().contains("above"));
}

#[test]
fn er_is_only_lowered_and_flags_are_only_set() {
    let rate = Rate::of_cells;
    let mut rm = RmCell::forward(rate(1001.0), rate(10.0), rate(1.0), RateCoding::Exact);
    rm.lower_er(rate(2000.0));
    assert_eq!(rm.er(), rate(1001.0));
    rm.lower_er(rate(600.5));
    rm.set_ci();
    rm.set_ni();
    let back = rm.turned();
    assert_eq!((back.er(), back.ccr(), back.mcr()), (rate(600.5), rate(10.0), rate(1.0)));
    assert!(!rm.is_backward() && back.is_backward() && !back.is_notification() && back.ci() && back.ni());
    let mut coded = RmCell::forward(rate(1025.0), rate(10.0), rate(1.0), RateCoding::Float);
    assert_eq!(coded.er(), rate(1024.0));
    coded.lower_er(rate(700.9));
    assert_eq!(coded.er(), rate(700.0));
}

#[test]
fn one_cell_in_nrm_of_a_saturated_source_is_an_rm_cell() {
    for nrm in [2, 32, 256] {
        let mut source =
            Source::new(&Params { nrm, ..Params::default() }, Rate::of_cells(366_792.0)).unwrap();
        let waiting = Waiting { data: true, brm: false };
        for cell in 0..u64::from(nrm) * 1000 {
            let choice = source.send(source.next_time(waiting), waiting);
            assert_eq!(matches!(choice, Choice::Frm(_)), cell % u64::from(nrm) == 0);
        }
        assert_eq!((source.stats().frms, source.stats().data), (1000, 1000 * (u64::from(nrm) - 1)));
    }
}
