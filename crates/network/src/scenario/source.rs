//! Where a scenario comes from: a file, the files it extends, and overrides, laid over each other.

use std::path::{Path, PathBuf};

use super::{
    embed::{embed, embed_as},
    error::ScenarioError,
    file::read_text,
    inherit::inherit,
    read::read,
    spec::Spec,
    tree::{KIND, Node, Origin, Table, Value},
};

/// The longest chain of `extends`.
pub const MAX_EXTENDS: usize = 16;

/// The most parts of an override's key; the scenario's own keys have fewer.
const MAX_KEY_PARTS: usize = 16;
const EXTENDS: &str = "extends";
/// The table that makes a file a sweep as well. A scenario has no such key: `celltrain sweep` removes the table from the file that it runs.
const SWEEP: &str = "sweep";

/// The merged tables of a scenario and the names of the layers they came from.
#[derive(Debug, Clone)]
pub(super) struct Source {
    layers: Vec<Layer>,
    root: Node,
}

/// A file or an override.
#[derive(Debug, Clone)]
struct Layer {
    /// How errors call it.
    name: String,
    /// The folder that its paths start from.
    folder: PathBuf,
}

impl Source {
    /// Reads a file and what it extends.
    pub(super) fn load(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let text = read_text(path).map_err(|message| ScenarioError::new(&name, None, "", &message))?;
        Self::parse(&text, path)
    }

    /// Reads a text as if it were the file `path`, against which `extends` is resolved.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, ScenarioError> {
        let mut source = Self { layers: Vec::new(), root: Node::empty(Origin { layer: 0, line: None }) };
        source.root = source.layer(text, path, &mut vec![identity(path)])?;
        Ok(source)
    }

    /// Reads one layer and, below it, those it extends. `open` holds the files being read, to notice a cycle.
    fn layer(&mut self, text: &str, path: &Path, open: &mut Vec<PathBuf>) -> Result<Node, ScenarioError> {
        let number = self.layers.len();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        self.layers.push(Layer { name: path.display().to_string(), folder });
        let mut node = Node::parse(text, &self.layers[number].name, number)?;
        let Value::Table(table) = &mut node.value else { return Ok(node) };
        let Some(extends) = table.remove(EXTENDS) else { return Ok(node) };
        let fault = |message: String| self.error(extends.origin, EXTENDS.to_owned(), message);
        let Value::String(base) = &extends.value else {
            return Err(fault("expected the path of a scenario file, such as \"base.toml\"".to_owned()));
        };
        let base = path.parent().unwrap_or(Path::new("")).join(base);
        let identity = identity(&base);
        if open.contains(&identity) {
            return Err(fault(format!("\"{}\" extends itself, directly or through others", base.display())));
        }
        if open.len() >= MAX_EXTENDS {
            return Err(fault(format!("more than {MAX_EXTENDS} files extend each other")));
        }
        let text = read_text(&base).map_err(|message| fault(format!("\"{}\": {message}", base.display())))?;
        open.push(identity);
        let mut below = self.layer(&text, &base, open)?;
        open.pop();
        if let Some(sweep) = below.table().and_then(|table| table.get(SWEEP)) {
            let message = format!(
                "a file that others extend has no [{SWEEP}]: move it to a file of its own with {EXTENDS} = \"{}\"",
                base.file_name().unwrap_or_default().display()
            );
            return Err(self.error(sweep.origin, SWEEP.to_owned(), message));
        }
        below.merge(node);
        Ok(below)
    }

    /// Lays `key = value` over the scenario; `key` is dotted, elements of arrays count from 0.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<(), ScenarioError> {
        let layer = self.layers.len();
        let name = format!("--set {key}={value}");
        self.layers.push(Layer { name: name.clone(), folder: PathBuf::new() });
        let origin = Origin { layer, line: None };
        let fault = |message: String| ScenarioError::new(&name, None, key, &message);
        let keys: Vec<_> = key.split('.').collect();
        if keys.iter().any(|part| part.trim() != *part) {
            let plain = keys.iter().map(|part| part.trim()).collect::<Vec<_>>().join(".");
            return Err(fault(format!("a key has no spaces around it or its dots: write {plain}")));
        }
        // As Python's keyword arguments have to be written.
        if key.contains("__") {
            return Err(fault(format!("a key is written with dots: write {}", key.replace("__", "."))));
        }
        if keys.iter().any(|part| part.is_empty()) || keys.len() > MAX_KEY_PARTS {
            return Err(fault("expected a dotted key such as switch.buffer".to_owned()));
        }
        if keys[0] == EXTENDS {
            return Err(fault("only a file can extend another".to_owned()));
        }
        let layers = &self.layers;
        let mut node = &mut self.root;
        for (depth, part) in keys.iter().enumerate() {
            // What is changed may be an element of what a file holds.
            if let [.., above] = &keys[..depth] {
                embed_as(above, node, &|layer| &layers[layer].folder)
                    .map_err(|found| error(layers, found.origin, &keys[..depth].join("."), &found.message))?;
            }
            node = child(node, part, origin).map_err(fault)?;
        }
        node.merge(Node::parse_override(value, layer));
        Ok(())
    }

    /// Reads the files of numbers that are named. Files that another layer has replaced are not looked for.
    pub(super) fn embed(&mut self) -> Result<(), ScenarioError> {
        let layers = &self.layers;
        embed(&mut self.root, &|layer| &layers[layer].folder)
            .map_err(|fault| error(layers, fault.origin, &fault.key, &fault.message))
    }

    /// The merged tables as types.
    pub(super) fn spec(&self) -> Result<Spec, ScenarioError> {
        let mut root = self.root.clone();
        assume_greedy(&mut root);
        let mut whole = root.clone();
        inherit(&mut whole);
        read(&whole).map_err(|fault| {
            let origin = fault.origin.unwrap_or(root.origin);
            // What a flow or a group inherits is wrong where it was given: there nothing is laid over it.
            let given = read::<Spec>(&root).err().filter(|given| given.origin == fault.origin);
            let key = given.map(|given| given.key()).filter(|given| is_inherited(given, &fault.key()));
            self.error(origin, key.unwrap_or_else(|| fault.key()), fault.message)
        })
    }

    /// An error about the value at `origin`.
    pub(super) fn error(&self, origin: Origin, key: String, message: String) -> ScenarioError {
        error(&self.layers, origin, &key, &message)
    }

    /// An error about a dotted key, placed where the key, or the table it is missing from, was written.
    pub(super) fn error_at(&self, key: &str, message: String) -> ScenarioError {
        self.error(self.root.deepest(key.split('.')).origin, key.to_owned(), message)
    }
}

