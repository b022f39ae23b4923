//! The policy that docs/how-to/add-a-discard-policy.md adds: it compiles, its tests pass, and the page shows it as it is here.

mod buffer;

// What it finds at the root of the crate that the page adds it to.
use celltrain_atm::{Cell, contract, quantity};

#[test]
fn the_page_shows_this_policy() {
    let page = include_str!("../../../../docs/how-to/add-a-discard-policy.md");
    let (policy, tests) = include_str!("buffer/hysteresis.rs").split_once("\n#[cfg(test)]").unwrap();
    for part in [policy.to_owned(), format!("#[cfg(test)]{tests}")] {
        assert!(page.contains(&format!("```rust\n{part}```")), "the page does not show\n{part}");
    }
}
