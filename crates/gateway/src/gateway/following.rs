//! Changes of exposed servers, on their way to clients.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mcpgraph_mcp::server::Change;
use mcpgraph_upstream::Changed;

use super::Gateway;

impl Gateway {
    /// Passes changes of exposed servers on to clients, until the servers are gone.
    pub async fn follow_upstreams(self: Arc<Self>) {
        let mut changes = self.upstreams.changes();
        loop {
            match changes.recv().await {
                Ok(change) => {
                    let offer = self.offer.load();
                    if offer.exposed.iter().any(|exposed| *exposed.server == *change.server) {
                        self.pass_on(change.what);
                    }
                }
                // Too many at once: which ones were lost is not known, so all may have changed.
                Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => {
                    for change in [Change::Tools, Change::Resources, Change::Prompts] {
                        self.broadcaster.send(&change);
                    }
                }
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
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
            for uri in self.broadcaster.watched_resources() {
                if let Some(server) = self.find_resource(&offer, &uri).await {
                    wanted.entry(server).or_default().insert(uri);
                }
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

    fn pass_on(&self, what: Changed) {
        let change = match what {
            Changed::Tools => Change::Tools,
            Changed::Resources => Change::Resources,
            Changed::Prompts => Change::Prompts,
            Changed::Resource(uri) => Change::Resource(uri),
            Changed::Connected | Changed::Disconnected(_) => return,
        };
        self.broadcaster.send(&change);
    }
}
