//! From a file's model to graphs the engine can run, with everything that is wrong reported.
//!
//! Each tool is compiled on its own, and each body in it the same way: names are resolved to
//! positions, expressions and schemas are compiled, and then the finished body is checked for
//! nodes that are never reached.

mod ask;
mod body;
mod calls;
mod command;
mod durable;
mod expressions;
mod names;
mod reach;
mod reads;
mod report;
mod workflow;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_config::model::{ExecutionLimits, GraphFile, NodeDef, ToolDef};
use mcpgraph_config::{Json, Text};
use mcpgraph_diagnostics::{Code, Diagnostic, Diagnostics, Source, Span, codes};
use mcpgraph_value::{Map, Value};

use self::body::compile_body;
use self::report::Report;
pub use self::workflow::script_problem;
use crate::{Digest, Graph, Limits, Schema, ServerMeta, Tool, Workflow};

/// Compiles a file. There is a graph unless a diagnostic is an error.
pub fn compile(file: &GraphFile) -> (Option<Graph>, Diagnostics) {
    let mut report = Report::new(file);
    check_tool_names(file, &mut report);
    check_exposed_names(file, &mut report);
    let durable = durable::tools(file);
    let tools: Vec<Option<Tool>> =
        file.tools.iter().map(|tool| compile_tool(file, tool, &durable, &mut report)).collect();
    workflow::check_ids(file, &mut report);
    workflow::check_modules(file, &mut report);
    workflow::check_servers(file, &mut report);
    let workflows: Vec<Option<Workflow>> = file
        .workflows
        .iter()
        .map(|def| workflow::compile_workflow(file, def, &mut report))
        .collect();
    let mut diagnostics = report.finish();
    file.fill_pointers(&mut diagnostics);
    diagnostics.sort();
    let tools: Option<Vec<Arc<Tool>>> = tools.into_iter().map(|tool| tool.map(Arc::new)).collect();
    let workflows: Option<Vec<Arc<Workflow>>> =
        workflows.into_iter().map(|workflow| workflow.map(Arc::new)).collect();
    let graph = match (tools, workflows) {
        (Some(tools), Some(workflows)) if !diagnostics.has_errors() => Some(Graph {
            server: server_meta(file),
            digest: Digest::of(
                tools
                    .iter()
                    .chain(workflows.iter().map(|workflow| &workflow.tool))
                    .map(|tool| tool.digest.to_string())
                    .collect::<String>(),
            ),
            tools,
            workflows,
            text: file.source.text().into(),
        }),
        _ => None,
    };
    (graph, diagnostics)
}

fn server_meta(file: &GraphFile) -> ServerMeta {
    let text = |text: &Text| text.as_str().to_owned();
    ServerMeta {
        name: text(&file.server.name),
        version: text(&file.server.version),
        title: file.server.title.as_ref().map_or_else(|| text(&file.server.name), text),
        instructions: file.server.instructions.as_ref().map(text),
    }
}

fn check_tool_names(file: &GraphFile, report: &mut Report) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for tool in &file.tools {
        if let Some(first) = seen.insert(&tool.name, tool.name.span()) {
            report.push(
                Diagnostic::error(
                    codes::DUPLICATE_TOOL,
                    format!("there are two tools named `{}`", tool.name),
                )
                .at(&file.source, tool.name.span(), "this one could never be called")
                .also(&file.source, first, "the name is used here first")
                .hint("give one of them another name"),
            );
        }
    }
}

/// Looks for names that the file itself gives to two tools of clients. What servers call their tools
/// is known only when they run.
fn check_exposed_names(file: &GraphFile, report: &mut Report) {
    let mut seen: HashMap<&str, (&Arc<Source>, Span)> = file
        .tools
        .iter()
        .map(|tool| (tool.name.as_str(), (&file.source, tool.name.span())))
        .collect();
    let servers = file.servers.iter().filter(|server| !server.disabled);
    for (server, expose) in servers.filter_map(|server| Some((server, server.expose.as_ref()?))) {
        for tool in expose.tools.iter().filter(|tool| !tool.is_hidden) {
            let Some(name) = &tool.rename else { continue };
            if let Some((source, first)) = seen.insert(name, (&server.source, name.span())) {
                report.push(
                    Diagnostic::error(
                        codes::NAME_COLLISION,
                        format!("clients would see two tools named `{name}`"),
                    )
                    .at(&server.source, name.span(), "this one could never be called")
                    .also(source, first, "the name is used here first")
                    .hint("choose another name"),
                );
            }
        }
    }
}

/// Compiles one tool; none if it has an error.
fn compile_tool(
    file: &GraphFile,
    def: &ToolDef,
    durable: &HashSet<&str>,
    report: &mut Report,
) -> Option<Tool> {
    let errors = report.error_count();
    let input = compile_schema(&def.input_schema, "inputSchema", report);
    check_is_object(&def.input_schema, report);
    let output = def
        .output_schema
        .as_ref()
        .map(|schema| compile_schema(schema, "outputSchema", report).ok_or(()))
        .transpose();
    check_node_ids(&def.nodes, &mut HashMap::new(), report);
    check_entry_and_exit(def, report);
    let body = compile_body(file, def, report);
    let (Some(input), Ok(output), Some(body)) = (input, output, body) else { return None };
    if report.error_count() > errors {
        return None;
    }
    Some(Tool {
        name: def.name.to_arc(),
        definition: definition(def),
        input,
        output,
        body: Arc::new(body),
        limits: limits(&def.limits),
        digest: Digest::of(file.source.slice(def.span)),
        durable: durable.contains(def.name.as_str()),
    })
}

