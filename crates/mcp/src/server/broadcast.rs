//! Changes that clients are told of: lists that changed, resources that were updated.
//!
//! A change says "look again", so telling it twice is no better than once. Each subscriber
//! therefore keeps a set of changes it has not been told of rather than a queue: however slowly it
//! reads, nothing is lost and nothing piles up.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use indexmap::IndexSet;
use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::client::Client;
use crate::message::{Notification, raw};
use crate::subscription::Filter;

/// Tells all clients, of both eras and on all transports, of changes. It is cheap to clone.
#[derive(Clone, Debug)]
pub struct Broadcaster(Arc<Registry>);

/// Something that clients may have asked to be told of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// The list of tools is another one.
    Tools,
    /// The list of prompts is another one.
    Prompts,
    /// The list of resources is another one.
    Resources,
    /// The resource with this URI has other contents.
    Resource(String),
}

/// One client's share of the changes. Dropping it ends its part.
#[derive(Debug)]
pub(crate) struct Subscriber {
    registry: Arc<Registry>,
    client: Arc<Client>,
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Debug)]
struct Registry {
    subscribers: Mutex<Vec<Weak<Subscriber>>>,
    /// How many subscribers watch each resource.
    watched: Mutex<HashMap<String, usize>>,
    /// Goes up whenever the set of watched resources changes.
    watched_epoch: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct State {
    filter: Filter,
    untold: IndexSet<Change>,
    is_telling: bool,
}

// === impl Broadcaster ===

impl Default for Broadcaster {
    fn default() -> Self {
        Self::new()
    }
}

impl Broadcaster {
    /// A broadcaster without subscribers.
    pub fn new() -> Self {
        Self(Arc::new(Registry {
            subscribers: Mutex::default(),
            watched: Mutex::default(),
            watched_epoch: watch::Sender::new(0),
        }))
    }

    /// Tells everyone who asked for it. It never waits.
    pub fn send(&self, change: &Change) {
        self.send_to(change, |_| true);
    }

    /// Tells those who asked for it and whom it concerns. It never waits.
    pub fn send_to(&self, change: &Change, concerns: impl Fn(&Client) -> bool) {
        for subscriber in self.0.all() {
            if subscriber.wants(change) && concerns(&subscriber.client) {
                subscriber.tell(change);
            }
        }
    }

    /// Whether there is such a client among those who asked for a change of this kind.
    pub fn has(&self, change: &Change, is_such: impl Fn(&Client) -> bool) -> bool {
        self.0.all().iter().any(|known| known.wants(change) && is_such(&known.client))
    }

    /// The resources that some client watches, in no order.
    pub fn watched_resources(&self) -> Vec<String> {
        self.0.watched.lock().keys().cloned().collect()
    }

    /// Reports when the set of watched resources changes.
    pub fn watch_resources(&self) -> watch::Receiver<u64> {
        self.0.watched_epoch.subscribe()
    }

    pub(crate) fn subscribe(&self, filter: Filter, client: Arc<Client>) -> Arc<Subscriber> {
        for uri in &filter.resource_subscriptions {
            self.0.watch(uri);
        }
        let subscriber = Arc::new(Subscriber {
            registry: self.0.clone(),
            client,
            state: Mutex::new(State { filter, ..State::default() }),
            wake: Notify::new(),
        });
        let mut subscribers = self.0.subscribers.lock();
        subscribers.retain(|subscriber| subscriber.strong_count() > 0);
        subscribers.push(Arc::downgrade(&subscriber));
        subscriber
    }
}

impl Registry {
    /// Those who are still there.
    fn all(&self) -> Vec<Arc<Subscriber>> {
        // Upgraded outside of the lock of each subscriber, and dropped outside of this one: the
        // last reference to a subscriber takes locks when it goes.
        self.subscribers.lock().iter().filter_map(Weak::upgrade).collect()
    }

    fn watch(&self, uri: &str) {
        let mut watched = self.watched.lock();
        match watched.get_mut(uri) {
            Some(count) => *count += 1,
            None => {
                watched.insert(uri.to_owned(), 1);
                self.watched_epoch.send_modify(|epoch| *epoch += 1);
            }
        }
    }

    fn unwatch(&self, uri: &str) {
        let mut watched = self.watched.lock();
        if let Some(count) = watched.get_mut(uri) {
            *count -= 1;
            if *count == 0 {
                watched.remove(uri);
                self.watched_epoch.send_modify(|epoch| *epoch += 1);
            }
        }
    }
}

// === impl Subscriber ===

impl Subscriber {
    /// Adds a resource to what is watched. False if that would be more than `limit`.
    pub(crate) fn watch(&self, uri: &str, limit: usize) -> bool {
        let mut state = self.state.lock();
        let watched = &mut state.filter.resource_subscriptions;
        if !watched.contains(uri) {
            if watched.len() >= limit {
                return false;
            }
            watched.insert(uri.to_owned());
            self.registry.watch(uri);
        }
        true
    }

    /// Takes a resource out of what is watched.
    pub(crate) fn unwatch(&self, uri: &str) {
        let mut state = self.state.lock();
        if state.filter.resource_subscriptions.swap_remove(uri) {
            self.registry.unwatch(uri);
        }
    }

