//! Changes of what is offered, on their way to the clients that see what changed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use mcpgraph_access::{GRAPH, Grant};
use mcpgraph_graph::{Digest, Graph};
use mcpgraph_mcp::server::Change;
use mcpgraph_upstream::{Change as ServerChange, Changed};
use tokio::sync::broadcast::error::RecvError;

use super::Gateway;
use crate::Offer;
use crate::listing::{self, Kind};
use crate::shown::Why;

impl Gateway {
    /// Passes changes of exposed servers on to clients, until the servers are gone.
    pub async fn follow_upstreams(self: Arc<Self>) {
        let mut changes = self.upstreams.changes();
        let mut looks = FuturesUnordered::new();
        let mut looked_at = HashSet::new();
        loop {
            tokio::select! {
                change = changes.recv() => match change {
                    Ok(change) => self.pass_on(change),
                    // Which ones were lost is not known, so all may have changed.
                    Err(RecvError::Lagged(_)) => {
                        for exposed in &self.offer.load().exposed {
                            self.all_changed(&exposed.server);
                        }
                    }
                    Err(RecvError::Closed) => return,
                },
                () = self.shown.suspected() => {}
                Some(server) = looks.next() => {
                    looked_at.remove(&server);
                }
            }
            // A server that takes its time holds up nobody else.
            for (server, why) in self.shown.take_stale(&looked_at) {
                looked_at.insert(server.clone());
                looks.push(self.look(server, why));
            }
        }
    }

    /// Has each exposed server tell of those of its resources that some client watches, until the
    /// future is dropped.
    pub async fn follow_watched(self: Arc<Self>) {
        let mut epoch = self.broadcaster.watch_resources();
        let mut watching: Vec<String> = Vec::new();
        loop {
            epoch.mark_unchanged();
            let offer = self.offer.load_full();
            // Servers that watched something may have to stop.
            let mut wanted: BTreeMap<String, BTreeSet<String>> =
                watching.drain(..).map(|server| (server, BTreeSet::new())).collect();
            let uris = self.broadcaster.watched_resources();
            for (server, uri) in self.find_watched(&offer, uris).await {
                wanted.entry(server).or_default().insert(uri);
            }
            for (server, uris) in wanted {
                let watches = !uris.is_empty();
                if let Err(error) = self.upstreams.watch_resources(&server, uris) {
                    tracing::debug!(server, %error, "resources are not watched");
                }
                if watches {
                    watching.push(server);
                }
            }
            tokio::select! {
                changed = epoch.changed() => if changed.is_err() { return },
                () = self.replaced.notified() => {}
            }
        }
    }

    /// Passes on what a server says about itself.
    fn pass_on(&self, change: ServerChange) {
        let ServerChange { server, what } = change;
        if !self.offer.load().exposed.iter().any(|exposed| *exposed.server == *server) {
            return;
        }
        match what {
            Changed::Tools => self.tools_changed(&server),
            Changed::Resources => {
                self.tell(&Change::Resources, |grant| grant.sees_rest_of(&server));
            }
            Changed::Prompts => self.tell(&Change::Prompts, |grant| grant.sees_rest_of(&server)),
            Changed::Resource(uri) => {
                self.tell(&Change::Resource(uri), |grant| grant.sees_rest_of(&server));
            }
            Changed::Replaced => self.all_changed(&server),
            // Perhaps it was left out of lists before, or has other tools since it was started.
            Changed::Connected if self.shown.knows(&server) => {
                self.shown.suspect(&server, Why::Maybe);
            }
            Changed::Connected | Changed::Disconnected(_) => {}
        }
    }

    /// A server has other tools. Who sees all of them is told at once; who sees some is told if
    /// they are among those that changed, which takes a look at the server.
    fn tools_changed(&self, server: &str) {
        self.tell(&Change::Tools, |grant| grant.tools.is_empty() && grant.sees_some_of(server));
        let sees_some = |grant: Grant| !grant.tools.is_empty() && grant.sees_some_of(server);
        if self.broadcaster.has(&Change::Tools, |client| sees_some(self.gate.grant(client))) {
            self.shown.suspect(server, Why::Said);
        } else {
            self.shown.forget(server);
        }
    }