/// An error about the value at `origin`, which is in one of `layers`.
fn error(layers: &[Layer], origin: Origin, key: &str, message: &str) -> ScenarioError {
    ScenarioError::new(&layers[origin.layer].name, origin.line, key, message)
}

/// Whether `key` is that of what a flow or a group inherits under `given`, such as `group.0.tcp.nagle` under `tcp.nagle`.
fn is_inherited(given: &str, key: &str) -> bool {
    let own = |key: &str| -> String {
        let parts: Vec<_> = key.split('.').collect();
        let of_heir = matches!(parts[0], "flow" | "group");
        parts[if of_heir { parts.len().min(2) } else { 0 }..].join(".")
    };
    own(given) == own(key)
}

/// A `[traffic]` that says a start and nothing else is the default traffic with that start.
fn assume_greedy(root: &mut Node) {
    if let Value::Table(tables) = &mut root.value
        && let Some(Node { origin, value: Value::Table(traffic) }) = tables.get_mut("traffic")
        && traffic.keys().eq(["start"])
    {
        traffic.insert(KIND.to_owned(), Node { origin: *origin, value: Value::String("greedy".to_owned()) });
    }
}

/// The value at `key` of a table or array, made if it does not exist.
fn child<'a>(node: &'a mut Node, key: &str, origin: Origin) -> Result<&'a mut Node, String> {
    if !matches!(node.value, Value::Table(_) | Value::Array(_)) {
        node.value = Value::Table(Table::new());
        node.origin = origin;
    }
    match &mut node.value {
        // Made for this override a moment ago.
        Value::Table(table)
            if table.is_empty() && node.origin.layer == origin.layer && key.parse::<usize>().is_ok() =>
        {
            Err(format!("there is no element {key} to change: the scenario has no such array of tables"))
        }
        Value::Table(table) => Ok(table.entry(key).or_insert_with(|| Node::empty(origin))),
        Value::Array(nodes) => {
            let count = nodes.len();
            let index = key.parse::<usize>().ok();
            index.and_then(|index| nodes.get_mut(index)).ok_or_else(|| {
                format!("\"{key}\" is no element of this array: it has {count}, counted from 0")
            })
        }
        _ => unreachable!("made a table above"),
    }
}

/// A path under which a file is recognised again.
fn identity(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
