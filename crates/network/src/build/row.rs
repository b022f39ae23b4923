//! A list in the making that mostly has one item.

use std::ops::Deref;

/// Grows as a vector does. An only item stands in its place: what very many drafts had elsewhere would leave holes between all that is
/// made of them.
#[derive(Debug)]
pub(super) enum Row<T> {
    AtMostOne(Option<T>),
    Several(Vec<T>),
}

impl<T> Default for Row<T> {
    fn default() -> Self {
        Self::AtMostOne(None)
    }
}

impl<T> Row<T> {
    pub(super) fn push(&mut self, item: T) {
        match self {
            Self::AtMostOne(only) => match only.take() {
                None => *only = Some(item),
                Some(first) => *self = Self::Several(vec![first, item]),
            },
            Self::Several(items) => items.push(item),
        }
    }
}

impl<T> Deref for Row<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Self::AtMostOne(only) => only.as_slice(),
            Self::Several(items) => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_are_in_it() {
        let mut row = Row::default();
        for number in 0..5 {
            assert_eq!(*row, *(0..number).collect::<Vec<_>>());
            row.push(number);
        }
    }
}
