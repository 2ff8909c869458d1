//! Legacy sessions in a store that several processes share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_journal::{Journal, JournalError, News, NewsReader, Shelf, Shelved};
use mcpgraph_mcp::server::{
    ChangeSession, SavedSession, SessionChange, SessionNews, SessionStore, SessionsAway,
};

/// How many sessions all processes together keep.
const MAX_SESSIONS: usize = 100_000;

/// How long the end of a session is kept from its client: who asks another process right after it
/// should find the session gone there, and that process has to hear of it first.
const SPREAD: Duration = Duration::from_millis(250);

/// The longest word that is passed from process to process.
const MAX_WORD_BYTES: usize = 4096;

/// What tells that the answer to a request is not wanted.
const WITHDRAWN: &str = "withdrawn ";

/// Sessions in the store.
pub(crate) struct SharedSessions(Arc<Journal>);

impl SharedSessions {
    pub(crate) fn new(journal: Arc<Journal>) -> Arc<Self> {
        Arc::new(Self(journal))
    }

    /// Asks the store, which blocks as files do.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, SessionsAway> {
        let journal = Arc::clone(&self.0);
        let asked = tokio::task::spawn_blocking(move || ask(&journal)).await;
        match asked {
            Ok(answer) => answer.map_err(|error| SessionsAway(error.to_string())),
            Err(error) => Err(SessionsAway(error.to_string())),
        }
    }

    async fn announce(&self, news: News) {
        if let Err(error) = self.ask(move |journal| journal.announce(&news)).await {
            tracing::debug!(%error, "other processes hear of a session later");
        }
    }
}

impl fmt::Debug for SharedSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sessions in {}", self.0.place())
    }
}

#[async_trait]
impl SessionStore for SharedSessions {
    async fn add(&self, key: &str, session: &SavedSession) -> Result<bool, SessionsAway> {
        let (key, text) = (key.to_owned(), written(session)?);
        self.ask(move |journal| {
            let put = journal.shelve(Shelf::Sessions, &key, ("", &text), MAX_SESSIONS)?;
            Ok(put == Shelved::Yes)
        })
        .await
    }

    async fn find(&self, key: &str) -> Result<Option<SavedSession>, SessionsAway> {
        let key = key.to_owned();
        let found = self.ask(move |journal| journal.shelved(Shelf::Sessions, &key)).await?;
        found.map(|kept| read(&kept.state)).transpose()
    }

    async fn change(&self, key: &str, change: &mut ChangeSession<'_>) -> Result<(), SessionsAway> {
        loop {
            let name = key.to_owned();
            let found = self.ask(move |journal| journal.shelved(Shelf::Sessions, &name)).await?;
            let Some(kept) = found else { return Ok(()) };
            let mut session = read(&kept.state)?;
            change(&mut session);
            let (name, text) = (key.to_owned(), written(&session)?);
            let made = self
                .ask(move |journal| journal.reshelve(Shelf::Sessions, &name, &text, kept.version));
            // Somebody else was faster where it was not made.
            if made.await? {
                self.announce(News::Session(key.into())).await;
                return Ok(());
            }
        }
    }

    async fn keep(&self, key: &str) {
        let key = key.to_owned();
        let kept = self.ask(move |journal| journal.keep_shelved(Shelf::Sessions, &key)).await;
        if let Err(error) = kept {
            tracing::debug!(%error, "a session is not known to be in use");
        }
    }

    async fn remove(&self, key: &str) -> Result<bool, SessionsAway> {
        let name = key.to_owned();
        let was_there = self
            .ask(move |journal| Ok(journal.unshelve(Shelf::Sessions, &name)?.is_some()))
            .await?;
        self.announce(News::Session(key.into())).await;
        tokio::time::sleep(SPREAD).await;
        Ok(was_there)
    }

    async fn expire(&self, idle: Duration) -> Vec<(String, SavedSession)> {
        let ended = self.ask(move |journal| journal.unshelve_idle(Shelf::Sessions, idle)).await;
        match ended {
            Ok(ended) => ended
                .into_iter()
                .filter_map(|(key, kept)| Some((key, read(&kept.state).ok()?)))
                .collect(),
            Err(error) => {
                tracing::debug!(%error, "old sessions are not forgotten");
                Vec::new()
            }
        }
    }

    async fn answer(&self, key: &str, question: &str, answer: &str) {
        let (address, text) = (address(key, question), answer.to_owned());
        if let Err(error) = self.ask(move |journal| journal.leave_letter(&address, &text)).await {
            tracing::warn!(%error, "the answer of a client is lost");
        }
    }

    async fn answered(&self, key: &str, question: &str) -> String {
        self.0.letter(&address(key, question)).await
    }

    async fn withdraw(&self, key: &str, request: &str) {
        if request.len() <= MAX_WORD_BYTES {
            let text = format!("{WITHDRAWN}{request}").into();
            self.announce(News::Word { session: key.into(), text }).await;
        }
    }

    fn news(&self) -> Box<dyn SessionNews> {
        Box::new(Hearing(self.0.news()))
    }
}

/// The news of the store that are about sessions.
struct Hearing(NewsReader);

#[async_trait]
impl SessionNews for Hearing {
    async fn next(&mut self) -> Option<SessionChange> {
        loop {
            match self.0.next().await? {
                News::Session(key) => return Some(SessionChange::Changed(key)),
                News::Word { session: key, text } => {
                    if let Some(request) = text.strip_prefix(WITHDRAWN) {
                        return Some(SessionChange::Withdrawn { key, request: request.into() });
                    }
                }
                News::Anything => return Some(SessionChange::Anything),
                News::Definitions | News::Tokens | News::SealKeys | News::Letter(_) => {}
            }
        }
    }
}

fn address(key: &str, question: &str) -> String {
    format!("{key} {question}")
}

fn written(session: &SavedSession) -> Result<String, SessionsAway> {
    serde_json::to_string(session).map_err(|error| SessionsAway(error.to_string()))
}

fn read(text: &str) -> Result<SavedSession, SessionsAway> {
    serde_json::from_str(text).map_err(|error| SessionsAway(error.to_string()))
}
