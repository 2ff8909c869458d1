use mcpgraph_diagnostics::Span;

use super::Spanned;
use super::limits::ExecutionLimits;
use super::node::{Switch, Transform};
use crate::{Json, Text};

/// A workflow: what happens around other tools' calls, or around the list of all tools.
#[derive(Clone, Debug)]
pub struct WorkflowDef {
    /// The whole definition.
    pub span: Span,
    /// What tells it apart; the name where the file gives none.
    pub id: Text,
    /// Its name for people; `#` and a number for one that has none, only in a file with errors.
    pub name: Text,
    /// What it is for.
    pub description: Option<Text>,
    /// What it is put around.
    pub around: Around,
    /// Whether it is used.
    pub enabled: bool,
    /// Of two workflows around one call, the one with the greater priority is outside.
    pub priority: u64,
    /// Which calls it is put around; all where a pattern is missing.
    pub only: MatchDef,
    /// The hosts its hooks may reach.
    pub allow_hosts: Vec<Text>,
    /// The limits of its runs.
    pub limits: ExecutionLimits,
    /// The nodes in the order of the file.
    pub nodes: Vec<WorkflowNodeDef>,
    /// Every edge, whichever way it is written, those of a switch excepted.
    pub edges: Vec<EdgeDef>,
}

/// What a workflow is put around.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Around {
    /// `tools/list`
    List,
    /// `tools/call`
    Call,
}

/// Patterns in which `*` stands for any text, `?` for one character and `|` is between choices.
#[derive(Clone, Debug, Default)]
pub struct MatchDef {
    /// The name of the upstream server.
    pub server: Option<Text>,
    /// The name of the tool, as clients call it or as its server does.
    pub tool: Option<Text>,
    /// The name of the client.
    pub client: Option<Text>,
}

/// A node of a workflow.
#[derive(Clone, Debug)]
pub struct WorkflowNodeDef {
    /// The whole definition.
    pub span: Span,
    /// The name edges and expressions use.
    pub id: Text,
    /// Where the `type` stands.
    pub kind_span: Span,
    /// What it does.
    pub kind: WorkflowNodeKind,
    /// Where the studio draws it, as written.
    pub position: Option<Json>,
}

/// The kinds of node of a workflow.
#[derive(Clone, Debug)]
pub enum WorkflowNodeKind {
    /// Where it begins.
    Start,
    /// Where it ends.
    End,
    /// What it is put around.
    McpCall,
    /// A script.
    Hook(HookDef),
    /// An expression that gives what a hook would.
    Transform(Transform),
    /// Chooses the next node.
    Switch(Switch),
    /// It could not be read, and a diagnostic says why; only in a file with errors.
    Invalid,
}

/// A `hook` node.
#[derive(Clone, Debug)]
pub struct HookDef {
    /// Its script.
    pub code: HookCode,
    /// Whether what follows waits for it.
    pub blocking: bool,
    /// Whether the workflow goes on when it fails.
    pub goes_on: bool,
    /// How long it may take.
    pub timeout_ms: Option<Spanned<u64>>,
}

/// Where the script of a hook is.
#[derive(Clone, Debug)]
pub enum HookCode {
    /// In the node.
    Inline(Text),
    /// In a module of this name.
    Module(Text),
}

/// A script that several hooks use.
#[derive(Clone, Debug)]
pub struct HookModuleDef {
    /// What hooks call it.
    pub name: Text,
    /// The body of an `async` function of `context`.
    pub script: Text,
}

/// From one node to another.
#[derive(Clone, Debug)]
pub struct EdgeDef {
    /// The id of the node it leaves.
    pub source: Text,
    /// The id of the node it enters.
    pub target: Text,
}

impl Around {
    /// Both, with the word a file uses for each.
    pub const ALL: [(&'static str, Self); 2] =
        [("tools/list", Self::List), ("tools/call", Self::Call)];

    /// The word a file uses for it, which is the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::List => "tools/list",
            Self::Call => "tools/call",
        }
    }
}

impl WorkflowNodeKind {
    /// The word a file uses for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::McpCall => "mcp-call",
            Self::Hook(_) => "hook",
            Self::Transform(_) => "transform",
            Self::Switch(_) => "switch",
            Self::Invalid => "invalid",
        }
    }
}

impl HookDef {
    /// The most that `timeoutMs` can be.
    pub const MAX_TIMEOUT_MS: u64 = 60_000;
    /// The default of `timeoutMs`.
    pub const TIMEOUT_MS: u64 = 5000;
}
