//! Scripts executed: each on a thread of its own while it runs, a bounded number at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::operations::INBOX;
use crate::watch::Watch;
use crate::worker::{self, Job, Task};
use crate::{Capacity, ConsoleLine, Host, Limits, ScriptError};

/// Executes scripts.
pub struct Sandbox {
    pool: Arc<Pool>,
}

/// A script to execute.
pub struct Execution {
    /// The body of an `async` function of `context`.
    pub script: Arc<str>,
    /// What it finds as `context`.
    pub context: Value,
    /// What it may use.
    pub limits: Limits,
    /// What it may ask of the world.
    pub host: Arc<dyn Host>,
}

/// What came of an execution.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What the script returned; nothing where it returned `undefined`.
    pub outcome: Result<Option<Value>, ScriptError>,
    /// What it wrote to the console.
    pub console: Vec<ConsoleLine>,
}

/// The threads.
pub(crate) struct Pool {
    capacity: Capacity,
    slots: Arc<Semaphore>,
    waiting: AtomicUsize,
    lost: AtomicUsize,
    resting: Mutex<Vec<SyncSender<Job>>>,
}

/// How many threads are kept for later.
const RESTING: usize = 8;

impl Sandbox {
    /// A sandbox that does so much at once.
    pub fn new(capacity: Capacity) -> Self {
        let slots = Arc::new(Semaphore::new(capacity.running));
        let pool = Pool {
            capacity,
            slots,
            waiting: AtomicUsize::new(0),
            lost: AtomicUsize::new(0),
            resting: Mutex::default(),
        };
        Self { pool: Arc::new(pool) }
    }

    /// How many scripts wait for their turn.
    pub fn waiting(&self) -> usize {
        self.pool.waiting.load(Ordering::Relaxed)
    }

    /// Executes a script. Dropping the future stops it.
    pub async fn run(&self, execution: Execution) -> Report {
        match self.begin(execution).await {
            Ok((answer, _stops)) => answer.await.unwrap_or_else(|_| lost_thread()),
            Err(error) => Report::failed(error),
        }
    }

    async fn begin(
        &self,
        execution: Execution,
    ) -> Result<(oneshot::Receiver<Report>, StopOnDrop), ScriptError> {
        let Execution { script, context, limits, host } = execution;
        let permit = self.slot(limits).await?;
        let (outbox, inbox) = sync_channel(INBOX);
        let watch = Arc::new(Watch::new(outbox.clone()));
        let (reply, done) = oneshot::channel();
        let world = Handle::current();
        let task = Task { script, context: context.to_json(), limits, host, world, outbox };
        let thread = self.pool.thread()?;
        let job = Job { task, inbox, watch: Arc::clone(&watch), reply, thread: thread.clone() };
        thread.try_send(job).map_err(|_| ScriptError::Engine(String::from("its thread ended")))?;
        let (answer, asked) = oneshot::channel();
        let pool = Arc::clone(&self.pool);
        let watched = Arc::clone(&watch);
        // It goes on when nobody waits any more: the slot is free when the thread is.
        tokio::spawn(async move {
            let report = pool.supervise(done, &watched, limits).await;
            drop(permit);
            drop(answer.send(report));
        });
        Ok((asked, StopOnDrop(watch)))
    }

    /// Waits for its turn, no longer than the script itself may take.
    async fn slot(&self, limits: Limits) -> Result<OwnedSemaphorePermit, ScriptError> {
        let Capacity { running, waiting, lost, .. } = self.pool.capacity;
        if self.pool.lost.load(Ordering::Relaxed) >= lost {
            return Err(ScriptError::Busy(format!(
                "{lost} scripts are stuck in calls that cannot be interrupted, which is the limit; \
                 no other runs until one of them ends"
            )));
        }
        if let Ok(permit) = Arc::clone(&self.pool.slots).try_acquire_owned() {
            return Ok(permit);
        }
        let busy = |what: &str| {
            ScriptError::Busy(format!(
                "{running} scripts run at once, which is the limit, and {what}"
            ))
        };
        let place = Waiting::enter(&self.pool);
        if self.pool.waiting.load(Ordering::Relaxed) > waiting {
            return Err(busy(&format!("{waiting} wait already")));
        }
        let permit = Arc::clone(&self.pool.slots).acquire_owned();
        let permit = tokio::time::timeout(limits.time, permit).await;
        drop(place);
        match permit {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(busy(&format!("none ended within {} ms", limits.time.as_millis()))),
        }
    }
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new(Capacity::default())
    }
}

impl Report {
    fn failed(error: ScriptError) -> Self {
        Self { outcome: Err(error), console: Vec::new() }
    }
}

fn lost_thread() -> Report {
    Report::failed(ScriptError::Engine(String::from("its thread ended unexpectedly")))
}

impl Pool {
    /// A thread that has nothing to do.
    fn thread(self: &Arc<Self>) -> Result<SyncSender<Job>, ScriptError> {
        if let Some(thread) = self.resting.lock().pop() {
            return Ok(thread);
        }
        let (thread, jobs) = sync_channel(1);
        worker::start(Arc::downgrade(self), jobs)
            .map_err(|error| ScriptError::Engine(format!("no thread could be started: {error}")))?;
        Ok(thread)
    }

    /// Keeps a thread for later, unless enough are kept.
    pub(crate) fn rest(&self, thread: SyncSender<Job>) {
        let mut resting = self.resting.lock();
        if resting.len() < RESTING {
            resting.push(thread);
        }
    }

    /// Waits for an execution to end, and gives its thread up if it does not.
    async fn supervise(
        &self,
        mut done: oneshot::Receiver<Report>,
        watch: &Watch,
        limits: Limits,
    ) -> Report {
        let patience = limits.time.saturating_add(self.capacity.grace);
        if let Ok(report) = tokio::time::timeout(patience, &mut done).await {
            return report.unwrap_or_else(|_| lost_thread());
        }
        // It is counted before it is given up, so that it is never found before it was lost.
        self.lost.fetch_add(1, Ordering::Relaxed);
        if watch.abandon() {
            tracing::warn!(limit = ?limits.time, "a script cannot be interrupted; its thread is given up");
            return Report::failed(ScriptError::Stuck { limit: limits.time });
        }
        self.found();
        done.await.unwrap_or_else(|_| lost_thread())
    }

    /// A thread that was given up came back.
    pub(crate) fn found(&self) {
        self.lost.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A place among those who wait.
struct Waiting<'a>(&'a Pool);

impl<'a> Waiting<'a> {
    fn enter(pool: &'a Pool) -> Self {
        pool.waiting.fetch_add(1, Ordering::Relaxed);
        Self(pool)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Stops an execution when nobody waits for it any more.
struct StopOnDrop(Arc<Watch>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
