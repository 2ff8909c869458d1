//! Tokens in a store: one that another process makes or revokes counts here too.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_access::Access;
use mcpgraph_journal::{News, NewsReader};

/// How often the store is asked whether somebody changed it, should nobody say so.
const LOOK: Duration = Duration::from_millis(500);

/// Takes over what changes in the store, until the future is dropped. While the store is away, the
/// tokens that were there before are.
pub(crate) async fn follow(access: Arc<Access>, mut news: NewsReader) {
    loop {
        let changed = async {
            while !matches!(news.next().await, Some(News::Tokens | News::Anything) | None) {}
        };
        // Whether it was said or is only looked for, the store knows.
        drop(tokio::time::timeout(LOOK, changed).await);
        let access = Arc::clone(&access);
        match tokio::task::spawn_blocking(move || access.look()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "tokens are as they were"),
            Err(_) => return,
        }
    }
}
