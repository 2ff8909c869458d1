//! What waits to be written, with a bound on its number and its size.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcpgraph_engine::Event;
use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::estimate::estimate;
use super::live::Live;
use crate::mask::Masker;
use crate::{Delivery, JournalOptions, JournalStatus, NewRun, RunId, RunStatus};

/// How long events wait for others when nobody waits for them.
const LINGER: Duration = Duration::from_millis(10);

/// The most events in one transaction.
const MAX_BATCH: usize = 8192;

/// What the recorders and the writer share.
pub(crate) struct Shared {
    pub(crate) options: JournalOptions,
    queue: Mutex<Queue>,
    wake: Condvar,
    masker: Mutex<Arc<Masker>>,
    next_ordinal: AtomicU64,
    lost_events: AtomicU64,
    lost_runs: AtomicU64,
    late_runs: AtomicU64,
    commits: AtomicU64,
    /// The store did not take something in time; nobody waits for it until it does again.
    stalled: AtomicBool,
    last_error: Mutex<Option<Arc<str>>>,
    /// Runs that are settled and whose waiters have not been woken yet; never more than runs.
    woken: Mutex<Vec<Arc<Live>>>,
    /// Counts commits, for whoever follows all runs.
    pub(crate) committed: watch::Sender<u64>,
    /// The same for whoever follows one.
    followed: Mutex<HashMap<RunId, watch::Sender<u64>>>,
}

#[derive(Default)]
struct Queue {
    items: VecDeque<Item>,
    events: usize,
    bytes: usize,
    /// When the oldest item came.
    oldest: Option<Instant>,
    /// What the writer has taken and not settled: events, bytes, and since when the oldest waits.
    taken: Option<(usize, usize, Instant)>,
    /// Somebody waits for what is queued.
    urgent: bool,
    sleep: Sleep,
    closed: bool,
}

/// Whether and how the writer sleeps.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Sleep {
    #[default]
    No,
    /// There is nothing to do.
    Idle,
    /// There is something, and more may come.
    Lingering,
}

/// Something for the writer.
pub(crate) enum Item {
    /// A run began.
    Begin(Arc<Live>),
    /// Something happened in it.
    Event { run: Arc<Live>, seq: u64, event: Event, deliver: Option<Delivery>, bytes: usize },
    /// Something happened that there was no room for; whoever is to hear of it still does.
    Lost { event: Event, deliver: Delivery },
    /// What is known of a run has to be noted: it is over, or lost something.
    Settle(Arc<Live>),
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

impl Shared {
    pub(crate) fn new(options: JournalOptions) -> Self {
        Self {
            masker: Mutex::new(Arc::new(Masker::new(&options.redaction))),
            options,
            queue: Mutex::default(),
            wake: Condvar::new(),
            next_ordinal: AtomicU64::new(0),
            lost_events: AtomicU64::new(0),
            lost_runs: AtomicU64::new(0),
            late_runs: AtomicU64::new(0),
            commits: AtomicU64::new(0),
            stalled: AtomicBool::new(false),
            last_error: Mutex::new(None),
            woken: Mutex::default(),
            committed: watch::Sender::new(0),
            followed: Mutex::default(),
        }
    }

    pub(crate) fn masker(&self) -> Arc<Masker> {
        Arc::clone(&self.masker.lock())
    }

    pub(crate) fn set_masker(&self, masker: Masker) {
        *self.masker.lock() = Arc::new(masker);
    }

    pub(crate) fn begin(&self, new: NewRun) -> Arc<Live> {
        let ordinal = self.next_ordinal.fetch_add(1, Ordering::Relaxed);
        let run = Arc::new(Live::new(new, ordinal));
        self.push_control(Item::Begin(Arc::clone(&run)));
        run
    }

    /// Queues an event, or counts it as lost.
    pub(crate) fn record(&self, run: &Arc<Live>, event: &Event, deliver: Option<Delivery>) {
        if let Event::Finished { outcome, at } = event {
            run.set_ended(RunStatus::of(outcome), *at);
        }
        let bytes = estimate(event);
        let mut queue = self.queue.lock();
        let seq = run.next_seq();
        let fits = queue.events < self.options.max_queued_events
            && queue.bytes.saturating_add(bytes) <= self.options.max_queued_bytes.max(bytes)
            && !queue.closed;
        if !fits {
            let has_room = queue.items.len() < self.options.max_queued_events.saturating_mul(2);
            let told_now = match deliver {
                // In its turn, after those before it that still wait to be written.
                Some(deliver) if has_room && !queue.closed => {
                    queue.items.push_back(Item::Lost { event: event.clone(), deliver });
                    None
                }
                deliver => deliver,
            };
            drop(queue);
            self.count_lost(run, 1);
            if let Some(deliver) = told_now {
                deliver(event);
            }
            return;
        }
        queue.events += 1;
        queue.bytes += bytes;
        queue.oldest.get_or_insert_with(Instant::now);
        queue.urgent |= deliver.is_some();
        let run = Arc::clone(run);
        queue.items.push_back(Item::Event { run, seq, event: event.clone(), deliver, bytes });
        self.wake_writer(&queue);
    }

