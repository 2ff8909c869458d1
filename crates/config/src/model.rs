//! The typed form of the files, in which both dialects have become one.
//!
//! Every name, reference and expression keeps its place, so that later checks can point at it.
//! Spans belong to [`GraphFile::source`] or [`TestFile::source`], except those of a server, which
//! belong to [`ServerDef::source`].

mod args;
mod command;
mod graph;
mod limits;
mod node;
mod procedure;
mod server;
mod test;
mod workflow;

pub use args::ArgValue;
pub use command::{
    Allow, BackendDef, BackendKind, BackendRef, CommandDef, FilterDef, FilterValue, ResponseDef,
};
pub use graph::{GraphFile, ServerInfo, ToolDef, Version};
pub use limits::ExecutionLimits;
pub use node::{
    Ask, Branch, CommandCall, Condition, FailureKind, Foreach, GraphCall, Mcp, NodeDef, NodeKind,
    Parallel, Retry, Switch, Transform, Wait,
};
pub use procedure::{FrontMatter, GuardDef, HubDef, PromptDef};
pub use server::{
    Expanded, Expose, ExposedArgument, ExposedTool, HttpKind, Origin, Prefix, ServerDef, Transport,
};
pub use test::{
    Answer, Expect, ExpectedError, ExpectedOutcome, Mock, MockError, PathItem, Recorded, Reply,
    TestDef, TestFile,
};
pub use workflow::{
    Around, EdgeDef, HookCode, HookDef, HookModuleDef, MatchDef, WorkflowDef, WorkflowNodeDef,
    WorkflowNodeKind,
};

use mcpgraph_diagnostics::Span;

/// A value and its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}
