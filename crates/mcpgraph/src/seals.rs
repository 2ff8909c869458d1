//! The keys of seals, as the store has them: what one process seals, every process with that store
//! opens, also after a restart.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_gateway::{Gateway, KEY_SPREAD};
use mcpgraph_journal::{Journal, News};

/// How long a key is used for new seals: 7 days.
const RENEW: Duration = Duration::from_hours(7 * 24);

/// How long a key is kept for what it sealed: 90 days. A question may wait for its answer for long.
const FORGET: Duration = Duration::from_hours(90 * 24);

/// How often the store is asked for keys: a new one is known everywhere before it is used.
const LOOK: Duration = Duration::from_secs(KEY_SPREAD.as_secs() / 4);

/// Gives the gateway the keys of the store, and those that follow, until the future is dropped.
pub(crate) async fn follow(journal: Arc<Journal>, gateway: Arc<Gateway>) {
    let mut news = journal.news();
    loop {
        take(&journal, &gateway).await;
        let renewed = async {
            while !matches!(news.next().await, Some(News::SealKeys | News::Anything) | None) {}
        };
        // Being too late for a word is no harm: the store is asked again.
        drop(tokio::time::timeout(LOOK, renewed).await);
    }
}

/// Gives the gateway the keys of the store. Until it has some it uses one of its own.
pub(crate) async fn take(journal: &Arc<Journal>, gateway: &Gateway) {
    let journal = Arc::clone(journal);
    let keys = tokio::task::spawn_blocking(move || {
        let fresh = mcpgraph_gateway::new_key();
        fresh.map(|fresh| journal.seal_keys(&fresh, RENEW, FORGET))
    });
    match keys.await {
        Ok(Some(Ok(keys))) => gateway.set_seal_keys(&keys),
        Ok(Some(Err(error))) => tracing::warn!(%error, "the keys of seals cannot be read"),
        Ok(None) => tracing::warn!("the system gives no random numbers, so nothing is sealed"),
        Err(error) => tracing::warn!(%error, "the keys of seals cannot be read"),
    }
}
