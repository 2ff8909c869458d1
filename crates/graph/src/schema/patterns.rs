//! Patterns that the linear engine cannot match, because they look around or refer back.
//!
//! Patterns come from files and from upstreams, and a value must not be able to keep a thread busy
//! with one. Where the linear engine takes every pattern of a schema, it is the one that is used.
//! Otherwise another engine goes back and forth, within two limits: how often it may go back for a
//! text, and how much text it is given.

use std::sync::Arc;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError};
use mcpgraph_diagnostics::shortened;
use mcpgraph_value::Value;

use super::{MAX_MESSAGE, Violation};

/// How many steps back the backtracking engine may take for one text.
const BACKTRACK_LIMIT: usize = 50_000;

/// How long the texts may be together, in bytes, that one place gives to that engine: it may read
/// the rest of a text at every step.
const BACKTRACK_TEXT_LIMIT: usize = 32 * 1024;

/// The patterns of a schema that need the backtracking engine.
pub(super) struct Backtracking {
    places: Vec<Place>,
}

/// Where in values such a pattern applies.
struct Place {
    path: Vec<Step>,
    /// Whether to everything below the path, as far as is known, and not to the text there.
    is_below: bool,
    pattern: Arc<str>,
}

#[derive(Clone)]
enum Step {
    Property(Arc<str>),
    Item,
}

/// The options of the engine that goes back and forth.
pub(super) fn backtracking() -> PatternOptions<jsonschema::FancyRegex> {
    PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT)
}

/// What a match that came to its limit is told as.
pub(super) fn unfinished(error: &ValidationError<'_>) -> Option<Violation> {
    let ValidationErrorKind::BacktrackLimitExceeded { .. } = error.kind() else { return None };
    Some(Violation {
        pointer: shortened(error.instance_path().as_str(), MAX_MESSAGE),
        message: format!(
            "whether the text fits the pattern at `{}` of the schema is not known after \
             {BACKTRACK_LIMIT} steps back, the limit for patterns with look-around or \
             back-references",
            shortened(error.schema_path().as_str(), MAX_MESSAGE)
        ),
    })
}

impl Backtracking {
    /// Finds the patterns of a schema that the linear engine does not take.
    pub(super) fn of(schema: &Value) -> Self {
        let mut places = Vec::new();
        collect(schema, &mut Vec::new(), &mut places);
        Self { places }
    }

    /// What is wrong with a value that has too much text for these patterns.
    pub(super) fn too_long(&self, value: &Value) -> Option<Violation> {
        self.places.iter().find_map(|place| {
            let bytes = place.bytes(value, &place.path);
            (bytes > BACKTRACK_TEXT_LIMIT).then(|| Violation {
                pointer: place.pointer(),
                message: format!(
                    "{bytes} bytes of text are too much for the pattern {}: one with look-around \
                     or back-references is tried on at most {BACKTRACK_TEXT_LIMIT} bytes",
                    shortened(&format!("{:?}", &*place.pattern), MAX_MESSAGE)
                ),
            })
        })
    }
}

impl Place {
    /// How much text of a value the pattern may be tried on.
    fn bytes(&self, value: &Value, path: &[Step]) -> usize {
        match (path.split_first(), value) {
            (Some((Step::Property(name), rest)), _) => {
                value.get(name).map_or(0, |member| self.bytes(member, rest))
            }
            (Some((Step::Item, rest)), Value::Array(items)) => {
                items.iter().map(|item| self.bytes(item, rest)).sum()
            }
            (Some(_), _) => 0,
            (None, Value::String(text)) => text.len(),
            (None, _) if self.is_below => all_text(value),
            (None, _) => 0,
        }
    }

    /// The place as a JSON pointer, as far as it is one.
    fn pointer(&self) -> String {
        let names = self.path.iter().map_while(|step| match step {
            Step::Property(name) => Some(name.replace('~', "~0").replace('/', "~1")),
            Step::Item => None,
        });
        names.fold(String::new(), |pointer, name| pointer + "/" + &name)
    }
}

fn all_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(all_text).sum(),
        Value::Object(members) => {
            members.iter().map(|(key, member)| key.len() + all_text(member)).sum()
        }
        _ => 0,
    }
}

fn collect(schema: &Value, path: &mut Vec<Step>, places: &mut Vec<Place>) {
    let Value::Object(members) = schema else { return };
    for (keyword, value) in members.iter() {
        match (&**keyword, value) {
            ("pattern", Value::String(pattern)) => {
                if needs_backtracking(pattern) {
                    let pattern = Arc::from(&**pattern);
                    places.push(Place { path: path.clone(), is_below: false, pattern });
                }
            }
            ("properties", Value::Object(properties)) => {
                for (name, property) in properties.iter() {
                    path.push(Step::Property(Arc::from(&**name)));
                    collect(property, path, places);
                    path.pop();
                }
            }
            ("items", Value::Object(_)) => {
                path.push(Step::Item);
                collect(value, path, places);
                path.pop();
            }
            ("default" | "const" | "enum" | "examples", _) => {}
            // Where the others apply is not worth finding out; it is somewhere below.
            _ => {
                if let Some(pattern) = find(keyword, value) {
                    places.push(Place { path: path.clone(), is_below: true, pattern });
                }
            }
        }
    }
}

/// The first pattern in a keyword's value that needs the backtracking engine.
fn find(keyword: &str, value: &Value) -> Option<Arc<str>> {
    let fancy = |pattern: &str| needs_backtracking(pattern).then(|| Arc::from(pattern));
    match value {
        Value::String(pattern) if keyword == "pattern" => fancy(pattern),
        Value::Object(members) => members.iter().find_map(|(key, member)| {
            let own = (keyword == "patternProperties").then(|| fancy(key)).flatten();
            own.or_else(|| find(key, member))
        }),
        Value::Array(items) => items.iter().find_map(|item| find("", item)),
        _ => None,
    }
}

fn needs_backtracking(pattern: &str) -> bool {
    let schema = serde_json::json!({ "pattern": pattern });
    let options = jsonschema::options()
        .with_draft(Draft::Draft7)
        .with_pattern_options(PatternOptions::regex());
    options.build(&schema).is_err()
}
