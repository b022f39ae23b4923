//! Tables of results: named columns with units.

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
