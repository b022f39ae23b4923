//! Tables of results: named columns with units.

use std::ops::Index;

use crate::measures::registry::Measure;

/// The values of a column. Equal numbers are the same ones, so that NaN, which stands for no value, equals itself.
#[derive(Debug, Clone)]
pub enum Column {
    /// Names.
    Text(Texts),
    /// Counts.
    Count(Vec<u64>),
    /// Numbers.
    Number(Vec<f64>),
}

impl Column {
    /// A column of texts.
    pub(crate) fn texts<T: AsRef<str>>(texts: impl Iterator<Item = T>) -> Self {
        Self::Text(texts.collect())
    }

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

/// The texts of a column, in one string: a large network has very many, and most are shorter than what a string of their own would take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    joined: String,
    /// Where each of them ends.
    ends: Vec<usize>,
}

impl Texts {
    /// Adds a text at the end.
    pub(crate) fn push(&mut self, text: &str) {
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
    }

    /// The texts, in the order of the rows.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        (0..self.ends.len()).map(|row| &self[row])
    }
}

impl Index<usize> for Texts {
    type Output = str;

    /// The text of a row.
    fn index(&self, row: usize) -> &str {
        let begin = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.joined[begin..self.ends[row]]
    }
}

impl<T: AsRef<str>> FromIterator<T> for Texts {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_that_were_put_in() {
        let rows = ["", "switch1 > switch2", "", "ü", "1"];
        let texts: Texts = rows.iter().collect();
        assert!(texts.iter().eq(rows));
        assert_eq!((&texts[1], &texts[2], texts.iter().len()), (rows[1], "", 5));
        assert_ne!(texts, ["", "switch1 > switch2", "ü", "", "1"].iter().collect());
        assert_eq!(Texts::default().iter().next(), None);
    }
}
