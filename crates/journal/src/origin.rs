use std::sync::Arc;

use mcpgraph_engine::StepId;

use crate::RunId;

/// Where a run comes from: who asked for it, and what it goes on from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Which part of the product was asked.
    pub face: Face,
    /// What the client says of itself: a JSON object with its name and version.
    pub client: Option<Arc<str>>,
    /// The protocol version it speaks.
    pub protocol: Option<Arc<str>>,
    /// Who it is: only the same may ask for what the run came to, and answer what it asks. None
    /// where nobody has to say. An exported run does not say.
    pub principal: Option<Arc<str>>,
    /// The trace the call belongs to.
    pub trace: Option<TraceContext>,
    /// The run whose record this one goes on from.
    pub parent: Option<Parent>,
    /// The run that this one is inside of: that of a workflow which is put around the call.
    pub around: Option<RunId>,
}

/// Which part of the product was asked for a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Face {
    /// The MCP server.
    Mcp,
    /// The command line.
    Cli,
    /// The HTTP interface of the studio.
    Http,
    /// A Rust program.
    #[default]
    Library,
    /// A test of a graph.
    Test,
}

/// The W3C trace context that came with a call, as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceContext {
    /// The header `traceparent`.
    pub traceparent: Arc<str>,
    /// The header `tracestate`.
    pub tracestate: Option<Arc<str>>,
}

/// The run that another one goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// The run.
    pub run: RunId,
    /// The first step that was executed again; all before it was taken from the record.
    pub from: StepId,
}

impl Face {
    /// The word for it in records and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Cli => "cli",
            Self::Http => "http",
            Self::Library => "library",
            Self::Test => "test",
        }
    }

    /// The one with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Mcp, Self::Cli, Self::Http, Self::Library, Self::Test]
            .into_iter()
            .find(|face| face.name() == name)
    }
}
