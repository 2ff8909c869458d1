//! Queries that only go down: by names, positions and wildcards.
//!
//! Most queries are of this kind. They are walked on the value itself, where the library would
//! need a copy of all of it.

use mcpgraph_value::Value;

/// One segment of a query.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    Name(Box<str>),
    Index(i64),
    Every,
}

/// The steps of a query that the library has found to be valid; none if it does more than go down.
pub(super) fn steps(source: &str) -> Option<Vec<Step>> {
    let mut rest = source.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let (step, after) = match rest.strip_prefix('.') {
            Some(dotted) => dotted_step(dotted)?,
            None => bracket_step(rest.strip_prefix('[')?)?,
        };
        steps.push(step);
        rest = after;
    }
    Some(steps)
}

fn dotted_step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('*') {
        return Some((Step::Every, rest));
    }
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    (end > 0).then(|| (Step::Name(text[..end].into()), &text[end..]))
}

fn bracket_step(text: &str) -> Option<(Step, &str)> {
    let (inside, rest) = text.split_once(']')?;
    let quoted = |quote| inside.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    let step = if inside == "*" {
        Step::Every
    } else if let Some(name) = quoted('\'').or_else(|| quoted('"')) {
        // Escapes, and names with brackets, are for the library.
        if name.contains(['\\', '\'', '"']) {
            return None;
        }
        Step::Name(name.into())
    } else {
        Step::Index(inside.parse().ok()?)
    };
    Some((step, rest))
}

/// The values that the steps lead to, in the order of the document.
pub(super) fn walk(value: &Value, steps: &[Step]) -> Vec<Value> {
    let mut found = Vec::new();
    collect(value, steps, &mut found);
    found
}

fn collect(value: &Value, steps: &[Step], found: &mut Vec<Value>) {
    let Some((step, rest)) = steps.split_first() else {
        found.push(value.clone());
        return;
    };
    match (step, value) {
        (Step::Name(name), _) => {
            if let Some(member) = value.get(name) {
                collect(member, rest, found);
            }
        }
        (Step::Index(index), Value::Array(items)) => {
            if let Some(item) = position(*index, items.len()).and_then(|at| items.get(at)) {
                collect(item, rest, found);
            }
        }
        (Step::Every, Value::Array(items)) => {
            items.iter().for_each(|item| collect(item, rest, found));
        }
        (Step::Every, Value::Object(members)) => {
            members.values().for_each(|member| collect(member, rest, found));
        }
        (Step::Index(_) | Step::Every, _) => {}
    }
}

/// A position that may count from the end.
fn position(index: i64, length: usize) -> Option<usize> {
    let from_start = if index < 0 { i64::try_from(length).ok()? + index } else { index };
    usize::try_from(from_start).ok()
}
