//! Legacy sessions that several processes serve: what is kept of one, and where.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::client::{Client, LogLevel, SessionKey};
use crate::message::Raw;
use crate::version::Version;

/// Everything a process has to know of a session that another one began.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedSession {
    version: String,
    info: Option<Raw>,
    capabilities: Raw,
    principal: Option<Arc<str>>,
    log_level: Option<LogLevel>,
    /// The resources it watches.
    watched: BTreeSet<String>,
}

/// Why sessions cannot be looked up: where they are kept cannot be reached.
#[derive(Clone, Debug, thiserror::Error)]
#[error("sessions cannot be looked up now: {0}")]
pub struct SessionsAway(pub String);

/// What is done with a session.
pub type ChangeSession<'a> = dyn FnMut(&mut SavedSession) + Send + 'a;

/// Where the sessions of several processes are kept, by their keys.
#[async_trait]
pub trait SessionStore: Send + Sync + fmt::Debug + 'static {
    /// Keeps a new session; false if there is no room for it.
    async fn add(&self, key: &str, session: &SavedSession) -> Result<bool, SessionsAway>;

    /// The session with this key, which is thereby used.
    async fn find(&self, key: &str) -> Result<Option<SavedSession>, SessionsAway>;

    /// Changes a session as a whole, wherever it is in use; the change may be made again if somebody
    /// else was faster.
    async fn change(&self, key: &str, change: &mut ChangeSession<'_>) -> Result<(), SessionsAway>;

    /// Notes that a session is in use.
    async fn keep(&self, key: &str);

    /// Ends a session for everybody; false if there was none.
    async fn remove(&self, key: &str) -> Result<bool, SessionsAway>;

    /// Ends the sessions that nobody has used for so long. Each is given to one process.
    async fn expire(&self, idle: Duration) -> Vec<(String, SavedSession)>;

    /// Leaves the answer to a question for the process that asked it.
    async fn answer(&self, key: &str, question: &str, answer: &str);

    /// Waits for the answer to a question that was left for this process.
    async fn answered(&self, key: &str, question: &str) -> String;

    /// Tells the process that has a request under way that nobody wants its answer.
    async fn withdraw(&self, key: &str, request: &str);

    /// Hears of what other processes do with sessions, from now on.
    fn news(&self) -> Box<dyn SessionNews>;
}

/// Tells what other processes do with sessions.
#[async_trait]
pub trait SessionNews: Send {
    /// What comes next; none when nothing will.
    async fn next(&mut self) -> Option<SessionChange>;
}

/// What another process did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionChange {
    /// It changed or ended the session with this key.
    Changed(Arc<str>),
    /// It was told that nobody wants the answer to a request.
    Withdrawn {
        /// The session.
        key: Arc<str>,
        /// The id of the request, as JSON.
        request: Arc<str>,
    },
    /// Something may have been missed.
    Anything,
}

impl SavedSession {
    pub(crate) fn of(client: &Client) -> Self {
        Self {
            version: client.version.as_str().to_owned(),
            info: client.info.clone(),
            capabilities: client.capabilities.clone(),
            principal: client.principal.clone(),
            log_level: None,
            watched: BTreeSet::new(),
        }
    }

    /// The client of the session.
    pub(crate) fn client(&self, key: SessionKey) -> Client {
        Client {
            version: Version::parse(&self.version).unwrap_or(Version::LATEST_LEGACY),
            info: self.info.clone(),
            capabilities: self.capabilities.clone(),
            session: Some(key),
            principal: self.principal.clone(),
        }
    }

    pub(crate) fn log_level(&self) -> Option<LogLevel> {
        self.log_level
    }

    pub(crate) fn set_log_level(&mut self, level: LogLevel) {
        self.log_level = Some(level);
    }

    pub(crate) fn watched(&self) -> &BTreeSet<String> {
        &self.watched
    }

    /// Watches a resource, or stops watching it.
    pub(crate) fn watch(&mut self, uri: &str, begins: bool) {
        if begins {
            self.watched.insert(uri.to_owned());
        } else {
            self.watched.remove(uri);
        }
    }
}
