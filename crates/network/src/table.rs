//! Tables of results: named columns with units.

/// The values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Names.
    Text(Vec<String>),
    /// Counts.
    Count(Vec<u64>),
    /// Numbers.
    Number(Vec<f64>),
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
