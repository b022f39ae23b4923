//! Values for keys of scenario files, drawn from the JSON schema: what is registered, and what a table accepts, is asked of
//! the code and written nowhere again.

use celltrain_network::scenario::Scenario;
use serde_json::Value as Json;
use toml::{Table, Value};

use crate::{
    draw::{Draw, bits_per_second},
    rules,
};

/// The JSON schema of scenario files.
pub(crate) struct Schema(Json);

impl Schema {
    pub(crate) fn new() -> Self {
        Self(Scenario::schema())
    }

    /// The schema of the whole file.
    pub(crate) fn root(&self) -> &Json {
        &self.0
    }

    /// The schema of the value of a dotted key.
    pub(crate) fn at(&self, path: &str) -> &Json {
        path.split('.').fold(&self.0, |node, key| {
            let table = self.resolve(node).1;
            // The tables of an array are alike.
            let table = if table["items"].is_object() { self.resolve(&table["items"]).1 } else { table };
            let node = &table["properties"][key];
            assert!(!node.is_null(), "the schema has no key \"{path}\"");
            node
        })
    }

    /// Follows references: the name of the last of them, and what it stands for.
    pub(crate) fn resolve<'a>(&'a self, node: &'a Json) -> (&'a str, &'a Json) {
        let references = [&node["$ref"], &node["allOf"][0]["$ref"], &node["anyOf"][0]["$ref"]];
        let reference = references.iter().find_map(|reference| reference.as_str());
        let Some(reference) = reference else { return ("", node) };
        let name = reference.rsplit('/').next().expect("a reference has a name");
        (name, &self.0["definitions"][name])
    }

    /// The names that a key takes.
    pub(crate) fn names(&self, path: &str) -> Vec<&str> {
        self.names_of(self.at(path)).unwrap_or_else(|| panic!("\"{path}\" takes no names"))
    }

    /// The names that a value takes, if it takes any.
    pub(crate) fn names_of<'a>(&'a self, node: &'a Json) -> Option<Vec<&'a str>> {
        names(self.resolve(node).1)
    }

    /// The forms of a table with a `kind`, by that.
    pub(crate) fn forms(&self, path: &str) -> Vec<(&str, &Json)> {
        let forms = self.resolve(self.at(path)).1["oneOf"].as_array().expect("several forms");
        forms
            .iter()
            .map(|form| (form["properties"]["kind"]["const"].as_str().expect("a kind"), form))
            .collect()
    }

    /// A plug-in's table: `key` names it, and some of its own parameters are given.
    pub(crate) fn plug_in(&self, draw: &mut Draw, path: &str, key: &str) -> Table {
        let name = *draw.pick(&self.names(&format!("{path}.{key}")));
        let mut table = Table::new();
        table.insert(key.to_owned(), name.into());
        let parameters = self.table(draw, self.at(&format!("{path}.{name}")));
        if !parameters.is_empty() || draw.chance(0.1) {
            table.insert(name.to_owned(), parameters.into());
        }
        table
    }

    /// A table with some of its keys.
    pub(crate) fn table(&self, draw: &mut Draw, node: &Json) -> Table {
        let node = self.resolve(node).1;
        let required: Vec<_> = node["required"].as_array().into_iter().flatten().collect();
        let mut table = Table::new();
        let Some(properties) = node["properties"].as_object() else { return table };
        for (key, property) in properties {
            let needed = required.iter().any(|required| *required == key);
            if needed || draw.feature() {
                table.insert(key.clone(), self.value(draw, property));
            }
        }
        in_order(&mut table);
        table
    }

    /// Sometimes the value of one key of a table, else of several.
    pub(crate) fn one_or_some(&self, draw: &mut Draw, path: &str) -> Table {
        let node = self.resolve(self.at(path)).1;
        if draw.chance(0.5) {
            return self.table(draw, node);
        }
        let keys: Vec<_> = node["properties"].as_object().expect("a table").iter().collect();
        let (key, property) = *draw.pick(&keys);
        [(key.clone(), self.value(draw, property))].into_iter().collect()
    }

    /// A value of any kind.
    fn value(&self, draw: &mut Draw, node: &Json) -> Value {
        let (name, node) = self.resolve(node);
        if let Some(constant) = node["const"].as_str() {
            return constant.into();
        }
        if let Some(names) = names(node) {
            return (*draw.pick(&names)).into();
        }
        match node["type"].as_str() {
            Some("boolean") => draw.chance(0.5).into(),
            Some("integer") => integer(draw, node).into(),
            Some("number") => number(draw, node).into(),
            Some("string") => text(draw, name, node).into(),
            Some("object") => self.table(draw, node).into(),
            Some("array") => {
                let least = node["minItems"].as_u64().unwrap_or(1);
                let count = least + draw.whole(0, 2);
                (0..count).map(|_| self.value(draw, &node["items"])).collect::<Vec<_>>().into()
            }
            other => panic!("no values of type {other:?}: {node}"),
        }
    }
}

