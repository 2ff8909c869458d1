//! Conversations in a store that several processes share: any of them goes on with any.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use mcpgraph_diagnostics::Source;
use mcpgraph_journal::{Digest, Journal, JournalError, Kept, RunId, Shelf, Shelved};
use mcpgraph_sop::{Mode, Procedure, Walk};
use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;

use crate::trail::Trail;
use crate::{Act, Conversation, Key, Store, StoreError};

/// How many procedures are kept read: conversations mostly walk the same few.
const MAX_READ: usize = 64;

/// How many conversations may ask the store at once. The others wait here, and not on threads.
const MAX_ASKING: usize = 32;

/// Conversations in a store.
pub struct InStore {
    journal: Arc<Journal>,
    idle: Duration,
    limit: usize,
    /// The latest used last.
    read: Mutex<Vec<(Digest, Arc<Procedure>)>>,
    asking: tokio::sync::Semaphore,
}

/// What of a conversation stays as it is.
struct Base {
    source: Arc<Source>,
    mode: Mode,
    run: RunId,
    began: SystemTime,
}

impl InStore {
    /// The conversations of a store, which are forgotten after `idle`; it keeps at most `limit`.
    pub fn new(journal: Arc<Journal>, idle: Duration, limit: usize) -> Self {
        let asking = tokio::sync::Semaphore::new(MAX_ASKING);
        Self { journal, idle, limit, read: Mutex::default(), asking }
    }

    /// Asks the store, which blocks as files do.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let away = |error: &dyn std::fmt::Display| StoreError::Away(error.to_string());
        let _place = self.asking.acquire().await.map_err(|error| away(&error))?;
        let journal = Arc::clone(&self.journal);
        let asked = tokio::task::spawn_blocking(move || ask(&journal)).await;
        asked.map_err(|error| away(&error))?.map_err(|error| away(&error))
    }

    /// A conversation as it was put down; none if it cannot be read any more.
    async fn take_up(&self, kept: &Kept) -> Result<Option<Conversation>, StoreError> {
        let Some(base) = Base::from_json(&kept.base) else { return Ok(None) };
        let Some(procedure) = self.procedure(base.source).await? else { return Ok(None) };
        let Ok(state) = Value::from_json(&kept.state) else { return Ok(None) };
        let restored = || {
            Some(Conversation {
                walk: Walk::from_value(procedure, base.mode, state.get("walk")?)?,
                trail: Trail::from_value(base.run, base.began, state.get("trail")?)?,
            })
        };
        Ok(restored())
    }

    /// The procedure of a file, read once as long as it is in use.
    async fn procedure(&self, source: Arc<Source>) -> Result<Option<Arc<Procedure>>, StoreError> {
        let digest = Digest::of(format!("{}\n{}", source.name(), source.text()));
        let known = {
            let mut read = self.read.lock();
            let place = read.iter().position(|(known, _)| *known == digest);
            place.map(|place| {
                let known = read.remove(place);
                let procedure = Arc::clone(&known.1);
                read.push(known);
                procedure
            })
        };
        if known.is_some() {
            return Ok(known);
        }
        // A large file takes a while, which others must not wait for.
        let reading = tokio::task::spawn_blocking(move || mcpgraph_sop::read(&source).0);
        let procedure = reading.await.map_err(|error| StoreError::Away(error.to_string()))?;
        let Some(procedure) = procedure.map(Arc::new) else { return Ok(None) };
        let mut read = self.read.lock();
        if read.len() >= MAX_READ {
            read.remove(0);
        }
        read.push((digest, Arc::clone(&procedure)));
        Ok(Some(procedure))
    }
}

#[async_trait]
impl Store for InStore {
    async fn put(&self, key: &Key, begun: Conversation, _now: Instant) -> Result<(), StoreError> {
        let (base, state) = (Base::of(&begun).to_json(), written(&begun));
        let (name, limit) = (key.as_str().to_owned(), self.limit);
        let put = self.ask(move |journal| {
            journal.shelve(Shelf::Conversations, &name, (&base, &state), limit)
        });
        match put.await? {
            Shelved::Yes => Ok(()),
            Shelved::Full => Err(StoreError::Full { limit }),
        }
    }

    async fn change(
        &self,
        key: &Key,
        _now: Instant,
        change: &mut Act<'_>,
    ) -> Result<bool, StoreError> {
        loop {
            let name = key.as_str().to_owned();
            let found = self.ask(move |journal| journal.shelved(Shelf::Conversations, &name));
            let Some(kept) = found.await?.filter(|kept| kept.idle < self.idle) else {
                return Ok(false);
            };
            let Some(mut conversation) = self.take_up(&kept).await? else { return Ok(false) };
            change(&mut conversation);
            let (name, state) = (key.as_str().to_owned(), written(&conversation));
            if state == kept.state {
                return Ok(true);
            }
            let made = self.ask(move |journal| {
                journal.reshelve(Shelf::Conversations, &name, &state, kept.version)
            });
            // Somebody else was faster where it was not made.
            if made.await? {
                return Ok(true);
            }
        }
    }

    async fn remove(&self, key: &Key) -> Result<(), StoreError> {
        let name = key.as_str().to_owned();
        let removed = self.ask(move |journal| journal.unshelve(Shelf::Conversations, &name));
        removed.await.map(drop)
    }

    async fn expire(&self, _now: Instant) -> Result<Vec<(Key, Conversation)>, StoreError> {
        let idle = self.idle;
        let old = self.ask(move |journal| journal.unshelve_idle(Shelf::Conversations, idle));
        let mut ended = Vec::new();
        for (name, kept) in old.await? {
            if let Some(conversation) = self.take_up(&kept).await? {
                ended.push((Key::known(&name), conversation));
            }
        }
        Ok(ended)
    }
}

/// What of a conversation changes, as it is kept.
fn written(conversation: &Conversation) -> String {
    let (walk, trail) = (conversation.walk.to_value(), conversation.trail.to_value());
    Value::from(Map::from_iter([("walk", walk), ("trail", trail)])).to_json()
}

impl Base {
    fn of(conversation: &Conversation) -> Self {
        let Conversation { walk, trail } = conversation;
        let source = Arc::clone(&walk.procedure().source);
        Self { source, mode: walk.mode(), run: trail.run, began: trail.began }
    }

    fn to_json(&self) -> String {
        let began = self.began.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
        Value::from(Map::from_iter([
            ("file", Value::from(self.source.name())),
            ("text", self.source.text().into()),
            ("mode", self.mode.name().into()),
            ("run", self.run.to_string().into()),
            ("began", u64::try_from(began).unwrap_or(u64::MAX).into()),
        ]))
        .to_json()
    }

    fn from_json(json: &str) -> Option<Self> {
        let saved = Value::from_json(json).ok()?;
        let text = |key: &str| saved.get(key)?.as_str();
        let mode = Mode::ALL.iter().find(|(name, _)| Some(*name) == text("mode"))?.1;
        let began = u64::try_from(saved.get("began")?.as_i64()?).ok()?;
        Some(Self {
            source: Source::new(text("file")?, text("text")?),
            mode,
            run: text("run")?.parse().ok()?,
            began: UNIX_EPOCH + Duration::from_micros(began),
        })
    }
}
