//! Tables of results: named columns with units.

use crate::measures::registry::Measure;

/// The values of a column. Equal numbers are the same ones, so that NaN, which stands for no value, equals itself.
#[derive(Debug, Clone)]
pub enum Column {
    /// Names.
    Text(Vec<String>),
    /// Counts.
    Count(Vec<u64>),
    /// Numbers.
    Number(Vec<f64>),
}

impl Column {
    /// A column of counts.
    pub(crate) fn counts(counts: impl ExactSizeIterator<Item = u64>) -> Self {
        Self::Count(written(vec![0; counts.len()], counts, |count| count == 0))
    }

    /// A column of numbers.
    pub(crate) fn numbers(numbers: impl ExactSizeIterator<Item = f64>) -> Self {
        Self::Number(written(vec![0.0; numbers.len()], numbers, |number| number.to_bits() == 0))
    }
}

/// Writes what is not zero into a row of zeros. Much of what is measured is zero nearly everywhere, and zeros that were never written take
/// no room in memory that is new: a large network has very many of them.
fn written<T: Copy>(mut row: Vec<T>, values: impl Iterator<Item = T>, is_zero: fn(T) -> bool) -> Vec<T> {
    for (place, value) in std::iter::zip(&mut row, values) {
        if !is_zero(value) {
            *place = value;
        }
    }
    row
}

impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Count(one), Self::Count(other)) => one == other,
            (Self::Number(one), Self::Number(other)) => {
                one.iter().map(|value| value.to_bits()).eq(other.iter().map(|value| value.to_bits()))
            }
            _ => false,
        }
    }
}

/// A table: columns of equal length with a name and a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    columns: Vec<(&'static str, &'static str, Column)>,
}

impl Table {
    /// A table of (name, unit, values).
    #[must_use]
    pub fn new(columns: Vec<(&'static str, &'static str, Column)>) -> Self {
        Self { columns }
    }

    /// A table whose columns are some measures, in their order and with their units.
    ///
    /// # Panics
    /// If the names of the columns are not those of the measures.
    #[must_use]
    pub fn of(measures: &[Measure], columns: Vec<(&'static str, Column)>) -> Self {
        assert_eq!(measures.len(), columns.len(), "a column for each measure");
        let column = |(measure, (name, values)): (&Measure, (&'static str, Column))| {
            assert_eq!(measure.name, name, "columns are in the order of the registry");
            (name, measure.unit, values)
        };
        Self { columns: std::iter::zip(measures, columns).map(column).collect() }
    }

    /// The same table with another unit for what is measured in `unit`.
    #[must_use]
    pub(crate) fn counted_in(mut self, unit: &'static str, other: &'static str) -> Self {
        self.columns.iter_mut().filter(|column| column.1 == unit).for_each(|column| column.1 = other);
        self
    }

    /// The same table with another unit for the column of this name.
    #[must_use]
    pub(crate) fn with_unit(mut self, name: &str, unit: &'static str) -> Self {
        self.columns.iter_mut().filter(|column| column.0 == name).for_each(|column| column.1 = unit);
        self
    }

    /// The columns as (name, unit, values).
    #[must_use]
    pub fn columns(&self) -> &[(&'static str, &'static str, Column)] {
        &self.columns
    }

    /// The counts of a column; empty if there is none of this name and kind.
    #[must_use]
    pub fn counts(&self, name: &str) -> &[u64] {
        match self.columns.iter().find(|column| column.0 == name) {
            Some((_, _, Column::Count(values))) => values,
            _ => &[],
        }
    }
}
