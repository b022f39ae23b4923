//! Arrivals at a rate that follows a Markov chain: the Markov-modulated Poisson process (Fischer and Meier-Hellstern 1993).

use celltrain_engine::{Time, random::Generator, time::NEVER};

/// A Markov-modulated Poisson process.
///
/// A state lasts for an exponentially distributed time, after which the chain is in one of the others, in each with the same
/// probability. While it is in a state, arrivals are a Poisson process. As that has no memory, the time to the next arrival is drawn
/// anew when the state changes.
#[derive(Debug)]
pub(crate) struct Mmpp {
    states: Vec<State>,
    /// The present state, and until when.
    state: usize,
    until: Time,
    /// When the run ends: what arrives later is not drawn.
    end: Time,
}

/// A state of the chain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    /// Mean distance of arrivals in picoseconds; none without arrivals.
    pub(crate) interval: Option<f64>,
    /// Mean time in the state.
    pub(crate) stay: Time,
}

impl Mmpp {
    /// A process that is stationary at `start`, in a run that ends at `end`.
    ///
    /// # Panics
    /// If there are less than two states.
    pub(crate) fn new(states: Vec<State>, [start, end]: [Time; 2], generator: &mut Generator) -> Self {
        assert!(states.len() >= 2, "a chain has two states or more");
        // The chain enters all states equally often: the share of time in one is in proportion to the time in it.
        let whole = states.iter().map(|state| u128::from(state.stay)).sum::<u128>();
        let mut place = (whole as f64 * generator.unit()) as u128;
        let begins = |state: &State| {
            let is_it = place < u128::from(state.stay);
            place = place.saturating_sub(u128::from(state.stay));
            is_it
        };
        let state = states.iter().position(begins).unwrap_or(states.len() - 1);
        // What is left of an exponentially distributed time is distributed as all of it.
        let until = start.saturating_add(exponential(states[state].stay as f64, generator));
        Self { states, state, until, end }
    }

    /// The arrival after `now`. If none comes before the end of the run, [`NEVER`] or a later time.
    pub(crate) fn after(&mut self, mut now: Time, generator: &mut Generator) -> Time {
        loop {
            if let Some(interval) = self.states[self.state].interval {
                let next = now.saturating_add(exponential(interval, generator));
                if next < self.until {
                    return next;
                }
            }
            if self.until > self.end {
                return NEVER;
            }
            now = self.until;
            self.change(generator);
        }
    }

    /// The chain leaves its state.
    fn change(&mut self, generator: &mut Generator) {
        let other = generator.below(self.states.len() as u64 - 1) as usize;
        self.state = other + usize::from(other >= self.state);
        let stay = exponential(self.states[self.state].stay as f64, generator).max(1);
        self.until = self.until.saturating_add(stay);
    }
}

/// An exponentially distributed time, rounded to picoseconds.
fn exponential(mean: f64, generator: &mut Generator) -> Time {
    (-libm::log(1.0 - generator.unit()) * mean + 0.5) as Time
}

#[cfg(test)]
mod tests {
    use celltrain_engine::{
        random::Randomness,
        time::{MICROSECOND, MILLISECOND, SECOND},
    };

    use super::*;
    use crate::scenario::MAX_DURATION;

    fn state(interval: Option<Time>, stay: Time) -> State {
        State { interval: interval.map(|interval| interval as f64), stay }
    }

