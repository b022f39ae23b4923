//! From untyped tables to the types of [`super::spec`]: a serde deserialiser whose errors say where they are.

use std::fmt;

use serde::{
    Deserialize,
    de::{
        self, DeserializeSeed, EnumAccess, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
        VariantAccess, Visitor, value::StrDeserializer,
    },
    forward_to_deserialize_any,
};
use serde_json::Value as Json;

use super::{
    error::{known, suggestion},
    homes,
    meant::{self, Number},
    ranges,
    resolved::CHOOSING,
    schema::schema,
    tree::{KIND, Node, Origin, Table, Value},
};

/// Reads a `T` from a tree.
pub(super) fn read<'a, T: Deserialize<'a>>(root: &'a Node) -> Result<T, Fault> {
    T::deserialize(Reader(root)).map_err(|fault| fault.found_in(root.origin).with_range(root).with_home(root))
}

/// What is wrong, where: the keys from the innermost outwards and the origin of the innermost value.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) origin: Option<Origin>,
    keys: Vec<String>,
    pub(super) message: String,
    /// If a number was expected, which one. The message is then what was found.
    number: Option<Wanted>,
    /// If the innermost key is none of its table, those that are.
    taken: Option<&'static [&'static str]>,
}

/// The number that was expected where something else was found.
#[derive(Debug)]
struct Wanted {
    /// If it is whole, the largest that its type has.
    whole: Option<i64>,
    /// What was meant by what was found.
    meant: Option<Number>,
}

impl Fault {
    fn new(message: String) -> Self {
        Self { origin: None, keys: Vec::new(), message, number: None, taken: None }
    }

    /// Where a number was expected, says which ones the key takes. A type knows only its own range.
    fn with_range(mut self, root: &Node) -> Self {
        let Some(Wanted { whole, meant }) = self.number.take() else { return self };
        let (range, bounds) = match whole {
            Some(largest) => {
                let bounds = self.bounds(root, Json::as_i64);
                (self.whole_range(largest, bounds), bounds.map(|bound| bound.map(|bound| bound as f64)))
            }
            None => {
                let bounds = self.bounds(root, Json::as_f64);
                (range("a number", bounds), bounds)
            }
        };
        let [least, most] = bounds;
        let advice = meant.map(|meant| meant.advice(least, most)).unwrap_or_default();
        self.message = format!("expected {range}, found {}{advice}", self.message);
        self
    }

    /// The least and the most that the schema says of the key.
    fn bounds<T: Copy>(&self, root: &Node, number: impl Fn(&Json) -> Option<T>) -> [Option<T>; 2] {
        // The schema would be a seventh of what a browser loads: there the range is left out.
        if cfg!(target_family = "wasm") {
            return [None; 2];
        }
        ranges::of_number(&schema(), root, self.keys.iter().rev().map(String::as_str), number)
    }

    /// What is said of a whole number between `bounds` whose type ends at `largest`.
    fn whole_range(&self, largest: i64, bounds: [Option<i64>; 2]) -> String {
        match bounds {
            [Some(least), Some(most)] if most == least => format!("the number {least}"),
            [_, None] if self.message.parse().is_ok_and(|found: i64| found > largest) => {
                format!("a whole number, {largest} at most")
            }
            _ => range("a whole number", bounds),
        }
    }

    /// Where a table does not have a key, says whose it is and which ones the table has.
    fn with_home(mut self, root: &Node) -> Self {
        let Some(taken) = self.taken.take() else { return self };
        let keys: Vec<_> = self.keys.iter().rev().map(String::as_str).collect();
        let key = keys.last().copied().unwrap_or_default();
        // As of ranges, there is no schema in a browser.
        let schema = if cfg!(target_family = "wasm") { None } else { Some(schema()) };
        let home = homes::said(schema.as_ref(), root, &keys, taken);
        let taken = taken.iter().copied();
        // Where it is known what was meant, a name that only looks like it is no help.
        let rest = if home.is_empty() { suggestion(key, "keys", taken) } else { known("keys", taken) };
        self.message = format!("unknown key \"{key}\"{home}{rest}");
        self
    }