fn names(node: &Json) -> Option<Vec<&str>> {
    if let Some(names) = node["enum"].as_array() {
        return names.iter().map(Json::as_str).collect();
    }
    let forms = node["oneOf"].as_array()?;
    forms.iter().map(|form| form["const"].as_str()).collect()
}

fn integer(draw: &mut Draw, node: &Json) -> i64 {
    let low = node["minimum"].as_u64().unwrap_or(0).max(1);
    let high = node["maximum"].as_u64().unwrap_or(1 << 20);
    let value = match draw.whole(0, 9) {
        0 => low,
        1..=6 => low + draw.count((high - low).clamp(1, 40)) - 1,
        _ => low + draw.count((high - low).clamp(1, 3000)) - 1,
    };
    value.clamp(low, high) as i64
}

fn number(draw: &mut Draw, node: &Json) -> f64 {
    let low = node["minimum"].as_f64().unwrap_or(0.01);
    let high = node["maximum"].as_f64().unwrap_or(if low < 1.0 { 1.0 } else { 10.0 * low });
    let value = match draw.whole(0, 11) {
        0 => low,
        1 => high,
        _ => low + (high - low) * draw.unit(),
    };
    (value * 1000.0).round() / 1000.0
}

/// A string by the name of its type; where the type is a new one, the example that its schema gives.
fn text(draw: &mut Draw, name: &str, node: &Json) -> String {
    match name {
        "Duration" => draw.duration(),
        "Delay" => draw.delay(),
        "Start" => draw.start(),
        "BitRate" => draw.source_rate(),
        "CellRate" | "Rate" if draw.chance(0.3) => {
            let rate = draw.rate * draw.magnitude(0.005, 1.2) / 424.0;
            format!("{} cells/s", (rate as u64).max(3))
        }
        "CellRate" | "Rate" => draw.source_rate(),
        "PacketRate" => {
            let rate = draw.rate / 8000.0 * draw.magnitude(0.05, 10.0);
            format!("{} packet/s", (rate as u64).max(1))
        }
        "Bytes" => format!("{} B", draw.count(60_000)),
        "Level" => match draw.whole(0, 5) {
            0 => format!("{} cells", draw.count(200)),
            1 => "100 %".to_owned(),
            _ => format!("{} %", draw.whole(1, 1000) as f64 / 10.0),
        },
        "Capacity" => match draw.whole(0, 3) {
            0 => "unlimited".to_owned(),
            _ => format!("{} cells", draw.count(2000)),
        },
        "RuleText" if draw.chance(0.8) => rules::rule(draw),
        _ => {
            let examples: Vec<_> =
                node["examples"].as_array().into_iter().flatten().filter_map(Json::as_str).collect();
            match examples[..] {
                [] => panic!("no example of {name}: {node}"),
                [only] => only.to_owned(),
                _ => (*draw.pick(&examples)).to_owned(),
            }
        }
    }
}

/// Pairs of keys the first of which must not be above the second.
const ORDERED: [(&str, &str); 5] = [
    ("low", "high"),
    ("min", "max"),
    ("congested", "very-congested"),
    ("rto-min", "rto-max"),
    ("processing-spread", "processing-delay"),
];

/// Most values of a pair in the wrong order would be refused: they change places, and what has no partner goes.
fn in_order(table: &mut Table) {
    for (low, high) in ORDERED {
        match (table.get(low).cloned(), table.get(high).cloned()) {
            (Some(one), Some(other)) if size(&one) > size(&other) => {
                table.insert(low.to_owned(), other);
                table.insert(high.to_owned(), one);
            }
            (Some(_), None) if high == "processing-delay" => {
                table.remove(low);
            }
            _ => {}
        }
    }
    for (low, middle, high) in [("minimum", "mean", "maximum")] {
        let values: Option<Vec<_>> =
            [low, middle, high].iter().map(|&key| table.get(key).and_then(size)).collect();
        if let Some(mut values) = values {
            values.sort_by(f64::total_cmp);
            for (key, value) in std::iter::zip([low, middle, high], values) {
                table.insert(key.to_owned(), bits_per_second(value).into());
            }
        }
    }
}

/// A quantity's size in its smallest unit, to compare it with its like.
fn size(value: &Value) -> Option<f64> {
    let text = value.as_str()?;
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'))?;
    let number: f64 = text[..end].parse().ok()?;
    let scale = match text[end..].trim() {
        "s" => 1e12,
        "ms" => 1e9,
        "us" => 1e6,
        "ns" => 1e3,
        "kbit/s" => 1e3,
        "Mbit/s" => 1e6,
        _ => 1.0,
    };
    Some(number * scale)
}