    /// Numbers of arrivals in successive windows of `window` from the start.
    fn counts(states: &[State], window: Time, windows: usize, replication: u64) -> Vec<u64> {
        let mut generator = Randomness { seed: 1, replication }.named("mmpp");
        let (mut counts, mut now) = (vec![0; windows], 0);
        let mut process = Mmpp::new(states.to_vec(), [now, NEVER / 2], &mut generator);
        loop {
            now = process.after(now, &mut generator);
            match counts.get_mut((now / window) as usize) {
                Some(count) => *count += 1,
                None => return counts,
            }
        }
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Checks the mean of the values of ten replications: 4.781 is Student's t of nine degrees of freedom at 99.9 %.
    fn check(what: &str, values: &[f64], expected: f64, resolution: f64) {
        assert_eq!(values.len(), 10);
        let found = mean(values);
        let variance = values.iter().map(|value| (value - found) * (value - found)).sum::<f64>() / 9.0;
        let error = 4.781 * (variance / 10.0).sqrt();
        assert!((found - expected).abs() < error, "{what}: {found} ± {error}, expected {expected}");
        assert!(error < resolution * expected, "{what}: {found} ± {error} says little about {expected}");
    }

    /// The mean and the index of dispersion for counts of two states, which are left at the rates a and b and have arrivals at the
    /// rates x and y, in a window t: with s = a + b and the mean rate m = (x b + y a) / s,
    /// `I(t) = 1 + 2 a b (x − y)² / (s³ m) · (1 − (1 − e^(−s t)) / (s t))`
    /// (Heffes and Lucantoni 1986; Fischer and Meier-Hellstern 1993, section 3).
    #[test]
    fn counts_of_two_states_have_their_mean_and_dispersion() {
        let states =
            [state(Some(10 * MICROSECOND), MILLISECOND), state(Some(100 * MICROSECOND), 3 * MILLISECOND)];
        // In 1/ms.
        let [a, b, x, y] = [1.0, 1.0 / 3.0, 100.0, 10.0];
        let s = a + b;
        let m = (x * b + y * a) / s;
        for window in [MILLISECOND / 10, MILLISECOND, 8 * MILLISECOND] {
            let t = window as f64 / MILLISECOND as f64;
            let dispersion = 1.0
                + 2.0 * a * b * (x - y) * (x - y) / (s * s * s * m)
                    * (1.0 - (1.0 - libm::exp(-s * t)) / (s * t));
            let counts: Vec<Vec<f64>> = (0..10)
                .map(|replication| {
                    let counts = counts(&states, window, 20_000, replication);
                    counts.iter().map(|&count| count as f64).collect()
                })
                .collect();
            let means: Vec<_> = counts.iter().map(|counts| mean(counts)).collect();
            check("mean", &means, m * t, 0.1);
            // About the known mean, that of so few windows being a part of the variance.
            let indices: Vec<_> = counts
                .iter()
                .map(|counts| {
                    counts.iter().map(|count| (count - m * t) * (count - m * t)).sum::<f64>()
                        / counts.len() as f64
                        / (m * t)
                })
                .collect();
            check(&format!("dispersion in {t} ms"), &indices, dispersion, 0.1);
        }
    }

    /// Each of three states is entered equally often, so that the mean rate is Σ rate · time / Σ time.
    #[test]
    fn three_states_have_the_mean_of_their_times() {
        let states = [
            state(None, MILLISECOND),
            state(Some(50 * MICROSECOND), 2 * MILLISECOND),
            state(Some(5 * MICROSECOND), MILLISECOND / 2),
        ];
        let expected = (20.0 * 2.0 + 200.0 * 0.5) / 3.5;
        let rates: Vec<_> =
            (0..10).map(|replication| counts(&states, 10 * SECOND, 1, replication)[0] as f64 / 1e4).collect();
        check("arrivals a millisecond", &rates, expected, 0.05);
    }

    /// Stationary from the start: the mean number in a first window that is short against the states is that of every other.
    #[test]
    fn the_first_moment_is_as_any_other() {
        let states = [state(Some(MICROSECOND), SECOND), state(None, 3 * SECOND)];
        let busy =
            (0..4000).filter(|&replication| counts(&states, MILLISECOND, 1, replication)[0] > 0).count();
        // A quarter of them, within four standard deviations.
        assert!((890..=1110).contains(&busy), "{busy} of 4000");
    }

    /// A state in which nothing arrives, and in which the chain stays, does not hold up a run.
    #[test]
    fn silence_ends_with_time() {
        let states = vec![state(None, 1_000_000 * SECOND), state(Some(SECOND), MICROSECOND)];
        let mut generator = Randomness { seed: 1, replication: 0 }.named("mmpp");
        let mut process = Mmpp::new(states, [0, MAX_DURATION.ps()], &mut generator);
        assert_eq!(process.after(0, &mut generator), NEVER);
    }

    /// States that change very often, with an arrival in a million of them: only those of the run are gone through.
    #[test]
    fn no_state_behind_the_end_of_the_run_is_drawn() {
        let states = vec![state(Some(10 * SECOND), MICROSECOND), state(None, MICROSECOND)];
        let mut generator = Randomness { seed: 1, replication: 0 }.named("mmpp");
        let mut process = Mmpp::new(states, [0, MILLISECOND], &mut generator);
        assert_eq!(process.after(0, &mut generator), NEVER);
    }
}
