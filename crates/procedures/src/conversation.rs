//! Conversations: whose walk it is, and where walks are kept.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use mcpgraph_mcp::server::SessionKey;
use mcpgraph_sop::Walk;

use crate::trail::Trail;

/// Names a conversation. Whoever knows it can go on with it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(Arc<str>);

/// A walk, and where its record is.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The walk.
    pub walk: Walk,
    pub(crate) trail: Trail,
}

/// What is done with a conversation.
pub type Act<'a> = dyn FnMut(&mut Conversation) + Send + 'a;

/// Where conversations are kept.
///
/// A store may be shared by several processes: a change is applied to what the store has, as a
/// whole, and may be applied again if somebody else was faster.
#[async_trait]
pub trait Store: Send + Sync {
    /// Keeps a conversation in place of whatever has its key.
    async fn put(&self, key: &Key, begun: Conversation, now: Instant) -> Result<(), StoreError>;

    /// Changes or reads a conversation; false if there is none.
    async fn change(
        &self,
        key: &Key,
        now: Instant,
        change: &mut Act<'_>,
    ) -> Result<bool, StoreError>;

    /// Forgets a conversation.
    async fn remove(&self, key: &Key) -> Result<(), StoreError>;

    /// Forgets the conversations that nobody has gone on with for too long, and gives them. Each is
    /// given to one process.
    async fn expire(&self, now: Instant) -> Result<Vec<(Key, Conversation)>, StoreError>;
}

/// Why a store did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no room for another conversation.
    #[error("{limit} conversations are kept, which is the limit")]
    Full {
        /// How many there may be.
        limit: usize,
    },
    /// It cannot be reached.
    #[error("conversations cannot be looked up now: {0}")]
    Away(String),
}

impl Key {
    /// A key that was kept.
    pub(crate) fn known(text: &str) -> Self {
        Self(text.into())
    }

    /// The key as it is kept.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The only conversation of a process.
    pub(crate) fn process() -> Self {
        Self("process".into())
    }

    /// The conversation of a legacy session.
    pub(crate) fn session(session: &SessionKey) -> Self {
        Self(format!("session {}", session.as_str()).into())
    }

    /// The conversation with a handle.
    pub(crate) fn handle(handle: &str) -> Self {
        Self(format!("handle {handle}").into())
    }
}

/// A handle that nobody can guess: 128 bits in hexadecimal.
pub(crate) fn new_handle() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Whoever knows the key can take over the conversation: logs show its beginning only.
        write!(f, "{}…", self.0.get(..12).unwrap_or(&self.0))
    }
}
