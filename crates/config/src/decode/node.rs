use std::num::NonZeroU32;
use std::sync::Arc;

use mcpgraph_diagnostics::codes;
use mcpgraph_value::Value;

use super::args::{self, Dialect, args};
use super::command;
use super::problems::{Problems, quoted};
use super::record::{Record, Strangers, text_of, word_of, wrong_type};
use super::switch::switch;
use crate::keys::{ANY_NODE, EXPRESSION, RETRY, Shape, kind_table};
use crate::model::{
    ArgValue, Ask, Branch, CommandCall, FailureKind, Foreach, GraphCall, Mcp, NodeDef, NodeKind,
    Parallel, Retry, Spanned, Transform, Wait,
};
use crate::{Kind, Style, Text, Tree};

/// Reads the nodes of a tool, a body or a branch.
pub(super) fn nodes(
    items: &[Arc<Tree>],
    dialect: Dialect,
    problems: &mut Problems,
) -> Vec<NodeDef> {
    items
        .iter()
        .enumerate()
        .filter_map(|(index, tree)| node(tree, index, dialect, problems))
        .collect()
}

fn node(
    tree: &Arc<Tree>,
    index: usize,
    dialect: Dialect,
    problems: &mut Problems,
) -> Option<NodeDef> {
    // The kind decides which keys there are, so it is looked at before the keys are checked.
    let kind_name = tree.get("type").and_then(|member| member.value.as_text());
    let table = kind_name.and_then(|kind| kind_table(kind));
    let record = Record::open(tree, table.unwrap_or(&ANY_NODE), Strangers::Report, problems)?;
    let id = record.text("id", problems);
    let word = record.word("type", problems);
    let kind = word.and_then(|word| kind(word.value, &record, dialect, problems));
    let own_timeout = match &kind {
        Some(NodeKind::Command(call)) => call.command.timeout_ms,
        _ => None,
    };
    let has_next = !matches!(kind, Some(NodeKind::Switch(_) | NodeKind::Exit));
    Some(NodeDef {
        span: tree.span,
        id: id.unwrap_or_else(|| Text::new(format!("#{}", index + 1), tree.span, Style::Plain)),
        kind_span: word.map_or(tree.span, |word| word.span),
        next: if has_next { record.text("next", problems) } else { None },
        timeout_ms: record.count("timeoutMs", problems).or(own_timeout),
        retry: record.record("retry", problems).map(|record| retry(&record, problems)),
        on_error: record.text("onError", problems),
        position: record.json("position", problems),
        kind: kind.unwrap_or(NodeKind::Invalid),
    })
}

fn kind(
    name: &str,
    record: &Record<'_>,
    dialect: Dialect,
    problems: &mut Problems,
) -> Option<NodeKind> {
    Some(match name {
        "entry" => NodeKind::Entry,
        "exit" => NodeKind::Exit,
        "transform" => {
            let transform = record.record("transform", problems)?;
            NodeKind::Transform(Transform { expr: transform.text("expr", problems)? })
        }
        "switch" => NodeKind::Switch(switch(record, problems)?),
        "mcp" => {
            let (server, tool) = (record.text("server", problems), record.text("tool", problems));
            let args = args(record, dialect, problems);
            NodeKind::Mcp(Mcp { server: server?, tool: tool?, args })
        }
        "foreach" => NodeKind::Foreach(foreach(record, dialect, problems)?),
        "parallel" => NodeKind::Parallel(parallel(record, dialect, problems)?),
        "graph" => {
            let tool = record.text("tool", problems);
            let args = args(record, dialect, problems);
            NodeKind::Graph(GraphCall { tool: tool?, args })
        }
        "command" => {
            let command = record.record("command", problems);
            let command = command.map(|record| command::command(&record, problems));
            let args = args(record, dialect, problems);
            NodeKind::Command(Box::new(CommandCall { command: command?, args }))
        }
        "ask" => NodeKind::Ask(Box::new(ask(record, dialect, problems)?)),
        "wait" => NodeKind::Wait(wait(record, dialect, problems)?),
        _ => return None,
    })
}

fn ask(record: &Record<'_>, dialect: Dialect, problems: &mut Problems) -> Option<Ask> {
    let message = record.member("message").and_then(|member| {
        let tree = &member.value;
        if matches!(tree.kind, Kind::String(_)) {
            // Reports a text that asks nothing.
            text_of(Shape::Name, tree, "message", problems)?;
        }
        let message = args::argument(member, dialect, problems);
        let is_text = match &message.value {
            ArgValue::Literal(value) => value.as_str().is_some(),
            ArgValue::Expr(_) => true,
            ArgValue::Object(_) | ArgValue::Array(_) => false,
        };
        if !is_text {
            let shape = Shape::Either(&Shape::Name, &Shape::AnyObject);
            wrong_type("message", shape, tree, problems);
        }
        is_text.then_some(message)
    });
    if record.member("message").is_none() {
        record.report_missing("message", problems);
    }
    let schema = record.json("schema", problems);
    let on_decline = record.text("onDecline", problems);
    let on_timeout = record.text("onTimeout", problems);
    Some(Ask { message: message?, schema, on_decline, on_timeout })
}

fn foreach(record: &Record<'_>, dialect: Dialect, problems: &mut Problems) -> Option<Foreach> {
    let items = items_expression(record, problems);
    let item_name = item_name(record, problems);
    let max_parallel = record.count("maxParallel", problems).and_then(to_u32);
    let body = record.list("body", problems).map(|body| {
        check_not_empty("body", body, record, problems);
        nodes(body, dialect, problems)
    });
    Some(Foreach {
        items: items?,
        item_name,
        body: body?,
        max_parallel: max_parallel.unwrap_or(NonZeroU32::MIN),
    })
}

