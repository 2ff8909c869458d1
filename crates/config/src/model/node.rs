use std::num::NonZeroU32;

use mcpgraph_diagnostics::Span;

use super::Spanned;
use super::args::ArgValue;
use super::command::CommandDef;
use crate::{Json, Text};

/// A node of a tool's graph, of a `foreach` body or of a `parallel` branch.
#[derive(Clone, Debug)]
pub struct NodeDef {
    /// The whole definition.
    pub span: Span,
    /// The name other nodes and expressions use; `#` and a number for a node that has none, only in
    /// a file with errors.
    pub id: Text,
    /// Where the `type` stands.
    pub kind_span: Span,
    /// What it does.
    pub kind: NodeKind,
    /// The node that follows.
    ///
    /// In a body or branch a node without one is an end of it. In the tool's own graph only `exit`
    /// does without, and a `switch` keeps its own in [`Switch::default`].
    pub next: Option<Text>,
    /// How long one attempt may take.
    pub timeout_ms: Option<Spanned<u64>>,
    /// How often it is tried again.
    pub retry: Option<Retry>,
    /// The node that follows when it fails for good.
    pub on_error: Option<Text>,
    /// Where the studio draws it, as written.
    pub position: Option<Json>,
}

/// The kinds of node.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// Where a tool's graph starts; its output is the arguments.
    Entry,
    /// Where a tool's graph ends.
    Exit,
    /// Computes a value.
    Transform(Transform),
    /// Chooses the next node.
    Switch(Switch),
    /// Calls a tool of an upstream server.
    Mcp(Mcp),
    /// Runs a body once for each item.
    Foreach(Foreach),
    /// Runs branches side by side and waits for all.
    Parallel(Parallel),
    /// Calls another tool of the same file.
    Graph(GraphCall),
    /// Sends a command to a backend.
    Command(Box<CommandCall>),
    /// Asks a person.
    Ask(Box<Ask>),
    /// Waits for a while, or until a time.
    Wait(Wait),
    /// It could not be read, and a diagnostic says why; only in a file with errors. It is kept so
    /// that references to it are not reported as well.
    Invalid,
}

/// A `transform` node.
#[derive(Clone, Debug)]
pub struct Transform {
    /// The JSONata expression.
    pub expr: Text,
}

/// A `switch` node, with both ways of writing it resolved.
#[derive(Clone, Debug)]
pub struct Switch {
    /// The conditions that have a rule, in the order of the file.
    pub conditions: Vec<Condition>,
    /// The node to go to when no rule holds: the condition without a rule wherever it stands, or
    /// the node's own `next`.
    pub default: Option<Text>,
}

/// A condition of a `switch`.
#[derive(Clone, Debug)]
pub struct Condition {
    /// The whole condition.
    pub span: Span,
    /// Its position among the conditions, those without a rule included.
    pub position: usize,
    /// The JSON Logic rule.
    pub rule: Json,
    /// The node to go to when the rule holds.
    pub target: Text,
}

/// An `mcp` node.
#[derive(Clone, Debug)]
pub struct Mcp {
    /// The upstream server.
    pub server: Text,
    /// Its tool.
    pub tool: Text,
    /// The arguments: an object, or data that is one.
    pub args: Spanned<ArgValue>,
}

/// A `foreach` node.
#[derive(Clone, Debug)]
pub struct Foreach {
    /// The JSONata expression that gives the items.
    pub items: Text,
    /// The name under which the body reads its item; `item` where the file gives none.
    pub item_name: Text,
    /// The nodes of the body; it starts at the first. Empty only in a file with errors.
    pub body: Vec<NodeDef>,
    /// How many items are worked on at once.
    pub max_parallel: NonZeroU32,
}

/// A `parallel` node.
#[derive(Clone, Debug)]
pub struct Parallel {
    /// The branches in the order of the file; each starts at its first node.
    pub branches: Vec<Branch>,
    /// How many branches run at once; all of them where the file does not say.
    pub max_parallel: Option<NonZeroU32>,
}

/// A branch of a `parallel` node.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The key of its result in the node's output.
    pub name: Text,
    /// Its nodes. Empty only in a file with errors.
    pub nodes: Vec<NodeDef>,
}

/// A `graph` node.
#[derive(Clone, Debug)]
pub struct GraphCall {
    /// The tool of the same file that is called.
    pub tool: Text,
    /// The arguments: an object, or data that is one.
    pub args: Spanned<ArgValue>,
}