    fn all_changed(&self, server: &str) {
        self.tools_changed(server);
        self.rest_changed(server);
    }

    fn rest_changed(&self, server: &str) {
        for change in [Change::Resources, Change::Prompts] {
            self.tell(&change, |grant| grant.sees_rest_of(server));
        }
    }

    /// Compares the tools of a server with what was shown of it, and tells those who see a
    /// difference; gives the server.
    async fn look(&self, server: String, why: Why) -> String {
        let offer = self.offer.load_full();
        let exposed = offer.exposed.iter().find(|exposed| exposed.server == server);
        let items = match exposed {
            Some(exposed) => listing::of_one(&self.upstreams, exposed, Kind::Tools).await.items,
            None => Vec::new(),
        };
        let mut changed = self.shown.replace(&server, &items);
        if exposed.is_none() {
            self.shown.forget(&server);
        }
        match why {
            Why::Said => {
                // It may have changed back before it was looked at.
                if changed.is_empty() {
                    changed = items.into_iter().map(|item| item.name).collect();
                }
                let sees =
                    |grant: &Grant| changed.iter().any(|tool| grant.sees_tool(&server, tool));
                self.tell(&Change::Tools, |grant| !grant.tools.is_empty() && sees(grant));
            }
            Why::Maybe if changed.is_empty() => {}
            Why::Maybe => {
                self.tell(&Change::Tools, |grant| {
                    changed.iter().any(|tool| grant.sees_tool(&server, tool))
                });
                self.rest_changed(&server);
            }
        }
        server
    }

    /// Tells what is different in another offer.
    pub(super) fn tell_of_offer(&self, before: &Offer, now: &Offer) {
        let changed = changed_tools(&before.graph, &now.graph);
        self.tell(&Change::Tools, |grant| {
            before.discovers != now.discovers
                || changed.iter().any(|tool| grant.sees_tool(GRAPH, tool))
        });
        for exposed in &now.exposed {
            if !before.exposed.iter().any(|known| known.server == exposed.server) {
                self.shown.note_new(&exposed.server);
            }
        }
        let differs = |one: &Offer, other: &Offer| -> Vec<String> {
            let exposed = one.exposed.iter().filter(|exposed| !other.exposed.contains(exposed));
            exposed.map(|exposed| exposed.server.clone()).collect()
        };
        for server in [differs(before, now), differs(now, before)].concat() {
            self.shown.suspect(&server, Why::Maybe);
            self.rest_changed(&server);
        }
    }

    /// Tells that lists go through other workflows. What they do to a list only their scripts know,
    /// so that everybody is told who sees something in one.
    pub(super) fn tell_of_workflows(&self) {
        self.tell(&Change::Tools, |grant| {
            grant.sees_some_of(GRAPH)
                || self.shown.has(|server, tool| grant.sees_tool(server, tool))
        });
    }

    /// Tells the clients whose grants see what changed.
    fn tell(&self, change: &Change, sees: impl Fn(&Grant) -> bool) {
        self.broadcaster.send_to(change, |client| sees(&self.gate.grant(client)));
    }
}

/// The tools that came, went or are different.
fn changed_tools(before: &Graph, now: &Graph) -> Vec<Arc<str>> {
    let digests = |graph: &Graph| -> HashMap<Arc<str>, Digest> {
        graph.tools.iter().map(|tool| (Arc::clone(&tool.name), tool.digest)).collect()
    };
    let (before, now) = (digests(before), digests(now));
    let names: HashSet<&Arc<str>> = before.keys().chain(now.keys()).collect();
    names.into_iter().filter(|name| before.get(*name) != now.get(*name)).cloned().collect()
}