/// `items` is JSONata either way: as text or as `{expr: …}`.
fn items_expression(record: &Record<'_>, problems: &mut Problems) -> Option<Text> {
    match record.member("items").map(|member| &member.value) {
        Some(tree) if matches!(tree.kind, Kind::Map(_)) => {
            Record::open(tree, &EXPRESSION, Strangers::Report, problems)?.text("expr", problems)
        }
        Some(tree) if matches!(tree.kind, Kind::String(_)) => {
            text_of(Shape::Name, tree, "items", problems)
        }
        Some(tree) => {
            wrong_type("items", Shape::Either(&Shape::Name, &Shape::AnyObject), tree, problems);
            None
        }
        // Reports that it is missing.
        None => record.text("items", problems),
    }
}

/// The name of the item has to be one that JSONata can write without quotes.
fn item_name(record: &Record<'_>, problems: &mut Problems) -> Text {
    let Some(name) = record.text("as", problems) else {
        return Text::new("item", record.span(), Style::Plain);
    };
    let is_name = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !is_name {
        let message = format!("{} cannot be used as a name in expressions", quoted(&name));
        problems.push(
            problems
                .error(codes::OUT_OF_RANGE, name.span(), message)
                .hint("use letters, digits and `_`, and no digit at the start"),
        );
    }
    name
}

fn parallel(record: &Record<'_>, dialect: Dialect, problems: &mut Problems) -> Option<Parallel> {
    let max_parallel = record.count("maxParallel", problems).and_then(to_u32);
    let members = record.map("branches", problems)?;
    if members.is_empty() {
        let message = "`branches` needs at least one branch";
        problems.push(problems.error(codes::OUT_OF_RANGE, record.span(), message));
    }
    let branches = members
        .iter()
        .map(|member| {
            let list = match &member.value.kind {
                Kind::Seq(items) if !items.is_empty() => items.as_slice(),
                Kind::Seq(_) => {
                    let message =
                        format!("the branch {} needs at least one node", quoted(&member.key));
                    problems.push(problems.error(codes::OUT_OF_RANGE, member.key.span(), message));
                    &[]
                }
                _ => {
                    wrong_type(&member.key, Shape::AnyArray, &member.value, problems);
                    &[]
                }
            };
            Branch { name: member.key.clone(), nodes: nodes(list, dialect, problems) }
        })
        .collect();
    Some(Parallel { branches, max_parallel })
}

/// How to say how long.
const WAIT_HINT: &str = "write `duration: 90s`, or `until: 2030-01-31T12:00:00Z`";

/// One of `duration` and `until`.
fn wait(record: &Record<'_>, dialect: Dialect, problems: &mut Problems) -> Option<Wait> {
    let (member, is_until) = match (record.member("duration"), record.member("until")) {
        (Some(duration), None) => (duration, false),
        (None, Some(until)) => (until, true),
        (duration, until) => {
            let (span, message) = match duration.and(until) {
                Some(second) => {
                    (second.key.span(), "a node waits for a `duration` or `until` a time, not both")
                }
                None => (record.span(), "the node does not say how long it waits"),
            };
            problems.push(problems.error(codes::WAIT_UNCLEAR, span, message).hint(WAIT_HINT));
            return None;
        }
    };
    let time = args::argument(member, dialect, problems);
    let is_time = match &time.value {
        ArgValue::Literal(value) => matches!(value, Value::String(_) | Value::Number(_)),
        ArgValue::Expr(_) => true,
        ArgValue::Object(_) | ArgValue::Array(_) => false,
    };
    if !is_time {
        let message =
            format!("{} has to be a text, a number or an expression", quoted(&member.key));
        problems
            .push(problems.error(codes::WAIT_UNCLEAR, member.value.span, message).hint(WAIT_HINT));
        return None;
    }
    Some(Wait { is_until, time })
}

fn retry(record: &Record<'_>, problems: &mut Problems) -> Retry {
    let times = record.count("times", problems).map(|count| count.value as u32);
    let backoff_ms = record.count("backoffMs", problems).map(|count| count.value);
    let on = record.list("on", problems).map(|items| {
        items.iter().filter_map(|item| failure_kind(item, problems)).collect::<Vec<_>>()
    });
    Retry {
        span: record.span(),
        times: times.unwrap_or(Retry::TIMES),
        backoff_ms: backoff_ms.unwrap_or(Retry::BACKOFF_MS),
        on: on.unwrap_or_else(|| Retry::ON.to_vec()),
    }
}

fn failure_kind(tree: &Tree, problems: &mut Problems) -> Option<FailureKind> {
    let Some(Shape::List(shape)) = RETRY.key("on").map(|key| key.shape) else { return None };
    let word = word_of(*shape, tree, "on", problems)?;
    FailureKind::ALL.iter().find(|(name, _)| *name == word.value).map(|(_, kind)| *kind)
}

pub(super) fn check_not_empty(
    name: &str,
    items: &[Arc<Tree>],
    record: &Record<'_>,
    problems: &mut Problems,
) {
    if items.is_empty() {
        let span = record.member(name).map_or(record.span(), |member| member.key.span());
        let message = format!("`{name}` needs at least one node");
        problems.push(problems.error(codes::OUT_OF_RANGE, span, message));
    }
}

/// The table keeps counts of parallel work far below the range of `u32`.
pub(super) fn to_u32(count: Spanned<u64>) -> Option<NonZeroU32> {
    u32::try_from(count.value).ok().and_then(NonZeroU32::new)
}
