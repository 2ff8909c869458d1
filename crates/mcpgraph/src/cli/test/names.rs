//! Whether a test speaks of what is in the graph.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::{ExpectedOutcome, PathItem, TestDef, TestFile};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, codes, shortened, suggest};
use mcpgraph_graph::{Body, Graph, Kind, Target, Tool};

/// The names that a run of a tool can show.
#[derive(Default)]
pub(super) struct Names {
    /// Its nodes, with their types, those of tools it calls included.
    nodes: BTreeMap<Arc<str>, &'static str>,
    /// What it can call, such as `server.tool`.
    called: BTreeSet<String>,
}

/// How much of a name is shown.
const SHOWN: usize = 60;

impl Names {
    /// Reports what a test names and the graph does not have; gives the tool it calls.
    pub(super) fn check(
        test: &TestDef,
        file: &TestFile,
        graph: &Arc<Graph>,
        problems: &mut Diagnostics,
    ) -> Option<Arc<Tool>> {
        let mut report = |name: &Text, message: String, hint: Option<String>| {
            problems.push(
                Diagnostic::error(codes::TEST_MISMATCH, message)
                    .at(&file.source, name.span(), "")
                    .maybe_hint(hint),
            );
        };
        let Some(tool) = graph.tool(&test.tool) else {
            let known = || graph.tools.iter().map(|tool| &*tool.name);
            let hint = suggest::did_you_mean(&test.tool, known())
                .unwrap_or_else(|| format!("it has: {}", known().collect::<Vec<_>>().join(", ")));
            report(&test.tool, format!("the graph has no tool {}", quoted(&test.tool)), Some(hint));
            return None;
        };
        let mut names = Self::default();
        names.add_tool(tool, graph, &mut BTreeSet::new());
        let mocked = test.mocks.iter().map(|mock| &mock.of);
        for name in mocked.chain(test.expect.calls.iter().map(|(of, _)| of)) {
            if let Some((message, hint)) = names.not_called(name) {
                report(name, message, hint);
            }
        }
        let path = test.expect.path.iter().flatten().filter_map(|item| match item {
            PathItem::Node(node) => Some(node),
            PathItem::Gap => None,
        });
        let failing = match &test.expect.outcome {
            ExpectedOutcome::Error(error) => error.node.as_ref(),
            _ => None,
        };
        for name in path.chain(failing) {
            if !names.nodes.contains_key(name.as_str()) {
                let message = format!("`{}` has no node {}", tool.name, quoted(name));
                let known = names.nodes.keys().map(|node| &**node);
                report(name, message, suggest::did_you_mean(name, known));
            }
        }
        Some(Arc::clone(tool))
    }

    fn add_tool(&mut self, tool: &Tool, graph: &Graph, seen: &mut BTreeSet<Arc<str>>) {
        if seen.insert(Arc::clone(&tool.name)) {
            self.add_body(&tool.body, graph, seen);
        }
    }

    fn add_body(&mut self, body: &Body, graph: &Graph, seen: &mut BTreeSet<Arc<str>>) {
        for node in &body.nodes {
            self.nodes.insert(Arc::clone(&node.id), node.kind.name());
            match &node.kind {
                Kind::Call { target, .. } => {
                    self.called.insert(target.to_string());
                }
                Kind::Foreach { body, .. } => self.add_body(body, graph, seen),
                Kind::Parallel { branches, .. } => {
                    for (_, body) in branches {
                        self.add_body(body, graph, seen);
                    }
                }
                Kind::Graph { tool, .. } => {
                    if let Some(tool) = graph.tool(tool) {
                        self.add_tool(tool, graph, seen);
                    }
                }
                _ => {}
            }
        }
    }

    /// Why a name is not that of calls, and what to do about it; none if it is.
    fn not_called(&self, name: &str) -> Option<(String, Option<String>)> {
        let kind = self.nodes.get(name).copied();
        if kind.is_some_and(is_call) || self.called.contains(name) {
            return None;
        }
        if let Some(kind) = kind {
            let message =
                format!("{} is a `{kind}` node, which calls nothing outside", quoted(name));
            return Some((message, Some(format!("only {} do", callers()))));
        }
        let callers = self.nodes.iter().filter(|(_, kind)| is_call(kind)).map(|(node, _)| &**node);
        let known: Vec<&str> = callers.chain(self.called.iter().map(String::as_str)).collect();
        let hint = suggest::did_you_mean(name, known.iter().copied()).or_else(|| {
            let list = shortened(&known.join(", "), SHOWN * 4);
            (!known.is_empty()).then(|| format!("what calls, and what is called: {list}"))
        });
        // Names of calls have a point, as in `server.tool`.
        let message = if name.contains('.') {
            format!("nothing calls {}, and there is no node of that name", quoted(name))
        } else {
            format!("there is no node {}", quoted(name))
        };
        Some((message, hint))
    }
}

/// Whether nodes of this type call something outside.
fn is_call(kind: &str) -> bool {
    Target::KINDS.contains(&kind)
}

/// The nodes that call something outside.
fn callers() -> String {
    let [others @ .., last] = Target::KINDS.map(|kind| format!("`{kind}`"));
    format!("{} and {last} nodes", others.join(", "))
}

fn quoted(name: &str) -> String {
    format!("`{}`", shortened(name, SHOWN))
}
