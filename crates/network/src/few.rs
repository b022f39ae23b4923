//! A list that mostly has one item.

use std::ops::Deref;

/// A list that cannot grow. An only item stands in its place: a large network has very many of such lists, and a piece of memory of
/// their own would take more than what is in it.
#[derive(Debug)]
pub(crate) enum Few<T> {
    One(T),
    Others(Box<[T]>),
}

const _: () = assert!(size_of::<Few<usize>>() == size_of::<Box<[usize]>>());

impl<T> Deref for Few<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Others(items) => items,
        }
    }
}

impl<T> FromIterator<T> for Few<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut items = items.into_iter();
        let (first, second) = (items.next(), items.next());
        match (first, second) {
            (Some(only), None) => Self::One(only),
            (first, second) => Self::Others(first.into_iter().chain(second).chain(items).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_items_are_in_it() {
        for items in [&[][..], &[5], &[5, 7], &[5, 7, 9, 9]] {
            assert_eq!(*items.iter().copied().collect::<Few<usize>>(), *items);
        }
    }
}
