use std::sync::Arc;

use mcpgraph_diagnostics::Source;

use super::Spanned;
use crate::{Json, Text, Tree};

/// A file of tests.
#[derive(Clone, Debug)]
pub struct TestFile {
    /// The text all spans point into.
    pub source: Arc<Source>,
    /// The whole file with its places.
    pub tree: Arc<Tree>,
    /// The graph file, relative to this one.
    pub graph: Option<Text>,
    /// The tests in the order of the file.
    pub tests: Vec<TestDef>,
}

/// One test.
#[derive(Clone, Debug)]
pub struct TestDef {
    /// What it shows; no other test of the file has the same name.
    pub name: Text,
    /// The tool it calls.
    pub tool: Text,
    /// The arguments; an object.
    pub input: Option<Json>,
    /// What upstream tools answer.
    pub mocks: Vec<Mock>,
    /// The recorded run that answers where no mock does.
    pub recorded: Option<Recorded>,
    /// Whether calls that nothing answers go to the servers.
    pub live: bool,
    /// What has to come of it.
    pub expect: Expect,
}

/// A recorded run, as a test names it.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// By its id.
    Run(Text),
    /// By the file it was exported to, relative to the test file.
    Document(Text),
}

/// What the calls of one node, or of one upstream tool, are answered with.
#[derive(Clone, Debug)]
pub struct Mock {
    /// The id of the node, or `server.tool`.
    pub of: Text,
    /// In order; at least one.
    pub answers: Vec<Answer>,
}

/// One answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The arguments of the calls it is for; an object. Any if there are none.
    pub args: Option<Json>,
    /// What is answered.
    pub reply: Reply,
}

/// What is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The output of the node.
    Output(Json),
    /// The call fails.
    Error(MockError),
    /// A result of `tools/call`; an object.
    Result(Json),
    /// Nothing, until somebody stops the call.
    Pending,
}

/// Why a call fails.
#[derive(Clone, Debug)]
pub struct MockError {
    /// The word for what sort of failure it is.
    pub kind: Spanned<&'static str>,
    /// What is said of it.
    pub message: Option<Text>,
    /// The JSON-RPC code of a protocol error.
    pub protocol_code: i64,
    /// What else the other side said.
    pub data: Option<Json>,
}

impl MockError {
    /// The default of `protocolCode`: an internal error of the other side.
    pub const PROTOCOL_CODE: i64 = -32603;
}

/// What has to come of a call.
#[derive(Clone, Debug)]
pub struct Expect {
    /// How it ends; with any result if nothing is said.
    pub outcome: ExpectedOutcome,
    /// The nodes in the order in which they end.
    pub path: Option<Vec<PathItem>>,
    /// The arguments of every call, by node or `server.tool`.
    pub calls: Vec<(Text, Vec<Json>)>,
}

/// How a call has to end.
#[derive(Clone, Debug)]
pub enum ExpectedOutcome {
    /// Well.
    Success,
    /// With this result.
    Result(Json),
    /// With an error.
    Error(ExpectedError),
}

/// How a call has to fail.
#[derive(Clone, Debug)]
pub struct ExpectedError {
    /// The word for what sort of failure it is.
    pub kind: Option<Spanned<&'static str>>,
    /// The node at which it happens.
    pub node: Option<Text>,
    /// A part of its message.
    pub message_contains: Option<Text>,
}

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathItem {
    /// A node.
    Node(Text),
    /// Any number of nodes.
    Gap,
}
