//! One run, and what happened in it since somebody last asked.

use celltrain_engine::{Time, time::MILLISECOND};
use celltrain_network::{live::Live, measures::registry, scenario::Scenario};
use serde_json::{Value, json};

use crate::{describe::describe, view::View};

/// The run that is loaded.
pub(crate) struct Lab {
    live: Live,
}

impl Lab {
    /// Loads what `input` asks for; returns its description too.
    pub(crate) fn load(input: &[u8]) -> Result<(Self, String), String> {
        let request: Value = serde_json::from_slice(input).map_err(|error| error.to_string())?;
        let text = |key: &str| request[key].as_str().unwrap_or_default();
        let overrides = overrides(&request["set"]);
        let scenario =
            Scenario::from_toml(text("toml"), text("name"), &overrides).map_err(|error| error.to_string())?;
        let seed = scenario.spec().seed;
        let live = Live::new(scenario, seed, 0).map_err(|error| error.to_string())?;
        let description = describe(&live).to_string();
        Ok((Self { live }, description))
    }

    /// Runs until `until`, with a sample every `period`.
    pub(crate) fn advance(&mut self, until: Time, period: Time) -> Vec<u8> {
        let mut view = View::default();
        let period = if period == 0 { MILLISECOND } else { period };
        let until = until.min(self.live.scenario().spec().duration.ps());
        let begin = self.live.now();
        while self.live.now() < until {
            let next = (self.live.now() / period + 1).saturating_mul(period);
            self.live.advance(next.min(until), &mut || false);
            view.discards(&self.live.drain_discards());
            view.reactions(&self.live.drain_reactions());
            if next <= until {
                view.sample(&mut self.live);
            }
        }
        view.completions(&self.live.completions(begin));
        view.pauses(&self.live.drain_pauses());
        view.finish(self.live.now())
    }

    /// Where everything is.
    pub(crate) fn look(&self) -> Vec<u8> {
        let mut view = View::default();
        view.rows(&self.live.rows());
        view.ports(&self.live.ports());
        view.flows(&self.live.flows());
        view.links(&self.live);
        view.paused(&self.live);
        view.finish(self.live.now())
    }

    /// The scenario as TOML.
    pub(crate) fn scenario(&self) -> String {
        self.live.scenario().to_toml()
    }

    /// Runs to the end and measures.
    pub(crate) fn finish(self) -> String {
        let result = self.live.finish(&mut || false).expect("nothing interrupts");
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let summary: Vec<_> = result
            .summary
            .iter()
            .map(|metric| {
                let title = title(metric.name);
                json!({"name": metric.name, "title": title, "value": number(metric.value), "unit": metric.unit})
            })
            .collect();
        let fingerprint = format!("{:016x}", result.fingerprint);
        json!({"fingerprint": fingerprint, "cell_hops": result.cell_hops, "summary": summary}).to_string()
    }
}

/// What people call a measure of the summary.
fn title(name: &str) -> &'static str {
    let measure = registry::RUN.iter().find(|measure| measure.name == name);
    measure.expect("what is in the summary is in the registry").title
}

/// Pairs of key and value.
fn overrides(set: &Value) -> Vec<(String, String)> {
    let pair = |pair: &Value| Some((pair[0].as_str()?.to_owned(), pair[1].as_str()?.to_owned()));
    set.as_array().into_iter().flatten().filter_map(pair).collect()
}
