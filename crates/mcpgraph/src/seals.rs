//! The keys of seals, as the store has them: what one process seals, every process with that store
//! opens, also after a restart.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_gateway::Gateway;
use mcpgraph_journal::{Journal, News};

/// How often the store is asked for keys, for those who missed the news of them.
const LOOK: Duration = Duration::from_secs(30);

/// Gives the gateway the keys that follow in the store, until the future is dropped.
pub(crate) async fn follow(journal: Arc<Journal>, gateway: Arc<Gateway>) {
    let mut news = journal.news();
    loop {
        let renewed = async {
            while !matches!(news.next().await, Some(News::SealKeys | News::Anything) | None) {}
        };
        // Being too late for a word is no harm: the store is asked again.
        drop(tokio::time::timeout(LOOK, renewed).await);
        let (journal, gateway) = (Arc::clone(&journal), Arc::clone(&gateway));
        let taken = tokio::task::spawn_blocking(move || take(&journal, &gateway)).await;
        if let Err(error) = taken {
            tracing::warn!(%error, "the keys of seals cannot be read");
        }
    }
}

/// Gives the gateway the keys of the store. Until it has some it uses one of its own. Blocks as
/// files do.
pub(crate) fn take(journal: &Journal, gateway: &Gateway) {
    match journal.renew_seals() {
        Ok(seals) => gateway.set_seals(seals),
        Err(error) => tracing::warn!(%error, "the keys of seals cannot be read"),
    }
}
