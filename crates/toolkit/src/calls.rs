//! Calls of upstream tools, compared with what their servers say of these tools.

use mcpgraph_config::model::{ArgValue, GraphFile, Mcp, NodeDef, NodeKind};
use mcpgraph_diagnostics::codes::{self, Code};
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_diagnostics::{Diagnostic, Diagnostics};
use mcpgraph_upstream::ToolInfo;
use mcpgraph_value::Value;

/// How many names a message lists.
const MAX_NAMES: usize = 30;

/// Something about a call that its server does not agree with.
pub(crate) struct Unfit<'c> {
    pub(crate) code: Code,
    /// Whether the call would fail; else it only looks like a slip.
    pub(crate) is_error: bool,
    pub(crate) part: Part<'c>,
    pub(crate) message: String,
    pub(crate) hint: String,
}

/// Which part of a call.
pub(crate) enum Part<'c> {
    /// The tool that is called.
    Tool,
    /// Its arguments as a whole.
    Arguments,
    /// One of them.
    Argument(&'c str),
}

/// What the tools of a server say against the calls that a file makes of it.
pub fn check_calls(file: &GraphFile, server: &str, tools: &[ToolInfo]) -> Diagnostics {
    let mut calls = Vec::new();
    for (index, tool) in file.tools.iter().enumerate() {
        collect(&tool.nodes, &format!("/tools/{index}/nodes"), &mut calls);
    }
    let mut found = Diagnostics::default();
    for (_, mcp) in calls.iter().filter(|(_, mcp)| *mcp.server == *server) {
        for Unfit { code, is_error, part, message, hint } in unfit(mcp, tools) {
            let new = if is_error { Diagnostic::error } else { Diagnostic::warning };
            let span = match part {
                Part::Tool => mcp.tool.span(),
                Part::Arguments | Part::Argument(_) => mcp.args.span,
            };
            found.push(new(code, message).at(&file.source, span, "").hint(hint));
        }
    }
    found
}

/// The `mcp` nodes, inside other nodes too, with pointers into what the first are in.
pub(crate) fn collect<'f>(nodes: &'f [NodeDef], at: &str, found: &mut Vec<(String, &'f Mcp)>) {
    for (index, node) in nodes.iter().enumerate() {
        let at = format!("{at}/{index}");
        match &node.kind {
            NodeKind::Mcp(mcp) => found.push((at, mcp)),
            NodeKind::Foreach(foreach) => collect(&foreach.body, &format!("{at}/body"), found),
            NodeKind::Parallel(parallel) => {
                for branch in &parallel.branches {
                    let at = format!("{at}/branches/{}", token(&branch.name));
                    collect(&branch.nodes, &at, found);
                }
            }
            _ => {}
        }
    }
}

/// What the tools of its server say against a call.
pub(crate) fn unfit<'c>(mcp: &'c Mcp, tools: &[ToolInfo]) -> Vec<Unfit<'c>> {
    let Some(tool) = tools.iter().find(|tool| *tool.name == *mcp.tool) else {
        let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
        let near = did_you_mean(&mcp.tool, names.iter().copied());
        return vec![Unfit {
            code: codes::CALL_TOOL_UNKNOWN,
            is_error: true,
            part: Part::Tool,
            message: format!("server `{}` has no tool `{}`", mcp.server, mcp.tool),
            hint: near.unwrap_or_else(|| format!("its tools are {}", listed(&names))),
        }];
    };
    let Some(schema) = tool.value.get("inputSchema") else { return Vec::new() };
    let given: Vec<&str> = match &mcp.args.value {
        ArgValue::Object(members) => members.iter().map(|(key, _)| &**key).collect(),
        ArgValue::Literal(Value::Object(members)) => members.keys().map(|key| &**key).collect(),
        // What it will be is known only when it runs.
        _ => return Vec::new(),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let known: Vec<&str> =
        properties.map(|all| all.keys().map(|key| &**key).collect()).unwrap_or_default();
    let is_closed = schema.get("additionalProperties").and_then(Value::as_bool) == Some(false);
    let mut found = Vec::new();
    for name in given.iter().copied().filter(|name| properties.is_some() && !known.contains(name)) {
        let near = did_you_mean(name, known.iter().copied());
        found.push(Unfit {
            code: codes::CALL_ARGUMENT_UNKNOWN,
            // What a schema lets pass is not refused here, even if it looks like a slip.
            is_error: is_closed,
            part: Part::Argument(name),
            message: format!("`{}` of server `{}` has no argument `{name}`", mcp.tool, mcp.server),
            hint: near.unwrap_or_else(|| format!("its arguments are {}", listed(&known))),
        });
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flat_map(|names| names.iter()).filter_map(Value::as_str) {
        if !given.contains(&name) {
            found.push(Unfit {
                code: codes::CALL_ARGUMENT_MISSING,
                is_error: true,
                part: Part::Arguments,
                message: format!(
                    "`{}` of server `{}` needs the argument `{name}`",
                    mcp.tool, mcp.server
                ),
                hint: format!("add `{name}` to `args`"),
            });
        }
    }
    found
}

/// A key as RFC 6901 writes it.
pub(crate) fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("{} more", names.len() - MAX_NAMES));
    }
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}
