//! Hears what other processes write.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::AsyncMessage;

use super::{PostgresStore, SPEAKER};
use crate::{News, RunId};

/// What is told of runs is told here.
pub(super) const CHANNEL: &str = "mcpgraph_runs";

/// What is told of everything else is told here.
pub(super) const NEWS: &str = "mcpgraph_news";

/// How many runs are named; PostgreSQL carries no more than 8000 bytes.
const MAX_NAMED: usize = 200;

/// How long it rests before it connects again.
const PAUSE: Duration = Duration::from_millis(500);

/// Listens until it is dropped.
pub(crate) struct Listening(JoinHandle<()>);

/// Something another process did.
pub(crate) enum Hear<'a> {
    /// It wrote something of these runs, or of any.
    Runs(Option<&'a [RunId]>),
    /// It changed something else.
    News(News),
}

/// What is called when something was written or changed.
pub(crate) type Heard = Arc<dyn Fn(Hear<'_>) + Send + Sync>;

/// The text that tells of runs.
pub(crate) fn named(runs: impl ExactSizeIterator<Item = RunId>) -> String {
    if runs.len() > MAX_NAMED {
        return String::new();
    }
    runs.map(|run| run.to_string()).collect::<Vec<_>>().join(" ")
}

impl Listening {
    /// Begins to listen; none where that cannot be done.
    pub(crate) fn begin(store: PostgresStore, heard: Heard) -> Option<Self> {
        let speaker = SPEAKER.as_ref().ok()?;
        Some(Self(speaker.spawn(async move {
            loop {
                if let Err(error) = listen(&store, &heard).await {
                    tracing::debug!(%error, "what other processes write is not heard of");
                }
                tokio::time::sleep(PAUSE).await;
            }
        })))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Listens for as long as the connection lasts.
async fn listen(store: &PostgresStore, heard: &Heard) -> Result<(), tokio_postgres::Error> {
    let (client, mut connection) = store.config.connect(store.tls.clone()).await?;
    let listening = async {
        client.batch_execute(&format!("LISTEN {CHANNEL}; LISTEN {NEWS}")).await?;
        // Something may have been told before.
        heard(Hear::Runs(None));
        heard(Hear::News(News::Anything));
        std::future::pending::<Result<(), tokio_postgres::Error>>().await
    };
    let hearing = async {
        while let Some(message) = poll_fn(|context| connection.poll_message(context)).await {
            let AsyncMessage::Notification(told) = message? else { continue };
            if told.channel() == NEWS {
                heard(Hear::News(News::from_text(told.payload())));
                continue;
            }
            let runs: Result<Vec<RunId>, _> =
                told.payload().split_whitespace().map(str::parse).collect();
            heard(Hear::Runs(runs.ok().filter(|runs| !runs.is_empty()).as_deref()));
        }
        Ok(())
    };
    tokio::select! {
        ended = listening => ended,
        ended = hearing => ended,
    }
}
