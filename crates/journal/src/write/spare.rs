//! Lists that are empty and have room: they go around between those who fill them and the one who
//! writes what they hold, and no memory has to be taken for them.
//!
//! Who fills them gets them back, so each thread keeps its own, and nobody waits for another.

use std::cell::RefCell;
use std::thread::LocalKey;

use mcpgraph_engine::Event;

use crate::StoredEvent;

/// How many are kept.
const MAX_LISTS: usize = 64;

/// One with more room than this is not kept.
const MAX_EVENTS: usize = 128;
const MAX_BYTES: usize = 16 * 1024;

thread_local! {
    /// For events.
    pub(crate) static EVENTS: Spare<Event> = const { Spare::new(MAX_EVENTS) };
    /// For events as they are stored.
    pub(super) static LISTS: Spare<StoredEvent> = const { Spare::new(MAX_EVENTS) };
    /// For lines before they are put where the writer reads them.
    pub(super) static DRAFTS: Spare<u8> = const { Spare::new(MAX_BYTES) };
    /// For lines that the writer reads.
    pub(super) static LINES: Spare<u8> = const { Spare::new(MAX_BYTES) };
}

/// Lists to be used again.
pub(crate) struct Spare<T> {
    lists: RefCell<Vec<Vec<T>>>,
    max_room: usize,
}

impl<T> Spare<T> {
    const fn new(max_room: usize) -> Self {
        Self { lists: RefCell::new(Vec::new()), max_room }
    }
}

/// An empty list.
pub(crate) fn take<T>(spare: &'static LocalKey<Spare<T>>) -> Vec<T> {
    // A thread that ends has none any more.
    spare.try_with(|spare| spare.lists.borrow_mut().pop()).ok().flatten().unwrap_or_default()
}

/// Takes back a list whose content is not needed any more.
pub(super) fn give_back<T>(spare: &'static LocalKey<Spare<T>>, mut spent: Vec<T>) {
    // Before it is looked at the lists: dropping what it holds may come back here.
    spent.clear();
    let keep = |spare: &Spare<T>| {
        let mut lists = spare.lists.borrow_mut();
        if lists.len() < MAX_LISTS && spent.capacity() <= spare.max_room {
            lists.push(spent);
        }
    };
    spare.try_with(keep).unwrap_or_default();
}
