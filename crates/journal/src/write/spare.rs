//! Lists that are empty and have room: they go around between those who fill them and the one who
//! writes what they hold, and no memory has to be taken for them.

use parking_lot::Mutex;

/// How many are kept.
const MAX_LISTS: usize = 64;

/// Lists to be used again.
pub(crate) struct Spare<T> {
    lists: Mutex<Vec<Vec<T>>>,
    /// One with more room than this is not kept.
    max_room: usize,
}

impl<T> Spare<T> {
    pub(super) fn new(max_room: usize) -> Self {
        Self { lists: Mutex::default(), max_room }
    }

    /// An empty list.
    pub(crate) fn take(&self) -> Vec<T> {
        self.lists.lock().pop().unwrap_or_default()
    }

    /// Takes back a list whose content is not needed any more.
    pub(super) fn give_back(&self, mut spent: Vec<T>) {
        spent.clear();
        let mut lists = self.lists.lock();
        if lists.len() < MAX_LISTS && spent.capacity() <= self.max_room {
            lists.push(spent);
        }
    }
}
