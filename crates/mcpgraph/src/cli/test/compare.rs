//! What came of a test, beside what had to.

use std::sync::Arc;

use mcpgraph_config::Json;
use mcpgraph_config::model::{Expect, ExpectedError, ExpectedOutcome, PathItem};
use mcpgraph_diagnostics::shortened;
use mcpgraph_engine::RunError;
use mcpgraph_value::Value;

use super::diff;
use super::mocks::{MadeCall, Seen, Unanswered};

/// One thing that is not as expected.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    /// What it is, in one line.
    pub(super) title: String,
    /// More of it, line by line.
    pub(super) details: Vec<String>,
}

/// How much of a value a line shows.
const SHOWN: usize = 200;

/// How many nodes are shown before and after the place where a path differs.
const NODES_AROUND: usize = 6;

/// How many other arguments are named that a mock is for.
const MAX_OTHERS: usize = 3;

/// Everything that is not as expected.
pub(super) fn compare(
    expect: &Expect,
    outcome: &Result<Value, RunError>,
    path: &[Arc<str>],
    seen: &Seen,
) -> Vec<Finding> {
    // What happens after a call that nothing answers says nothing about the graph.
    if let Some(unanswered) = &seen.unanswered {
        return vec![no_mock(unanswered)];
    }
    let mut findings = Vec::new();
    findings.extend(compare_outcome(&expect.outcome, outcome));
    findings.extend(expect.path.as_deref().and_then(|expected| compare_path(expected, path)));
    for (of, expected) in &expect.calls {
        findings.extend(compare_calls(of, expected, &seen.calls));
    }
    findings
}

fn no_mock(unanswered: &Unanswered) -> Finding {
    let MadeCall { node, target, args, .. } = &unanswered.call;
    let args = shortened(&args.to_json(), SHOWN);
    let mut details = Vec::new();
    if !unanswered.answered.is_empty() {
        details.push("its mock is for other arguments:".to_owned());
        let others = unanswered.answered.iter().take(MAX_OTHERS);
        details.extend(others.map(|args| format!("  {}", shortened(&args.to_json(), SHOWN))));
        if unanswered.answered.len() > MAX_OTHERS {
            details.push(format!("  and {} more", unanswered.answered.len() - MAX_OTHERS));
        }
    }
    details.extend([
        "add an answer to `mocks` of the test:".to_owned(),
        format!("  {node}: {{ output: … }}"),
    ]);
    if unanswered.can_be_live {
        details.push("or let calls without a mock go to the servers with `live: true`".to_owned());
    }
    let title = format!("node `{node}` calls {target} with {args}, for which there is no mock");
    Finding { title, details }
}

fn compare_outcome(
    expected: &ExpectedOutcome,
    outcome: &Result<Value, RunError>,
) -> Option<Finding> {
    match (expected, outcome) {
        (ExpectedOutcome::Success, Ok(_)) => None,
        (ExpectedOutcome::Result(expected), Ok(actual)) => {
            (expected.value() != actual).then(|| Finding {
                title: "the result differs (- expected, + actual):".to_owned(),
                details: diff::values(expected.value(), actual),
            })
        }
        (ExpectedOutcome::Success | ExpectedOutcome::Result(_), Err(error)) => Some(Finding {
            title: "the call failed, and was expected to succeed:".to_owned(),
            details: vec![describe(error)],
        }),
        (ExpectedOutcome::Error(_), Ok(actual)) => Some(Finding {
            title: "the call was expected to fail, and gave a result:".to_owned(),
            details: diff::lines(actual),
        }),
        (ExpectedOutcome::Error(expected), Err(actual)) => compare_error(expected, actual),
    }
}

fn describe(error: &RunError) -> String {
    format!("{error} [{} {}]", error.kind.code(), error.kind.name())
}

fn compare_error(expected: &ExpectedError, actual: &RunError) -> Option<Finding> {
    let mut details = Vec::new();
    if let Some(kind) = expected.kind.filter(|kind| kind.value != actual.kind.name()) {
        details.push(format!("kind: expected `{}`, was `{}`", kind.value, actual.kind.name()));
    }
    if let Some(node) = &expected.node
        && actual.node.as_deref() != Some(node.as_str())
    {
        let was = actual.node.as_deref().map_or("none".to_owned(), |node| format!("`{node}`"));
        details.push(format!("node: expected `{node}`, was {was}"));
    }
    if let Some(part) = &expected.message_contains
        && !actual.message.contains(part.as_str())
    {
        details.push(format!("message: expected to contain {:?}", part.as_str()));
    }
    if details.is_empty() {
        return None;
    }
    details.push(format!("the error was: {}", describe(actual)));
    Some(Finding { title: "the error is another one:".to_owned(), details })
}