/// A `command` node.
#[derive(Clone, Debug)]
pub struct CommandCall {
    /// What is sent.
    pub command: CommandDef,
    /// The arguments its placeholders are filled from.
    pub args: Spanned<ArgValue>,
}

/// An `ask` node.
#[derive(Clone, Debug)]
pub struct Ask {
    /// What is asked: a text, or an expression.
    pub message: Spanned<ArgValue>,
    /// The JSON Schema of the answer; none where it is only yes or no.
    pub schema: Option<Json>,
    /// The node that follows when the person declines.
    pub on_decline: Option<Text>,
    /// The node that follows when there is no answer in time.
    pub on_timeout: Option<Text>,
}

impl Ask {
    /// The default of `timeoutMs`: a day.
    pub const TIMEOUT_MS: u64 = 24 * 60 * 60 * 1000;
    /// The most that `timeoutMs` can be: thirty days.
    pub const MAX_TIMEOUT_MS: u64 = 30 * Self::TIMEOUT_MS;
}

/// A `wait` node.
#[derive(Clone, Debug)]
pub struct Wait {
    /// Whether it waits until a time; for a length of time if not.
    pub is_until: bool,
    /// The time, or the length of time.
    pub time: Spanned<ArgValue>,
}

/// When and how often a node is tried again.
#[derive(Clone, Debug)]
pub struct Retry {
    /// The whole `retry` mapping.
    pub span: Span,
    /// How many attempts follow the first.
    pub times: u32,
    /// The pause before the second attempt; it doubles with each further one.
    pub backoff_ms: u64,
    /// The failures after which another attempt is made.
    pub on: Vec<FailureKind>,
}

impl Retry {
    /// The default of `times`.
    pub const TIMES: u32 = 2;
    /// The most that `times` can be.
    pub const MAX_TIMES: u32 = 100;
    /// The default of `backoffMs`.
    pub const BACKOFF_MS: u64 = 500;
    /// The default of `on`: the failures in which the call may not have been made.
    pub const ON: [FailureKind; 2] = [FailureKind::Timeout, FailureKind::Unavailable];
}

/// The kinds of failure a `retry` can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// `timeout`: the attempt took too long.
    Timeout,
    /// `unavailable`: the upstream server could not be reached or went away.
    Unavailable,
    /// `tool_error`: the tool answered with an error result.
    ToolError,
    /// `protocol_error`: the server answered with a protocol error.
    ProtocolError,
    /// `expression`: an expression failed.
    Expression,
    /// `any`: all of them.
    Any,
}

impl FailureKind {
    /// Every kind, with the word a file uses for it.
    pub const ALL: [(&'static str, Self); 6] = [
        ("timeout", Self::Timeout),
        ("unavailable", Self::Unavailable),
        ("tool_error", Self::ToolError),
        ("protocol_error", Self::ProtocolError),
        ("expression", Self::Expression),
        ("any", Self::Any),
    ];
}

impl NodeKind {
    /// The word a file uses for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Exit => "exit",
            Self::Transform(_) => "transform",
            Self::Switch(_) => "switch",
            Self::Mcp(_) => "mcp",
            Self::Foreach(_) => "foreach",
            Self::Parallel(_) => "parallel",
            Self::Graph(_) => "graph",
            Self::Command(_) => "command",
            Self::Ask(_) => "ask",
            Self::Wait(_) => "wait",
            Self::Invalid => "invalid",
        }
    }
}

impl NodeDef {
    /// Whether nobody knows what it was to be: its `type` is missing or no type, as was reported.
    pub fn is_unknown(&self) -> bool {
        matches!(self.kind, NodeKind::Invalid) && self.kind_span == self.span
    }

    /// The nodes that take over for a reason of its own kind, besides `onError`.
    pub fn other_handlers(&self) -> impl Iterator<Item = &Text> {
        let (declined, late) = match &self.kind {
            NodeKind::Ask(ask) => (ask.on_decline.as_ref(), ask.on_timeout.as_ref()),
            _ => (None, None),
        };
        declined.into_iter().chain(late)
    }

    /// The lists of nodes inside this one: a body or branches.
    pub fn inner(&self) -> Vec<&[Self]> {
        match &self.kind {
            NodeKind::Foreach(foreach) => vec![&foreach.body],
            NodeKind::Parallel(parallel) => {
                parallel.branches.iter().map(|branch| branch.nodes.as_slice()).collect()
            }
            _ => Vec::new(),
        }
    }
}
