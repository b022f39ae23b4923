//! Single links that differ from those of their place.

use std::collections::BTreeMap;

use super::{
    super::{
        check::one_link,
        error::{Problem, suggestion},
        spec::LinkException,
    },
    outline::{Outline, Place},
};

/// Applies `[[link-override]]`: what it says goes before what the link's place and `[link]` say.
pub(super) fn apply(exceptions: &[LinkException], outline: &mut Outline) -> Result<(), Problem> {
    if exceptions.is_empty() {
        return Ok(());
    }
    let nodes = &outline.nodes;
    let joins = |from: usize, to: usize| format!("{} > {}", nodes[from].name, nodes[to].name);
    let mut links: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, link) in outline.links.iter().enumerate() {
        links.entry(joins(link.from, link.to)).or_default().push(index);
    }
    let mut taken = BTreeMap::new();
    for (number, exception) in exceptions.iter().enumerate() {
        let key = format!("link-override.{number}");
        one_link(&format!("{key}.link"), &exception.link)?;
        if exception.link.delay.is_some_and(|delay| delay.from != delay.to) {
            let message = "one link has one delay: a range is for the links of a place";
            return Err(Problem::new(format!("{key}.link.delay"), message));
        }
        let found = named(&links, exception).ok_or_else(|| {
            let name = format!("{} > {}", exception.from, exception.to);
            let near = suggestion(&name, "links", links.keys().map(String::as_str));
            Problem::new(format!("{key}.from"), format!("there is no link \"{name}\"{near}"))
        })?;
        for &index in found {
            if let Some(other) = taken.insert(index, number) {
                let message = format!("this link has an override already, number {}", other + 1);
                return Err(Problem::new(format!("{key}.from"), message));
            }
            let link = &mut outline.links[index];
            link.link = exception.link.over(&link.link);
            link.place = Place::Override(number);
        }
    }
    Ok(())
}

/// The links between two nodes. Those that carry both directions have one name, in which either node may stand first.
fn named<'a>(links: &'a BTreeMap<String, Vec<usize>>, exception: &LinkException) -> Option<&'a Vec<usize>> {
    let LinkException { from, to, .. } = exception;
    links.get(&format!("{from} > {to}")).or_else(|| links.get(&format!("{to} > {from}")))
}
