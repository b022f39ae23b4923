//! A scenario in several files, each of which extends the next, is the scenario.

use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
};

use celltrain_engine::random::Randomness;
use celltrain_network::scenario::Scenario;
use toml::{Table, Value};

use crate::{
    draw::Draw,
    generate::text,
    invariants::{Failure, Trial},
    panics::caught,
};

/// What the kinds of failures that are found here begin with.
pub(crate) const IN_FILES: &str = "in several files";

/// A folder that goes when it is done with.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicU64 = AtomicU64::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("celltrain-composed-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder for scenario files");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // It is of no further use, whether it can be removed or not.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Something else in place of a value, which what lies over it replaces.
fn replaced(value: &Value, draw: &mut Draw) -> Value {
    match (value, draw.whole(0, 3)) {
        (_, 0) => Value::from(draw.whole(0, 9) as i64),
        // A text in place of an array may be the path of a file.
        (value, 1) if !value.is_array() => Value::from("nonsense"),
        (Value::Table(_), 2) => Value::Array(Vec::new()),
        (_, 2) => Value::Array(vec![value.clone(), value.clone()]),
        // A table of another kind does not merge.
        (Value::Table(table), _) if table.contains_key("kind") => {
            let mut other = table.clone();
            other.insert("kind".to_owned(), "another".into());
            other.insert("what".to_owned(), 1.into());
            other.into()
        }
        _ => value.clone(),
    }
}

/// Shares the entries of a table out: what lies above, and what lies below.
fn shared_out(table: &Table, draw: &mut Draw) -> [Table; 2] {
    let (mut above, mut below) = (Table::new(), Table::new());
    // Tables of one kind merge only if none of them is told to be another.
    let merges = draw.chance(0.7);
    for (key, value) in table {
        match value {
            Value::Table(inner) if merges && !inner.is_empty() && draw.chance(0.7) => {
                let [upper, lower] = shared_out(inner, draw);
                // Where a part says nothing, it may stand there empty or not at all.
                for (part, inner) in [(&mut above, upper), (&mut below, lower)] {
                    if !inner.is_empty() || draw.chance(0.1) {
                        part.insert(key.clone(), Value::Table(inner));
                    }
                }
            }
            _ if draw.chance(0.5) => {
                above.insert(key.clone(), value.clone());
                // Of two tables that have a kind, and not the same one, the upper one replaces the other.
                if key != "kind" && draw.chance(0.3) {
                    below.insert(key.clone(), replaced(value, draw));
                }
            }
            _ => drop(below.insert(key.clone(), value.clone())),
        }
    }
    [above, below]
}

/// The complete scenario, in two files or three.
pub(crate) fn look_at_files(trial: &mut Trial) {
    let whole: Table = trial.scenario.to_toml().parse().expect("a scenario that was written out");
    let draw = &mut Draw::of(Randomness { seed: trial.scenario.spec().seed, replication: 0 }.named("files"));
    let [above, rest] = shared_out(&whole, draw);
    let mut layers = vec![above];
    if draw.chance(0.5) {
        layers.extend(shared_out(&rest, draw));
    } else {
        layers.push(rest);
    }
    let folder = Folder::new();
    // Files of different folders: what each extends is relative to it.
    let places: Vec<_> = (0..layers.len()).map(|number| folder.0.join(["a", "b", "c"][number])).collect();
    let last = layers.len() - 1;
    for (number, layer) in layers.iter_mut().enumerate() {
        if number < last {
            let base = format!("../{}/scenario.toml", ["a", "b", "c"][number + 1]);
            layer.insert("extends".to_owned(), base.into());
        }
        fs::create_dir_all(&places[number]).expect("a folder for a file");
        fs::write(places[number].join("scenario.toml"), text(layer)).expect("a scenario file");
    }
    let again = caught(|| Scenario::load(places[0].join("scenario.toml"), &[]));
    let same = again.map(|again| again.map(|again| again.spec() == trial.scenario.spec()));
    if !matches!(same, Ok(Ok(true))) {
        let files: Vec<_> = layers.iter().map(text).collect();
        trial.fail(Failure::new(IN_FILES, format!("{same:?}\n{}", files.join("\n---\n"))));
    }
}
