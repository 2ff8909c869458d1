//! Conversations: whose walk it is, and where walks are kept.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use mcpgraph_mcp::server::SessionKey;
use mcpgraph_sop::Walk;

/// Names a conversation. Whoever knows it can go on with it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key(Arc<str>);

/// What is done with a walk.
pub type Act<'a> = dyn FnMut(&mut Walk) + Send + 'a;

/// Where walks are kept, by their conversations.
///
/// A store may be shared by several processes: a change is applied to what the store has, as a
/// whole, and may be applied again if somebody else was faster.
#[async_trait]
pub trait Store: Send + Sync {
    /// Keeps a walk in place of whatever the conversation had.
    async fn put(&self, key: &Key, walk: Walk, now: Instant) -> Result<(), StoreFull>;

    /// Changes or reads the walk of a conversation; false if it has none.
    async fn change(&self, key: &Key, now: Instant, change: &mut Act<'_>) -> bool;

    /// Forgets a conversation.
    async fn remove(&self, key: &Key);

    /// Forgets the conversations that nobody has gone on with for too long, and names them.
    async fn expire(&self, now: Instant) -> Vec<Key>;
}

/// There is no room for another conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreFull {
    /// How many there may be.
    pub limit: usize,
}

impl Key {
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