fn compare_path(expected: &[PathItem], actual: &[Arc<str>]) -> Option<Finding> {
    let (at, wanted) = first_difference(expected, actual)?;
    let wanted_name = wanted.map(|index| name(&expected[index]));
    let title = match (actual.get(at), wanted_name) {
        (Some(was), Some(wanted)) => {
            format!("the path differs at node {}: `{was}` in place of `{wanted}`", at + 1)
        }
        (Some(was), None) => format!("the path goes on with `{was}` at node {}", at + 1),
        (None, Some(wanted)) => format!("the path ends after {at} nodes, before `{wanted}`"),
        (None, None) => "the path differs".to_owned(),
    };
    let names: Vec<&str> = expected.iter().map(name).collect();
    let actual: Vec<&str> = actual.iter().map(|node| &**node).collect();
    let details = vec![
        format!("expected: {}", around(&names, wanted.unwrap_or(names.len()))),
        format!("actual:   {}", around(&actual, at)),
    ];
    Some(Finding { title, details })
}

fn name(item: &PathItem) -> &str {
    match item {
        PathItem::Node(node) => node,
        PathItem::Gap => "...",
    }
}

/// Where a path first leaves what is expected: the place in it, and the place in what is expected
/// that comes furthest, or none where nothing more was expected. None if it does not.
fn first_difference(expected: &[PathItem], actual: &[Arc<str>]) -> Option<(usize, Option<usize>)> {
    // The places in `expected` that the path may stand before.
    let mut places = Vec::new();
    reach(expected, 0, &mut places);
    // Where the path was last all that is expected.
    let mut complete = None;
    for (index, node) in actual.iter().enumerate() {
        if places.contains(&expected.len()) {
            complete = Some(index);
        }
        let mut next = Vec::new();
        for place in &places {
            match expected.get(*place) {
                Some(PathItem::Gap) => reach(expected, *place, &mut next),
                Some(PathItem::Node(wanted)) if **wanted == **node => {
                    reach(expected, place + 1, &mut next);
                }
                _ => {}
            }
        }
        if next.is_empty() {
            return Some((index, furthest(&places, expected)));
        }
        places = next;
    }
    if places.contains(&expected.len()) {
        return None;
    }
    Some(complete.map_or((actual.len(), furthest(&places, expected)), |index| (index, None)))
}

/// Adds a place, and those behind the gap it may stand at. Places come in ascending order.
fn reach(expected: &[PathItem], mut place: usize, places: &mut Vec<usize>) {
    loop {
        if places.last().is_none_or(|last| *last < place) {
            places.push(place);
        }
        if expected.get(place) != Some(&PathItem::Gap) {
            return;
        }
        place += 1;
    }
}

fn furthest(places: &[usize], expected: &[PathItem]) -> Option<usize> {
    places.iter().copied().filter(|place| *place < expected.len()).max()
}

/// The names around a place of a long list.
fn around(names: &[&str], at: usize) -> String {
    let start = at.saturating_sub(NODES_AROUND);
    let end = names.len().min(at + NODES_AROUND + 1);
    let mut shown = names.get(start..end).unwrap_or_default().join(", ");
    if start > 0 {
        shown.insert_str(0, "… ");
    }
    if end < names.len() {
        shown.push_str(" …");
    }
    shown
}

fn compare_calls(of: &str, expected: &[Json], calls: &[MadeCall]) -> Option<Finding> {
    let made: Vec<Value> = calls
        .iter()
        .filter(|call| &*call.node == of || call.target == of)
        .map(|call| call.args.clone())
        .collect();
    let wanted: Vec<Value> = expected.iter().map(|args| args.value().clone()).collect();
    (made != wanted).then(|| Finding {
        title: format!("the calls of {of} differ (- expected, + actual):"),
        details: diff::values(&wanted.into(), &made.into()),
    })
}

#[cfg(test)]
mod tests;
