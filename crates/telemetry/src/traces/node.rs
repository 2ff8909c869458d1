//! The span of a node: what it is called, and how it ends.

use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::RunError;
use mcpgraph_graph as graph;
use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanKind};
use opentelemetry_sdk::trace::Span;

use super::attributes as key;
use super::events::Events;
use super::shown::fail;
use crate::outline::{NodeOutline, Target};

/// The span of a step.
pub(super) struct StepSpan {
    pub(super) span: Span,
    pub(super) events: Events,
    pub(super) retries: u32,
    /// The server whose tool is called.
    pub(super) server: Option<Arc<str>>,
    /// Whether it is a tool that is executed, for which payloads have names of their own.
    pub(super) is_tool: bool,
}

impl StepSpan {
    /// Adds an event, if there is room for it.
    pub(super) fn tell(&mut self, name: &'static str, time: SystemTime, what: Vec<KeyValue>) {
        self.events.tell(&mut self.span, name, time, what);
    }

    pub(super) fn finish(mut self, error: Option<&RunError>, time: SystemTime) {
        if self.retries > 0 {
            self.span.set_attribute(key::count(key::RETRIES, self.retries));
        }
        self.events.end(&mut self.span);
        if let Some(error) = error {
            fail(&mut self.span, error, time);
        }
        self.span.end_with_timestamp(time);
    }
}

/// The name and the kind of a node's span, and the attributes that come with them.
pub(super) fn identify(
    node: &str,
    kind: &'static str,
    outline: Option<&NodeOutline>,
    attributes: &mut Vec<KeyValue>,
) -> (String, SpanKind) {
    let Some(outline) = outline else { return (key::name(kind, node), SpanKind::Internal) };
    attributes.extend(key::list(key::JSONATA, &outline.jsonata));
    attributes.extend(key::list(key::JSON_LOGIC, &outline.json_logic));
    let Some(target) = &outline.target else {
        return (key::name(kind, node), SpanKind::Internal);
    };
    let operation = KeyValue::new(key::OPERATION, key::EXECUTE_TOOL);
    match target {
        Target::Outside(
            graph::Target::Hook(_)
            | graph::Target::Wrapped
            | graph::Target::Ask(_)
            | graph::Target::Time { .. },
        ) => (key::name(kind, node), SpanKind::Internal),
        Target::Outside(graph::Target::Tool { server, tool }) => {
            attributes.push(operation);
            attributes.push(key::text(key::TOOL_NAME, tool));
            attributes.push(KeyValue::new(key::METHOD, key::TOOLS_CALL));
            attributes.push(key::text(key::SERVER, server));
            (key::name(key::TOOLS_CALL, tool), SpanKind::Client)
        }
        Target::Outside(graph::Target::Command(command)) => {
            attributes.push(key::text(key::BACKEND, &command.backend.name));
            attributes.push(KeyValue::new(key::BACKEND_KIND, command.backend.kind.name()));
            (key::name("command", &command.backend.name), SpanKind::Client)
        }
        Target::Graph { tool } => {
            attributes.push(operation);
            attributes.push(key::text(key::TOOL_NAME, tool));
            (key::name(key::EXECUTE_TOOL, tool), SpanKind::Internal)
        }
    }
}
