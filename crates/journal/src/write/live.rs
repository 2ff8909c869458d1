//! A run that is being recorded, and waiting for its record.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mcpgraph_engine::RunError;
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::collected::Collected;
use super::settling::Turn;
use super::shared::Shared;
use super::state::RunState;
use crate::{NewRun, RunStatus, StoredEvent};

/// How long a run looks for its commit before it sleeps, if few are at work.
///
/// Being woken by another thread can take longer than the commit. Everything else on the thread goes
/// on meanwhile.
const LOOK: Duration = Duration::from_micros(250);

/// A run that is being recorded.
pub(crate) struct Live {
    pub(crate) new: NewRun,
    /// It may be executed by another process later: what this one writes counts only as long as
    /// the run is its own.
    pub(crate) is_durable: bool,
    /// Tells runs of this process apart.
    pub(crate) ordinal: u64,
    /// How many of its events were in the store when it was begun here.
    pub(crate) recorded_before: u64,
    /// Another execution in this process has taken its place.
    is_superseded: AtomicBool,
    recorded: AtomicU64,
    /// The turn of what was handed over last.
    turn: AtomicU64,
    lost: AtomicU64,
    is_over: AtomicBool,
    waited: AtomicU64,
    /// Somebody waits for what was recorded.
    waiting: AtomicBool,
    /// And sleeps until it is woken.
    asleep: AtomicBool,
    settling: Notify,
    /// How it ended, should the event that says so be lost.
    ended: Mutex<Option<(RunStatus, Duration)>>,
    /// What the writer knows of it as of the latest commit.
    pub(crate) state: Mutex<RunState>,
    /// Events that are in the file, for whoever recorded them to drop.
    spent: Mutex<Vec<Vec<StoredEvent>>>,
}

impl Live {
    pub(super) fn new(new: NewRun, ordinal: u64, is_durable: bool, state: RunState) -> Self {
        Self {
            new,
            is_durable,
            ordinal,
            recorded_before: state.kept,
            is_superseded: AtomicBool::new(false),
            recorded: AtomicU64::new(0),
            turn: AtomicU64::new(0),
            lost: AtomicU64::new(state.lost),
            is_over: AtomicBool::new(false),
            waited: AtomicU64::new(0),
            waiting: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            settling: Notify::new(),
            ended: Mutex::new(None),
            state: Mutex::new(state),
            spent: Mutex::default(),
        }
    }

    pub(super) fn supersede(&self) {
        self.is_superseded.store(true, Ordering::Release);
    }

    pub(super) fn is_superseded(&self) -> bool {
        self.is_superseded.load(Ordering::Acquire)
    }

    /// Gives events back that are in the file. Memory is freed most cheaply by the thread that took
    /// it, and that one should not have to wait for this.
    pub(super) fn give_back(&self, events: Vec<StoredEvent>) {
        if self.is_awaited() {
            self.spent.lock().push(events);
        }
    }

    pub(super) fn take_spent(&self) -> Vec<Vec<StoredEvent>> {
        mem::take(&mut self.spent.lock())
    }

    /// More of it was handed over.
    pub(super) fn set_turn(&self, turn: Turn) {
        self.turn.store(turn, Ordering::Release);
    }

    /// Numbers the events that come next; the number of the first.
    pub(super) fn number(&self, events: u64) -> u64 {
        self.recorded.fetch_add(events, Ordering::AcqRel)
    }

    pub(crate) fn set_ended(&self, status: RunStatus, at: Duration) {
        *self.ended.lock() = Some((status, at));
    }

    pub(super) fn set_over(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Counts events that were lost; true if they are the first.
    pub(super) fn lose(&self, events: u64) -> bool {
        self.lost.fetch_add(events, Ordering::AcqRel) == 0
    }

    /// Whether somebody waits for what was recorded.
    fn is_awaited(&self) -> bool {
        self.waiting.load(Ordering::Acquire)
    }

    /// Whether whoever waits has to be woken.
    pub(super) fn is_slept_for(&self) -> bool {
        self.asleep.load(Ordering::SeqCst)
    }

    /// Wakes whoever waits.
    pub(crate) fn wake(&self) {
        self.settling.notify_waiters();
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Acquire)
    }

