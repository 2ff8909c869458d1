//! Two JSON values, line by line.

use std::time::Duration;

use mcpgraph_value::{Map, Value};
use similar::{ChangeTag, TextDiff};

/// How many unchanged lines are shown around changed ones.
const CONTEXT: usize = 3;

/// How many lines are shown at most.
const MAX_LINES: usize = 200;

/// How long the search for the shortest difference may take; a longer one is shown after that.
const MAX_TIME: Duration = Duration::from_millis(500);

/// The lines in which two values differ, with some around them. The order of keys does not count.
pub(super) fn values(expected: &Value, actual: &Value) -> Vec<String> {
    let (expected, actual) = (pretty(expected), pretty(actual));
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(&expected, &actual);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push("  …".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            };
            lines.push(format!("{sign} {}", change.value().trim_end_matches('\n')));
        }
    }
    shorten(lines)
}

/// A value on lines of its own.
pub(super) fn lines(value: &Value) -> Vec<String> {
    shorten(value.to_json_pretty().lines().map(str::to_owned).collect())
}

fn shorten(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("… {more} more lines"));
    }
    lines
}

fn pretty(value: &Value) -> String {
    sorted(value).to_json_pretty() + "\n"
}

/// The same value with the keys of its objects in order. Values are of bounded depth.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::array(items.iter().map(sorted).collect()),
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            let members = members.into_iter().map(|(key, member)| (key.clone(), sorted(member)));
            Value::object(members.collect::<Map>())
        }
        other => other.clone(),
    }
}
