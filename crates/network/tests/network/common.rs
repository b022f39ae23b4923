//! What the tests share: scenarios, runs of them, and single values out of what these say.

mod results;
mod runs;
mod scenarios;

pub(crate) use self::{
    results::{
        discarded, longest_round_trip, mean_and_error, metric, names, numbers, occupancies, of_flow,
        row_text, series, texts, total, value,
    },
    runs::{
        assert_same_in_any_order, live, replicate, run, run_as, run_plain, run_recorded, run_traced,
        shuffled, traced,
    },
    scenarios::{cases, error, folder, load, read, scenario, shipped},
};
