//! From a workflow's definition to a body the engine runs.
//!
//! The main path of a workflow is a line: each node goes on to the one that leads to the end.
//! Whatever else leaves a node is a branch that ends by itself; it is put into the line before
//! what follows, where a script that nobody waits for takes no time. So the engine needs no other
//! notion of order than `next`.

mod hooks;
mod shape;

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::{
    Around, GraphFile, ServerDef, WorkflowDef, WorkflowNodeDef, WorkflowNodeKind,
};
use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_diagnostics::{Diagnostic, Span, codes};
use mcpgraph_value::{Map, Value};

pub(super) use self::hooks::check_modules;
pub use self::hooks::script_problem;
use self::shape::Shape;
use super::body::{Compiler, ERROR, Place};
use super::reads::Names;
use super::report::Report;
use super::{limits, one_of};
use crate::glob::fits_any;
use crate::{Body, Digest, Kind, Match, Node, NodeIx, Schema, Tool, Workflow};

/// What expressions and scripts read besides the outputs of nodes.
const FLOW: [&str; 4] = ["request", "response", "metadata", "variables"];

/// Reports workflows that cannot be told apart.
pub(super) fn check_ids(file: &GraphFile, report: &mut Report) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for workflow in &file.workflows {
        if let Some(first) = seen.insert(&workflow.id, workflow.id.span()) {
            report.push(
                Diagnostic::error(
                    codes::WORKFLOW_DUPLICATE,
                    format!("there are two workflows with the id `{}`", workflow.id),
                )
                .at(&file.source, workflow.id.span(), "")
                .also(&file.source, first, "the id is used here first")
                .hint("a workflow without an `id` has its name as one"),
            );
        }
    }
}

/// Warns of workflows for a server whose calls go through none: one that is not there, or that no
/// client reaches. A guard that is around nothing looks as if it guarded.
pub(super) fn check_servers(file: &GraphFile, report: &mut Report) {
    if file.servers.is_empty() {
        // They are in a file of their own, or those of whoever serves what is in the store.
        return;
    }
    let offered = |server: &&ServerDef| !server.disabled && server.expose.is_some();
    let offered: Vec<&str> = file.servers.iter().filter(offered).map(|it| &*it.name).collect();
    for workflow in file.workflows.iter().filter(|workflow| workflow.around == Around::Call) {
        let Some(pattern) = &workflow.only.server else { continue };
        if offered.iter().any(|name| fits_any(pattern, name)) {
            continue;
        }
        let known = file.servers.iter().find(|server| fits_any(pattern, &server.name));
        let hint = match known {
            Some(server) if server.disabled => format!("server `{}` is disabled", server.name),
            Some(server) => format!(
                "calls that nodes make do not go through workflows: `{}` needs `expose`",
                server.name
            ),
            None => did_you_mean(pattern, file.servers.iter().map(|server| &*server.name))
                .unwrap_or_else(|| "leave `server` out for the calls of all".to_owned()),
        };
        let message = format!(
            "workflow `{}` is around nothing: no server that is offered to clients fits `{pattern}`",
            workflow.name
        );
        report.push(
            Diagnostic::warning(codes::WORKFLOW_AROUND_NOTHING, message)
                .at(&file.source, pattern.span(), "")
                .hint(hint),
        );
    }
}

