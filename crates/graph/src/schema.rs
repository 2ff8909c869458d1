//! JSON Schemas as tools use them: compiled once, defaults applied, every violation reported.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use mcpgraph_value::{Map, Value};

/// A compiled JSON Schema (2020-12 unless it names another draft).
///
/// References to other documents are never fetched; a schema that needs one does not compile.
pub struct Schema {
    source: Value,
    validator: Validator,
    has_defaults: bool,
}

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// One way in which a value does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where in the value, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// How many violations are worth telling; a huge wrong array must not give a huge message.
const MAX_VIOLATIONS: usize = 20;

/// How far `$ref` is followed when defaults are filled in; a schema may refer to itself.
const MAX_DEFAULT_DEPTH: usize = 32;

impl Schema {
    /// Compiles a schema.
    pub fn compile(source: &Value) -> Result<Self, SchemaError> {
        let json = serde_json::Value::from(source);
        let validator = jsonschema::options()
            // Patterns come from files and upstreams; this engine's time is linear.
            .with_pattern_options(PatternOptions::regex())
            .offline()
            .build(&json)
            .map_err(|error| SchemaError {
                pointer: error.instance_path().to_string(),
                message: error.to_string(),
            })?;
        Ok(Self { has_defaults: mentions_default(source), source: source.clone(), validator })
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Every way in which `value` does not fit, up to a bound; empty if it does.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        let json = serde_json::Value::from(value);
        self.validator
            .iter_errors(&json)
            .take(MAX_VIOLATIONS)
            .map(|error| Violation {
                pointer: error.instance_path().to_string(),
                message: error.to_string(),
            })
            .collect()
    }

    /// The value with the `default` of every missing property filled in.
    pub fn with_defaults(&self, value: &Value) -> Value {
        if self.has_defaults { self.fill(&self.source, value, 0) } else { value.clone() }
    }

    fn fill(&self, schema: &Value, value: &Value, depth: usize) -> Value {
        if depth > MAX_DEFAULT_DEPTH {
            return value.clone();
        }
        let mut value = value.clone();
        if let Some(target) = schema.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|at| self.source.pointer(at))
        {
            value = self.fill(target, &value, depth + 1);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flat_map(|a| a.iter())
        {
            value = self.fill(part, &value, depth + 1);
        }
        match (value, schema.get("properties"), schema.get("items")) {
            (Value::Object(members), Some(Value::Object(properties)), _) => {
                let mut filled: Option<Map> = None;
                for (key, property) in properties.iter() {
                    let new = match members.get(key) {
                        Some(member) => {
                            let new = self.fill(property, member, depth + 1);
                            if is_same(&new, member) { None } else { Some(new) }
                        }
                        None => property.get("default").cloned(),
                    };
                    if let Some(new) = new {
                        filled.get_or_insert_with(|| (*members).clone()).insert(key.clone(), new);
                    }
                }
                filled.map_or(Value::Object(members), Value::object)
            }
            (Value::Array(items), _, Some(schema @ Value::Object(_))) => items
                .iter()
                .map(|item| self.fill(schema, item, depth + 1))
                .collect::<Vec<_>>()
                .into(),
            (value, _, _) => value,
        }
    }
}

/// Whether both are the same, seen cheaply; scalars are never filled in.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => a.is_same(b),
        (Value::Array(a), Value::Array(b)) => a.is_same(b),
        _ => true,
    }
}

fn mentions_default(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.contains_key("default") || members.values().any(mentions_default)
        }
        Value::Array(items) => items.iter().any(mentions_default),
        _ => false,
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.source).finish()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "`{}`: {}", self.pointer, self.message)
        }
    }
}
