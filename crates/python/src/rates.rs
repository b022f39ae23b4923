//! Max-min fair rates.

use celltrain_network::max_min::{Flow, max_min as share_all, max_min_above_minima as share_rest};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The max-min fair rate of each flow, in the unit of `capacities`. A route lists the numbers of the links that a flow
/// crosses; demands (`None`: whatever it gets), minimum rates and weights are given for all flows or for none. With
/// `above_minima` each flow gets its minimum, and what they leave is shared fairly.
///
/// Raises `ValueError` for a problem that has no answer.
#[pyfunction]
#[pyo3(signature = (capacities, routes, *, demands = None, minima = None, weights = None, above_minima = false))]
pub(crate) fn max_min(
    capacities: Vec<f64>,
    routes: Vec<Vec<usize>>,
    demands: Option<Vec<Option<f64>>>,
    minima: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    above_minima: bool,
) -> PyResult<Vec<f64>> {
    let count = routes.len();
    let demands = for_all("demands", demands, None, count)?;
    let minima = for_all("minima", minima, 0.0, count)?;
    let weights = for_all("weights", weights, 1.0, count)?;
    let rest = demands.into_iter().zip(minima).zip(weights);
    let flow = |(route, ((demand, minimum), weight))| Flow { route, minimum, demand, weight };
    let flows: Vec<_> = routes.into_iter().zip(rest).map(flow).collect();
    let solve = if above_minima { share_rest } else { share_all };
    solve(&capacities, &flows).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The values given for each of `count` flows, or `default` for all.
fn for_all<T: Clone>(name: &str, values: Option<Vec<T>>, default: T, count: usize) -> PyResult<Vec<T>> {
    let values = values.unwrap_or_else(|| vec![default; count]);
    if values.len() == count {
        return Ok(values);
    }
    let message = format!("{name}: expected a value for each of the {count} routes, found {}", values.len());
    Err(PyValueError::new_err(message))
}
