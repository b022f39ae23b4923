//! The allocators beside ERICA: EFCI marking, EPRCA, CAPC.

use celltrain_atm::{
    abr::{
        AllocatorName, AllocatorParams, Port, PortState, Rate, RateAllocator, RateCoding, RmCell,
        capc::{self, Capc},
        efci::{self, Efci},
        eprca::{self, Eprca},
    },
    quantity::Level,
};
use celltrain_engine::time::MILLISECOND;

fn port() -> Port<'static> {
    Port { link: Rate::of_cells(100_000.0), capacity: 2000, minima: &[Some(Rate::ZERO); 4] }
}

/// The same port with VCs of other categories, to which no rate is allocated.
fn port_beside_others() -> Port<'static> {
    Port { minima: &[None, Some(Rate::ZERO), None, Some(Rate::ZERO)], ..port() }
}

fn queue(queue: u64) -> PortState {
    PortState { queue, priority_cells: 0 }
}

fn frm(ccr: f64) -> RmCell {
    RmCell::forward(Rate::of_cells(1e6), Rate::of_cells(ccr), Rate::ZERO, RateCoding::Exact)
}

/// ER and CI of a BRM whose source declared `ccr`, when the queue is `cells` long.
fn answer(allocator: &mut impl RateAllocator, ccr: f64, cells: u64) -> (f64, bool) {
    let mut rm = frm(ccr).turned();
    allocator.on_backward_rm(0, 0, &mut rm, &queue(cells));
    (rm.er().cells(), rm.ci())
}

#[test]
fn efci_marks_data_cells_with_hysteresis() {
    let params = efci::Params { high: Level::Cells(20), low: Level::Share(5_000) };
    let mut efci = Efci::new(&params, &port()).unwrap();
    let mut marks = |cells, is_rm| efci.on_cell(0, 0, is_rm, &queue(cells));
    assert!(!marks(20, false) && marks(21, false) && marks(10, false));
    assert!(!marks(21, true), "an RM cell has no EFCI mark");
    assert!(!marks(9, false) && !marks(20, false));
}

#[test]
fn eprca_holds_high_rates_below_the_mean_when_congested() {
    let mut eprca = Eprca::new(&eprca::Params::default(), &port()).unwrap();
    // The mean starts at a quarter of the link; one rate of 41000 moves it by a sixteenth of the way.
    eprca.on_forward_rm(0, 0, &mut frm(41_000.0), &queue(0));
    let mean = 26_000.0;
    assert_eq!(answer(&mut eprca, 50_000.0, 100), (1e6, false), "not congested");
    assert_eq!(answer(&mut eprca, 50_000.0, 101), (mean * 15.0 / 16.0, false));
    assert_eq!(answer(&mut eprca, mean * 7.0 / 8.0, 101), (1e6, false), "a low rate");
    assert_eq!(answer(&mut eprca, 1.0, 1001), (mean / 4.0, false), "everybody");
}

/// There are no initial values in the texts. An equal share is one of those that get a rate.
#[test]
fn rates_start_at_an_equal_share_of_those_under_rate_control() {
    let mut capc = Capc::new(&capc::Params::default(), &port_beside_others()).unwrap();
    assert_eq!(answer(&mut capc, 1.0, 0).0, 50_000.0);
    let mut eprca = Eprca::new(&eprca::Params::default(), &port_beside_others()).unwrap();
    assert_eq!(answer(&mut eprca, 50_000.0, 1001).0, 50_000.0 / 4.0, "the mean, by the major reduction");
}

#[test]
fn capc_moves_one_rate_in_proportion_to_the_load() {
    let mut capc = Capc::new(&capc::Params::default(), &port()).unwrap();
    assert_eq!(answer(&mut capc, 1.0, 50), (25_000.0, false));
    assert!(answer(&mut capc, 1.0, 51).1, "CI above the threshold");
    // A millisecond has room for 95 cells.
    let mut view = PortState::default();
    let mut interval = |number: u64, cells: u64, vbr: u64| {
        for _ in 0..cells {
            capc.on_cell((number - 1) * MILLISECOND, 0, false, &view);
        }
        view.priority_cells += vbr;
        assert_eq!(capc.next_interval(), number * MILLISECOND);
        capc.on_interval(number * MILLISECOND, &view);
        answer(&mut capc, 1.0, 0).0
    };
    let near =
        |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{found}, {expected}");
    near(interval(1, 19, 0), 25_000.0 * 1.08);
    near(interval(2, 114, 0), 27_000.0 * 0.84);
    near(interval(3, 0, 100), 22_680.0 * 0.5);
    let mut rate = 0.0;
    (4..100).for_each(|number| rate = interval(number, 0, 0));
    assert_eq!(rate, 100_000.0, "at most the link");
    (100..200).for_each(|number| rate = interval(number, 0, 100));
    assert_eq!(rate, 1.0, "but never so low that it could not rise again");
}

#[test]
fn the_registry_names_every_allocator() {
    let names: Vec<_> = AllocatorName::ALL.iter().map(|name| name.name()).collect();
    assert_eq!(names, ["erica", "erica-plus", "efci", "eprca", "capc"]);
    for &name in AllocatorName::ALL {
        let text = format!("algorithm = \"{}\"", name.name());
        assert_eq!(toml::from_str::<AllocatorParams>(&text).unwrap(), AllocatorParams::of(name));
        let info = name.info();
        assert!(!info.summary.is_empty() && !info.reference.is_empty() && info.name == name.name());
    }
    assert!(toml::from_str::<AllocatorParams>("algorithm = \"eric\"").is_err());
}

#[test]
fn parameters_outside_their_range_are_refused() {
    let params = efci::Params { high: Level::Cells(3000), ..efci::Params::default() };
    assert_eq!(Efci::new(&params, &port()).expect_err("above the queue").key, "high");
    let params = efci::Params { low: Level::Cells(301), ..efci::Params::default() };
    assert_eq!(Efci::new(&params, &port()).expect_err("above the other").key, "low");
    let params = eprca::Params { averaging: 1.5, ..eprca::Params::default() };
    assert_eq!(Eprca::new(&params, &port()).expect_err("above 1").key, "averaging");
    let params = capc::Params { most_up: 0.5, ..capc::Params::default() };
    assert_eq!(Capc::new(&params, &port()).expect_err("below 1").key, "most-up");
}
