//! The engine of one process.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use mcpgraph_journal::{Journal, RunId};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::executions::Executions;
use crate::shelf::{Shelf, Standing};
use crate::{Course, DurableError, Ended, Engine, Executor, Message, Place, Steps, Stopped};

/// How often it is looked for what another process did with the file.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The engine of one process: in the journal's file, so that runs go on when the process is started
/// again, or in memory.
pub struct Local(Arc<Inner>);

struct Inner {
    shelf: Shelf,
    executor: OnceLock<Weak<dyn Executor>>,
    executions: Arc<Executions>,
    tasks: TaskTracker,
    /// The process takes on nothing more.
    closing: CancellationToken,
    /// Counts ends of runs and messages.
    news: watch::Sender<u64>,
    /// Whether it is looked for runs that another process has cancelled.
    is_heeding: Mutex<bool>,
}

impl Local {
    /// An engine whose runs end with the process.
    pub fn in_memory() -> Self {
        Self::new(Shelf::Memory(Mutex::default()))
    }

    /// An engine whose runs are in the file of a journal.
    pub fn in_file(journal: Arc<Journal>) -> Self {
        Self::new(Shelf::File(journal))
    }

    fn new(shelf: Shelf) -> Self {
        Self(Arc::new(Inner {
            shelf,
            executor: OnceLock::new(),
            executions: Arc::default(),
            tasks: TaskTracker::new(),
            closing: CancellationToken::new(),
            news: watch::Sender::new(0),
            is_heeding: Mutex::new(false),
        }))
    }
}

#[async_trait]
impl Engine for Local {
    fn serve(&self, executor: Weak<dyn Executor>, takes_over: bool) {
        if self.0.executor.set(executor).is_err() || !takes_over {
            return;
        }
        // Mostly there are none, which is not worth a thread and a connection.
        if self.0.shelf.others_have_some(&HashSet::new()) {
            self.0.tasks.spawn(Arc::clone(&self.0).take_over());
        }
    }

    async fn start(&self, run: RunId, input: Value) -> Result<(), DurableError> {
        self.0.shelf.begin(run, &input).await?;
        self.0.execute(run, input);
        Ok(())
    }

    async fn outcome(&self, run: RunId) -> Result<Ended, DurableError> {
        let mut news = self.0.news.subscribe();
        loop {
            if let Some(ended) = self.look(run).await? {
                return Ok(ended);
            }
            // Another process may execute it.
            drop(tokio::time::timeout(LOOK_EVERY, news.changed()).await);
        }
    }

    async fn look(&self, run: RunId) -> Result<Option<Ended>, DurableError> {
        match self.0.shelf.look(run).await? {
            Standing::Ended(ended) => Ok(Some(ended)),
            Standing::Pending => Ok(None),
            Standing::Unknown => Err(DurableError::Unknown(run)),
        }
    }

    async fn cancel(&self, run: RunId) -> Result<(), DurableError> {
        self.0.shelf.end(run, Ended::Cancelled).await?;
        self.0.executions.stop(run, Stopped::Cancelled);
        self.0.tell();
        Ok(())
    }

    async fn send(&self, run: RunId, message: Message) -> Result<bool, DurableError> {
        let sent = self.0.shelf.send(run, message).await;
        self.0.tell();
        sent
    }

    fn is_lasting(&self) -> bool {
        self.0.shelf.is_file()
    }

    async fn retire(&self) {
        self.0.closing.cancel();
        self.0.executions.retire().await;
    }

    async fn close(&self) {
        self.0.closing.cancel();
        self.0.executions.close();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }
}

