//! JSON Schemas as tools use them: compiled once, defaults applied, every violation reported.

mod patterns;
mod plain;

use std::fmt;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use mcpgraph_diagnostics::shortened;
use mcpgraph_value::{Map, Value};

use self::patterns::Backtracking;

/// A compiled JSON Schema (2020-12 unless it names another draft).
///
/// References to other documents are never fetched; a schema that needs one does not compile.
pub struct Schema {
    source: Value,
    validator: Validator,
    has_defaults: bool,
    /// The patterns whose time has to be limited, if there are some.
    backtracking: Option<Backtracking>,
}

/// Why a schema does not compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// Whether what is wrong is a regular expression.
    pub is_pattern: bool,
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

/// How many characters of a violation are worth telling; the value it quotes may be megabytes.
const MAX_MESSAGE: usize = 300;

/// How deep in a value defaults are filled in; a default may bring objects that need defaults.
const MAX_DEFAULT_DEPTH: usize = 32;

/// How many defaults are filled into one value.
const MAX_DEFAULTS: usize = 10_000;

impl Schema {
    /// Compiles a schema.
    pub fn compile(source: &Value) -> Result<Self, SchemaError> {
        let json = serde_json::Value::from(source);
        let options = jsonschema::options().offline();
        let options =
            if plain::is_plain(source) { options.with_draft(Draft::Draft7) } else { options };
        // Nearly every pattern is one for the engine whose time is linear.
        let linear = options.clone().with_pattern_options(PatternOptions::regex()).build(&json);
        let (validator, backtracking) = match linear {
            Ok(validator) => (validator, None),
            Err(_) => {
                let options = options.with_pattern_options(patterns::backtracking());
                let validator = options.build(&json).map_err(|error| broken(source, &error))?;
                (validator, Some(Backtracking::of(source)))
            }
        };
        let has_defaults = mentions_default(source);
        Ok(Self { has_defaults, source: source.clone(), validator, backtracking })
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Every way in which `value` does not fit, up to a bound; empty if it does.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        if let Some(violation) = self.backtracking.as_ref().and_then(|few| few.too_long(value)) {
            return vec![violation];
        }
        let json = serde_json::Value::from(value);
        // Most values fit, and whether they do is known sooner than what does not.
        if self.validator.is_valid(&json) {
            return Vec::new();
        }
        // The first that is wrong is found soon; every other may take as long.
        if self.backtracking.is_some()
            && let Some(violation) =
                self.validator.validate(&json).err().as_ref().and_then(patterns::unfinished)
        {
            return vec![violation];
        }
        self.validator
            .iter_errors(&json)
            .take(MAX_VIOLATIONS)
            .map(|error| {
                patterns::unfinished(&error).unwrap_or_else(|| Violation {
                    pointer: shortened(error.instance_path().as_str(), MAX_MESSAGE),
                    message: message(&error),
                })
            })
            .collect()
    }

    /// The value with the `default` of every missing property filled in.
    pub fn with_defaults(&self, value: &Value) -> Value {
        if !self.has_defaults {
            return value.clone();
        }
        Filling { root: &self.source, left: MAX_DEFAULTS }.fill(&self.source, value, 0)
    }
}

/// Defaults being filled into one value.
struct Filling<'a> {
    root: &'a Value,
    /// How many more may be filled in.
    left: usize,
}

impl<'a> Filling<'a> {
    fn fill(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Value {
        self.fill_by(schema, value, depth, &mut Vec::new())
    }

    /// Fills in what a schema says and what those it refers to say. `seen` are the schemas that
    /// have been applied to this very value; none is applied twice, for a schema may refer to
    /// itself.
    fn fill_by(
        &mut self,
        schema: &'a Value,
        value: &Value,
        depth: usize,
        seen: &mut Vec<&'a Value>,
    ) -> Value {
        if depth > MAX_DEFAULT_DEPTH || seen.iter().any(|known| std::ptr::eq(*known, schema)) {
            return value.clone();
        }
        seen.push(schema);
        let mut value = value.clone();
        if let Some(target) = self.referenced(schema) {
            value = self.fill_by(target, &value, depth, seen);
        }
        for part in schema.get("allOf").and_then(Value::as_array).into_iter().flat_map(|a| a.iter())
        {
            value = self.fill_by(part, &value, depth, seen);
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
                        None => self.default(property, depth),
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

    /// The default of a property, with the defaults inside it.
    fn default(&mut self, property: &'a Value, depth: usize) -> Option<Value> {
        let mut schema = property;
        for _ in 0..MAX_DEFAULT_DEPTH {
            if let Some(default) = schema.get("default") {
                self.left = self.left.checked_sub(1)?;
                return Some(self.fill(property, default, depth + 1));
            }
            schema = self.referenced(schema)?;
        }
        None
    }

    /// The schema that one refers to, in the same document.
    fn referenced(&self, schema: &Value) -> Option<&'a Value> {
        let target = schema.get("$ref")?.as_str()?;
        self.root.pointer(target.strip_prefix('#')?)
    }
}

/// Why a schema does not compile, from what the compiler says.
fn broken(source: &Value, error: &ValidationError<'_>) -> SchemaError {
    SchemaError {
        pointer: match error.instance_path().as_str() {
            // What the compiler says of a reference that leads nowhere has no place.
            "" => lost_reference(source, source, "").unwrap_or_default(),
            pointer => pointer.to_owned(),
        },
        message: error.to_string(),
        is_pattern: matches!(
            error.kind(), ValidationErrorKind::Format { format } if format == "regex"
        ),
    }
}

/// What is wrong, with the value itself left out where it is too long to quote.
fn message(error: &ValidationError<'_>) -> String {
    let full = error.to_string();
    if full.chars().nth(MAX_MESSAGE).is_none() {
        return full;
    }
    shortened(&error.masked_with("the value").to_string(), MAX_MESSAGE)
}

/// The place of the first reference that leads out of the document or to nothing in it.
fn lost_reference(root: &Value, schema: &Value, at: &str) -> Option<String> {
    let in_item = |(index, item)| lost_reference(root, item, &format!("{at}/{index}"));
    match schema {
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            match member.as_str() {
                Some(target) if &**key == "$ref" => {
                    let found = target.strip_prefix('#').and_then(|inside| root.pointer(inside));
                    found.is_none().then_some(at)
                }
                _ => lost_reference(root, member, &at),
            }
        }),
        Value::Array(items) => items.iter().enumerate().find_map(in_item),
        _ => None,
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
