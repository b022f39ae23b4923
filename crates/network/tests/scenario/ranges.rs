//! Whole numbers of scenario files: what the schema allows is what is accepted, and what errors say.

use celltrain_network::scenario::Scenario;
use serde_json::Value as Json;

/// A key whose value is a whole number.
#[derive(Debug, Clone)]
struct Key {
    /// Elements of arrays are number 0.
    path: String,
    /// What has to be set before it.
    before: Vec<(String, String)>,
    least: i64,
    most: Option<i64>,
}

/// The whole numbers below `path`, where the schema says `part`. `before` is what has to be set for a file to have the key.
fn whole_numbers(schema: &Json, part: &Json, path: &str, before: &[(String, String)], found: &mut Vec<Key>) {
    if let Some(reference) = part["$ref"].as_str() {
        let part = schema.pointer(&reference[1..]).expect("references lead to definitions");
        whole_numbers(schema, part, path, before, found);
    }
    for of in ["allOf", "anyOf", "oneOf"] {
        for form in part[of].as_array().into_iter().flatten() {
            let mut before = before.to_vec();
            if let Some(kind) = form["properties"]["kind"]["const"].as_str() {
                before.push((path.to_owned(), form_of(schema, form, kind)));
            }
            whole_numbers(schema, form, path, &before, found);
        }
    }
    if part["items"].is_object() {
        whole_numbers(schema, &part["items"], &format!("{path}.0"), before, found);
    }
    for (key, value) in part["properties"].as_object().into_iter().flatten() {
        let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        let mut before = before.to_vec();
        for choice in ["policy", "discipline", "algorithm"] {
            if part["properties"][choice].is_object() && key != choice {
                before.push((format!("{path}.{choice}"), key.clone()));
            }
        }
        // What a key needs beside it.
        let needed = match &key[..] {
            "update-interval" => Some(("dynamic-threshold", "true")),
            "send-queue" => Some(("processing-delay", "1 ms")),
            "ecn-window-min" => Some(("ecn", "true")),
            _ => None,
        };
        before.extend(needed.map(|(other, value)| (format!("{path}.{other}"), value.to_owned())));
        if value["type"] == "integer" {
            let least = value["minimum"].as_i64().expect("whole numbers have a minimum");
            let most = value["maximum"].as_i64();
            found.push(Key { path: below.clone(), before: before.clone(), least, most });
        }
        // A sweep is read by the command of that name.
        if below != "sweep" {
            whole_numbers(schema, value, &below, &before, found);
        }
    }
}

/// A table of this kind with what it needs.
fn form_of(schema: &Json, form: &Json, kind: &str) -> String {
    let rest = match kind {
        "cbr" | "poisson" => "rate = '1 Mbit/s'".to_owned(),
        "bernoulli" => "peak = '1 Mbit/s', probability = 0.5".to_owned(),
        "on-off" => "peak = '1 Mbit/s', on = '1 ms', off = '1 ms'".to_owned(),
        "mmpp" => {
            "states = [{ rate = '1 Mbit/s', mean-time = '1 ms' }, { rate = '2 Mbit/s', mean-time = '1 ms' }]"
                .to_owned()
        }
        "long-range" => "rate = { minimum = '1 Mbit/s', mean = '2 Mbit/s', maximum = '3 Mbit/s' }".to_owned(),
        "trace" => "times = ['1 ms']".to_owned(),
        "short-flows" => "size = { kind = 'fixed', bytes = '1 kB' }, load = 0.1".to_owned(),
        _ => {
            let required = form["required"].as_array().into_iter().flatten().filter_map(Json::as_str);
            let least =
                |key: &str| Some(format!("{key} = {}", property(schema, form, key)["minimum"].as_i64()?));
            required.filter_map(least).collect::<Vec<_>>().join(", ")
        }
    };
    let comma = if rest.is_empty() { "" } else { ", " };
    format!("{{ kind = '{kind}'{comma}{rest} }}")
}

/// What the schema says of a key of a form.
fn property<'a>(schema: &'a Json, form: &'a Json, key: &str) -> &'a Json {
    let reference = form["$ref"].as_str().and_then(|reference| schema.pointer(&reference[1..]));
    reference.map_or(&form["properties"][key], |table| &table["properties"][key])
}

impl Key {
    fn all() -> Vec<Self> {
        let (schema, mut found) = (Scenario::schema(), Vec::new());
        whole_numbers(&schema, &schema, "", &[], &mut found);
        found
    }

    /// What is wrong with the scenario in which the key has this value.
    fn error(&self, value: &str) -> Option<String> {
        let mut text = "schema = 1\nname = \"ranges\"\nduration = \"1 s\"\n".to_owned();
        if self.path.contains("abr.") || self.path.contains("allocator.") {
            text += "vc.category = \"abr\"\nswitch.allocator.algorithm = \"erica\"\n";
        }
        text += match self.path.split('.').next() {
            // A dumbbell's own hosts are as many as there are flows.
            Some("group") if self.path.ends_with(".senders") => {
                "topology = { kind = \"n-source\", sources = 2 }\n[[group]]\nname = \"a\"\nfrom = \"src*\"\nto = \"dest1\"\n"
            }
            Some("group") => "topology.kind = \"dumbbell\"\n[[group]]\nname = \"a\"\n",
            Some("flow") => "topology = { kind = \"n-source\", sources = 2 }\n[[flow]]\nname = \"1\"\n",
            Some("port") => {
                "topology = { kind = \"n-source\", sources = 2 }\n[[port]]\nfrom = \"switch1\"\nto = \"switch2\"\n"
            }
            Some("loss") => {
                "topology = { kind = \"n-source\", sources = 2 }\n[[loss]]\nflow = \"1\"\nsegment = 1\n"
            }
            _ => "topology = { kind = \"n-source\", sources = 2 }\n",
        };
        let mut pairs = self.before.clone();
        pairs.push((self.path.clone(), value.to_owned()));
        let scenario = Scenario::from_toml(&text, "test.toml", &pairs);
        scenario.and_then(|scenario| scenario.graph()).err().map(|error| error.to_string())
    }
}

#[test]
fn errors_about_whole_numbers_tell_what_the_schema_allows() {
    let keys = Key::all();
    assert!(keys.len() > 100, "{}", keys.len());
    for key in &keys {
        let Key { path, least, most, .. } = key;
        let range = match most {
            Some(most) if most == least => format!("the number {least}"),
            Some(most) => format!("a whole number from {least} to {most}"),
            None => format!("a whole number, {least} or more"),
        };
        for value in ["-2", "1.5", "true"] {
            let found = key.error(value).unwrap_or_else(|| panic!("{path} = {value} is accepted"));
            let expected = format!(": {path}: expected {range}, found {value}");
            assert!(found.ends_with(&expected), "found:    {found}\nexpected: {expected}");
        }
    }
}

#[test]
fn what_the_schema_allows_is_what_is_accepted() {
    let mut faults = Vec::new();
    for key in &Key::all() {
        let Key { path, least, most, .. } = key;
        faults.extend(key.error(&least.to_string()));
        let below = (*least > 0).then(|| least - 1);
        for beyond in below.into_iter().chain(most.and_then(|most| most.checked_add(1))) {
            match key.error(&beyond.to_string()) {
                Some(found) if found.contains(path) => {}
                other => faults.push(format!("{path} = {beyond}: {other:?}")),
            }
        }
    }
    assert_eq!(faults, [""; 0]);
}
