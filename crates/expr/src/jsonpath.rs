//! JSONPath, RFC 9535.

mod pipeline;
mod steps;

use jsonpath_rfc9535::Element;
use mcpgraph_value::{MAX_DEPTH, Value};

pub use self::pipeline::{Filter, Pipeline, Wanted};
use self::steps::{Step, steps, walk};
use crate::bounds::too_deep;
use crate::{ExprError, Limit, code};

/// How many steps a query may take, by an estimate from above that is made before it runs.
const MAX_STEPS: usize = 20_000_000;

/// A compiled JSONPath query.
#[derive(Debug)]
pub struct JsonPath {
    source: String,
    query: jsonpath_rfc9535::JsonPath,
    /// Its steps, if it only goes down.
    steps: Option<Vec<Step>>,
}

/// A value that a query selected, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The value.
    pub value: Value,
    /// Its normalized path, such as `$['a'][0]`.
    pub path: String,
}

impl JsonPath {
    /// Compiles a query.
    pub fn compile(source: &str) -> Result<Self, ExprError> {
        let query = jsonpath_rfc9535::JsonPath::parse(source).map_err(|error| {
            let mut described = ExprError::new(code::JSONPATH, error.to_string());
            if let jsonpath_rfc9535::Error::Syntax { position, .. }
            | jsonpath_rfc9535::Error::NestingTooDeep { position } = error
            {
                described.position = Some(position);
            }
            described
        })?;
        Ok(Self { source: source.to_owned(), query, steps: steps(source) })
    }

    /// The text it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether it can select no more than one value.
    pub fn is_singular(&self) -> bool {
        self.query.singular_steps().is_some()
    }

    /// The values it selects, which are shared with `value`.
    pub fn query(&self, value: &Value) -> Result<Vec<Value>, ExprError> {
        if let Some(steps) = &self.steps {
            return Ok(walk(value, steps));
        }
        let select = |path: &jsonpath_rfc9535::NormalizedPath<'_>| at(value, path).cloned();
        self.select(value, select)
    }

    /// The values it selects, each with its normalized path.
    pub fn query_located(&self, value: &Value) -> Result<Vec<Located>, ExprError> {
        self.select(value, |path| {
            Some(Located { value: at(value, path)?.clone(), path: path.to_string() })
        })
    }

    /// Runs the query on a copy that the library understands; what it selects there, `found` takes
    /// from the original.
    fn select<T>(
        &self,
        value: &Value,
        found: impl Fn(&jsonpath_rfc9535::NormalizedPath<'_>) -> Option<T>,
    ) -> Result<Vec<T>, ExprError> {
        if value.is_deeper_than(MAX_DEPTH) {
            return Err(too_deep());
        }
        self.check_cost(value)?;
        let copy = serde_json::Value::from(value);
        Ok(self.query.query(&copy).paths().filter_map(found).collect())
    }

    /// The library cannot be interrupted, so that the steps of a query are estimated before. A node
    /// is visited once for each ancestor by every `..`, once for each selector in a list, and all
    /// are for each node by a `$` inside a filter.
    fn check_cost(&self, value: &Value) -> Result<(), ExprError> {
        let (nodes, depth) = measure(value);
        let mut steps = nodes;
        let mut lists = Vec::new();
        let mut previous = '\0';
        let mut quote = None;
        let mut characters = self.source.chars().skip(1);
        while let Some(character) = characters.next() {
            match (quote, character) {
                (Some(_), '\\') => {
                    characters.next();
                }
                (Some(open), _) if character == open => quote = None,
                (Some(_), _) => {}
                (None, '\'' | '"') => quote = Some(character),
                (None, '.') if previous == '.' => steps = steps.saturating_mul(depth),
                (None, '$') => steps = steps.saturating_mul(nodes),
                (None, '[' | '(') => lists.push(1_usize),
                (None, ']' | ')') => steps = steps.saturating_mul(lists.pop().unwrap_or(1)),
                (None, ',') => lists.iter_mut().last().into_iter().for_each(|length| *length += 1),
                (None, _) => {}
            }
            previous = character;
        }
        if steps <= MAX_STEPS {
            return Ok(());
        }
        Err(ExprError::exceeded(
            code::JSONPATH_COST,
            Limit::Time,
            format!(
                "the query could take {steps} steps on a value of {nodes} nodes; \
                 the limit is {MAX_STEPS}"
            ),
        ))
    }
}

/// How many nodes a value has and how deep they nest, counting from 1.
fn measure(value: &Value) -> (usize, usize) {
    let (mut nodes, mut deepest) = (0, 1);
    let mut pending = vec![(value, 1)];
    while let Some((value, depth)) = pending.pop() {
        nodes += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (member, depth + 1)));
            }
            _ => {}
        }
    }
    (nodes, deepest)
}

fn at<'a>(value: &'a Value, path: &jsonpath_rfc9535::NormalizedPath<'_>) -> Option<&'a Value> {
    path.elements().iter().try_fold(value, |value, element| match element {
        Element::Name(name) => value.get(name),
        Element::Index(index) => value.at(*index),
    })
}

#[cfg(test)]
mod tests;