    /// Watches these resources and no others.
    pub(crate) fn set_watched(&self, wanted: &BTreeSet<String>) {
        let state = &mut *self.state.lock();
        let watched = &mut state.filter.resource_subscriptions;
        watched.retain(|uri| {
            let stays = wanted.contains(uri);
            if !stays {
                self.registry.unwatch(uri);
            }
            stays
        });
        for uri in wanted {
            if watched.insert(uri.clone()) {
                self.registry.watch(uri);
            }
        }
    }

    /// Tells the client that it may have missed changes of lists.
    pub(crate) fn tell_lists(&self) {
        for change in [Change::Tools, Change::Prompts, Change::Resources] {
            if self.wants(&change) {
                self.tell(&change);
            }
        }
    }

    /// True for the first who asks: that one tells the client from now on.
    pub(crate) fn begin_telling(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().is_telling, true)
    }

    /// Waits for a change this subscriber has not been told of, and tells it.
    pub(crate) async fn next(&self) -> Change {
        loop {
            let change = self.state.lock().untold.shift_remove_index(0);
            match change {
                Some(change) => return change,
                // A permit is kept where `tell` came in between.
                None => self.wake.notified().await,
            }
        }
    }

    fn wants(&self, change: &Change) -> bool {
        change.is_wanted_by(&self.state.lock().filter)
    }

    fn tell(&self, change: &Change) {
        if self.state.lock().untold.insert(change.clone()) {
            self.wake.notify_one();
        }
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        for uri in &self.state.get_mut().filter.resource_subscriptions {
            self.registry.unwatch(uri);
        }
    }
}

// === impl Change ===

impl Change {
    fn is_wanted_by(&self, filter: &Filter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource(uri) => filter.resource_subscriptions.contains(uri),
        }
    }

    /// The notification that tells a client.
    pub(crate) fn to_notification(&self) -> Notification {
        let (method, params) = match self {
            Self::Tools => ("notifications/tools/list_changed", None),
            Self::Prompts => ("notifications/prompts/list_changed", None),
            Self::Resources => ("notifications/resources/list_changed", None),
            Self::Resource(uri) => {
                ("notifications/resources/updated", Some(raw(&serde_json::json!({ "uri": uri }))))
            }
        };
        Notification { method: method.to_owned(), params }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Version;

    fn resource(uri: &str) -> Change {
        Change::Resource(uri.to_owned())
    }

    fn client(principal: &str) -> Arc<Client> {
        Arc::new(Client {
            version: Version::LATEST,
            info: None,
            capabilities: raw(&serde_json::json!({})),
            session: None,
            principal: Some(principal.into()),
        })
    }

    #[tokio::test]
    async fn a_change_is_told_once_to_whom_it_concerns() {
        let broadcaster = Broadcaster::new();
        let lists = broadcaster.subscribe(Filter::lists(), client("a"));
        let tools_only = Filter { tools_list_changed: true, ..Filter::default() };
        let tools_only = broadcaster.subscribe(tools_only, client("b"));
        for _ in 0..1000 {
            broadcaster.send(&Change::Prompts);
            broadcaster.send(&resource("a:b"));
            broadcaster.send(&Change::Tools);
        }
        assert_eq!(lists.next().await, Change::Prompts);
        assert_eq!(lists.next().await, Change::Tools);
        assert_eq!(tools_only.next().await, Change::Tools);
        assert!(lists.state.lock().untold.is_empty());
        broadcaster.send(&Change::Tools);
        assert_eq!(lists.next().await, Change::Tools);
    }

    #[tokio::test]
    async fn a_change_is_told_to_those_it_concerns() {
        let broadcaster = Broadcaster::new();
        let is =
            |name: &'static str| move |client: &Client| client.principal.as_deref() == Some(name);
        let tools = Filter { tools_list_changed: true, ..Filter::default() };
        let [one, other] =
            ["one", "other"].map(|name| broadcaster.subscribe(tools.clone(), client(name)));
        broadcaster.send_to(&Change::Tools, is("one"));
        broadcaster.send_to(&Change::Prompts, is("other"));
        assert_eq!(one.next().await, Change::Tools);
        assert!(one.state.lock().untold.is_empty() && other.state.lock().untold.is_empty());
        assert!(broadcaster.has(&Change::Tools, is("other")));
        assert!(!broadcaster.has(&Change::Prompts, is("other")));
        assert!(!broadcaster.has(&Change::Tools, is("third")));
    }

    #[tokio::test]
    async fn watched_resources_are_counted() {
        let broadcaster = Broadcaster::new();
        let epoch = broadcaster.watch_resources();
        let first = broadcaster.subscribe(Filter::lists(), client("a"));
        let watching = Filter {
            resource_subscriptions: ["a:1".to_owned()].into_iter().collect(),
            ..Filter::default()
        };
        let second = broadcaster.subscribe(watching, client("b"));
        assert!(first.watch("a:1", 2) && first.watch("a:2", 2) && first.watch("a:2", 2));
        assert!(!first.watch("a:3", 2));
        assert_eq!(*epoch.borrow(), 2);
        broadcaster.send(&resource("a:1"));
        assert_eq!((first.next().await, second.next().await), (resource("a:1"), resource("a:1")));
        first.unwatch("a:2");
        drop(first);
        assert_eq!(broadcaster.watched_resources(), ["a:1"]);
        drop(second);
        assert!(broadcaster.watched_resources().is_empty());
        assert_eq!(*epoch.borrow(), 4);
    }
}
