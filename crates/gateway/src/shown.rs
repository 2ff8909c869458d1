//! What clients were shown of the tools of exposed servers, so that a change can be told to those
//! who see what changed, and to nobody else.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use mcpgraph_graph::Digest;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::listing::Item;
use crate::names::Exposed;

/// The tools that clients were shown, and the servers that have to be looked at again.
#[derive(Default)]
pub(crate) struct Shown {
    /// By server: its tools by the names clients see.
    tools: Mutex<HashMap<String, HashMap<String, Digest>>>,
    stale: Mutex<IndexMap<String, Why>>,
    wake: Notify,
}

/// Why a server has to be looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It may have other tools than before.
    Maybe,
    /// It says that it has.
    Said,
}

impl Shown {
    /// Notes what a list shows of servers of which nothing was shown before.
    pub(crate) fn note<'e>(&self, exposed: impl Iterator<Item = &'e Exposed>, items: &[Item]) {
        let mut tools = self.tools.lock();
        for Exposed { server, .. } in exposed {
            if !tools.contains_key(server) {
                // Of one that was left out of the list, nothing is shown.
                let its = items.iter().filter(|item| item.server == *server);
                tools.insert(server.clone(), digests(its));
            }
        }
    }

    /// Notes that nothing is shown of a server that is new.
    pub(crate) fn note_new(&self, server: &str) {
        self.tools.lock().entry(server.to_owned()).or_default();
    }

    /// Whether anything was shown of a server, if only that it has nothing.
    pub(crate) fn knows(&self, server: &str) -> bool {
        self.tools.lock().contains_key(server)
    }

    /// Forgets what was shown of a server.
    pub(crate) fn forget(&self, server: &str) {
        self.tools.lock().remove(server);
    }

    /// Takes what a server has now in the place of what was shown of it; gives the names of the
    /// tools that came, went or are different now.
    pub(crate) fn replace(&self, server: &str, items: &[Item]) -> Vec<String> {
        let now = digests(items);
        let before = self.tools.lock().insert(server.to_owned(), now.clone()).unwrap_or_default();
        let names: HashSet<&String> = now.keys().chain(before.keys()).collect();
        let changed = names.into_iter().filter(|name| now.get(*name) != before.get(*name));
        changed.cloned().collect()
    }

    /// Whether there is such a tool among those that were shown.
    pub(crate) fn has(&self, is_such: impl Fn(&str, &str) -> bool) -> bool {
        let tools = self.tools.lock();
        tools.iter().any(|(server, its)| its.keys().any(|name| is_such(server, name)))
    }

    /// Has a server looked at again.
    pub(crate) fn suspect(&self, server: &str, why: Why) {
        let mut stale = self.stale.lock();
        let known = stale.entry(server.to_owned()).or_insert(why);
        if why == Why::Said {
            *known = why;
        }
        drop(stale);
        self.wake.notify_one();
    }

    /// The servers that have to be looked at again, but for those that somebody looks at.
    pub(crate) fn take_stale(&self, looked_at: &HashSet<String>) -> Vec<(String, Why)> {
        let mut stale = self.stale.lock();
        let (later, now) = stale
            .drain(..)
            .partition::<IndexMap<_, _>, _>(|(server, _)| looked_at.contains(server));
        *stale = later;
        now.into_iter().collect()
    }

    /// Waits until there is another server to look at.
    pub(crate) async fn suspected(&self) {
        self.wake.notified().await;
    }
}

fn digests<'a>(items: impl IntoIterator<Item = &'a Item>) -> HashMap<String, Digest> {
    items.into_iter().map(|item| (item.name.clone(), Digest::of(item.raw.get()))).collect()
}

#[cfg(test)]
mod tests {
    use mcpgraph_mcp::message::raw;

    use super::*;

    fn item(server: &str, name: &str, text: &str) -> Item {
        Item { server: server.to_owned(), name: name.to_owned(), raw: raw(text) }
    }

    #[test]
    fn what_came_went_or_is_different_is_told() {
        let shown = Shown::default();
        assert!(!shown.knows("s"));
        shown.replace("s", &[item("s", "a", "1"), item("s", "b", "1"), item("s", "c", "1")]);
        assert!(shown.knows("s") && shown.has(|server, name| (server, name) == ("s", "b")));
        let now = [item("s", "a", "1"), item("s", "b", "2"), item("s", "d", "1")];
        let mut changed = shown.replace("s", &now);
        changed.sort();
        assert_eq!(changed, ["b", "c", "d"]);
        assert!(shown.replace("s", &now).is_empty());
        shown.forget("s");
        assert_eq!(shown.replace("s", &now).len(), 3);
    }

    #[test]
    fn a_server_that_is_looked_at_waits() {
        let shown = Shown::default();
        for (server, why) in [("a", Why::Maybe), ("b", Why::Maybe), ("a", Why::Said)] {
            shown.suspect(server, why);
        }
        let busy = HashSet::from(["a".to_owned()]);
        assert_eq!(shown.take_stale(&busy), [("b".to_owned(), Why::Maybe)]);
        assert_eq!(shown.take_stale(&HashSet::new()), [("a".to_owned(), Why::Said)]);
        assert!(shown.take_stale(&HashSet::new()).is_empty());
    }
}