    /// The fault was found in the value from `origin`; keeps a deeper place.
    fn found_in(mut self, origin: Origin) -> Self {
        self.origin.get_or_insert(origin);
        self
    }

    /// The fault was found in the value of `key`.
    fn within(self, key: impl fmt::Display, origin: Origin) -> Self {
        let mut fault = self.found_in(origin);
        fault.keys.push(key.to_string());
        fault
    }

    /// The dotted key.
    pub(super) fn key(&self) -> String {
        self.keys.iter().rev().map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (expected, advice) = match expected.to_string().as_str() {
            "a boolean" => ("true or false".to_owned(), meant::boolean(found)),
            "a sequence" => ("an array".to_owned(), String::new()),
            other => (other.to_owned(), String::new()),
        };
        Self::new(format!("expected {expected}, found {}{advice}", shown(found)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_field(key: &str, taken: &'static [&'static str]) -> Self {
        Self { taken: Some(taken), ..Self::new(format!("unknown key \"{key}\"")) }
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("unknown name \"{name}\"{}", suggestion(name, "one of", expected.iter().copied())))
    }

    fn missing_field(key: &'static str) -> Self {
        Self { keys: vec![key.to_owned()], ..Self::new("this key is required".to_owned()) }
    }
}

/// `what` and the range of it.
fn range<T: fmt::Display>(what: &str, bounds: [Option<T>; 2]) -> String {
    match bounds {
        [Some(least), Some(most)] => format!("{what} from {least} to {most}"),
        [Some(least), None] => format!("{what}, {least} or more"),
        [None, _] => what.to_owned(),
    }
}

/// What was found, as messages show it.
fn shown(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        Unexpected::Str(text) => format!("\"{text}\""),
        Unexpected::Bool(value) => value.to_string(),
        Unexpected::Signed(value) => value.to_string(),
        // With a point: 1000 would be the whole number that may have been expected.
        Unexpected::Float(value) => format!("{value:?}"),
        other => other.to_string(),
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a Node);

/// Reads whole numbers of one type; [`Fault::with_range`] says which ones are expected.
macro_rules! whole_numbers {
    ($($method:ident => $type:ty),*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
            // TOML's own numbers end at 2^63 - 1.
            let max = i64::try_from(<$type>::MAX).unwrap_or(i64::MAX);
            match &self.0.value {
                Value::Integer(value) if <$type>::try_from(*value).is_ok() => visitor.visit_i64(*value),
                _ => Err(self.no_whole_number(max)),
            }
        }
    )*};
}

impl Reader<'_> {
    fn mismatch<T>(self, expected: &dyn Expected) -> Result<T, Fault> {
        Err(de::Error::invalid_type(self.unexpected(), expected))
    }

    /// The value is no whole number of a type that ends at `largest`.
    fn no_whole_number(self, largest: i64) -> Fault {
        let found = self.unexpected();
        let wanted = Wanted { whole: Some(largest), meant: Number::whole(found) };
        Fault { number: Some(wanted), ..Fault::new(shown(found)) }
    }

    fn no_number(self) -> Fault {
        let found = self.unexpected();
        let wanted = Wanted { whole: None, meant: Number::of(found) };
        Fault { number: Some(wanted), ..Fault::new(shown(found)) }
    }

    fn unexpected(&self) -> Unexpected<'_> {
        match &self.0.value {
            Value::String(text) => Unexpected::Str(text),
            Value::Integer(value) => Unexpected::Signed(*value),
            Value::Float(value) => Unexpected::Float(*value),
            Value::Boolean(value) => Unexpected::Bool(*value),
            Value::Datetime(text) => Unexpected::Other(text),
            Value::Array(_) => Unexpected::Seq,
            Value::Table(_) => Unexpected::Map,
        }
    }
}

