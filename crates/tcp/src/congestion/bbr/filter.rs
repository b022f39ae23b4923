//! The greatest value of a window.

use std::collections::VecDeque;

/// The greatest of the values of the last `length` units of a time that is counted in whole numbers. What has left the window
/// is dropped with the next value, so that the greatest is kept until there is news.
#[derive(Debug, Clone, Default)]
pub(super) struct WindowedMax {
    /// (time, value), with values that fall: each may yet be the greatest. At most one for each unit of time.
    candidates: VecDeque<(u64, u64)>,
}

impl WindowedMax {
    /// Takes `value` at `time`, and returns the greatest of those later than `time - length`.
    pub(super) fn update(&mut self, time: u64, value: u64, length: u64) -> u64 {
        while self.candidates.front().is_some_and(|&(at, _)| at + length <= time) {
            self.candidates.pop_front();
        }
        while self.candidates.back().is_some_and(|&(_, lower)| lower <= value) {
            self.candidates.pop_back();
        }
        if self.candidates.back().is_none_or(|&(at, _)| at < time) {
            self.candidates.push_back((time, value));
        }
        self.greatest()
    }

    /// The greatest of the window; 0 without a value.
    pub(super) fn greatest(&self) -> u64 {
        self.candidates.front().map_or(0, |&(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None, ..ProptestConfig::default()
        })]

        #[test]
        fn it_is_the_greatest_of_the_window(steps in prop::collection::vec((0u64..2, 0u64..50), 1..60), length in 1u64..6) {
            let (mut filter, mut all, mut now) = (WindowedMax::default(), Vec::new(), 0);
            for (pause, value) in steps {
                now += pause;
                all.push((now, value));
                let window = all.iter().filter(|(at, _)| at + length > now).map(|&(_, value)| value);
                prop_assert_eq!(filter.update(now, value, length), window.max().unwrap());
            }
        }
    }
}
