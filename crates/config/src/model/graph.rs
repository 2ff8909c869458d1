use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source, Span};

use super::command::BackendDef;
use super::limits::ExecutionLimits;
use super::node::NodeDef;
use super::server::ServerDef;
use super::workflow::{HookModuleDef, WorkflowDef};
use crate::{Json, Text, Tree};

/// A graph file.
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// The text all spans point into.
    pub source: Arc<Source>,
    /// The whole file with its places.
    pub tree: Arc<Tree>,
    /// Which rules the file is written by.
    pub version: Version,
    /// How the MCP server introduces itself.
    pub server: ServerInfo,
    /// The limits of every run, with defaults filled in.
    pub limits: ExecutionLimits,
    /// Names of fields that are masked in the records of runs.
    pub redact: Vec<Text>,
    /// Whether clients find the tools of exposed servers instead of being shown all of them.
    pub discovery: bool,
    /// The files of procedures that agents walk.
    pub sops: Vec<Text>,
    /// The hosts from which agents may load further procedures.
    pub sop_hosts: Vec<Text>,
    /// The upstream servers in the order of the file; those merged in from elsewhere follow.
    pub servers: Vec<ServerDef>,
    /// Where commands are carried out.
    pub backends: Vec<BackendDef>,
    /// The tools in the order of the file.
    pub tools: Vec<ToolDef>,
    /// Scripts that several hooks use.
    pub hook_modules: Vec<HookModuleDef>,
    /// What is put around calls and lists, in the order of the file.
    pub workflows: Vec<WorkflowDef>,
}

/// The version a file declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `1`, `1.0` and so on, or none: both dialects are read, told apart by what is written.
    #[default]
    One,
    /// `2`, `2.0` and so on: text that starts with `$` is text; expressions are `{expr: …}`.
    Two,
}

/// How the MCP server introduces itself.
#[derive(Clone, Debug)]
pub struct ServerInfo {
    /// Its name.
    pub name: Text,
    /// Its version.
    pub version: Text,
    /// Its name for people; the name where the file gives none.
    pub title: Option<Text>,
    /// What it tells the model about itself.
    pub instructions: Option<Text>,
}

/// A tool and the graph behind it.
#[derive(Clone, Debug)]
pub struct ToolDef {
    /// The whole definition.
    pub span: Span,
    /// The name clients call it by; `#` and a number for a tool that has none, only in a file with
    /// errors.
    pub name: Text,
    /// Its name for people.
    pub title: Option<Text>,
    /// What it does, for the model.
    pub description: Option<Text>,
    /// The JSON Schema of its arguments; always an object.
    pub input_schema: Json,
    /// The JSON Schema of its result.
    pub output_schema: Option<Json>,
    /// MCP annotations, as written.
    pub annotations: Option<Json>,
    /// MCP `_meta`, as written.
    pub meta: Option<Json>,
    /// MCP icons, as written.
    pub icons: Option<Json>,
    /// The limits of its runs: the file's, with the tool's own in their place.
    pub limits: ExecutionLimits,
    /// Whether the author says that its runs survive the process that executes them.
    pub durable: bool,
    /// The nodes in the order of the file.
    pub nodes: Vec<NodeDef>,
}

impl GraphFile {
    /// The tool of this name.
    pub fn tool(&self, name: &str) -> Option<&ToolDef> {
        self.tools.iter().find(|tool| tool.name == *name)
    }

    /// The upstream server of this name.
    pub fn server(&self, name: &str) -> Option<&ServerDef> {
        self.servers.iter().find(|server| server.name == *name)
    }

    /// Gives every diagnostic that points into this file, and has no RFC 6901 pointer yet, the
    /// pointer to the value it marks.
    pub fn fill_pointers(&self, diagnostics: &mut Diagnostics) {
        crate::pointers::fill(&self.source, &self.tree, diagnostics);
    }
}
