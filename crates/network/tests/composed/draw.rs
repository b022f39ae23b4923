//! Random choices, and quantities as scenario files write them.

use celltrain_engine::random::{Generator, Randomness};
use toml::{Table, Value};

/// Draws for one scenario.
pub(crate) struct Draw {
    /// The seed and the number of the scenario.
    key: (u64, u64),
    generator: Generator,
    /// How likely an optional feature is in this scenario: some have few, some nearly all.
    density: f64,
    /// Whether times may be so short that no run can end with them.
    extremes: bool,
    /// A round trip of this scenario in picoseconds, about: other times are drawn around it.
    pub(crate) scale: f64,
    /// The rate of its links in bit/s, about: other rates are drawn around it.
    pub(crate) rate: f64,
}

impl Draw {
    /// The draws of scenario number `index` under `seed`.
    pub(crate) fn new(seed: u64, index: u64, extremes: bool) -> Self {
        let generator = Randomness { seed, replication: index }.named("composed");
        let mut draw =
            Self { key: (seed, index), generator, density: 0.5, extremes, scale: 1e9, rate: 155.52e6 };
        draw.density = *draw.pick(&[0.15, 0.4, 0.7]);
        // A bus, a LAN, a city, a continent, a satellite.
        draw.scale = *draw.pick(&[2e6, 2e7, 2e8, 2e9, 2e10, 5e11]);
        draw.rate = draw.line_rate();
        draw
    }

    /// Draws of a generator, of a scenario that is there already.
    pub(crate) fn of(generator: Generator) -> Self {
        Self { key: (0, 0), generator, density: 0.5, extremes: false, scale: 1e9, rate: 155.52e6 }
    }

    /// Draws for another part of the same scenario, which leave those of the others as they are.
    pub(crate) fn beside(&self, part: &str) -> Self {
        let (seed, replication) = self.key;
        let generator = Randomness { seed, replication }.named(&format!("composed {part}"));
        Self { generator, ..*self }
    }

    /// A whole number from `low` to `high`.
    pub(crate) fn whole(&mut self, low: u64, high: u64) -> u64 {
        low + self.generator.below(high - low + 1)
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.generator.unit()
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.generator.unit() < probability
    }

    /// Whether this scenario has a feature.
    pub(crate) fn feature(&mut self) -> bool {
        self.chance(self.density)
    }

    pub(crate) fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.generator.below(values.len() as u64) as usize]
    }

    /// A number whose magnitude is evenly distributed.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        low * libm::pow(high / low, self.generator.unit())
    }

    /// A whole number of any magnitude from 1 to `high`.
    pub(crate) fn count(&mut self, high: u64) -> u64 {
        (self.magnitude(1.0, high as f64 + 1.0) as u64).clamp(1, high)
    }

    /// The rate of a line in bit/s: digital hierarchies, whose cell times are no whole numbers, and round ones.
    fn line_rate(&mut self) -> f64 {
        const RATES: [f64; 20] = [
            64e3, 1.544e6, 2.048e6, 10e6, 25.6e6, 34.368e6, 44.736e6, 100e6, 149.76e6, 155.52e6, 155.52e6,
            155.52e6, 353.2075e6, 424e6, 599.04e6, 622.08e6, 1e9, 2.48832e9, 9.95328e9, 42.4e9,
        ];
        *self.pick(&RATES)
    }

    /// A line's rate, mostly that of the scenario or a near one.
    pub(crate) fn bit_rate(&mut self) -> String {
        let rate = match self.whole(0, 9) {
            0..=4 => self.rate,
            5..=6 => self.rate * *self.pick(&[0.5, 0.25, 2.0, 4.0, 1.0 / 3.0, 1.25, 0.1, 10.0]),
            7 => self.rate * self.magnitude(0.02, 20.0),
            _ => self.line_rate().clamp(self.rate / 50.0, self.rate * 50.0),
        };
        bits_per_second(rate)
    }

    /// The rate of a source or a contract.
    pub(crate) fn source_rate(&mut self) -> String {
        let rate = self.rate * self.magnitude(0.005, 1.3);
        bits_per_second(rate)
    }

    /// A time around that of the scenario; seldom none, the shortest, or a long one.
    pub(crate) fn duration(&mut self) -> String {
        match self.whole(0, 999) {
            0..=49 => return "0 s".to_owned(),
            50..=51 if self.extremes => return "1 ps".to_owned(),
            52..=53 => return "1 s".to_owned(),
            _ => {}
        }
        let time = self.scale * self.magnitude(0.01, 20.0);
        picoseconds(time)
    }

    /// The delay of a link.
    pub(crate) fn delay(&mut self) -> String {
        match self.whole(0, 9) {
            0 => "0 s".to_owned(),
            1..=4 => picoseconds(self.scale / 6.0),
            5 => {
                let kilometres = self.scale / 6.0 / 5e6;
                format!("{kilometres:.3} km")
            }
            _ => {
                let time = self.scale * self.magnitude(0.001, 1.0);
                picoseconds(time)
            }
        }
    }

    /// When a flow starts: at once, at a time, or at a random one.
    pub(crate) fn start(&mut self) -> String {
        let (from, length) = (self.scale * self.unit(), self.scale * self.magnitude(0.01, 3.0));
        match self.whole(0, 3) {
            0 => "0 s".to_owned(),
            1 => picoseconds(from),
            2 => format!("0 s .. {}", picoseconds(length)),
            _ => format!("{} .. {}", picoseconds(from), picoseconds(from + length)),
        }
    }
}

/// A rate in whole bits a second.
pub(crate) fn bits_per_second(rate: f64) -> String {
    let bits = (rate as u64).clamp(1_000, 100_000_000_000_000);
    match bits {
        _ if bits.is_multiple_of(10_000) => format!("{} Mbit/s", bits as f64 / 1e6),
        _ => format!("{} kbit/s", bits as f64 / 1e3),
    }
}

/// A time in whole picoseconds, written in a unit that suits it. Times above a microsecond are mostly whole nanoseconds.
pub(crate) fn picoseconds(time: f64) -> String {
    match time as u64 {
        0 => "0 s".to_owned(),
        ps @ ..=99_999 => format!("{ps} ps"),
        ps @ ..=9_999_999 => format!("{} ns", ps / 10 * 10 / 1000),
        ps @ ..=9_999_999_999 => format!("{} us", (ps / 1000) as f64 / 1e3),
        ps => format!("{} ms", (ps / 1_000_000) as f64 / 1e3),
    }
}

/// Puts a value at a dotted path, making the tables on the way.
pub(crate) fn put<T: Into<Value>>(table: &mut Table, path: &str, value: T) {
    match path.split_once('.') {
        None => {
            table.insert(path.to_owned(), value.into());
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
            put(inner.as_table_mut().expect("a table on the way"), rest, value);
        }
    }
}

/// An array of tables.
pub(crate) fn tables(tables: Vec<Table>) -> Value {
    Value::Array(tables.into_iter().map(Value::Table).collect())
}
