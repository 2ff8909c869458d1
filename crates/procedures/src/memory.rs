use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use parking_lot::Mutex;

use crate::{Act, Conversation, Key, Store, StoreError};

/// How long a conversation may rest before it is forgotten: 24 hours.
pub const IDLE: Duration = Duration::from_hours(24);

/// How many conversations are kept at once.
pub const MAX_CONVERSATIONS: usize = 10_000;

/// Walks in the memory of this process.
pub struct InMemory {
    entries: Mutex<HashMap<Key, Entry>>,
    idle: Duration,
    limit: usize,
}

struct Entry {
    conversation: Arc<Mutex<Conversation>>,
    touched: Instant,
}

impl InMemory {
    /// An empty store that forgets conversations after `idle` and keeps at most `limit`.
    pub fn new(idle: Duration, limit: usize) -> Self {
        Self { entries: Mutex::default(), idle, limit }
    }
}

impl Default for InMemory {
    fn default() -> Self {
        Self::new(IDLE, MAX_CONVERSATIONS)
    }
}

#[async_trait]
impl Store for InMemory {
    async fn put(&self, key: &Key, begun: Conversation, now: Instant) -> Result<(), StoreError> {
        let mut entries = self.entries.lock();
        if entries.len() >= self.limit && !entries.contains_key(key) {
            return Err(StoreError::Full { limit: self.limit });
        }
        let conversation = Arc::new(Mutex::new(begun));
        entries.insert(key.clone(), Entry { conversation, touched: now });
        Ok(())
    }

    async fn change(
        &self,
        key: &Key,
        now: Instant,
        change: &mut Act<'_>,
    ) -> Result<bool, StoreError> {
        let conversation = {
            let mut entries = self.entries.lock();
            match entries.get_mut(key) {
                Some(entry) if now.saturating_duration_since(entry.touched) < self.idle => {
                    entry.touched = now;
                    Arc::clone(&entry.conversation)
                }
                _ => return Ok(false),
            }
        };
        // Only this conversation waits.
        change(&mut conversation.lock());
        Ok(true)
    }

    async fn remove(&self, key: &Key) -> Result<(), StoreError> {
        self.entries.lock().remove(key);
        Ok(())
    }

    async fn expire(&self, now: Instant) -> Result<Vec<(Key, Conversation)>, StoreError> {
        let mut entries = self.entries.lock();
        let is_old = |entry: &Entry| now.saturating_duration_since(entry.touched) >= self.idle;
        let old = entries.extract_if(|_, entry| is_old(entry));
        Ok(old.map(|(key, entry)| (key, entry.conversation.lock().clone())).collect())
    }
}

#[cfg(test)]
mod tests {
    use mcpgraph_diagnostics::Source;
    use std::time::SystemTime;

    use mcpgraph_journal::RunId;
    use mcpgraph_sop::{Mode, Walk, read};

    use super::*;
    use crate::trail::Trail;

    fn walk() -> Conversation {
        let text = "---\nagent: x\n---\n```mermaid\nflowchart TD\nSTART --> A\n```\n";
        let (procedure, _) = read(&Source::new("x.md", text));
        let walk = Walk::new(Arc::new(procedure.expect("a procedure")), Mode::Strict);
        Conversation { walk, trail: Trail::new(RunId::new(), SystemTime::now()) }
    }

    #[tokio::test]
    async fn conversations_are_forgotten_when_they_rest() {
        let store = InMemory::new(Duration::from_secs(10), 2);
        let start = Instant::now();
        let (a, b, c) = (Key::handle("a"), Key::handle("b"), Key::process());
        store.put(&a, walk(), start).await.expect("room");
        store.put(&b, walk(), start).await.expect("room");
        assert_eq!(store.put(&c, walk(), start).await, Err(StoreError::Full { limit: 2 }));
        let later = start + Duration::from_secs(6);
        let go = &mut |begun: &mut Conversation| drop(begun.walk.go("START", 0));
        assert_eq!(store.change(&b, later, go).await, Ok(true));
        let end = start + Duration::from_secs(11);
        let fail = &mut |_: &mut Conversation| panic!("it is forgotten");
        assert_eq!(store.change(&a, end, fail).await, Ok(false));
        let expired = store.expire(end).await.expect("memory");
        assert_eq!(expired.iter().map(|(key, _)| key).collect::<Vec<_>>(), [&a]);
        let mut steps = 0;
        let look = &mut |begun: &mut Conversation| steps = begun.walk.steps().len();
        assert_eq!(store.change(&b, end, look).await, Ok(true));
        assert_eq!(steps, 1);
        store.put(&c, walk(), end).await.expect("room again");
        store.remove(&b).await.expect("memory");
        assert_eq!(store.change(&b, end, &mut |_| {}).await, Ok(false));
    }
}
