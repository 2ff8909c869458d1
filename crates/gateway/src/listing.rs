//! Lists over the graph and all exposed servers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesOrdered;
use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_upstream::{ItemInfo, UpstreamError, Upstreams};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;
use tokio::time::error::Elapsed;

use crate::missing::Missing;
use crate::names::Exposed;
use crate::view::View;
use crate::{Offer, adapt};

/// How long one server may take to tell what it offers. A list comes without those that take
/// longer, and says so.
const LIST_PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may take that took longer than that a while ago, and how long this while is.
/// Otherwise one that hangs would make every list take as long as one may.
const LATE_PATIENCE: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_secs(30);

/// The servers that took too long, and since when.
#[derive(Default)]
pub(crate) struct Late(Mutex<HashMap<String, Instant>>);

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// What the file says about tools that are not there.
    pub(crate) missing: Vec<Missing>,
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
    ) -> Result<Arc<Vec<ItemInfo>>, UpstreamError> {
        match self {
            Self::Tools => upstreams.list_tools(server).await,
            Self::Resources => upstreams.list_resources(server).await,
            Self::Templates => upstreams.list_templates(server).await,
            Self::Prompts => upstreams.list_prompts(server).await,
        }
    }
}

/// What one server tells.
pub(crate) struct Told<'a> {
    pub(crate) exposed: &'a Exposed,
    pub(crate) listed: Listed,
    /// Whether it took too long, and would again.
    pub(crate) is_late: bool,
}

/// The items of the exposed servers of which a client may see something, in the order of the
/// configuration. A server that fails or takes too long never holds up the others.
pub(crate) async fn items(upstreams: &Upstreams, view: &View, kind: Kind) -> Listed {
    let mut lists = each(upstreams, &view.offer, kind, view.exposed(kind));
    let mut all = Listed::default();
    while let Some(Told { listed: Listed { items, left_out, missing }, .. }) = lists.next().await {
        all.items.extend(items);
        all.left_out.extend(left_out);
        all.missing.extend(missing);
    }
    all
}

/// The lists of these servers, all asked at once and given in their order. Whoever has found what
/// it looks for need not wait for the rest.
pub(crate) fn each<'a>(
    upstreams: &'a Upstreams,
    offer: &'a Offer,
    kind: Kind,
    servers: impl IntoIterator<Item = &'a Exposed>,
) -> FuturesOrdered<impl Future<Output = Told<'a>>> {
    let lists = servers.into_iter().map(|exposed| async move {
        let patience = offer.late.patience(&exposed.server);
        let list = kind.of(upstreams, &exposed.server);
        let list = tokio::time::timeout(patience, list).await;
        let is_late = list.is_err();
        offer.late.note(&exposed.server, patience, is_late);
        Told { exposed, listed: listed(exposed, kind, list, patience), is_late }
    });
    lists.collect()
}

/// The items of one exposed server, for which there is time.
pub(crate) async fn of_one(upstreams: &Upstreams, exposed: &Exposed, kind: Kind) -> Listed {
    let list = tokio::time::timeout(LIST_PATIENCE, kind.of(upstreams, &exposed.server)).await;
    listed(exposed, kind, list, LIST_PATIENCE)
}

fn listed(
    exposed: &Exposed,
    kind: Kind,
    list: Result<Result<Arc<Vec<ItemInfo>>, UpstreamError>, Elapsed>,
    patience: Duration,
) -> Listed {
    let error = match list {
        Ok(Ok(items)) => {
            let shown =
                items.iter().filter(|item| kind != Kind::Tools || !exposed.is_hidden(&item.name));
            let missing = if kind == Kind::Tools {
                Missing::among(&exposed.server, exposed.adapted(), &items)
            } else {
                Vec::new()
            };
            let items = shown.map(|item| offered(exposed, kind, item)).collect();
            return Listed { items, left_out: Vec::new(), missing };
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => format!("no answer within {} s", patience.as_secs()),
    };
    let server = exposed.server.clone();
    tracing::warn!(server, error, "left out of {}", kind.member());
    Listed { left_out: vec![LeftOut { server, error }], ..Listed::default() }
}

impl Late {
    /// How long a server may take now.
    pub(crate) fn patience(&self, server: &str) -> Duration {
        match self.0.lock().get(server) {
            Some(since) if since.elapsed() < LATE => LATE_PATIENCE,
            _ => LIST_PATIENCE,
        }
    }

    /// Notes whether a server took longer than it may. Only the full time says that it is late.
    pub(crate) fn note(&self, server: &str, patience: Duration, is_late: bool) {
        if !is_late {
            self.0.lock().remove(server);
        } else if patience == LIST_PATIENCE {
            self.0.lock().insert(server.to_owned(), Instant::now());
        }
    }
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
