//! Workflows in compiled form, and which calls they are put around.

use std::sync::Arc;
use std::time::Duration;

pub use mcpgraph_config::model::Around;

use crate::{Tool, glob};

/// A graph that is put around other tools' calls, or around the list of all tools.
#[derive(Debug)]
pub struct Workflow {
    /// What tells it apart.
    pub id: Arc<str>,
    /// Its name for people.
    pub name: Arc<str>,
    /// What it is put around.
    pub around: Around,
    /// Whether it is used.
    pub enabled: bool,
    /// Of two, the one with the greater priority is outside.
    pub priority: u64,
    /// Which calls it is put around.
    pub only: Match,
    /// What the engine runs.
    pub tool: Arc<Tool>,
}

/// Which calls a workflow is put around; a missing pattern fits everything.
#[derive(Clone, Debug, Default)]
pub struct Match {
    /// The name of the upstream server.
    pub server: Option<Arc<str>>,
    /// The name of the tool.
    pub tool: Option<Arc<str>>,
    /// The name of the client.
    pub client: Option<Arc<str>>,
}

/// A call that workflows may be put around.
#[derive(Clone, Copy, Debug, Default)]
pub struct Subject<'a> {
    /// The upstream server it goes to; none for a tool of the graph, a list and an unknown name.
    pub server: Option<&'a str>,
    /// The tool as the client calls it; none for a list.
    pub tool: Option<&'a str>,
    /// The tool as its server calls it.
    pub inner_tool: Option<&'a str>,
    /// The client.
    pub client: &'a str,
}

/// A script that runs at a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hook {
    /// The body of an `async` function of `context`.
    pub script: Arc<str>,
    /// The module it is from, if it is not the node's own.
    pub module: Option<Arc<str>>,
    /// Whether what follows waits for it.
    pub blocking: bool,
    /// How long it may take.
    pub time: Duration,
    /// The hosts it may reach.
    pub hosts: Arc<[Arc<str>]>,
    /// The workflow it belongs to.
    pub workflow: Arc<str>,
}

impl Workflow {
    /// The name of the runs of a workflow.
    pub fn run_name(id: &str) -> String {
        format!("workflow:{id}")
    }
}

impl Match {
    /// Whether a call fits every pattern.
    pub fn fits(&self, subject: &Subject<'_>) -> bool {
        let one = |pattern: &Option<Arc<str>>, names: &[Option<&str>]| {
            pattern.as_ref().is_none_or(|pattern| {
                names.iter().flatten().any(|name| glob::fits_any(pattern, name))
            })
        };
        one(&self.server, &[subject.server])
            && one(&self.tool, &[subject.tool, subject.inner_tool])
            && one(&self.client, &[Some(subject.client)])
    }
}
