//! Keeps a modern server telling us of changes, over `subscriptions/listen`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use indexmap::IndexSet;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::connection::{CallOptions, Link};
use super::{ClientError, RequestOptions, secrets};
use crate::message::{Raw, raw};
use crate::subscription::{Filter, Params};

/// The pause before a stream that ended is opened again; it doubles while streams end at once.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// A stream that lived this long was a good one.
const GOOD: Duration = Duration::from_secs(10);
/// How long a stream goes on beside the one that takes its place, so that no change falls in
/// between. It also bounds how often a set of resources that changes all the time is followed.
const OVERLAP: Duration = Duration::from_millis(300);

/// Listens for the list changes the server offers and for these resources, anew whenever they
/// are others. There is no stream while there is nothing to listen for.
pub(super) async fn follow(
    link: Link,
    capabilities: Raw,
    envelope: Vec<(String, Raw)>,
    mut resources: watch::Receiver<BTreeSet<String>>,
) {
    let envelope: Arc<[_]> = envelope.into();
    let mut stream: Option<AbortOnDropHandle<()>> = None;
    loop {
        let filter = Filter::lists_and(&resources.borrow_and_update()).promised_by(&capabilities);
        let next = (filter != Filter::default()).then(|| {
            AbortOnDropHandle::new(tokio::spawn(keep_open(link.clone(), filter, envelope.clone())))
        });
        if stream.is_some() && next.is_some() {
            tokio::time::sleep(OVERLAP).await;
        }
        stream = next;
        if resources.changed().await.is_err() {
            // The set is the last one. Without a stream there is nothing left to do.
            if let Some(stream) = stream {
                drop(stream.await);
            }
            return;
        }
    }
}

/// Keeps one stream open for as long as the server lets us.
async fn keep_open(link: Link, filter: Filter, envelope: Arc<[(String, Raw)]>) {
    let lists = Filter { resource_subscriptions: IndexSet::new(), ..filter.clone() };
    let has_resources = filter != lists;
    reopen(&link, filter, &envelope).await;
    // A server that refuses the resources, too many perhaps, may still tell of its lists.
    if has_resources && lists != Filter::default() {
        reopen(&link, lists, &envelope).await;
    }
}

/// Opens a stream, again whenever it ends, until the server refuses.
async fn reopen(link: &Link, notifications: Filter, envelope: &[(String, Raw)]) {
    let params = raw(&Params { notifications });
    let mut pause = FIRST_PAUSE;
    loop {
        let opened = Instant::now();
        let options = CallOptions {
            request: RequestOptions { timeout: Duration::MAX, ..RequestOptions::default() },
            is_listening: true,
            tells_cancel: true,
        };
        let ended =
            link.call("subscriptions/listen", Some(params.clone()), envelope, options).await;
        if let Err(error @ ClientError::Rpc(_)) = ended {
            let error = secrets::hide_in(&link.secrets, error);
            tracing::debug!(%error, "the server does not let us listen for changes");
            return;
        }
        pause = if opened.elapsed() >= GOOD { FIRST_PAUSE } else { pause };
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
