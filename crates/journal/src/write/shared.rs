//! What those who record and the one who writes have in common: runs and requests are handed over
//! here, and whoever waits or follows is told.

mod standing;
mod work;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

use arc_swap::{ArcSwap, Guard};
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::collected::Collected;
use super::live::Live;
use super::occasion::Shown;
use super::queue::{Item, Queue, Series};
use super::settling::Settling;
use super::spare::{self, DRAFTS, EVENTS, LINES, LISTS};
use super::state::RunState;
use super::whole::{NotMade, Spent, Whole};
use crate::codec::write_request;
use crate::common::Announcing;
use crate::mask::Masker;
use crate::{JournalOptions, NewRun, Request, RunId, StoredEvent};

/// How many runs are few enough to look for a commit instead of sleeping until it is there.
const FEW_RUNS: usize = 2;

/// How many things that are in the file are left for others to drop.
pub(super) const MAX_SPENT: usize = 512;

/// What the recorders and the writer share.
pub(crate) struct Shared {
    pub(crate) options: JournalOptions,
    queue: Mutex<Queue>,
    wake: Condvar,
    masker: ArcSwap<Masker>,
    next_ordinal: AtomicU64,
    /// See [`Shared::writer`]; 0 for none.
    writer: AtomicI64,
    /// When this process was last seen to live.
    seen: Mutex<Instant>,
    /// Somebody in this process hands over the runs of writers that are gone.
    pub(crate) hands_over: AtomicBool,
    /// The durable runs of this process.
    durable: Mutex<HashMap<RunId, Weak<Live>>>,
    /// How many runs are being recorded.
    at_work: AtomicUsize,
    lost_events: AtomicU64,
    lost_runs: AtomicU64,
    lost_requests: AtomicU64,
    late_runs: AtomicU64,
    commits: AtomicU64,
    /// The store did not take something in time; nobody waits for it until it does again.
    stalled: AtomicBool,
    last_error: Mutex<Option<Arc<str>>>,
    pub(super) settling: Settling,
    /// What ran and who asked for it, of the runs that were made ready last.
    pub(super) occasions: Shown,
    /// Counts commits, for whoever follows all runs.
    pub(crate) committed: watch::Sender<u64>,
    /// The same for whoever follows one.
    followed: Mutex<HashMap<RunId, watch::Sender<u64>>>,
    /// Changes of what is not a run.
    pub(crate) news: Announcing,
}

impl Shared {
    pub(crate) fn new(options: JournalOptions) -> Self {
        Self {
            masker: ArcSwap::from_pointee(Masker::new(&options.redaction)),
            options,
            queue: Mutex::default(),
            wake: Condvar::new(),
            next_ordinal: AtomicU64::new(0),
            writer: AtomicI64::new(0),
            seen: Mutex::new(Instant::now()),
            hands_over: AtomicBool::new(false),
            durable: Mutex::default(),
            at_work: AtomicUsize::new(0),
            lost_events: AtomicU64::new(0),
            lost_runs: AtomicU64::new(0),
            lost_requests: AtomicU64::new(0),
            late_runs: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            last_error: Mutex::new(None),
            settling: Settling::default(),
            occasions: Shown::default(),
            committed: watch::Sender::new(0),
            followed: Mutex::default(),
            news: Announcing::default(),
        }
    }

    pub(crate) fn masker(&self) -> Guard<Arc<Masker>> {
        self.masker.load()
    }

    pub(crate) fn set_masker(&self, masker: Masker) {
        self.masker.store(Arc::new(masker));
    }

    pub(crate) fn begin(&self, new: NewRun, is_durable: bool, state: RunState) -> Arc<Live> {
        self.at_work.fetch_add(1, Ordering::Relaxed);
        let ordinal = self.next_ordinal.fetch_add(1, Ordering::Relaxed);
        let run = Arc::new(Live::new(new, ordinal, is_durable, state));
        if is_durable {
            let mut durable = self.durable.lock();
            durable.retain(|_, run| run.strong_count() > 0);
            durable.insert(run.new.id, Arc::downgrade(&run));
        }
        run
    }

    /// What an earlier execution of a run in this process still records no longer counts.
    pub(crate) fn supersede(&self, run: RunId) {
        if let Some(earlier) = self.durable.lock().get(&run).and_then(Weak::upgrade) {
            earlier.supersede();
        }
    }

    /// The number of this process among those that write; none while the others think it gone.
    pub(crate) fn writer(&self) -> Option<i64> {
        Some(self.writer.load(Ordering::Acquire)).filter(|writer| *writer > 0)
    }

    pub(crate) fn seen(&self) -> Instant {
        *self.seen.lock()
    }

    pub(crate) fn set_seen(&self, when: Instant) {
        *self.seen.lock() = when;
    }

    pub(crate) fn set_writer(&self, writer: Option<i64>) {
        self.writer.store(writer.unwrap_or_default(), Ordering::Release);
    }

