//! Whoever walks a procedure in one process hears in all of them that other tools may be called.

use std::sync::Arc;

use mcpgraph_journal::{Journal, News, NewsReader};
use mcpgraph_mcp::server::Client;
use mcpgraph_procedures::{Elsewhere, Procedures};

/// What is said of a client, before the token it is known by.
const TOOLS: &str = "tools ";

/// What stands for the session of a client that has none.
const NO_SESSION: &str = "-";

/// Tells all processes with a store, in its news.
pub(crate) fn telling(journal: Arc<Journal>) -> Elsewhere {
    Arc::new(move |client: &Client| {
        let session = client.session.as_ref().map_or(NO_SESSION, |key| key.as_str()).into();
        let text = format!("{TOOLS}{}", client.principal.as_deref().unwrap_or_default()).into();
        let journal = Arc::clone(&journal);
        // Nobody waits for it: a client that does not hear of it is told when it calls.
        tokio::task::spawn_blocking(move || {
            if let Err(error) = journal.announce(&News::Word { session, text }) {
                tracing::debug!(%error, "a client that walks is not told of its tools");
            }
        });
    })
}

/// Passes on what any process says of clients that walk, until the future is dropped.
pub(crate) async fn follow(procedures: Arc<Procedures>, mut news: NewsReader) {
    while let Some(heard) = news.next().await {
        if let News::Word { session, text } = heard
            && let Some(principal) = text.strip_prefix(TOOLS)
        {
            let session = (*session != *NO_SESSION).then_some(&*session);
            procedures.tell_walker(session, (!principal.is_empty()).then_some(principal));
        }
    }
}
