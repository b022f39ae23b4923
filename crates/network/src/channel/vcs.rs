//! The VCs of a channel.

use super::Vc;

/// VCs by the numbers that they have behind the link. A channel to one of many processes has few of the VCs there, and the numbers
/// between theirs have no place.
#[derive(Debug, Default)]
pub(crate) struct Vcs {
    /// In ascending order.
    numbers: Vec<u32>,
    vcs: Vec<Vc>,
}

impl Vcs {
    /// Enters a VC under its number, mostly the largest so far.
    ///
    /// # Panics
    ///
    /// If a VC has that number.
    pub(crate) fn insert(&mut self, number: u32, vc: Vc) {
        let place = self.numbers.partition_point(|&other| other < number);
        assert_ne!(self.numbers.get(place), Some(&number), "each VC of a channel has a number of its own");
        self.numbers.insert(place, number);
        self.vcs.insert(place, vc);
    }

    /// Where the VC with that number stands: at its number where all have a place.
    #[inline]
    fn place(&self, number: u32) -> usize {
        if self.numbers.get(number as usize) == Some(&number) {
            return number as usize;
        }
        self.numbers.binary_search(&number).expect("the VCs of a channel were entered")
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &Vc {
        &self.vcs[self.place(number)]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> &mut Vc {
        let place = self.place(number);
        &mut self.vcs[place]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Vc> {
        self.vcs.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vcs_are_found_by_their_numbers() {
        for numbers in [&[0, 1, 2, 3][..], &[7], &[0, 1, 5, 90_000], &[40, 2, 3]] {
            let mut vcs = Vcs::default();
            for &number in numbers {
                vcs.insert(number, Vc { origin: Some(number as usize), ..Vc::default() });
            }
            assert!(numbers.iter().all(|&number| vcs.get(number).origin == Some(number as usize)));
            vcs.get_mut(numbers[0]).spray = Some(1);
            assert_eq!(vcs.iter().filter(|vc| vc.spray.is_some()).count(), 1);
            assert_eq!((vcs.get(numbers[0]).spray, vcs.vcs.len()), (Some(1), numbers.len()));
        }
    }
}
