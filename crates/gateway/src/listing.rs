//! Lists over the graph and all exposed servers.

use std::time::Duration;

use futures_util::future::join_all;
use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_upstream::{ItemInfo, UpstreamError, Upstreams};
use serde::Serialize;
use serde_json::json;

use crate::adapt;
use crate::names::Exposed;

/// How long one server may take to tell what it offers. A list comes without those that take
/// longer, and says so.
pub(crate) const LIST_PATIENCE: Duration = Duration::from_secs(10);

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

/// The items of all exposed servers, but for those that did not tell.
#[derive(Default)]
pub(crate) struct Listed {
    pub(crate) items: Vec<Item>,
    pub(crate) left_out: Vec<LeftOut>,
}

/// A server that is missing from a list.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LeftOut {
    pub(crate) server: String,
    /// Why.
    error: String,
}

/// The member of a list's `_meta` that names the servers missing from it.
const LEFT_OUT: &str = "mcpgraph/leftOut";

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
pub(crate) async fn items(upstreams: &Upstreams, exposed: &[Exposed], kind: Kind) -> Listed {
    let lists = join_all(exposed.iter().map(|exposed| async move {
        match tokio::time::timeout(LIST_PATIENCE, kind.of(upstreams, &exposed.server)).await {
            Ok(Ok(items)) => Ok((exposed, items)),
            Ok(Err(error)) => Err((exposed, error.to_string())),
            Err(_) => Err((exposed, format!("no answer within {} s", LIST_PATIENCE.as_secs()))),
        }
    }))
    .await;
    let mut listed = Listed::default();
    for list in lists {
        match list {
            Ok((exposed, items)) => {
                let shown = items
                    .iter()
                    .filter(|item| kind != Kind::Tools || !exposed.is_hidden(&item.name));
                listed.items.extend(shown.map(|item| offered(exposed, kind, item)));
            }
            Err((exposed, error)) => {
                let server = exposed.server.clone();
                tracing::warn!(server, error, "left out of {}", kind.member());
                listed.left_out.push(LeftOut { server, error });
            }
        }
    }
    listed
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

/// The result of a list, with the servers that are missing from it.
pub(crate) fn result<T: Serialize>(kind: Kind, items: &[T], left_out: &[LeftOut]) -> Raw {
    let mut result = indexmap::IndexMap::from([(kind.member(), raw(&items))]);
    if !left_out.is_empty() {
        result.insert("_meta", raw(&json!({ LEFT_OUT: left_out })));
    }
    raw(&result)
}