    /// Queues events of a run, or counts them as lost. They are urgent if somebody waits for them,
    /// since when is said.
    pub(crate) fn hand_over(
        &self,
        run: &Arc<Live>,
        collected: Collected,
        awaited: Option<Instant>,
    ) {
        let mut collected = collected;
        let count = collected.events.len();
        let made = self.make(run, &mut collected);
        let Collected { events, bytes, told, .. } = collected;
        spare::give_back(&EVENTS, events);
        let first = run.number(count as u64);
        let mut queue = self.queue.lock();
        if !queue.has_room(bytes, &self.options) {
            let has_room = queue.items.len() < self.options.max_queued_events.saturating_mul(2);
            let told_now = match told {
                // In its turn, after those before it that still wait to be written.
                Some(told) if has_room && !queue.closed => {
                    queue.items.push_back(Item::Lost(Box::new(told)));
                    None
                }
                told => told,
            };
            drop(queue);
            self.count_lost(run, count as u64);
            if let Some(told) = told_now {
                told.tell();
            }
            return;
        }
        queue.events += count;
        queue.bytes += bytes;
        queue.turn += 1;
        run.set_turn(queue.turn);
        queue.oldest.get_or_insert_with(|| awaited.unwrap_or_else(Instant::now));
        queue.urgent |= awaited.is_some() || told.is_some();
        if let Some(now) = awaited {
            queue.waiting += 1;
            queue.gathering.came(now);
        }
        queue.items.push_back(match made {
            Ok(whole) => Item::Whole(whole),
            Err(events) => {
                Item::Series(Box::new(Series { run: Arc::clone(run), first, events, told, bytes }))
            }
        });
        self.wake_writer(&queue);
        let spent = std::mem::take(&mut queue.spent);
        drop(queue);
        Self::recycle(spent);
    }

    /// Makes events into what is written, or into what the writer makes that of.
    fn make(
        &self,
        run: &Arc<Live>,
        collected: &mut Collected,
    ) -> Result<Box<Whole>, Vec<StoredEvent>> {
        let why = match Whole::of_plain(run, self, collected) {
            Ok(whole) => return Ok(whole),
            Err(why) => why,
        };
        let mut stored = spare::take(&LISTS);
        stored.extend(collected.events.drain(..).map(StoredEvent::from));
        if why == NotMade::NotPlain
            && let Ok(whole) = Whole::of_stored(run, self, &stored, collected.bytes)
        {
            spare::give_back(&LISTS, stored);
            return Ok(whole);
        }
        Err(stored)
    }

    /// Queues a request for the log, or counts it as lost.
    pub(crate) fn note(&self, request: &Request) {
        let mut line = spare::take(&DRAFTS);
        write_request(&mut line, request, &self.masker());
        let spent = self.queue_request(&line);
        spare::give_back(&DRAFTS, line);
        Self::recycle(spent);
    }

    /// Queues the line of a request; what is to be dropped instead of the writer.
    fn queue_request(&self, line: &[u8]) -> Spent {
        let mut queue = self.queue.lock();
        if !queue.has_room_for_request(line.len(), &self.options) {
            drop(queue);
            self.count_lost_requests(1);
            return Vec::new();
        }
        queue.events += 1;
        queue.oldest_request.get_or_insert_with(Instant::now);
        queue.requests.push(line);
        self.wake_writer(&queue);
        std::mem::take(&mut queue.spent)
    }

    /// Leaves what is in the file to whoever comes next.
    pub(super) fn give_back(&self, spent: Spent) {
        let before = std::mem::replace(&mut self.queue.lock().spent, spent);
        Self::recycle(before);
    }

    /// Drops what is in the file, but for memory that is used again.
    fn recycle(spent: Spent) {
        for whole in spent {
            spare::give_back(&LINES, whole.into_text());
        }
    }

    /// Nothing more will come of a run.
    pub(crate) fn end(&self, run: &Arc<Live>) {
        for spent in run.take_spent() {
            spare::give_back(&LISTS, spent);
        }
        run.set_over();
        self.at_work.fetch_sub(1, Ordering::Relaxed);
        // The event that it finished says everything, if it gets through.
        if run.lost() > 0 || run.ended().is_none() {
            self.push_control(Item::Settle(Arc::clone(run)));
        }
    }

    /// There are never more of these than runs.
    fn push_control(&self, item: Item) {
        let mut queue = self.queue.lock();
        if !queue.closed {
            queue.items.push_back(item);
            queue.oldest.get_or_insert_with(Instant::now);
            self.wake_writer(&queue);
        }
    }

    /// Whether so few runs are at work that nobody else needs the time of one that looks for its
    /// commit.
    pub(super) fn is_calm(&self) -> bool {
        self.at_work.load(Ordering::Relaxed) <= FEW_RUNS
    }

    pub(crate) fn follow(&self, run: RunId) -> watch::Receiver<u64> {
        let mut followed = self.followed.lock();
        followed.retain(|_, sender| sender.receiver_count() > 0);
        followed.entry(run).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Another process wrote something of these runs, or of any.
    pub(crate) fn heard(&self, runs: Option<&[RunId]>) {
        self.committed.send_modify(|_| {});
        let followed = self.followed.lock();
        let told = followed.iter().filter(|(id, _)| runs.is_none_or(|runs| runs.contains(id)));
        for (_, sender) in told {
            sender.send_modify(|count| *count += 1);
        }
    }

    /// Tells whoever follows these runs that there is more of them.
    pub(crate) fn tell_followers(&self, runs: impl Iterator<Item = RunId>) {
        let followed = self.followed.lock();
        if followed.is_empty() {
            return;
        }
        for run in runs {
            if let Some(sender) = followed.get(&run) {
                sender.send_modify(|count| *count += 1);
            }
        }
    }
}