/// Compiles one workflow; none if it has an error.
pub(super) fn compile_workflow(
    file: &GraphFile,
    def: &WorkflowDef,
    report: &mut Report,
) -> Option<Workflow> {
    let errors = report.error_count();
    check_node_ids(&def.nodes, report);
    let ids: HashMap<&str, NodeIx> =
        def.nodes.iter().enumerate().rev().map(|(index, node)| (&*node.id, index)).collect();
    let start = one_node(def, "start", report);
    let call = one_node(def, "mcp-call", report);
    let end = one_node(def, "end", report);
    let shape = Shape::read(def, &ids, report);
    let mut names: Names<'_> = def.nodes.iter().map(|node| &*node.id).collect();
    names.extend(FLOW);
    names.insert(ERROR);
    let place = Place::new(ids, names);
    let mut compiler = Compiler::new(file, place.ids(), report);
    let kinds: Vec<Option<Kind>> =
        def.nodes.iter().map(|node| kind(file, def, node, &place, &mut compiler)).collect();
    let (start, call, end) = (start?, call?, end?);
    let next = shape?.line(def, start, call, end, report)?;
    if report.error_count() > errors {
        return None;
    }
    let nodes: Option<Vec<Node>> = def
        .nodes
        .iter()
        .zip(kinds)
        .zip(next)
        .map(|((node, kind), next)| {
            let goes_on = matches!(&node.kind, WorkflowNodeKind::Hook(hook) if hook.goes_on);
            Some(Node {
                id: node.id.to_arc(),
                kind: kind?,
                next,
                timeout: None,
                retry: None,
                on_error: if goes_on { next } else { None },
            })
        })
        .collect();
    let scripts: String = hooks::modules(file, def).map(|module| &*module.script).collect();
    let object = Value::object(Map::from_iter([("type", "object")]));
    let tool = Tool {
        name: Workflow::run_name(&def.id).into(),
        definition: Value::Null,
        input: Schema::compile(&object).ok()?,
        output: None,
        body: Arc::new(Body { nodes: nodes?, start }),
        limits: limits(&def.limits),
        digest: Digest::of(format!("{}{scripts}", file.source.slice(def.span))),
        // It is a part of the request it is put around.
        durable: false,
    };
    let pattern = |text: &Option<Text>| text.as_ref().map(Text::to_arc);
    Some(Workflow {
        id: def.id.to_arc(),
        name: def.name.to_arc(),
        around: def.around,
        enabled: def.enabled,
        priority: def.priority,
        only: Match {
            server: pattern(&def.only.server),
            tool: pattern(&def.only.tool),
            client: pattern(&def.only.client),
        },
        tool: Arc::new(tool),
    })
}

fn kind<'a>(
    file: &GraphFile,
    def: &WorkflowDef,
    node: &'a WorkflowNodeDef,
    place: &Place<'a>,
    compiler: &mut Compiler<'a, '_>,
) -> Option<Kind> {
    Some(match &node.kind {
        WorkflowNodeKind::Start => Kind::Start,
        WorkflowNodeKind::End => Kind::End,
        WorkflowNodeKind::McpCall => Kind::Wrapped,
        WorkflowNodeKind::Hook(hook) => {
            Kind::Hook(Arc::new(hooks::compile(file, def, hook, compiler.report())?))
        }
        WorkflowNodeKind::Transform(transform) => {
            Kind::Transform(compiler.expression(&transform.expr, place.names())?)
        }
        WorkflowNodeKind::Switch(switch) => compiler.switch(&node.id, switch, place)?,
        // What is wrong with it has been said when the file was read.
        WorkflowNodeKind::Invalid => return None,
    })
}

/// Ids are unique, and none means something else in expressions.
fn check_node_ids(nodes: &[WorkflowNodeDef], report: &mut Report) {
    let mut seen: HashMap<&str, Span> = HashMap::new();
    for node in nodes {
        if let Some(first) = seen.insert(&node.id, node.id.span()) {
            report.push(
                Diagnostic::error(
                    codes::DUPLICATE_NODE,
                    format!("there are two nodes with the id `{}`", node.id),
                )
                .at(report.source(), node.id.span(), "")
                .also(report.source(), first, "the id is used here first")
                .hint("ids are unique in a workflow"),
            );
        }
        if FLOW.contains(&&*node.id) || &*node.id == ERROR {
            report.push(
                Diagnostic::error(
                    codes::NAME_TAKEN,
                    format!("`{}` means something else in expressions here", node.id),
                )
                .at(report.source(), node.id.span(), "")
                .hint(
                    "in a workflow `request`, `response`, `metadata`, `variables` and `error` are \
                     what flows through it",
                ),
            );
        }
    }
}

/// The only node of a kind.
fn one_node(def: &WorkflowDef, kind: &str, report: &mut Report) -> Option<NodeIx> {
    let found: Vec<NodeIx> =
        (0..def.nodes.len()).filter(|index| def.nodes[*index].kind.name() == kind).collect();
    let places: Vec<&Text> = found.iter().map(|index| &def.nodes[*index].id).collect();
    let codes = (codes::WORKFLOW_NODE_MISSING, codes::WORKFLOW_NODE_TWICE);
    one_of(&places, kind, ("workflow", &def.name), codes, report);
    found.first().copied()
}