    /// Nothing more will come of a run.
    pub(crate) fn end(&self, run: &Arc<Live>) {
        run.set_over();
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

    fn wake_writer(&self, queue: &Queue) {
        let is_full = queue.events >= MAX_BATCH;
        match queue.sleep {
            Sleep::Idle => drop(self.wake.notify_one()),
            Sleep::Lingering if queue.urgent || is_full => drop(self.wake.notify_one()),
            _ => {}
        }
    }

    /// Somebody waits for what is queued.
    pub(crate) fn hurry(&self) {
        let mut queue = self.queue.lock();
        queue.urgent = true;
        self.wake_writer(&queue);
    }

    /// Lets the writer write what there is and end.
    pub(crate) fn close(&self) {
        self.queue.lock().closed = true;
        self.wake.notify_one();
    }

    /// What the writer is to do next; it sleeps until there is something, for `patience` at most.
    pub(crate) fn next_work(&self, patience: Option<Duration>) -> Work {
        let mut queue = self.queue.lock();
        queue.taken = None;
        if queue.items.is_empty() && !queue.closed {
            queue.sleep = Sleep::Idle;
            match patience {
                Some(patience) => drop(self.wake.wait_for(&mut queue, patience)),
                None => self.wake.wait(&mut queue),
            }
            queue.sleep = Sleep::No;
        }
        if queue.items.is_empty() {
            return if queue.closed { Work::Closed } else { Work::Idle };
        }
        let oldest = queue.oldest.unwrap_or_else(Instant::now);
        while !queue.urgent && !queue.closed && queue.events < MAX_BATCH {
            let left = LINGER.saturating_sub(oldest.elapsed());
            if left.is_zero() {
                break;
            }
            queue.sleep = Sleep::Lingering;
            self.wake.wait_for(&mut queue, left);
            queue.sleep = Sleep::No;
        }
        let count = queue.items.len().min(MAX_BATCH);
        let items: Vec<Item> = queue.items.drain(..count).collect();
        let (mut events, mut bytes) = (0, 0);
        for item in &items {
            if let Item::Event { bytes: size, .. } = item {
                events += 1;
                bytes += size;
            }
        }
        queue.events -= events;
        queue.bytes -= bytes;
        queue.taken = Some((events, bytes, oldest));
        if queue.items.is_empty() {
            queue.urgent = false;
            queue.oldest = None;
        }
        Work::Write(items, oldest)
    }

    /// Wakes those who wait for these runs. Waking from another thread costs a system call each, so
    /// only the first is woken from here, and it wakes the others from where they all are.
    pub(crate) fn wake_waiting(&self, runs: Vec<Arc<Live>>) {
        let mut waiting = runs.into_iter().filter(|run| run.is_awaited());
        let Some(first) = waiting.next() else { return };
        self.woken.lock().extend(waiting);
        first.wake();
        // It may have stopped waiting, and looked for others, just before.
        if !first.is_awaited() {
            self.pass_on();
        }
    }

    /// Wakes those whom another was woken for.
    pub(super) fn pass_on(&self) {
        let woken = std::mem::take(&mut *self.woken.lock());
        for run in &woken {
            run.wake();
        }
    }

    pub(crate) fn count_lost(&self, run: &Live, events: u64) {
        self.lost_events.fetch_add(events, Ordering::Relaxed);
        if run.lose(events) {
            self.lost_runs.fetch_add(1, Ordering::Relaxed);
            tracing::debug!(run = %run.new.id, "the record of a run is not complete");
        }
        run.wake();
    }

    pub(crate) fn count_late(&self) {
        self.stalled.store(true, Ordering::Release);
        self.late_runs.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Acquire)
    }

    /// The store took something. True if it had not for a while.
    pub(crate) fn succeeded(&self) -> bool {
        self.queue.lock().taken = None;
        self.stalled.store(false, Ordering::Release);
        let was_failing = self.last_error.lock().take().is_some();
        let commits = self.commits.fetch_add(1, Ordering::Relaxed) + 1;
        self.committed.send_replace(commits);
        was_failing
    }

    /// The store did not take something. True if it had until now.
    pub(crate) fn failed(&self, error: &rusqlite::Error) -> bool {
        self.stalled.store(true, Ordering::Release);
        self.last_error.lock().replace(error.to_string().into()).is_none()
    }

    pub(crate) fn follow(&self, run: RunId) -> watch::Receiver<u64> {
        let mut followed = self.followed.lock();
        followed.retain(|_, sender| sender.receiver_count() > 0);
        followed.entry(run).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }

    /// Tells whoever follows these runs that there is more of them.
    pub(crate) fn tell_followers<'a>(&self, runs: impl Iterator<Item = &'a Arc<Live>>) {
        let followed = self.followed.lock();
        if followed.is_empty() {
            return;
        }
        for run in runs {
            if let Some(sender) = followed.get(&run.new.id) {
                sender.send_modify(|count| *count += 1);
            }
        }
    }

    pub(crate) fn status(&self) -> JournalStatus {
        let queue = self.queue.lock();
        let (events, bytes, _) = queue.taken.unwrap_or((0, 0, Instant::now()));
        let oldest = queue.taken.map(|(_, _, oldest)| oldest).or(queue.oldest);
        JournalStatus {
            queued_events: queue.events + events,
            queued_bytes: queue.bytes + bytes,
            lost_events: self.lost_events.load(Ordering::Relaxed),
            lost_runs: self.lost_runs.load(Ordering::Relaxed),
            late_runs: self.late_runs.load(Ordering::Relaxed),
            lag: oldest.map(|oldest| oldest.elapsed()).unwrap_or_default(),
            commits: self.commits.load(Ordering::Relaxed),
            last_error: self.last_error.lock().clone(),
        }
    }
}
