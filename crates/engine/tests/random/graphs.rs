//! Small graphs with everything in them.

use std::fmt::Write as _;
use std::sync::Arc;

use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_graph::Graph;
use proptest::collection::vec;
use proptest::prelude::*;

/// A node, without its name and its edges: it goes to the one after it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) part: Part,
    pub(crate) retries: u8,
    /// Whether a failure goes to the handler of its body.
    pub(crate) handled: bool,
    pub(crate) timeout_ms: Option<u8>,
}

#[derive(Clone, Debug)]
pub(crate) enum Part {
    Compute,
    Fail,
    Call,
    /// Back to the start of the body, so often.
    Loop(u8),
    Each {
        items: u8,
        at_once: u8,
        body: Vec<Node>,
    },
    Split {
        at_once: u8,
        branches: Vec<Vec<Node>>,
    },
    Tool,
}

/// Whether nodes have time limits.
#[derive(Clone, Copy)]
pub(crate) enum Timing {
    None,
    Timeouts,
}

impl Node {
    /// A node that is tried once and fails for good.
    pub(crate) fn plain(part: Part) -> Self {
        Self { part, retries: 0, handled: false, timeout_ms: None }
    }
}

/// The nodes of a tool between its entry and its exit.
pub(crate) fn nodes(timing: Timing) -> impl Strategy<Value = Vec<Node>> {
    vec(node(timing), 1..4)
}

fn node(timing: Timing) -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        3 => Just(Part::Compute),
        1 => Just(Part::Fail),
        5 => Just(Part::Call),
        1 => (1_u8..3).prop_map(Part::Loop),
        1 => Just(Part::Tool),
    ];
    around(leaf, timing).prop_recursive(3, 12, 3, move |inner| {
        let each = (0_u8..4, 1_u8..4, vec(inner.clone(), 1..3))
            .prop_map(|(items, at_once, body)| Part::Each { items, at_once, body });
        let split = (1_u8..4, vec(vec(inner, 1..3), 1..4))
            .prop_map(|(at_once, branches)| Part::Split { at_once, branches });
        around(prop_oneof![each, split], timing)
    })
}

fn around(part: impl Strategy<Value = Part> + 'static, timing: Timing) -> BoxedStrategy<Node> {
    let timeout = match timing {
        Timing::None => Just(None).boxed(),
        Timing::Timeouts => proptest::option::weighted(0.3, 1_u8..20).boxed(),
    };
    (part, 0_u8..2, any::<bool>(), timeout)
        .prop_map(|(part, retries, handled, timeout_ms)| Node {
            part,
            retries,
            handled,
            timeout_ms,
        })
        .boxed()
}

/// The graph whose tool `main` has these nodes.
pub(crate) fn compiled(nodes: &[Node]) -> Arc<Graph> {
    limited(nodes, 1_000_000)
}

/// The same where a run may not execute more nodes than that.
pub(crate) fn limited(nodes: &[Node], executions: u64) -> Arc<Graph> {
    let mut writer = Writer { count: 0 };
    let (first, body) = writer.body(nodes, ", next: exit");
    let text = format!(
        "server: {{name: random, version: '1'}}
mcpServers: {{s: {{command: run}}}}
executionLimits: {{maxNodeExecutions: {executions}}}
tools:
  - name: main
    inputSchema: {{type: object}}
    nodes: [{{id: entry, type: entry, next: {first}}}, {body}, {{id: exit, type: exit}}]
  - name: leaf
    inputSchema: {{type: object}}
    nodes:
      - {{id: entry, type: entry, next: call}}
      - {{id: call, type: mcp, server: s, tool: t, next: exit}}
      - {{id: exit, type: exit}}
"
    );
    let source = Source::new("random.yaml", text);
    let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    let (graph, found) = mcpgraph_graph::compile(&file.expect("a file"));
    diagnostics.extend(found);
    Arc::new(graph.unwrap_or_else(|| panic!("{}", to_terminal(&diagnostics, Colour::Plain))))
}

/// Writes nodes as YAML, with ids that are unique in the tool.
struct Writer {
    count: usize,
}

impl Writer {
    /// A body: its nodes, the one that handles failures, and its end, which has `last` for an edge.
    fn body(&mut self, nodes: &[Node], last: &str) -> (String, String) {
        let first = self.count;
        self.count += nodes.len() + 2;
        let (handler, end) = (first + nodes.len(), first + nodes.len() + 1);
        let mut text = String::new();
        for (index, node) in nodes.iter().enumerate() {
            let next = if index + 1 < nodes.len() { first + index + 1 } else { end };
            self.node(&mut text, node, [first, first + index, next, handler]);
        }
        write!(
            text,
            "{{id: n{handler}, type: transform, transform: {{expr: '\"handled\"'}}, next: n{end}}}, \
             {{id: n{end}, type: transform, transform: {{expr: $previousNode()}}{last}}}"
        )
        .unwrap();
        (format!("n{first}"), text)
    }

    fn node(&mut self, text: &mut String, node: &Node, [first, id, next, handler]: [usize; 4]) {
        write!(text, "{{id: n{id}, ").unwrap();
        match &node.part {
            Part::Compute => text.push_str(
                "type: transform, transform: {expr: '$length($string($previousNode()))'}",
            ),
            Part::Fail => text.push_str("type: transform, transform: {expr: '$error(\"no\")'}"),
            Part::Call => {
                text.push_str("type: mcp, server: s, tool: t, args: {v: $previousNode()}");
            }
            Part::Tool => text.push_str("type: graph, tool: leaf, args: {v: $previousNode()}"),
            Part::Loop(times) => write!(
                text,
                "type: switch, conditions: [{{rule: {{'<': [{{var: '$executionCount(\"n{id}\")'}}, \
                 {times}]}}, target: n{first}}}, {{target: n{next}}}]"
            )
            .unwrap(),
            Part::Each { items, at_once, body } => {
                let (_, body) = self.body(body, "");
                write!(
                    text,
                    "type: foreach, items: '[1..{items}]', maxParallel: {at_once}, body: [{body}]"
                )
                .unwrap();
            }
            Part::Split { at_once, branches } => {
                let branches: Vec<String> = branches
                    .iter()
                    .enumerate()
                    .map(|(index, branch)| format!("b{index}: [{}]", self.body(branch, "").1))
                    .collect();
                write!(
                    text,
                    "type: parallel, maxParallel: {at_once}, branches: {{{}}}",
                    branches.join(", ")
                )
                .unwrap();
            }
        }
        if !matches!(node.part, Part::Loop(_)) {
            write!(text, ", next: n{next}").unwrap();
        }
        if node.retries > 0 {
            write!(text, ", retry: {{times: {}, backoffMs: 1, on: [any]}}", node.retries).unwrap();
        }
        if node.handled {
            write!(text, ", onError: n{handler}").unwrap();
        }
        if let Some(ms) = node.timeout_ms {
            write!(text, ", timeoutMs: {ms}").unwrap();
        }
        text.push_str("}, ");
    }
}
