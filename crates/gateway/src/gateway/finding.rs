//! Whose things are asked for: names and addresses of clients lead to servers.

use std::collections::HashSet;

use mcpgraph_diagnostics::codes;

use super::Gateway;
use crate::listing::{self, Kind, Listed};
use crate::names::{self, Collision, Exposed};
use crate::view::View;
use crate::{Offer, discovery, template};

impl Gateway {
    /// The tools of exposed servers. Of several with one name the first is offered, and the graph's
    /// own come before all; that there are others is told once.
    pub(super) async fn exposed_tools(&self, offer: &Offer) -> Listed {
        let Listed { items, left_out } = listing::items(&self.upstreams, offer, Kind::Tools).await;
        self.shown.note(&offer.exposed, &items);
        let mut own: HashSet<&str> = offer.graph.tools.iter().map(|tool| &*tool.name).collect();
        if offer.discovers {
            own.extend(discovery::NAMES);
        }
        let (items, collisions) =
            names::without_collisions(own, items, |item| (&item.name, &item.server));
        for collision in collisions {
            if !offer.told.lock().contains(&collision) {
                let Collision { name, first, second } = &collision;
                let first = first.as_deref().unwrap_or("the graph");
                tracing::error!(
                    code = codes::NAME_COLLISION.id(),
                    name,
                    first,
                    second,
                    "two tools have one name for clients: only the first can be called; use \
                     `expose: {{ prefix: server }}` or `rename`"
                );
                offer.told.lock().insert(collision);
            }
        }
        Listed { items, left_out }
    }

    /// The tools of exposed servers that a client may see.
    pub(super) async fn seen_tools(&self, view: &View) -> Listed {
        view.of(Kind::Tools, self.exposed_tools(&view.offer).await)
    }

    /// Looks at the names of all tools, so that those who start the server see what collides.
    pub async fn check_names(&self) {
        let offer = self.offer.load_full();
        if !offer.exposed.is_empty() {
            self.exposed_tools(&offer).await;
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
        let found = self.find_exposed(&view.offer, kind, name).await;
        found.filter(|(server, _)| view.sees(kind, server, name))
    }

    pub(super) async fn find_exposed(
        &self,
        offer: &Offer,
        kind: Kind,
        name: &str,
    ) -> Option<(String, String)> {
        let candidates: Vec<(&Exposed, &str)> = offer
            .exposed
            .iter()
            .filter_map(|exposed| Some((exposed, exposed.inner(kind, name)?)))
            .collect();
        if let [(only, inner)] = candidates[..] {
            // Nobody else can have it; whether it does, the server itself knows best.
            return Some((only.server.clone(), inner.to_owned()));
        }
        let items = listing::items(&self.upstreams, offer, kind).await.items;
        let found = items.iter().find(|item| item.name == name)?;
        let (_, inner) = candidates.iter().find(|(exposed, _)| exposed.server == found.server)?;
        Some((found.server.clone(), (*inner).to_owned()))
    }

    /// The exposed server to ask for the resource with this URI.
    pub(super) async fn find_resource(&self, offer: &Offer, uri: &str) -> Option<String> {
        if let [only] = &offer.exposed[..] {
            // Nobody else can have it; whether it does, the server itself knows best.
            return Some(only.server.clone());
        }
        self.find_listed_resource(offer, uri).await
    }

    /// The exposed server that lists a resource with this URI, or a template for it.
    pub(super) async fn find_listed_resource(&self, offer: &Offer, uri: &str) -> Option<String> {
        let resources = listing::items(&self.upstreams, offer, Kind::Resources).await;
        if let Some(found) = resources.items.into_iter().find(|item| item.name == uri) {
            return Some(found.server);
        }
        // The template with the longest fixed beginning says best whose it is.
        let templates = listing::items(&self.upstreams, offer, Kind::Templates).await;
        templates
            .items
            .into_iter()
            .filter_map(|item| Some((template::fit(&item.name, uri)?, item.server)))
            .max_by_key(|(fit, _)| *fit)
            .map(|(_, server)| server)
    }

    /// The exposed server that tells of changes of a resource, if the client may see it.
    pub(super) async fn find_watchable(&self, view: &View, uri: &str) -> Option<String> {
        let found = self.find_listed_resource(&view.offer, uri).await;
        found.filter(|server| view.sees(Kind::Resources, server, uri))
    }

    /// The exposed server to ask for a resource, if the client may read it.
    pub(super) async fn find_readable(&self, view: &View, uri: &str) -> Option<String> {
        let found = self.find_resource(&view.offer, uri).await;
        found.filter(|server| view.sees(Kind::Resources, server, uri))
    }
}
