use mcpgraph_graph::glob::fits;
use serde::{Deserialize, Serialize};

/// The name under which a grant means the tools of the graph, which belong to no server.
pub const GRAPH: &str = "graph";

/// What somebody may see and call. Nothing said is everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// Only these servers; [`GRAPH`] is the graph itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<String>,
    /// Only tools whose names fit one of these patterns. Resources and prompts are not seen then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

impl Grant {
    /// Nothing at all: no server has no name.
    pub fn nothing() -> Self {
        Self { servers: vec![String::new()], tools: Vec::new() }
    }

    /// Whether everything is granted.
    pub fn is_everything(&self) -> bool {
        self.servers.is_empty() && self.tools.is_empty()
    }

    /// Whether a tool may be seen and called: `server` is whose it is, `name` what clients call it.
    pub fn sees_tool(&self, server: &str, name: &str) -> bool {
        self.sees_some_of(server)
            && (self.tools.is_empty() || self.tools.iter().any(|pattern| fits(pattern, name)))
    }

    /// Whether the resources and prompts of a server may be seen and read.
    pub fn sees_rest_of(&self, server: &str) -> bool {
        self.tools.is_empty() && self.sees_some_of(server)
    }

    /// Whether anything of a server may be seen.
    pub fn sees_some_of(&self, server: &str) -> bool {
        self.servers.is_empty() || self.servers.iter().any(|known| known == server)
    }
}

#[cfg(test)]
mod tests;
