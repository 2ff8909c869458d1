//! Lists over the graph and all exposed servers.

use std::time::Duration;

use futures_util::future::join_all;
use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_upstream::{ItemInfo, UpstreamError, Upstreams};
use serde::Serialize;

use crate::adapt;
use crate::names::Exposed;

/// How long one server may take to tell what it offers. A list comes without those that take
/// longer, and says so in the log.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// An item of an exposed server.
pub(crate) struct Item {
    pub(crate) server: String,
    /// The name clients see.
    pub(crate) name: String,
    /// The item with that name.
    pub(crate) raw: Raw,
}

impl Kind {
    /// The member of the result that holds the items.
    pub(crate) fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    /// Whether items are known by a name that may get a prefix, rather than by a URI.
    pub(crate) fn is_named(self) -> bool {
        matches!(self, Self::Tools | Self::Prompts)
    }

    async fn of(
        self,
        upstreams: &Upstreams,
        server: &str,
    ) -> Result<std::sync::Arc<Vec<ItemInfo>>, UpstreamError> {
        match self {
            Self::Tools => upstreams.list_tools(server).await,
            Self::Resources => upstreams.list_resources(server).await,
            Self::Templates => upstreams.list_templates(server).await,
            Self::Prompts => upstreams.list_prompts(server).await,
        }
    }
}

/// The items of all exposed servers, in the order of the configuration. A server that fails or
/// takes too long never holds up the others.
pub(crate) async fn items(upstreams: &Upstreams, exposed: &[Exposed], kind: Kind) -> Vec<Item> {
    let lists = join_all(exposed.iter().map(|exposed| async move {
        match tokio::time::timeout(LIST_PATIENCE, kind.of(upstreams, &exposed.server)).await {
            Ok(Ok(items)) => items
                .iter()
                .filter(|item| kind != Kind::Tools || !exposed.is_hidden(&item.name))
                .map(|item| offered(exposed, kind, item))
                .collect(),
            Ok(Err(error)) => {
                tracing::warn!(server = exposed.server, %error, "left out of {}", kind.member());
                Vec::new()
            }
            Err(_) => {
                let limit = LIST_PATIENCE.as_secs();
                tracing::warn!(
                    server = exposed.server,
                    "left out of {}: no answer within {limit} s",
                    kind.member()
                );
                Vec::new()
            }
        }
    }))
    .await;
    lists.into_iter().flatten().collect()
}

/// An item as clients see it.
fn offered(exposed: &Exposed, kind: Kind, item: &ItemInfo) -> Item {
    let server = exposed.server.clone();
    let name = exposed.outer(kind, &item.name);
    let wanted = exposed.tool(&item.name).filter(|_| kind == Kind::Tools);
    let raw = if *name == *item.name && wanted.is_none() {
        item.raw.clone()
    } else {
        adapt::tool(&item.raw, &name, wanted)
    };
    Item { server, name: name.into_owned(), raw }
}

/// The result of a list.
pub(crate) fn result<T: Serialize>(kind: Kind, items: &[T]) -> Raw {
    raw(&indexmap::IndexMap::from([(kind.member(), items)]))
}
