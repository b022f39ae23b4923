//! What groups of flows are called in tables of results.

use super::spec::GroupSpec;

/// What the flows of no group are said to be in.
const NONE: &str = "no group";
/// What a group without a name is called, before its number.
const NUMBERED: &str = "group ";

/// The names of the `[[group]]`s, whose numbers follow those of the topology's own groups.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GroupNames {
    /// How many groups the topology has of its own.
    before: u32,
    names: Vec<String>,
}

impl GroupNames {
    pub(super) fn new(before: u32, groups: &[GroupSpec]) -> Self {
        Self { before, names: groups.iter().map(|group| group.name.clone()).collect() }
    }

    /// The number of the `[[group]]` at `index`.
    pub(super) fn number(&self, index: usize) -> u32 {
        self.before + index as u32 + 1
    }

    /// The name of group number `number`.
    #[must_use]
    pub fn name(&self, number: u32) -> String {
        let place = number.checked_sub(self.before + 1);
        match (place.and_then(|place| self.names.get(place as usize)), number) {
            (Some(name), _) => name.clone(),
            (None, 0) => NONE.to_owned(),
            (None, number) => format!("{NUMBERED}{number}"),
        }
    }
}

/// Whether a group without a name may be called so.
pub(super) fn stands_for_a_number(name: &str) -> bool {
    let number = name.strip_prefix(NUMBERED);
    name == NONE
        || number.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|one| one.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::{GroupNames, stands_for_a_number};

    #[test]
    fn groups_follow_those_of_the_topology() {
        let names = GroupNames { before: 2, names: vec!["10".into(), "1".into()] };
        let called: Vec<_> = (0..6).map(|number| names.name(number)).collect();
        assert_eq!(called, ["no group", "group 1", "group 2", "10", "1", "group 5"]);
    }

    #[test]
    fn names_that_stand_for_numbers_are_known() {
        for (name, expected) in [
            ("no group", true),
            ("group 12", true),
            ("group ", false),
            ("group 1a", false),
            ("groups", false),
            ("12", false),
        ] {
            assert_eq!(stands_for_a_number(name), expected, "{name}");
        }
    }
}
