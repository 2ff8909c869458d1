use std::sync::Arc;

use mcpgraph_diagnostics::codes;

use super::args::Dialect;
use super::node::{check_not_empty, nodes};
use super::problems::{Problems, quoted};
use super::record::{Record, Strangers};
use crate::keys::TOOL;
use crate::model::{ExecutionLimits, ToolDef, Version};
use crate::{Json, Kind, Style, Text, Tree};

/// The longest name every client takes.
const MAX_NAME: usize = 128;

/// Reads a tool; `limits` are the file's.
pub(super) fn tool(
    tree: &Arc<Tree>,
    index: usize,
    version: Version,
    limits: ExecutionLimits,
    problems: &mut Problems,
) -> Option<ToolDef> {
    let record = Record::open(tree, &TOOL, Strangers::Report, problems)?;
    let items = record.list("nodes", problems).unwrap_or_default();
    if record.member("nodes").is_some_and(|member| matches!(member.value.kind, Kind::Seq(_))) {
        check_not_empty("nodes", items, &record, problems);
    }
    let dialect = Dialect::of_tool(version, items);
    Some(ToolDef {
        input_schema: record.json("inputSchema", problems).unwrap_or_else(|| no_schema(tree)),
        output_schema: record.json("outputSchema", problems),
        nodes: nodes(items, dialect, problems),
        durable: record.flag("durable", problems).unwrap_or_default(),
        ..face(&record, tree, index, limits, problems)
    })
}

/// What every tool has, whatever is behind it.
pub(super) fn face(
    record: &Record<'_>,
    tree: &Arc<Tree>,
    index: usize,
    limits: ExecutionLimits,
    problems: &mut Problems,
) -> ToolDef {
    let name = record.text("name", problems);
    if let Some(name) = &name {
        check_name(name, problems);
    }
    let own_limits = record.record("executionLimits", problems);
    ToolDef {
        span: tree.span,
        name: name.unwrap_or_else(|| Text::new(format!("#{}", index + 1), tree.span, Style::Plain)),
        title: record.text("title", problems),
        description: record.text("description", problems),
        input_schema: no_schema(tree),
        output_schema: None,
        annotations: record.json("annotations", problems),
        meta: record.json("_meta", problems),
        icons: record.json("icons", problems),
        limits: own_limits.map_or(limits, |record| self::limits(&record, limits, problems)),
        nodes: Vec::new(),
        durable: false,
    }
}

/// Reads limits; those the mapping does not give are taken from `base`.
pub(super) fn limits(
    record: &Record<'_>,
    base: ExecutionLimits,
    problems: &mut Problems,
) -> ExecutionLimits {
    let mut read =
        |name, otherwise| record.count(name, problems).map_or(otherwise, |count| count.value);
    ExecutionLimits {
        max_node_executions: read("maxNodeExecutions", base.max_node_executions),
        max_execution_time_ms: read("maxExecutionTimeMs", base.max_execution_time_ms),
        max_context_bytes: read("maxContextBytes", base.max_context_bytes),
        max_payload_bytes: read("maxPayloadBytes", base.max_payload_bytes),
        max_depth: read("maxDepth", base.max_depth),
        max_wait_ms: read("maxWaitMs", base.max_wait_ms),
    }
}

/// The schema that everything fits.
pub(super) fn no_schema(tool: &Tree) -> Json {
    Json::new(&Arc::new(Tree::new(tool.span, Kind::Map(Vec::new()))))
}

fn check_name(name: &Text, problems: &mut Problems) {
    let fits = name.len() <= MAX_NAME
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    if !fits {
        let message = format!("the tool name {} may not work in every client", quoted(name));
        problems.push(
            problems
                .warning(codes::TOOL_NAME, name.span(), message)
                .hint(format!("use at most {MAX_NAME} letters (A to Z), digits, `_`, `-` and `.`")),
        );
    }
}
