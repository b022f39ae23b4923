//! What is in the making, by number.

/// The drafts of some of very many numbers. They stand side by side, so that their room is given back as a whole.
pub(super) struct Drafts<T> {
    /// By number: the place of its draft, and one more; zero if there is none.
    places: Vec<u32>,
    drafts: Vec<Option<T>>,
}

impl<T> Drafts<T> {
    /// None yet, of so many numbers.
    pub(super) fn of(numbers: usize) -> Self {
        Self { places: vec![0; numbers], drafts: Vec::new() }
    }

    fn place(&self, number: usize) -> Option<usize> {
        (self.places[number] as usize).checked_sub(1)
    }

    /// That of a number, if there is one and it was not taken.
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        self.drafts[self.place(number)?].as_ref()
    }

    /// That of a number; `make` makes it when it is first asked for.
    pub(super) fn get_or_make(&mut self, number: usize, make: impl FnOnce() -> T) -> &mut T {
        let place = self.place(number).unwrap_or_else(|| {
            self.drafts.push(None);
            self.places[number] = u32::try_from(self.drafts.len()).expect("a network has fewer parts");
            self.drafts.len() - 1
        });
        self.drafts[place].get_or_insert_with(make)
    }

    /// Takes that of a number, if there is one.
    pub(super) fn take(&mut self, number: usize) -> Option<T> {
        let place = self.place(number)?;
        self.drafts[place].take()
    }

    /// All that there are and were not taken, in the order of their numbers.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, &T)> {
        (0..self.places.len()).filter_map(|number| Some((number, self.get(number)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_is_made_once_and_taken_once() {
        let mut drafts = Drafts::of(5);
        for (number, name) in [(3, "three"), (1, "one"), (3, "again")] {
            drafts.get_or_make(number, || name.to_owned()).push('!');
        }
        assert_eq!(drafts.all().collect::<Vec<_>>(), [(1, &"one!".to_owned()), (3, &"three!!".to_owned())]);
        assert_eq!(drafts.take(3), Some("three!!".to_owned()));
        assert_eq!((drafts.take(3), drafts.get(3), drafts.get(0)), (None, None, None));
        assert_eq!(drafts.all().count(), 1);
    }
}
