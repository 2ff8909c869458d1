//! Tokens in a store: one that another process makes or revokes counts here too.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_access::Access;
use mcpgraph_journal::{News, NewsReader};

/// How often the store is asked whether somebody changed it, should nobody say so.
const LOOK: Duration = Duration::from_millis(500);

/// How often rates that nobody uses any more are forgotten.
const TIDY: Duration = Duration::from_hours(1);

/// Takes over what changes in the store, until the future is dropped. While the store is away, the
/// tokens that were there before are.
pub(crate) async fn follow(access: Arc<Access>, mut news: NewsReader) {
    let mut tidied = Instant::now();
    loop {
        let changed = async {
            while !matches!(news.next().await, Some(News::Tokens | News::Anything) | None) {}
        };
        // Whether it was said or is only looked for, the store knows.
        drop(tokio::time::timeout(LOOK, changed).await);
        let is_due = tidied.elapsed() >= TIDY;
        if is_due {
            tidied = Instant::now();
        }
        let access = Arc::clone(&access);
        let looked = tokio::task::spawn_blocking(move || {
            access.look()?;
            if is_due { access.tidy() } else { Ok(()) }
        });
        match looked.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "tokens are as they were"),
            Err(_) => return,
        }
    }
}