    /// Whether nothing more will come of it.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    pub(crate) fn recorded(&self) -> u64 {
        self.recorded.load(Ordering::Acquire)
    }

    /// How it ended, whether or not the event that says so was kept.
    pub(crate) fn ended(&self) -> Option<(RunStatus, Duration)> {
        *self.ended.lock()
    }

    /// Whether everything up to a turn is in the file; none if that is not known yet.
    fn is_kept(&self, turn: Turn, shared: &Shared) -> Option<bool> {
        // What was lost is known when its turn is settled.
        let is_settled = shared.settling.has_come_to(turn);
        if self.lost() > 0 {
            return Some(false);
        }
        is_settled.then_some(true)
    }

    /// See [`crate::RunRecorder::committed`].
    pub(crate) fn committed(
        self: Arc<Self>,
        shared: Arc<Shared>,
        last: Collected,
    ) -> impl Future<Output = bool> + Send + 'static {
        let waited = Duration::from_micros(self.waited.load(Ordering::Relaxed));
        let patience = shared.options.wait.saturating_sub(waited);
        let waits = !shared.is_stalled() && !patience.is_zero();
        let waiting = waits.then(|| Waiting::begin(Arc::clone(&self), Arc::clone(&shared)));
        let began = Instant::now();
        if !last.events.is_empty() {
            shared.hand_over(&self, last, waits.then_some(began));
        } else if waits {
            shared.hurry();
        }
        let turn = self.turn.load(Ordering::Acquire);
        async move {
            if let Some(kept) = self.is_kept(turn, &shared) {
                return kept;
            }
            while waits && shared.is_calm() && began.elapsed() < LOOK {
                tokio::task::yield_now().await;
                if let Some(kept) = self.is_kept(turn, &shared) {
                    return kept;
                }
            }
            // It may have been looked at for the first time only now.
            let left = patience.saturating_sub(began.elapsed());
            if !waits || left.is_zero() || shared.is_stalled() {
                shared.count_late();
                return false;
            }
            let kept = tokio::time::timeout(left, self.settled(turn, &shared)).await;
            drop(waiting);
            let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
            self.waited.fetch_add(took, Ordering::Relaxed);
            kept.unwrap_or_else(|_| {
                shared.count_late();
                false
            })
        }
    }

    /// See [`crate::RunRecorder::kept`].
    pub(crate) fn kept(
        self: Arc<Self>,
        shared: Arc<Shared>,
        last: Collected,
    ) -> impl Future<Output = bool> + Send + 'static {
        let waiting = Waiting::begin(Arc::clone(&self), Arc::clone(&shared));
        if last.events.is_empty() {
            shared.hurry();
        } else {
            shared.hand_over(&self, last, Some(Instant::now()));
        }
        let turn = self.turn.load(Ordering::Acquire);
        async move {
            let kept = self.settled(turn, &shared).await;
            drop(waiting);
            kept
        }
    }

    /// Whether another process has taken the run over, so that nothing more of it is kept.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_superseded() || self.state.lock().refused
    }

    async fn settled(self: &Arc<Self>, turn: Turn, shared: &Shared) -> bool {
        let _asleep = Asleep::begin(self);
        shared.settling.expect(turn, self);
        loop {
            let mut settling = std::pin::pin!(self.settling.notified());
            settling.as_mut().enable();
            if let Some(kept) = self.is_kept(turn, shared) {
                return kept;
            }
            settling.await;
            shared.settling.pass_on();
        }
    }
}

/// Somebody sleeps until something of a run is settled.
struct Asleep<'a>(&'a Live);

impl<'a> Asleep<'a> {
    fn begin(run: &'a Live) -> Self {
        run.asleep.store(true, Ordering::SeqCst);
        Self(run)
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.0.asleep.store(false, Ordering::SeqCst);
    }
}

/// Somebody waits for a run. When that ends, others who sleep and need not any more are woken.
struct Waiting {
    run: Arc<Live>,
    shared: Arc<Shared>,
}

impl Waiting {
    fn begin(run: Arc<Live>, shared: Arc<Shared>) -> Self {
        run.waiting.store(true, Ordering::Release);
        Self { run, shared }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.run.waiting.store(false, Ordering::Release);
        self.shared.settling.pass_on();
    }
}

// === impl RunStatus ===

impl RunStatus {
    /// How a run with this outcome stands.
    pub(crate) fn of<T>(outcome: &Result<T, RunError>) -> Self {
        match outcome {
            Ok(_) => Self::Succeeded,
            Err(error) => Self::of_error(error.kind),
        }
    }
}