impl<'de> de::Deserializer<'de> for Reader<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(value) => visitor.visit_i64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Datetime(_) => self.mismatch(&visitor),
            Value::Array(nodes) => visitor.visit_seq(Elements { nodes, next: 0 }),
            Value::Table(table) => visitor.visit_map(Entries::new(table, None)),
        }
    }

    whole_numbers!(
        deserialize_u8 => u8, deserialize_u16 => u16, deserialize_u32 => u32, deserialize_u64 => u64,
        deserialize_i32 => i32, deserialize_i64 => i64
    );

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0.value {
            Value::Integer(value) => visitor.visit_f64(value as f64),
            Value::Float(value) if value.is_finite() => visitor.visit_f64(value),
            _ => Err(self.no_number()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::Table(table) => visitor.visit_map(Entries::new(table, None)),
            Value::String(name) => match fields.iter().find(|field| CHOOSING.contains(field)) {
                Some(field) => {
                    self.mismatch(&format!("a table such as {{ {field} = \"{name}\", … }}").as_str())
                }
                None => self.mismatch(&"a table"),
            },
            _ => self.mismatch(&"a table"),
        }
    }

    /// A name, or a table whose `kind` names the form of the rest.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match &self.0.value {
            Value::String(name) => visitor.visit_enum(Form { kind: name, origin: None, table: None }),
            Value::Table(table) => match table.get(KIND) {
                Some(Node { origin, value: Value::String(kind) }) => {
                    visitor.visit_enum(Form { kind, origin: Some(*origin), table: Some(table) })
                }
                Some(node) => {
                    let fault: Fault = Reader(node).mismatch::<()>(&"a name").expect_err("a mismatch");
                    Err(fault.within(KIND, node.origin))
                }
                None => {
                    let mut fault: Fault = de::Error::missing_field(KIND);
                    fault.message += &suggestion("", "one of", variants.iter().copied());
                    Err(fault)
                }
            },
            _ => self.mismatch(&"a name or a table"),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i128 u128 f32 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Fault> for Reader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The elements of an array.
struct Elements<'a> {
    nodes: &'a [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(node) = self.nodes.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        seed.deserialize(Reader(node)).map(Some).map_err(|fault| fault.within(index, node.origin))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.nodes.len() - self.next)
    }
}

/// The entries of a table, except one that has been read already.
struct Entries<'a> {
    entries: toml::map::Iter<'a, String, Node>,
    skip: Option<&'static str>,
    current: Option<(&'a String, &'a Node)>,
}

impl<'a> Entries<'a> {
    fn new(table: &'a Table, skip: Option<&'static str>) -> Self {
        Self { entries: table.iter(), skip, current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let skip = self.skip;
        self.current = self.entries.by_ref().find(|(key, _)| Some(key.as_str()) != skip);
        let Some((key, node)) = self.current else { return Ok(None) };
        let name: StrDeserializer<'_, Fault> = key.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.within(key, node.origin))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (key, node) = self.current.expect("serde asks for the key first");
        seed.deserialize(Reader(node)).map_err(|fault| fault.within(key, node.origin))
    }
}

/// One of several forms: a bare name, or the `kind` of a table and the rest of it.
struct Form<'a> {
    kind: &'a str,
    /// Where `kind` was written, if it was a key.
    origin: Option<Origin>,
    table: Option<&'a Table>,
}

impl<'de> EnumAccess<'de> for Form<'de> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        let name: StrDeserializer<'_, Fault> = self.kind.into_deserializer();
        match seed.deserialize(name) {
            Ok(variant) => Ok((variant, self)),
            Err(fault) => Err(match self.origin {
                Some(origin) => fault.within(KIND, origin),
                None => fault,
            }),
        }
    }
}

impl<'de> VariantAccess<'de> for Form<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.table {
            None => Ok(()),
            Some(_) => Err(de::Error::invalid_type(Unexpected::Map, &"a name")),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        match self.table {
            Some(table) => seed.deserialize(Rest(table)),
            None => {
                let expected = format!("a table such as {{ kind = \"{}\", … }}", self.kind);
                Err(de::Error::invalid_type(Unexpected::Str(self.kind), &expected.as_str()))
            }
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Fault> {
        unsupported()
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, Fault> {
        unsupported()
    }
}

fn unsupported<T>() -> Result<T, Fault> {
    Err(Fault::new("a form of a table is a struct of its own".to_owned()))
}

/// A table without its `kind`.
struct Rest<'a>(&'a Table);

impl<'de> de::Deserializer<'de> for Rest<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_map(Entries::new(self.0, Some(KIND)))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
