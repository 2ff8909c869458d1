use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use mcpgraph_sop::Walk;
use parking_lot::Mutex;

use crate::{Act, Key, Store, StoreFull};

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
    walk: Arc<Mutex<Walk>>,
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
    async fn put(&self, key: &Key, walk: Walk, now: Instant) -> Result<(), StoreFull> {
        let mut entries = self.entries.lock();
        if entries.len() >= self.limit && !entries.contains_key(key) {
            return Err(StoreFull { limit: self.limit });
        }
        entries.insert(key.clone(), Entry { walk: Arc::new(Mutex::new(walk)), touched: now });
        Ok(())
    }

    async fn change(&self, key: &Key, now: Instant, change: &mut Act<'_>) -> bool {
        let walk = {
            let mut entries = self.entries.lock();
            match entries.get_mut(key) {
                Some(entry) if now.saturating_duration_since(entry.touched) < self.idle => {
                    entry.touched = now;
                    Arc::clone(&entry.walk)
                }
                _ => return false,
            }
        };
        // Only this conversation waits.
        change(&mut walk.lock());
        true
    }

    async fn remove(&self, key: &Key) {
        self.entries.lock().remove(key);
    }

    async fn expire(&self, now: Instant) -> Vec<Key> {
        let mut entries = self.entries.lock();
        let old: Vec<Key> = entries
            .iter()
            .filter(|(_, entry)| now.saturating_duration_since(entry.touched) >= self.idle)
            .map(|(key, _)| key.clone())
            .collect();
        for key in &old {
            entries.remove(key);
        }
        old
    }
}

#[cfg(test)]
mod tests {
    use mcpgraph_diagnostics::Source;
    use mcpgraph_sop::{Mode, read};

    use super::*;

    fn walk() -> Walk {
        let text = "---\nagent: x\n---\n```mermaid\nflowchart TD\nSTART --> A\n```\n";
        let (procedure, _) = read(&Source::new("x.md", text));
        Walk::new(Arc::new(procedure.expect("a procedure")), Mode::Strict)
    }

    #[tokio::test]
    async fn conversations_are_forgotten_when_they_rest() {
        let store = InMemory::new(Duration::from_secs(10), 2);
        let start = Instant::now();
        let (a, b, c) = (Key::handle("a"), Key::handle("b"), Key::process());
        store.put(&a, walk(), start).await.expect("room");
        store.put(&b, walk(), start).await.expect("room");
        assert_eq!(store.put(&c, walk(), start).await, Err(StoreFull { limit: 2 }));
        let later = start + Duration::from_secs(6);
        assert!(store.change(&b, later, &mut |walk| drop(walk.go("START", 0))).await);
        let end = start + Duration::from_secs(11);
        assert!(!store.change(&a, end, &mut |_| panic!("it is forgotten")).await);
        assert_eq!(store.expire(end).await, [a]);
        let mut steps = 0;
        assert!(store.change(&b, end, &mut |walk| steps = walk.steps().len()).await);
        assert_eq!(steps, 1);
        store.put(&c, walk(), end).await.expect("room again");
        store.remove(&b).await;
        assert!(!store.change(&b, end, &mut |_| {}).await);
    }
}
