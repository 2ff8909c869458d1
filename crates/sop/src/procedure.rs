use std::sync::Arc;

use mcpgraph_config::Lookup;
use mcpgraph_config::model::{FrontMatter, ServerDef};
use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_value::Value;

use crate::{Chart, NodeId};

/// A procedure as its file says it, without errors.
#[derive(Debug)]
pub struct Procedure {
    /// The file.
    pub source: Arc<Source>,
    /// SHA-256 of its text, in hexadecimal.
    pub digest: Arc<str>,
    /// What it says of itself.
    pub front: FrontMatter,
    /// Its nodes.
    pub chart: Chart,
    /// Where a walk begins.
    pub entry: NodeId,
    /// The node that can be gone to from everywhere.
    pub hub: Option<NodeId>,
    /// Its prose and its flowchart, as written; all but the prompts of nodes.
    pub system_prompt: Arc<str>,
    /// The titles of the sections in it.
    pub sections: Vec<Arc<str>>,
}

/// What may be told of a server: neither headers nor variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name.
    pub name: Option<Arc<str>>,
    /// Its address, as written.
    pub url: Option<Arc<str>>,
    /// What it is for.
    pub description: Option<Arc<str>>,
}

impl Procedure {
    /// The name of the agent it is for.
    pub fn agent(&self) -> &str {
        &self.front.agent
    }

    /// Its version, as written.
    pub fn version(&self) -> Option<&str> {
        self.front.version.as_deref()
    }

    /// The nodes for which `is` holds, by name.
    pub fn ids_where(&self, is: impl Fn(NodeId, &crate::Node) -> bool) -> Vec<&str> {
        let nodes = self.chart.nodes.iter().enumerate();
        nodes.filter(|(number, node)| is(*number, node)).map(|(_, node)| &*node.id).collect()
    }

    /// The servers it names, as far as anybody may know them.
    pub fn server_infos(&self) -> Vec<ServerInfo> {
        let text = |server: &Value, key: &str| -> Option<Arc<str>> {
            server.get(key).and_then(Value::as_str).map(Arc::from)
        };
        let servers = self.front.servers.iter().map(|server| ServerInfo {
            name: text(server.value(), "name"),
            url: text(server.value(), "url"),
            description: text(server.value(), "description"),
        });
        servers.collect()
    }

    /// The servers it names, with their variables, to be connected to.
    pub fn servers(&self, lookup: Lookup<'_>) -> (Vec<ServerDef>, Diagnostics) {
        mcpgraph_config::read_procedure_servers(&self.source, self.front.span, lookup)
    }
}
