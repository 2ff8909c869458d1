//! The JSON Schemas of graph files and of test files, written from the tables of keys.

use mcpgraph_value::{Map, Value};

use crate::keys::{ANY_NODE, FILE, Key, Need, Shape, TEST_FILE, Table, node_kinds};

/// The JSON Schema (2020-12) of graph files, for editors.
///
/// It describes both dialects. Keys that start with `x-` are allowed everywhere.
pub fn json_schema() -> Value {
    schema_of("mcpgraph graph file", &FILE)
}

/// The JSON Schema (2020-12) of test files, for editors.
pub fn test_schema() -> Value {
    schema_of("mcpgraph test file", &TEST_FILE)
}

fn schema_of(title: &str, table: &Table) -> Value {
    let mut definitions = Definitions::default();
    let file = definitions.record(table);
    let mut schema = Map::new();
    schema.insert("$schema", "https://json-schema.org/draft/2020-12/schema");
    schema.insert("title", title);
    for (key, value) in file {
        schema.insert(key, value);
    }
    schema.insert("$defs", definitions.written);
    Value::object(schema)
}

/// The definitions that have been needed so far.
#[derive(Default)]
struct Definitions {
    written: Map,
}

impl Definitions {
    fn record(&mut self, table: &Table) -> Map {
        self.record_of(table, None)
    }

    /// A record, or a node of one kind, whose `type` is no other.
    fn record_of(&mut self, table: &Table, kind: Option<&str>) -> Map {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for key in table.keys().filter(|key| key.need != Need::Retired) {
            match kind {
                Some(kind) if key.name == "type" => {
                    let schema = Map::from_iter([("description", key.doc), ("const", kind)]);
                    properties.insert(key.name, schema);
                }
                _ => {
                    properties.insert(key.name, self.key(key));
                }
            }
            if key.need == Need::Required {
                required.push(Value::from(key.name));
            }
        }
        let mut schema = described("object", table.doc);
        schema.insert("properties", properties);
        if !required.is_empty() {
            schema.insert("required", required);
        }
        schema.insert("patternProperties", Map::from_iter([("^x-", true)]));
        schema.insert("additionalProperties", false);
        schema
    }

    fn key(&mut self, key: &Key) -> Value {
        let mut schema = Map::from_iter([("description", key.doc)]);
        for (name, value) in self.shape(key.shape) {
            schema.insert(name, value);
        }
        Value::object(schema)
    }

    fn shape(&mut self, shape: Shape) -> Map {
        match shape {
            Shape::Text => typed("string"),
            Shape::Name => with(typed("string"), "minLength", 1),
            Shape::Scalar => {
                let types = ["string", "number", "boolean"].map(Value::from).to_vec();
                Map::from_iter([("type", types)])
            }
            Shape::Flag => typed("boolean"),
            Shape::Count { min, max, default } => {
                let mut schema = with(with(typed("integer"), "minimum", min), "maximum", max);
                if let Some(default) = default {
                    schema.insert("default", default);
                }
                schema
            }
            Shape::Words(words) => {
                let words: Vec<Value> = words.iter().map(|word| Value::from(*word)).collect();
                Map::from_iter([("enum", words)])
            }
            Shape::Any => Map::new(),
            Shape::AnyObject => typed("object"),
            Shape::AnyArray => typed("array"),
            Shape::Record(table) => self.reference(table.name, |all| all.record(table)),
            Shape::Node => self.reference(ANY_NODE.name, Self::node),
            Shape::List(item) => with(typed("array"), "items", self.shape(*item)),
            Shape::MapOf(item) => with(typed("object"), "additionalProperties", self.shape(*item)),
            Shape::Either(first, second) => {
                let both = vec![self.shape(*first).into(), self.shape(*second).into()];
                Map::from_iter([("anyOf", Value::array(both))])
            }
        }
    }

    /// A node is checked by the definition of its kind, so that an editor's messages are about
    /// that kind only.
    fn node(&mut self) -> Map {
        let mut cases = Vec::new();
        for (kind, table) in node_kinds() {
            let is_kind = Map::from_iter([("const", kind)]);
            let mut condition = Map::new();
            condition.insert("properties", Map::from_iter([("type", is_kind)]));
            condition.insert("required", vec![Value::from("type")]);
            let mut case = Map::new();
            case.insert("if", condition);
            let definition = |all: &mut Self| all.record_of(table, Some(kind));
            case.insert("then", self.reference(table.name, definition));
            cases.push(Value::object(case));
        }
        let mut properties = Map::new();
        let mut required = Vec::new();
        for key in ANY_NODE.keys().filter(|key| matches!(key.name, "id" | "type")) {
            properties.insert(key.name, self.key(key));
            required.push(Value::from(key.name));
        }
        let mut schema = described("object", ANY_NODE.doc);
        schema.insert("properties", properties);
        schema.insert("required", required);
        schema.insert("allOf", cases);
        schema
    }

    /// A reference to a definition, which is written when it is first needed.
    fn reference(&mut self, name: &str, write: impl FnOnce(&mut Self) -> Map) -> Map {
        if !self.written.contains_key(name) {
            // The place is taken first: definitions contain each other.
            self.written.insert(name, Value::Null);
            let definition = write(self);
            self.written.insert(name, definition);
        }
        Map::from_iter([("$ref", format!("#/$defs/{name}"))])
    }
}

fn typed(name: &str) -> Map {
    Map::from_iter([("type", name)])
}

fn described(kind: &str, doc: &str) -> Map {
    with(typed(kind), "description", doc)
}

fn with(mut schema: Map, key: &str, value: impl Into<Value>) -> Map {
    schema.insert(key, value);
    schema
}
