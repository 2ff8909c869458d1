//! What waits to be written, with a bound on its number and its size.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::collected::Told;
use super::gather::Gathering;
use super::live::Live;
use super::requests::Noted;
use super::settling::Turn;
use super::whole::{Spent, Whole};
use crate::{JournalOptions, StoredEvent};

/// Which part of the bytes that may be queued requests may have beside them.
const REQUESTS_SHARE: usize = 8;

/// How many events make a transaction full.
pub(super) const MAX_BATCH: usize = 8192;

/// How many requests are worth a row of the log, and how long they may wait for as many while runs
/// are written. A row costs the same however many are in it, and nobody waits for a request.
const MANY_REQUESTS: usize = 256;
const REQUESTS_WAIT: Duration = Duration::from_millis(200);

#[derive(Default)]
pub(super) struct Queue {
    /// What is of runs.
    pub(super) items: VecDeque<Item>,
    /// Requests for the log.
    pub(super) requests: Noted,
    /// How many events are queued; each request counts as one.
    pub(super) events: usize,
    /// Their bytes, without those of requests.
    pub(super) bytes: usize,
    /// The turn of what was handed over last.
    pub(super) turn: Turn,
    /// When the oldest item came.
    pub(super) oldest: Option<Instant>,
    /// When the oldest request came.
    pub(super) oldest_request: Option<Instant>,
    /// What the writer has taken and not settled: events, bytes, and since when the oldest waits.
    pub(super) taken: Option<(usize, usize, Instant)>,
    /// Somebody waits for what is queued.
    pub(super) urgent: bool,
    /// How many runs wait for what is queued.
    pub(super) waiting: usize,
    /// How many the writer waits for.
    pub(super) wanted: usize,
    pub(super) gathering: Gathering,
    /// What is in the file, for whoever comes next to drop: memory is freed most cheaply by the
    /// thread that took it.
    pub(super) spent: Spent,
    pub(super) sleep: Sleep,
    /// The writer was given something to write since it last slept.
    pub(super) has_written: bool,
    pub(super) closed: bool,
}

impl Queue {
    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty() && self.requests.is_empty()
    }

    /// Takes what is queued, up to a full transaction, and the requests with the last of it; with it
    /// the writer has what it took before.
    pub(super) fn take(&mut self, oldest: Instant) -> Vec<Item> {
        let mut items = Vec::with_capacity(self.items.len());
        let (mut events, mut bytes) = (0, 0);
        let takes_requests = self.wants_requests();
        while events < MAX_BATCH
            && let Some(item) = self.items.pop_front()
        {
            match &item {
                Item::Series(part) => {
                    events += part.events.len();
                    bytes += part.bytes;
                }
                Item::Whole(whole) => {
                    events += whole.count;
                    bytes += whole.bytes;
                }
                Item::Lost(_) | Item::Settle(_) | Item::Requests(_) => {}
            }
            items.push(item);
        }
        if takes_requests && events < MAX_BATCH && !self.requests.is_empty() {
            // The writer takes the memory it gives back.
            let next = Noted::after(&self.requests);
            let requests = std::mem::replace(&mut self.requests, next);
            events += requests.count;
            items.push(Item::Requests(Box::new(requests)));
        }
        self.events -= events;
        self.bytes -= bytes;
        let (events_before, bytes_before) =
            self.taken.map_or((0, 0), |(events, bytes, _)| (events, bytes));
        self.taken = Some((events_before + events, bytes_before + bytes, oldest));
        self.waiting = 0;
        if self.items.is_empty() {
            self.urgent = false;
            self.oldest = None;
        }
        if self.requests.is_empty() {
            self.oldest_request = None;
        }
        items
    }

    /// Whether it is time to write requests.
    fn wants_requests(&self) -> bool {
        self.items.is_empty()
            || self.closed
            || self.requests.count >= MANY_REQUESTS
            || self.oldest_request.is_some_and(|oldest| oldest.elapsed() >= REQUESTS_WAIT)
    }

    /// Whether events of a size may be queued. However large they are, they may if no others are.
    pub(super) fn has_room(&self, bytes: usize, options: &JournalOptions) -> bool {
        self.events < options.max_queued_events
            && self.bytes.saturating_add(bytes) <= options.max_queued_bytes.max(bytes)
            && !self.closed
    }

    /// Whether a request of a size may be. They wait for longer, and must not take the room of
    /// events.
    pub(super) fn has_room_for_request(&self, bytes: usize, options: &JournalOptions) -> bool {
        let most = options.max_queued_bytes / REQUESTS_SHARE;
        self.events < options.max_queued_events
            && self.requests.bytes().saturating_add(bytes) <= most
            && !self.closed
    }
}

/// Whether and how the writer sleeps.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sleep {
    #[default]
    No,
    /// There is nothing to do.
    Idle,
    /// There is nothing to do, or nothing that anybody waits for; it looks again soon.
    Resting,
    /// There is something nobody waits for, and more may come.
    Lingering,
    /// Some runs wait, and more will soon.
    Gathering,
    /// More runs will wait in a moment, and it looks again by itself then.
    Napping,
}

/// Something for the writer. Both threads touch the queue, so it is no larger than it has to be.
pub(crate) enum Item {
    /// Things happened in a run.
    Series(Box<Series>),
    /// All of a run.
    Whole(Box<Whole>),
    /// Something happened that there was no room for; whoever is to hear of it still does.
    Lost(Box<Told>),
    /// What is known of a run has to be noted: it is over, or lost something.
    Settle(Arc<Live>),
    /// Requests were answered.
    Requests(Box<Noted>),
}

const _: () = assert!(size_of::<Item>() <= 16, "four of them are in a line of a cache");

impl Item {
    /// How many runs or requests it is of.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Requests(requests) => requests.count,
            _ => 1,
        }
    }

    /// Whether it was handed over by a run, and has a turn.
    pub(super) fn has_turn(&self) -> bool {
        matches!(self, Self::Series(_) | Self::Whole(_))
    }
}

/// Events of a run that follow each other.
pub(crate) struct Series {
    pub(crate) run: Arc<Live>,
    /// The number of the first.
    pub(crate) first: u64,
    pub(crate) events: Vec<StoredEvent>,
    pub(super) told: Option<Told>,
    pub(super) bytes: usize,
}

/// What the writer is to do.
pub(crate) enum Work {
    /// Write these; the oldest has waited since then.
    Write(Vec<Item>, Instant),
    /// There is nothing to write.
    Idle,
    /// There is nothing to write any more.
    Closed,
}
