//! What one client may see of what is offered.

use std::sync::Arc;

use mcpgraph_access::{GRAPH, Grant};
use mcpgraph_graph::Tool;

use crate::Offer;
use crate::listing::Kind;
use crate::names::Exposed;

/// An offer through the eyes of one client.
pub(crate) struct View {
    pub(crate) offer: Arc<Offer>,
    pub(crate) grant: Grant,
}

impl View {
    /// Whether something of an exposed server is there for the client, by the name it would use.
    pub(crate) fn sees(&self, kind: Kind, server: &str, name: &str) -> bool {
        match kind {
            Kind::Tools => self.grant.sees_tool(server, name),
            Kind::Resources | Kind::Templates | Kind::Prompts => self.grant.sees_rest_of(server),
        }
    }

    /// The exposed servers of which the client may see anything of a kind.
    pub(crate) fn exposed(&self, kind: Kind) -> impl Iterator<Item = &Exposed> {
        self.offer.exposed.iter().filter(move |exposed| match kind {
            Kind::Tools => self.grant.sees_some_of(&exposed.server),
            Kind::Resources | Kind::Templates | Kind::Prompts => {
                self.grant.sees_rest_of(&exposed.server)
            }
        })
    }

    /// Whether a tool of the graph is there for the client.
    pub(crate) fn sees_own(&self, name: &str) -> bool {
        self.grant.sees_tool(GRAPH, name)
    }

    /// Whether there is a tool for the client that may ask it.
    pub(crate) fn is_asked(&self) -> bool {
        self.own_tools().any(|tool| self.offer.asks(&tool.name))
    }

    /// The tools of the graph.
    pub(crate) fn own_tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.offer.graph().tools.iter().filter(|tool| self.sees_own(&tool.name))
    }
}
