//! Smaller scenarios that fail alike.

use toml::{Table, Value};

use crate::{
    draw::picoseconds,
    generate::{remove, text},
    invariants::{Failure, Outcome, look_for},
};

/// The most scenarios that are tried.
const TRIES: u32 = 250;

/// A scenario from which nothing can be left out without losing the failure of `kind`, or nearly, and what it shows.
/// `alive` is called before every try.
pub(crate) fn shrunk(start: &str, kind: &str, alive: &dyn Fn()) -> (String, Option<Failure>) {
    let mut table: Table = start.parse().expect("what ran is TOML");
    let mut tries = 0;
    let mut fails = |table: &Table| {
        tries += 1;
        alive();
        if tries > TRIES {
            return None;
        }
        match look_for(&text(table), kind) {
            Outcome::Ran { failures, .. } => failures.into_iter().find(|failure| failure.kind == kind),
            Outcome::Refused => None,
        }
    };
    let mut shown = None;
    // Short runs first: all tries after them are cheaper.
    loop {
        let mut candidate = table.clone();
        shorter_run(&mut candidate["duration"]);
        let Some(failure) = fails(&candidate) else { break };
        (table, shown) = (candidate, Some(failure));
    }
    loop {
        let mut shorter = false;
        let mut place = 0;
        loop {
            let paths = paths(&table);
            let Some(path) = paths.get(place) else { break };
            let mut candidate = table.clone();
            let path: Vec<_> = path.iter().map(String::as_str).collect();
            if remove(&mut candidate, &path)
                && let Some(failure) = fails(&candidate)
            {
                (table, shown, shorter) = (candidate, Some(failure), true);
            } else {
                place += 1;
            }
        }
        for path in self::paths(&table).into_iter().chain([vec!["duration".to_owned()]]) {
            let mut candidate = table.clone();
            let changed = at(&mut candidate, &path).is_some_and(|value| match path[..] {
                [ref key] if key == "duration" => shorter_run(value),
                _ => fewer(value),
            });
            if changed && let Some(failure) = fails(&candidate) {
                (table, shown, shorter) = (candidate, Some(failure), true);
            }
        }
        if !shorter {
            return (text(&table), shown);
        }
    }
}

/// The paths of all values, the largest parts first.
fn paths(table: &Table) -> Vec<Vec<String>> {
    fn add(value: &Value, path: &[String], paths: &mut Vec<Vec<String>>) {
        if !path.is_empty() {
            paths.push(path.to_vec());
        }
        let mut inner = |key: String, value: &Value| add(value, &[path, &[key]].concat(), paths);
        match value {
            Value::Table(table) => table.iter().for_each(|(key, value)| inner(key.clone(), value)),
            // From the end: what is removed does not move what is left to try.
            Value::Array(values) => {
                values.iter().enumerate().rev().for_each(|(index, value)| inner(index.to_string(), value));
            }
            _ => {}
        }
    }
    let mut paths = Vec::new();
    add(&Value::Table(table.clone()), &[], &mut paths);
    paths.retain(|path| !["schema", "name", "duration"].contains(&path[0].as_str()));
    paths.sort_by_key(Vec::len);
    paths
}

fn at<'a>(table: &'a mut Table, path: &[String]) -> Option<&'a mut Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(table.get_mut(first)?, |value, key| match value {
        Value::Table(table) => table.get_mut(key),
        Value::Array(values) => values.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Half of a whole number.
fn fewer(value: &mut Value) -> bool {
    match value {
        Value::Integer(number) if *number > 1 => {
            *number /= 2;
            true
        }
        _ => false,
    }
}

/// Half of a time.
fn shorter_run(value: &mut Value) -> bool {
    let Some(time) =
        value.as_str().and_then(|text| text.parse::<celltrain_engine::quantity::Duration>().ok())
    else {
        return false;
    };
    *value = Value::String(picoseconds(time.0 as f64 / 2.0));
    time.0 > 1
}
