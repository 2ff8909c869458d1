//! Whose things are asked for: names and addresses of clients lead to servers.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use mcpgraph_access::Grant;
use mcpgraph_diagnostics::codes;

use super::Gateway;
use crate::listing::{self, Item, Kind, Listed, Told};
use crate::names::{self, Collision, Exposed};
use crate::view::View;
use crate::{Offer, discovery, template};

impl Gateway {
    /// What a client may see of exposed servers. Of several with one name or URI the first is
    /// offered, and the graph's own come before all; that there are others is told once.
    pub(super) async fn seen(&self, view: &View, kind: Kind) -> Listed {
        let Listed { mut items, left_out, missing } =
            listing::items(&self.upstreams, view, kind).await;
        let mut own = HashSet::new();
        if kind == Kind::Tools {
            self.shown.note(view.exposed(kind), &items);
            own.extend(view.offer.graph.tools.iter().map(|tool| &*tool.name));
            if view.offer.discovers {
                own.extend(discovery::NAMES);
            }
        }
        items.retain(|item| view.sees(kind, &item.server, &item.name));
        let (items, collisions) =
            names::without_collisions(kind, own, items, |item| (&item.name, &item.server));
        for collision in collisions {
            if view.offer.told.lock().insert(collision.clone()) {
                tell(&collision);
            }
        }
        for missing in &missing {
            if view.offer.missed.lock().insert(missing.clone()) {
                missing.tell();
            }
        }
        Listed { items, left_out, missing }
    }

    /// Looks at the names of all tools, so that those who start the server see what collides and what
    /// is missing.
    pub async fn check_names(&self) {
        let offer = self.offer.load_full();
        if !offer.exposed.is_empty() {
            self.seen(&View { offer, grant: Grant::default() }, Kind::Tools).await;
        }
    }

    /// The exposed server that has a tool or prompt of this name, and its own name for it, if the
    /// client may see it.
    pub(crate) async fn find(
        &self,
        view: &View,
        kind: Kind,
        name: &str,
    ) -> Option<(String, String)> {
        let candidates: Vec<&Exposed> = view
            .exposed(kind)
            .filter(|exposed| view.sees(kind, &exposed.server, name))
            .filter(|exposed| exposed.inner(kind, name).is_some())
            .collect();
        let found = match candidates[..] {
            // Nobody else can have it; whether it does, the server itself knows best.
            [only] => only,
            _ => {
                let mut lists = listing::each(&self.upstreams, &view.offer, kind, candidates);
                loop {
                    let Told { exposed, listed, .. } = lists.next().await?;
                    if listed.items.iter().any(|item| item.name == name) {
                        break exposed;
                    }
                }
            }
        };
        Some((found.server.clone(), found.inner(kind, name)?.to_owned()))
    }

    /// The exposed server to ask for a resource, if the client may read it.
    pub(super) async fn find_readable(&self, view: &View, uri: &str) -> Option<String> {
        let mut servers = view.exposed(Kind::Resources);
        match (servers.next(), servers.next()) {
            // Nobody else can have it; whether it does, the server itself knows best.
            (Some(only), None) => Some(only.server.clone()),
            _ => self.find_watchable(view, uri).await,
        }
    }

    /// The exposed server that lists a resource with this URI, or a template for it, if the client
    /// may see it: the first that does, and those behind it are not waited for.
    pub(super) async fn find_watchable(&self, view: &View, uri: &str) -> Option<String> {
        let each = |kind, servers| listing::each(&self.upstreams, &view.offer, kind, servers);
        let servers: Vec<&Exposed> = view.exposed(Kind::Resources).collect();
        let mut lists = each(Kind::Resources, servers);
        let mut in_time = Vec::new();
        while let Some(Told { exposed, listed, is_late }) = lists.next().await {
            if listed.items.iter().any(|item| item.name == uri) {
                return Some(exposed.server.clone());
            }
            if !is_late {
                in_time.push(exposed);
            }
        }
        // Who took too long once would hold up the answer again.
        let mut lists = each(Kind::Templates, in_time);
        let mut templates = Vec::new();
        while let Some(Told { listed, .. }) = lists.next().await {
            templates.extend(listed.items);
        }
        best_fits(&templates, uri).next().map(str::to_owned)
    }

    /// The exposed servers that shall tell of changes of each of these resources. Where several have
    /// one, which of them a client sees depends on the client.
    pub(super) async fn find_watched(
        &self,
        offer: &Arc<Offer>,
        uris: Vec<String>,
    ) -> Vec<(String, String)> {
        if uris.is_empty() {
            return Vec::new();
        }
        if let [only] = &offer.exposed[..] {
            return uris.into_iter().map(|uri| (only.server.clone(), uri)).collect();
        }
        let view = View { offer: Arc::clone(offer), grant: Grant::default() };
        let listed = |kind| listing::items(&self.upstreams, &view, kind);
        let (resources, templates) = tokio::join!(listed(Kind::Resources), listed(Kind::Templates));
        let mut watched = Vec::new();
        for uri in uris {
            let having = resources.items.iter().filter(|item| item.name == uri);
            let mut servers: Vec<&str> = having.map(|item| &*item.server).collect();
            if servers.is_empty() {
                servers.extend(best_fits(&templates.items, &uri));
            }
            watched.extend(servers.into_iter().map(|server| (server.to_owned(), uri.clone())));
        }
        watched
    }
}

/// The servers of the templates that fit a URI best: the longest fixed beginning says best whose it
/// is.
fn best_fits<'i>(templates: &'i [Item], uri: &str) -> impl Iterator<Item = &'i str> {
    let fits: Vec<(usize, &str)> = templates
        .iter()
        .filter_map(|item| Some((template::fit(&item.name, uri)?, &*item.server)))
        .collect();
    let best = fits.iter().map(|(fit, _)| *fit).max();
    fits.into_iter().filter(move |(fit, _)| Some(*fit) == best).map(|(_, server)| server)
}

/// Logs that two things have one name or URI.
fn tell(collision: &Collision) {
    let Collision { kind, name, first, second } = collision;
    let first = first.as_deref().unwrap_or("the graph");
    let code = codes::NAME_COLLISION.id();
    match kind {
        Kind::Tools => tracing::error!(
            code,
            name,
            first,
            second,
            "two tools have one name for clients: only the first can be called; use \
             `expose: {{ prefix: server }}` or `rename`"
        ),
        Kind::Prompts => tracing::error!(
            code,
            name,
            first,
            second,
            "two prompts have one name for clients: only the first can be got; use \
             `expose: {{ prefix: server }}`"
        ),
        Kind::Resources | Kind::Templates => tracing::error!(
            code,
            uri = name,
            first,
            second,
            "two resources have one URI for clients: only the first can be read; expose one of \
             the servers, or give out tokens that see one of them"
        ),
    }
}