impl Inner {
    /// Goes on with the runs that other processes leave, until these have none any more. One that
    /// is about to end may still be there when the next one starts.
    async fn take_over(self: Arc<Self>) {
        // Those that are not executed here, each of which is looked at once.
        let mut refused = HashSet::new();
        loop {
            if let Err(error) = self.take_over_left(&mut refused).await {
                tracing::error!(%error, "durable runs that were left do not go on");
                return;
            }
            if !self.shelf.others_have_some(&refused) {
                return;
            }
            tokio::select! {
                () = self.closing.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Goes on with the runs that were left until now.
    async fn take_over_left(
        self: &Arc<Self>,
        refused: &mut HashSet<RunId>,
    ) -> Result<(), DurableError> {
        let Some(executor) = self.executor.get().and_then(Weak::upgrade) else { return Ok(()) };
        let mut own = Vec::new();
        for (run, input) in self.shelf.left(refused.clone()).await? {
            if executor.accepts(run, &input) {
                own.push((run, input));
            } else {
                refused.insert(run);
            }
        }
        // Whoever ends takes nothing on: what is left then waits for the next start.
        if own.is_empty() || self.closing.is_cancelled() {
            return Ok(());
        }
        let taken = self.shelf.take_over(own.iter().map(|(run, _)| *run).collect()).await?;
        for (run, input) in own.into_iter().filter(|(run, _)| taken.contains(run)) {
            tracing::info!(%run, "a durable run goes on");
            self.execute(run, input);
        }
        Ok(())
    }

    fn tell(&self) {
        self.news.send_modify(|count| *count += 1);
    }

    /// Executes a run, unless that is under way or the process ends.
    fn execute(self: &Arc<Self>, run: RunId, input: Value) {
        let Some((entered, course)) = self.executions.enter(run) else { return };
        if self.shelf.is_file() && !std::mem::replace(&mut *self.is_heeding.lock(), true) {
            self.tasks.spawn(Arc::clone(self).heed_others());
        }
        let inner = Arc::clone(self);
        self.tasks.spawn(async move {
            inner.to_its_end(run, input, course).await;
            drop(entered);
            inner.tell();
        });
    }

    /// Stops the runs that another process has cancelled, for as long as any are executed here.
    async fn heed_others(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.closing.cancelled() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            let running = {
                let mut is_heeding = self.is_heeding.lock();
                let running = self.executions.runs();
                *is_heeding = !running.is_empty();
                running
            };
            if running.is_empty() {
                return;
            }
            if let Err(error) = self.stop_cancelled(running).await {
                tracing::debug!(%error, "it cannot be seen whether durable runs were cancelled");
            }
        }
    }

    async fn stop_cancelled(&self, running: Vec<RunId>) -> Result<(), DurableError> {
        let pending = self.shelf.pending().await?;
        for run in running.into_iter().filter(|run| !pending.contains(run)) {
            if let Standing::Ended(Ended::Cancelled) = self.shelf.look(run).await? {
                self.executions.stop(run, Stopped::Cancelled);
            }
        }
        Ok(())
    }

    async fn to_its_end(self: &Arc<Self>, run: RunId, input: Value, course: Course) {
        let Some(executor) = self.executor.get().and_then(Weak::upgrade) else { return };
        let steps = Arc::new(LocalSteps { engine: Arc::clone(self), run, course });
        match executor.execute(run, input, steps).await {
            Ok(value) => {
                if let Err(error) = self.shelf.end(run, Ended::Value(value)).await {
                    tracing::error!(%run, %error, "what a durable run came to is not kept");
                }
            }
            Err(stopped) => tracing::debug!(%run, %stopped, "a durable run stopped here"),
        }
    }
}

/// The engine as one execution sees it.
struct LocalSteps {
    engine: Arc<Inner>,
    run: RunId,
    course: Course,
}

#[async_trait]
impl Steps for LocalSteps {
    fn course(&self) -> &Course {
        &self.course
    }

    async fn recall(&self, place: &Place) -> Result<Option<Value>, Stopped> {
        self.course.check()?;
        self.engine.shelf.recall(self.run, place).await
    }

    async fn keep(&self, place: &Place, value: Value) -> Result<Value, Stopped> {
        self.course.check()?;
        self.engine.shelf.keep(self.run, place, value).await
    }

    async fn receive(
        &self,
        place: &Place,
        topic: &str,
        until: SystemTime,
    ) -> Result<Option<Value>, Stopped> {
        let mut news = self.engine.news.subscribe();
        loop {
            self.course.check()?;
            if let Some(taken) = self.engine.shelf.take(self.run, place, topic).await? {
                return Ok(taken.as_array().and_then(|taken| taken.first()).cloned());
            }
            let left = until.duration_since(SystemTime::now()).unwrap_or_default();
            if left.is_zero() {
                self.engine.shelf.give_up(self.run, place, topic).await?;
                return Ok(None);
            }
            tokio::select! {
                _ = news.changed() => {}
                () = tokio::time::sleep(left.min(LOOK_EVERY)) => {}
                () = self.course.stopped().cancelled() => {}
            }
        }
    }
}
