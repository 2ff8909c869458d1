//! Which span is that of a client's request. Workflows are runs of their own around the call, so that
//! several runs may belong to one request.

use std::sync::Arc;

use mcpgraph_graph::Tool;
use mcpgraph_journal::Face;
use mcpgraph_runtime::RunStart;
use mcpgraph_value::Value;
use opentelemetry::KeyValue;
use opentelemetry::trace::Span as _;
use opentelemetry_sdk::trace::Span;

use super::attributes as key;
use crate::outline::bounded_name;

/// What a run is of the request that a client made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The call.
    Call,
    /// The outermost workflow around it, which speaks for the request.
    Around,
    /// Something inside of it, or of no request.
    Inside,
}

impl Part {
    pub(super) fn of(run: &RunStart<'_>) -> Self {
        // What goes on over many requests is not the answer to one of them.
        let Some(graph) = run.graph.filter(|_| run.origin.face == Face::Mcp) else {
            return Self::Inside;
        };
        if run.origin.around.is_some() {
            return Self::Inside;
        }
        let mut workflows = graph.workflows.iter().map(|workflow| &workflow.tool);
        let is_it = |tool: &Arc<Tool>| tool.name == *run.tool && tool.digest == run.digest;
        if workflows.any(is_it) { Self::Around } else { Self::Call }
    }
}

/// Names the span of a workflow after the request that it is put around.
pub(super) fn name_after_request(span: &mut Span, input: &Value) {
    let asked = |pointer: &str| input.pointer(pointer).and_then(Value::as_str);
    let Some(method) = asked("/request/method") else { return };
    span.set_attribute(key::bounded(key::METHOD, method));
    let Some(tool) = asked("/request/params/name").filter(|_| method == key::TOOLS_CALL) else {
        span.update_name(bounded_name(method).into_owned());
        return;
    };
    span.update_name(key::name(method, tool));
    span.set_attribute(KeyValue::new(key::OPERATION, key::EXECUTE_TOOL));
    span.set_attribute(key::bounded(key::TOOL_NAME, tool));
}
