//! Keeps a legacy server telling us of resources, with `resources/subscribe` and its opposite.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::watch;

use super::connection::{CallOptions, Link};
use super::{RequestOptions, secrets};
use crate::message::{Raw, raw};
use crate::subscription::Filter;

/// How long the server may take to take note of one resource.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells the server which resources to tell us of whenever they are others, and all of them when
/// it has forgotten the session. A server that has no such subscriptions is told nothing.
pub(super) async fn follow(
    link: Link,
    capabilities: Raw,
    mut resources: watch::Receiver<BTreeSet<String>>,
) {
    let mut renewals = link.transport.renewals();
    let mut told = BTreeSet::new();
    loop {
        let wanted: BTreeSet<String> = Filter::lists_and(&resources.borrow_and_update())
            .promised_by(&capabilities)
            .resource_subscriptions
            .into_iter()
            .collect();
        for uri in told.difference(&wanted) {
            ask(&link, "resources/unsubscribe", uri).await;
        }
        let mut now_told: BTreeSet<String> = told.intersection(&wanted).cloned().collect();
        for uri in wanted.difference(&told) {
            // One that was refused is asked for again with the next change.
            if ask(&link, "resources/subscribe", uri).await {
                now_told.insert(uri.clone());
            }
        }
        told = now_told;
        tokio::select! {
            () = changed(&mut resources) => {}
            () = changed(&mut renewals) => told.clear(),
        }
    }
}

/// Waits for another value; for ever where none can come.
async fn changed<T>(receiver: &mut watch::Receiver<T>) {
    if receiver.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether the server agreed.
async fn ask(link: &Link, method: &str, uri: &str) -> bool {
    #[derive(Serialize)]
    struct Params<'a> {
        uri: &'a str,
    }
    let options = CallOptions {
        request: RequestOptions { timeout: PATIENCE, ..RequestOptions::default() },
        is_listening: true,
        tells_cancel: true,
    };
    match link.call(method, Some(raw(&Params { uri })), &[], options).await {
        Ok(_) => true,
        Err(error) => {
            let error = secrets::hide_in(&link.secrets, error);
            tracing::debug!(%error, uri, "`{method}` failed");
            false
        }
    }
}