/// The tool as clients see it, in the order the protocol's documents use.
fn definition(def: &ToolDef) -> Value {
    let mut map = Map::new();
    map.insert("name", def.name.to_arc());
    for (key, text) in [("title", &def.title), ("description", &def.description)] {
        if let Some(text) = text {
            map.insert(key, text.to_arc());
        }
    }
    map.insert("inputSchema", def.input_schema.value().clone());
    for (key, json) in [
        ("outputSchema", &def.output_schema),
        ("annotations", &def.annotations),
        ("icons", &def.icons),
        ("_meta", &def.meta),
    ] {
        if let Some(json) = json {
            map.insert(key, json.value().clone());
        }
    }
    map.into()
}

fn limits(limits: &ExecutionLimits) -> Limits {
    let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    Limits {
        node_executions: limits.max_node_executions,
        execution_time: Duration::from_millis(limits.max_execution_time_ms),
        context_bytes: size(limits.max_context_bytes),
        payload_bytes: size(limits.max_payload_bytes),
        depth: size(limits.max_depth),
    }
}

fn compile_schema(json: &Json, what: &str, report: &mut Report) -> Option<Schema> {
    match Schema::compile(json.value()) {
        Ok(schema) => Some(schema),
        Err(error) => {
            let hint = if error.is_pattern {
                "a pattern is a regular expression of JavaScript (ECMA-262)"
            } else {
                "the schema must be JSON Schema 2020-12 and refer to nothing outside itself"
            };
            report.push(
                Diagnostic::error(
                    codes::SCHEMA_INVALID,
                    format!("the {what} is not a valid JSON Schema: {}", error.message),
                )
                .at(report.source(), json.span_at(&error.pointer), "")
                .hint(hint),
            );
            None
        }
    }
}

/// The protocol sends arguments as an object, so a schema for anything else fits no call.
fn check_is_object(json: &Json, report: &mut Report) {
    match json.value().get("type") {
        None => {}
        Some(Value::String(word)) if &**word == "object" => {}
        Some(_) => report.push(
            Diagnostic::error(
                codes::SCHEMA_NOT_OBJECT,
                "the arguments of a tool are an object, but the inputSchema wants something else",
            )
            .at(report.source(), json.span_at("/type"), "")
            .hint("write `type: object`"),
        ),
    }
}

/// Ids are unique in a tool, nested bodies included: expressions name nodes by them.
fn check_node_ids<'a>(
    nodes: &'a [NodeDef],
    seen: &mut HashMap<&'a str, Span>,
    report: &mut Report,
) {
    for node in nodes {
        if let Some(first) = seen.get(&*node.id) {
            report.push(
                Diagnostic::error(
                    codes::DUPLICATE_NODE,
                    format!("there are two nodes with the id `{}`", node.id),
                )
                .at(report.source(), node.id.span(), "")
                .also(report.source(), *first, "the id is used here first")
                .hint("ids are unique in a tool, the bodies of its nodes included"),
            );
        } else {
            seen.insert(&node.id, node.id.span());
        }
        for inner in node.inner() {
            check_node_ids(inner, seen, report);
        }
    }
}

fn check_entry_and_exit(def: &ToolDef, report: &mut Report) {
    let ids = |kind: &str| -> Vec<&Text> {
        def.nodes.iter().filter(|node| node.kind.name() == kind).map(|node| &node.id).collect()
    };
    let tool = ("tool", &def.name);
    let is_unclear = def.nodes.iter().any(NodeDef::is_unknown);
    for (kind, codes) in [
        ("entry", (codes::NO_ENTRY, codes::SECOND_ENTRY)),
        ("exit", (codes::NO_EXIT, codes::SECOND_EXIT)),
    ] {
        let found = ids(kind);
        // It may well be the one whose type is misspelt.
        if !(found.is_empty() && is_unclear) {
            one_of(&found, kind, tool, codes, report);
        }
    }
}

/// Reports a node that is missing, or there twice, in a tool or a workflow; the codes are for the
/// one and the other.
fn one_of(
    found: &[&Text],
    kind: &str,
    (noun, name): (&str, &Text),
    (missing, second): (Code, Code),
    report: &mut Report,
) {
    let Some((first, others)) = found.split_first() else {
        report.push(
            Diagnostic::error(missing, format!("{noun} `{name}` has no {kind} node"))
                .at(report.source(), name.span(), "")
                .hint(format!("add a node with `type: {kind}`")),
        );
        return;
    };
    for other in others {
        report.push(
            Diagnostic::error(
                second,
                format!("{noun} `{name}` has a second {kind} node `{other}`"),
            )
            .at(report.source(), other.span(), "")
            .also(report.source(), first.span(), format!("the first {kind} is here"))
            .hint(format!("a {noun} has exactly one {kind}")),
        );
    }
}
