//! The names under which an exposed server's things appear, and the way back.

use std::borrow::Cow;

use mcpgraph_config::model::{Expose, Prefix, ServerDef};

/// What stands between a server's name and a tool's.
const SEPARATOR: &str = "__";

/// A server whose own tools, resources and prompts are offered to clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Exposed {
    pub(crate) server: String,
    prefix: Prefix,
}

impl Exposed {
    /// The exposed ones among the servers of a file.
    pub(crate) fn among(servers: &[ServerDef]) -> Vec<Self> {
        servers
            .iter()
            .filter(|server| !server.disabled)
            .filter_map(|server| match server.expose {
                Expose::No => None,
                Expose::As(prefix) => Some(Self { server: server.name.to_string(), prefix }),
            })
            .collect()
    }

    /// The name clients see for a tool or prompt of this server.
    pub(crate) fn outer<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.prefix {
            Prefix::None => name.into(),
            Prefix::Server => format!("{}{SEPARATOR}{name}", self.server).into(),
        }
    }

    /// The server's own name for what clients call `name`, if it can be one of its.
    pub(crate) fn inner<'a>(&self, name: &'a str) -> Option<&'a str> {
        match self.prefix {
            Prefix::None => Some(name),
            Prefix::Server => name.strip_prefix(&self.server)?.strip_prefix(SEPARATOR),
        }
    }
}
