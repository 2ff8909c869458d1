//! What spans and metrics say about a node that its events do not: where it calls, what it
//! evaluates.

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use mcpgraph_graph::{Body, Digest, Graph, Kind, Node, Template};
use mcpgraph_runtime::RunStart;
use parking_lot::Mutex;

/// How many versions of graphs are remembered; with more, all are made anew.
const MAX_REMEMBERED: usize = 512;

/// How many expressions of one node are told.
const MAX_EXPRESSIONS: usize = 32;

/// How many bytes of each expression are told.
const MAX_EXPRESSION_BYTES: usize = 4096;

/// How many bytes a name has that tells spans or metrics apart. Tools may have names of 128
/// characters; those of clients, who may make them up, have no end.
pub(crate) const MAX_NAME_BYTES: usize = 128;

/// The outlines of the graphs that ran lately.
#[derive(Default)]
pub(crate) struct Outlines(Mutex<HashMap<Digest, Arc<Outline>>>);

/// The nodes of all tools of a graph.
#[derive(Default)]
pub(crate) struct Outline {
    /// By the tool's name, then by the node's id.
    tools: HashMap<Arc<str>, HashMap<Arc<str>, NodeOutline>>,
}

/// What is known of a node before it is executed.
#[derive(Debug, Default)]
pub(crate) struct NodeOutline {
    /// What it calls.
    pub(crate) target: Option<Target>,
    /// Its JSONata expressions.
    pub(crate) jsonata: Vec<Arc<str>>,
    /// Its JSON Logic rules.
    pub(crate) json_logic: Vec<Arc<str>>,
}

/// What a node calls.
#[derive(Debug)]
pub(crate) enum Target {
    /// Something outside of the run.
    Outside(mcpgraph_graph::Target),
    /// A tool of the same file.
    Graph { tool: Arc<str> },
}

impl Outlines {
    /// The outline for a run.
    pub(crate) fn of(&self, run: &RunStart<'_>) -> Arc<Outline> {
        // Of a run without a graph its events tell all there is.
        let Some(graph) = run.graph else { return Arc::default() };
        let mut known = self.0.lock();
        if let Some(outline) = known.get(&graph.digest) {
            return Arc::clone(outline);
        }
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        let outline = Arc::new(Outline::of(graph));
        known.insert(graph.digest, Arc::clone(&outline));
        outline
    }
}

impl Outline {
    fn of(graph: &Graph) -> Self {
        let workflows = graph.workflows.iter().map(|workflow| &workflow.tool);
        let tools = graph.tools.iter().chain(workflows).map(|tool| {
            let mut nodes = HashMap::new();
            collect(&tool.body, &mut nodes);
            (Arc::clone(&tool.name), nodes)
        });
        Self { tools: tools.collect() }
    }

    /// A node of a tool.
    pub(crate) fn node(&self, tool: &str, node: &str) -> Option<&NodeOutline> {
        self.tools.get(tool)?.get(node)
    }
}

fn collect(body: &Body, nodes: &mut HashMap<Arc<str>, NodeOutline>) {
    for node in &body.nodes {
        nodes.insert(Arc::clone(&node.id), NodeOutline::of(node));
        match &node.kind {
            Kind::Foreach { body, .. } => collect(body, nodes),
            Kind::Parallel { branches, .. } => {
                for (_, body) in branches {
                    collect(body, nodes);
                }
            }
            _ => {}
        }
    }
}

impl NodeOutline {
    fn of(node: &Node) -> Self {
        let mut outline = Self::default();
        match &node.kind {
            Kind::Transform(expr) | Kind::Foreach { items: expr, .. } => {
                add(&mut outline.jsonata, expr.source());
            }
            Kind::Switch { cases, .. } => {
                for case in cases.iter().take(MAX_EXPRESSIONS) {
                    add(&mut outline.json_logic, &case.source.to_json());
                }
            }
            Kind::Call { target, args } => {
                outline.target = Some(Target::Outside(target.clone()));
                add_template(&mut outline.jsonata, args);
            }
            Kind::Graph { tool, args } => {
                outline.target = Some(Target::Graph { tool: Arc::clone(tool) });
                add_template(&mut outline.jsonata, args);
            }
            Kind::Hook(hook) => {
                outline.target =
                    Some(Target::Outside(mcpgraph_graph::Target::Hook(Arc::clone(hook))));
            }
            Kind::Wrapped => {
                outline.target = Some(Target::Outside(mcpgraph_graph::Target::Wrapped));
            }
            Kind::Entry | Kind::Exit | Kind::Start | Kind::End | Kind::Parallel { .. } => {}
        }
        outline
    }
}

fn add_template(expressions: &mut Vec<Arc<str>>, template: &Template) {
    match template {
        Template::Literal(_) => {}
        Template::Expr(expr) => add(expressions, expr.source()),
        Template::Object(members) => {
            for (_, member) in members {
                add_template(expressions, member);
            }
        }
        Template::Array(items) => {
            for item in items {
                add_template(expressions, item);
            }
        }
    }
}

fn add(expressions: &mut Vec<Arc<str>>, source: &str) {
    if expressions.len() < MAX_EXPRESSIONS {
        expressions.push(shortened(source, MAX_EXPRESSION_BYTES).into());
    }
}

/// The beginning of a text, cut between characters.
pub(crate) fn shortened(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// A name of at most [`MAX_NAME_BYTES`]. One that is longer is cut and marked by a digest of the whole,
/// so that two that begin the same are still two.
pub(crate) fn bounded_name(name: &str) -> Cow<'_, str> {
    /// The bytes of `…` and 16 digits.
    const MARK_BYTES: usize = 19;
    if name.len() <= MAX_NAME_BYTES {
        return Cow::Borrowed(name);
    }
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    let begin = shortened(name, MAX_NAME_BYTES - MARK_BYTES);
    Cow::Owned(format!("{begin}…{:016x}", hasher.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_is_cut_and_still_one_of_its_own() {
        let longest = "x".repeat(MAX_NAME_BYTES);
        assert_eq!(bounded_name(&longest), longest);
        let (one, other) = ("é".repeat(1 << 20), "é".repeat(1 << 19));
        let (one, other) = (bounded_name(&one), bounded_name(&other));
        assert!(one.starts_with("éé") && one.len() <= MAX_NAME_BYTES, "{one}");
        assert_ne!(one, other);
        assert_eq!(bounded_name(&format!("{longest}x")).len(), MAX_NAME_BYTES);
    }
}
