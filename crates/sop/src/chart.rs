use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_diagnostics::Span;
use mcpgraph_expr::JsonLogic;
use mcpgraph_value::Value;

/// The number of a node, in the order of the file.
pub type NodeId = usize;

/// The nodes of a procedure and what leads from one to another.
#[derive(Debug, Default)]
pub struct Chart {
    /// Where the Mermaid text stands in the file.
    pub span: Span,
    /// The nodes, in the order of the file.
    pub nodes: Vec<Node>,
    pub(crate) by_id: HashMap<Arc<str>, NodeId>,
}

/// A node: what the flowchart shows of it, and what its prompt adds.
#[derive(Debug)]
pub struct Node {
    /// Its name in the flowchart.
    pub id: Arc<str>,
    /// The word for its shape: `rectangle`, `rhombus`, `stadium` and so on.
    pub shape: &'static str,
    /// Its label.
    pub description: Arc<str>,
    /// Where it is first written.
    pub span: Span,
    /// What leads away from it, in the order of the file.
    pub edges: Vec<Edge>,
    /// Whether the file has a prompt for it, if only its tools.
    pub has_prompt: bool,
    /// The instructions.
    pub prompt: Option<Arc<str>>,
    /// The tools its prompt names.
    pub tools: Vec<Arc<str>>,
    /// Sample exchanges, as written.
    pub examples: Option<Value>,
}

/// A way from one node to another.
#[derive(Debug)]
pub struct Edge {
    /// Where it leads.
    pub to: NodeId,
    /// Its label.
    pub condition: Option<Arc<str>>,
    /// What has to hold for a move along it, in a procedure that binds.
    pub guard: Option<Arc<Guard>>,
}

/// A rule over the results of tools.
#[derive(Debug)]
pub struct Guard {
    /// The rule as written, for messages.
    pub(crate) text: Arc<str>,
    pub(crate) rule: JsonLogic,
}

impl Chart {
    /// The node of this name.
    pub fn find(&self, id: &str) -> Option<NodeId> {
        self.by_id.get(id).copied()
    }

    /// The names of nodes.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.nodes.iter().map(|node| &*node.id)
    }
}

impl Guard {
    /// The rule as it is written, as JSON.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Node {
    /// Whether nothing leads to another node.
    pub fn is_terminal(&self, own: NodeId) -> bool {
        self.edges.iter().all(|edge| edge.to == own)
    }

    /// Whether the flowchart draws it as a decision.
    pub fn is_decision(&self) -> bool {
        self.shape == "rhombus"
    }
}
