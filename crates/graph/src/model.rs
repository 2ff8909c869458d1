use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_command::Command;
use mcpgraph_config::NODE_TYPES;
use mcpgraph_expr::{JsonLogic, Jsonata};
use mcpgraph_value::Value;

use crate::{Ask, Digest, Hook, Limits, Schema, Template, Workflow};

/// All tools of a file, compiled and immutable.
#[derive(Debug)]
pub struct Graph {
    /// What the file says about the server it describes.
    pub server: ServerMeta,
    /// The tools in the order of the file.
    pub tools: Vec<Arc<Tool>>,
    /// What is put around calls and lists, in the order of the file.
    pub workflows: Vec<Arc<Workflow>>,
    /// Names this version of the file's tools.
    pub digest: Digest,
    /// The text it was compiled from.
    pub text: Arc<str>,
}

/// What `server:` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerMeta {
    /// The name clients see.
    pub name: String,
    /// The version clients see.
    pub version: String,
    /// The title; the name where the file gives none.
    pub title: String,
    /// Guidance for the model that uses the server.
    pub instructions: Option<String>,
}

/// A tool and the graph behind it.
#[derive(Debug)]
pub struct Tool {
    /// Unique in its file.
    pub name: Arc<str>,
    /// The tool as `tools/list` shows it: everything the author wrote but the nodes.
    pub definition: Value,
    /// What arguments must look like.
    pub input: Schema,
    /// What the result must look like, if the author said so.
    pub output: Option<Schema>,
    /// The nodes.
    pub body: Arc<Body>,
    /// What a run of this tool may use.
    pub limits: Limits,
    /// Names this version of the tool.
    pub digest: Digest,
    /// Whether its runs survive the process that executes them: the author says so, or one of its
    /// nodes waits for a time or a person.
    pub durable: bool,
}

/// Nodes that belong together: a tool's, a loop's or a branch's.
#[derive(Debug)]
pub struct Body {
    /// Every node; edges are positions in this list.
    pub nodes: Vec<Node>,
    /// Where execution begins.
    pub start: NodeIx,
}

/// The position of a node in its [`Body`].
pub type NodeIx = usize;

/// One node.
#[derive(Debug)]
pub struct Node {
    /// Unique in its tool, nested bodies included.
    pub id: Arc<str>,
    /// What it does.
    pub kind: Kind,
    /// Where it goes afterwards; a body ends after a node that goes nowhere.
    pub next: Option<NodeIx>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// Whether and when to try again.
    pub retry: Option<Retry>,
    /// Where a failure goes instead of ending the body.
    pub on_error: Option<NodeIx>,
}

/// What a node does.
#[derive(Debug)]
pub enum Kind {
    /// Passes the arguments on.
    Entry,
    /// Ends the tool with the last data-carrying output.
    Exit,
    /// Computes its output.
    Transform(Jsonata),
    /// Chooses where to go.
    Switch {
        /// Tried in order.
        cases: Vec<Case>,
        /// Taken when no case holds.
        default: Option<NodeIx>,
    },
    /// Does something outside of the run, and waits for its answer.
    Call {
        /// What is called.
        target: Target,
        /// The arguments, to be evaluated.
        args: Template,
    },
    /// Runs a body once for each item.
    Foreach {
        /// Gives the items.
        items: Jsonata,
        /// The name under which the body sees its item.
        item_name: Arc<str>,
        /// What is done with each.
        body: Arc<Body>,
        /// How many at once.
        max_parallel: usize,
    },
    /// Runs several bodies and waits for all.
    Parallel {
        /// Each with its name.
        branches: Vec<(Arc<str>, Arc<Body>)>,
        /// How many at once.
        max_parallel: usize,
    },
    /// Calls another tool of the same file.
    Graph {
        /// The tool's name.
        tool: Arc<str>,
        /// The arguments, to be evaluated.
        args: Template,
    },
    /// Begins a workflow with what it is put around.
    Start,
    /// Ends a workflow with the response.
    End,
    /// Makes the call that the workflow is put around, unless there is a response already.
    Wrapped,
    /// Runs a script on what flows through the workflow.
    Hook(Arc<Hook>),
}

/// What a node calls outside of its run. All targets have the same life: the same events, retries,
/// timeouts and limits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A tool of another MCP server.
    Tool {
        /// The server's name in the file.
        server: Arc<str>,
        /// The tool's name on that server.
        tool: Arc<str>,
    },
    /// A command for a backend.
    Command(Arc<Command>),
    /// A script.
    Hook(Arc<Hook>),
    /// What a workflow is put around.
    Wrapped,
    /// A person, who may take days to answer.
    Ask(Arc<Ask>),
    /// The time: nothing is called, and the answer comes when the time has.
    Time {
        /// The longest wait, `maxWaitMs`.
        longest: Duration,
    },
}

/// One condition of a switch.
#[derive(Debug)]
pub struct Case {
    /// Its position among the conditions of the file, those without a rule included.
    pub position: usize,
    /// Holds or not.
    pub rule: JsonLogic,
    /// The rule as it was written, for people.
    pub source: Value,
    /// Where to go if it holds.
    pub target: NodeIx,
}

