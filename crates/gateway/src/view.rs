//! What one client may see of what is offered.

use std::sync::Arc;

use mcpgraph_access::{GRAPH, Grant};
use mcpgraph_graph::Tool;

use crate::Offer;
use crate::listing::{Kind, Listed};

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

    /// What the client may see of a list. Of a server that is missing it hears if it may see anything
    /// of that kind there.
    pub(crate) fn of(&self, kind: Kind, mut listed: Listed) -> Listed {
        listed.items.retain(|item| self.sees(kind, &item.server, &item.name));
        listed.left_out.retain(|missing| match kind {
            Kind::Tools => self.grant.sees_some_of(&missing.server),
            Kind::Resources | Kind::Templates | Kind::Prompts => {
                self.grant.sees_rest_of(&missing.server)
            }
        });
        listed
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
