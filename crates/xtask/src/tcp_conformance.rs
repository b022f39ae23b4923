//! The page of rules that TCP follows, from the citations in its code.
//!
//! A citation is a comment on a line of its own, `// RFC 5681 §3.1: MUST …` where the rule is followed, and `// Not RFC 5681 §3.1:
//! SHOULD … (reason)` where it is not.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use crate::project::{read, root};

/// Where the code is, from the top of the project.
const SOURCES: &str = "crates/tcp/src";

const INTRODUCTION: &str = "\
# TCP and its standards

<!-- Written by `cargo xtask generate` from the citations in crates/tcp/src. -->

The rules that RFCs state with MUST, SHOULD, RECOMMENDED or MAY and that apply to a simulated sender or receiver, and where the code
follows them. Each line comes from a comment at that place; scripts that hold the code to them are in `tests/conformance/`. Presets
of published experiments switch some of them off: [the scenario reference](scenario.md) says what each key and preset does.

";

/// A rule, as cited.
struct Citation {
    section: String,
    rule: String,
    /// Whether the code follows it.
    followed: bool,
    /// File and function.
    place: String,
}

/// The page.
pub(crate) fn render() -> String {
    let mut by_rfc: BTreeMap<u32, Vec<Citation>> = BTreeMap::new();
    for path in sources(&root().join(SOURCES)).expect("the sources can be listed") {
        let name = path.strip_prefix(root().join(SOURCES)).expect("it lies there").display();
        let text = read(&path);
        let lines: Vec<_> = text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            if let Some((rfc, mut citation)) = parse(line.trim()) {
                citation.place = format!("`{name}`, `{}`", function(&lines[index..]).unwrap_or("the module"));
                by_rfc.entry(rfc).or_default().push(citation);
            }
        }
    }
    let mut page = INTRODUCTION.to_owned();
    for (rfc, mut citations) in by_rfc {
        citations.sort_by_key(|citation| numbers(&citation.section));
        page += &format!("## RFC {rfc}\n\n| Section | Rule | Followed | Where |\n|---|---|---|---|\n");
        for Citation { section, rule, followed, place } in citations {
            let followed = if followed { "yes" } else { "no" };
            page += &format!("| {section} | {} | {followed} | {place} |\n", rule.replace('|', "\\|"));
        }
        page += "\n";
    }
    page.trim_end().to_owned() + "\n"
}

/// All sources below a folder, in order.
fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// The citation that a line is, and of which RFC.
fn parse(line: &str) -> Option<(u32, Citation)> {
    let comment = line.strip_prefix("// ")?;
    let (followed, citation) = match comment.strip_prefix("Not RFC ") {
        Some(rest) => (false, rest),
        None => (true, comment.strip_prefix("RFC ")?),
    };
    let (rfc, rest) = citation.split_once(" §")?;
    let (section, rule) = rest.split_once(": ")?;
    let levels = ["MUST", "SHOULD", "RECOMMENDED", "MAY"];
    let leveled = levels.iter().any(|level| rule.starts_with(level));
    let citation =
        Citation { section: section.to_owned(), rule: rule.to_owned(), followed, place: String::new() };
    leveled.then_some((rfc.parse().ok()?, citation))
}

/// The name of the function that the lines come to first.
fn function<'a>(lines: &[&'a str]) -> Option<&'a str> {
    let name = lines.iter().find_map(|line| {
        let line = line.trim();
        (!line.starts_with("//")).then(|| line.split_once("fn ")).flatten()
    })?;
    name.1.split(['(', '<']).next()
}

/// A section as numbers, for sorting.
fn numbers(section: &str) -> Vec<u32> {
    section.split('.').filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_read() {
        let (rfc, citation) = parse("// Not RFC 5681 §3.10: SHOULD do (a reason)").expect("a citation");
        assert_eq!((rfc, citation.section.as_str(), citation.followed), (5681, "3.10", false));
        assert!(parse("// RFC 5681 §3.1 says so").is_none());
        assert!(parse("// RFC 5681 §3.1: it says so").is_none(), "without a level it is a remark");
        assert!(numbers("3.10") > numbers("3.9"));
        assert_eq!(function(&["// x fn no", "/// doc", "pub(crate) const fn read(&self)"]), Some("read"));
    }

    #[test]
    fn every_standard_has_its_rules() {
        let page = render();
        for rfc in [5681, 6298, 6582, 6675, 8985, 9438, 3168, 8257, 9406] {
            assert!(page.contains(&format!("## RFC {rfc}\n")), "RFC {rfc}");
        }
    }
}
