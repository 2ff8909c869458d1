use mcpgraph_diagnostics::Span;

use crate::{Json, Text};

/// The front matter of a procedure.
#[derive(Clone, Debug)]
pub struct FrontMatter {
    /// Where it stands, without the lines that enclose it.
    pub span: Span,
    /// The agent the procedure is for; empty only in a file with errors.
    pub agent: Text,
    /// Its version, as written.
    pub version: Option<Text>,
    /// The node a walk begins at.
    pub entry: Option<Text>,
    /// The node that can be gone to from everywhere.
    pub hub: HubDef,
    /// The model, as written.
    pub model: Option<Json>,
    /// The servers, as written.
    pub servers: Vec<Json>,
    /// All tools that nodes may name, where the file lists them.
    pub tools: Option<Vec<Text>>,
    /// Tools that may be called at every node.
    pub always_tools: Vec<Text>,
    /// Whether the procedure binds.
    pub enforce: bool,
    /// The guards of edges.
    pub guards: Vec<GuardDef>,
}

/// What a front matter says of the hub.
#[derive(Clone, Debug)]
pub enum HubDef {
    /// Nothing: it is the usual one.
    Usual,
    /// That there is none.
    None,
    /// Its name.
    Named(Text),
}

/// A rule that has to hold for a move along an edge.
#[derive(Clone, Debug)]
pub struct GuardDef {
    /// The node the edge leads away from.
    pub node: Text,
    /// The label of the edge, or the node it leads to.
    pub edge: Text,
    /// The JSON Logic rule.
    pub rule: Json,
}

/// What belongs to one node of a procedure.
#[derive(Clone, Debug, Default)]
pub struct PromptDef {
    /// The instructions.
    pub prompt: Option<Text>,
    /// The tools for this node.
    pub tools: Vec<Text>,
    /// Sample exchanges, as written.
    pub examples: Option<Json>,
}