/// When a failed node is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often, after the first attempt.
    pub times: u32,
    /// The pause before the first retry; it doubles with each.
    pub backoff: Duration,
    /// Which failures are worth another attempt.
    pub on: RetryOn,
}

/// Which failures are worth another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryOn {
    /// The node took too long.
    pub timeout: bool,
    /// The upstream could not be reached or went away.
    pub unavailable: bool,
    /// The tool said that it failed.
    pub tool_error: bool,
    /// The upstream answered with a protocol error.
    pub protocol_error: bool,
    /// An expression failed.
    pub expression: bool,
}

// === impl Graph ===

impl Graph {
    /// The tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.iter().find(|tool| &*tool.name == name)
    }

    /// What a run of this name executes: a tool or a workflow.
    pub fn runnable(&self, name: &str) -> Option<&Arc<Tool>> {
        let workflows = self.workflows.iter().map(|workflow| &workflow.tool);
        self.tools.iter().chain(workflows).find(|tool| &*tool.name == name)
    }
}

// === impl Kind ===

impl Kind {
    /// The words for all kinds.
    pub const NAMES: [&'static str; NODE_TYPES.len()] = NODE_TYPES;

    /// The words for the kinds that only workflows have.
    pub const WORKFLOW_NAMES: [&'static str; 4] = ["start", "end", "mcp-call", "hook"];

    /// The word users write for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Exit => "exit",
            Self::Transform(_) => "transform",
            Self::Switch { .. } => "switch",
            Self::Call { target, .. } => target.kind(),
            Self::Foreach { .. } => "foreach",
            Self::Parallel { .. } => "parallel",
            Self::Graph { .. } => "graph",
            Self::Start => "start",
            Self::End => "end",
            Self::Wrapped => Target::Wrapped.kind(),
            Self::Hook(_) => "hook",
        }
    }

    /// Whether its output is data; a switch's output only says where it went, and that of a node
    /// which waits only when it went on.
    pub fn carries_data(&self) -> bool {
        !matches!(self, Self::Switch { .. } | Self::Call { target: Target::Time { .. }, .. })
    }
}

// === impl Target ===

impl Target {
    /// The types of all nodes that call something which can be called otherwise in a test.
    pub const KINDS: [&'static str; 3] = ["mcp", "command", "ask"];

    /// The type of the nodes that call it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tool { .. } => "mcp",
            Self::Command(_) => "command",
            Self::Hook(_) => "hook",
            Self::Wrapped => "mcp-call",
            Self::Ask(_) => "ask",
            Self::Time { .. } => "wait",
        }
    }

    /// Whether the time that it takes is somebody's else than the run's.
    pub fn is_patient(&self) -> bool {
        matches!(self, Self::Ask(_) | Self::Time { .. })
    }
}

/// The name by which people and tests speak of it: `server.tool`, or that of a backend.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { server, tool } => write!(f, "{server}.{tool}"),
            Self::Command(command) => command.fmt(f),
            Self::Hook(hook) => match &hook.module {
                Some(module) => write!(f, "hook {module}"),
                None => write!(f, "a hook of {}", hook.workflow),
            },
            Self::Wrapped => f.write_str("what the workflow is put around"),
            Self::Ask(_) => f.write_str("a person"),
            Self::Time { .. } => f.write_str("the time"),
        }
    }
}

// === impl Body ===

impl Body {
    /// Whether a person may be asked on the way, also in tools of the same graph that it calls.
    pub fn asks(&self, graph: &Graph) -> bool {
        self.asks_besides(graph, &mut BTreeSet::new())
    }

    /// The same; `seen` are the tools that have been looked at.
    fn asks_besides<'g>(&'g self, graph: &'g Graph, seen: &mut BTreeSet<&'g str>) -> bool {
        self.nodes.iter().any(|node| match &node.kind {
            Kind::Call { target, .. } => matches!(target, Target::Ask(_)),
            Kind::Foreach { body, .. } => body.asks_besides(graph, seen),
            Kind::Parallel { branches, .. } => {
                branches.iter().any(|(_, body)| body.asks_besides(graph, seen))
            }
            Kind::Graph { tool, .. } => {
                seen.insert(tool)
                    && graph.tool(tool).is_some_and(|tool| tool.body.asks_besides(graph, seen))
            }
            _ => false,
        })
    }
}

// === impl Node ===

impl Node {
    /// The nodes that take over when this one does not go on as planned, with why.
    pub fn exits(&self) -> impl Iterator<Item = (&'static str, NodeIx)> {
        let (declined, late) = match &self.kind {
            Kind::Call { target: Target::Ask(ask), .. } => (ask.on_decline, ask.on_timeout),
            _ => (None, None),
        };
        [("declined", declined), ("no answer", late), ("error", self.on_error)]
            .into_iter()
            .filter_map(|(why, target)| Some((why, target?)))
    }

    /// The pause before retry number `attempt` (1 is the first retry): doubled each time, at most
    /// a minute.
    pub fn backoff(&self, attempt: u32) -> Duration {
        const LONGEST: Duration = Duration::from_mins(1);
        let Some(retry) = &self.retry else { return Duration::ZERO };
        let factor = 2u32.saturating_pow(attempt.saturating_sub(1));
        retry.backoff.saturating_mul(factor).min(LONGEST)
    }
}
