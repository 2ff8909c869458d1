//! Durable runs: how one is handed to the engine that has it executed, and how the engine has one
//! executed that another process has left.

mod call;
mod drive;
mod flights;
mod kept;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use mcpgraph_durable::{DurableError, Ended, Engine, Executor, Message, Steps, Stopped};
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_graph::{Digest, Graph, Tool};
use mcpgraph_journal::{Journal, NewRun, RunId, RunRecorder};
use mcpgraph_value::Value;
use parking_lot::{Mutex, RwLock};
use tokio_util::sync::CancellationToken;

pub(crate) use self::drive::{Durably, began};
use self::kept::Kept;
use crate::runtime::given;
use crate::{Execution, Finished, Runtime};

/// The durable runs of a process.
pub struct DurableRuns {
    engine: Arc<dyn Engine>,
    /// Names what is served here; none if nothing does.
    served: Option<Arc<str>>,
    /// The calls whose execution begins, with the runtimes they belong to.
    handed: Mutex<HashMap<RunId, (Runtime, Box<Execution>)>>,
    home: RwLock<Option<Arc<dyn Home>>>,
    is_serving: AtomicBool,
    /// Somebody was told that runs end with the process.
    has_warned: AtomicBool,
    /// Runs go on without this process.
    left: CancellationToken,
}

/// Where runs are executed that no call of this process began.
pub trait Home: Send + Sync + 'static {
    /// What executes a run, and what it executes; an error says why it cannot be.
    fn place(
        &self,
        definition: &Definition<'_>,
    ) -> Result<(Runtime, Arc<Graph>, Arc<Tool>), String>;
}

/// What a run executes, as it was when the run began.
pub struct Definition<'a> {
    /// The text of its file.
    pub text: &'a Arc<str>,
    /// The name of the tool.
    pub tool: &'a str,
    /// The version of the tool.
    pub digest: Digest,
    /// What it was called with.
    pub arguments: &'a Value,
    /// Whether the run is known to be of what is served here. It is not where the run, or this
    /// process, does not say what that is.
    pub is_known: bool,
}

impl DurableRuns {
    /// Has runs executed by an engine. The name of what is served is kept with them: in a store that
    /// others use too, only who serves the same goes on with them.
    pub fn new(engine: Arc<dyn Engine>, served: Option<Arc<str>>) -> Arc<Self> {
        Arc::new(Self {
            engine,
            served,
            handed: Mutex::default(),
            home: RwLock::default(),
            is_serving: AtomicBool::new(false),
            has_warned: AtomicBool::new(false),
            left: CancellationToken::new(),
        })
    }

    /// From now on runs are executed here, those that others began at this home; where it takes
    /// over, also those that others have left. It must be called inside a Tokio runtime.
    pub fn serve(self: &Arc<Self>, home: Arc<dyn Home>, takes_over: bool) {
        *self.home.write() = Some(home);
        self.is_serving.store(true, Ordering::Release);
        let executor: Weak<Self> = Arc::downgrade(self);
        self.engine.serve(executor, takes_over);
    }

    /// Whether runs are executed here.
    pub(crate) fn is_serving(&self) -> bool {
        self.is_serving.load(Ordering::Acquire)
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.engine
    }

    /// Lets runs go on without this process, which is about to end: whoever waits for one is told,
    /// and nobody's leaving cancels one. Waits for the calls under way that must not be repeated.
    /// Nothing happens where runs end with the process.
    pub async fn let_go(&self) {
        if self.engine.is_lasting() {
            self.left.cancel();
            self.engine.retire().await;
        }
    }

    /// Waits until runs go on without this process; what whoever waits for one is told.
    pub async fn left(&self, run: RunId) -> RunError {
        self.left.cancelled().await;
        let message = format!(
            "this server ends, and run {run} goes on without it; `mcpgraph runs show {run}` says \
             what it comes to"
        );
        RunError::new(ErrorKind::Unavailable, message)
    }

    /// Stops executing; what has not ended goes on elsewhere, or after the next start.
    pub async fn close(&self) {
        self.engine.close().await;
        self.home.write().take();
        self.handed.lock().clear();
    }

    /// Leaves a message for a run, wherever it is executed.
    pub async fn send(&self, run: RunId, message: Message) -> Result<bool, DurableError> {
        self.engine.send(run, message).await
    }

    /// Begins a run and does not wait for its end.
    pub async fn begin(
        &self,
        runtime: &Runtime,
        mut execution: Execution,
    ) -> Result<RunId, RunError> {
        execution.given.get_or_insert_with(given);
        if !self.engine.is_lasting() && !self.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "durable runs end with this process: there is no store in which they could go on"
            );
        }
        let run = execution.id;
        let kept = Kept::of(&execution, self.served.clone()).to_value();
        self.handed.lock().insert(run, (runtime.clone(), Box::new(execution)));
        if let Err(error) = self.engine.start(run, kept).await {
            self.handed.lock().remove(&run);
            return Err(unusable(&error));
        }
        Ok(run)
    }

    /// Waits for the end of a run, wherever it is executed.
    pub async fn finished(&self, run: RunId) -> Finished {
        match self.engine.outcome(run).await {
            Ok(ended) => ended_as(run, ended),
            Err(error) => Finished::failed(run, unusable(&error)),
        }
    }

    /// What a run has come to, wherever it is executed; none while it has not ended.
    pub async fn look(&self, run: RunId) -> Result<Option<Finished>, DurableError> {
        Ok(self.engine.look(run).await?.map(|ended| ended_as(run, ended)))
    }

    /// Ends a run, wherever it is executed.
    pub async fn cancel(&self, run: RunId) {
        if let Err(error) = self.engine.cancel(run).await {
            tracing::warn!(%run, %error, "a durable run could not be cancelled");
        }
    }

    /// Ends a run that is under way, wherever it is executed; false if it has ended before. Another
    /// process hears of it within a second or two.
    pub async fn stop(&self, run: RunId) -> Result<bool, DurableError> {
        let is_under_way = self.engine.look(run).await?.is_none();
        if is_under_way {
            self.engine.cancel(run).await?;
        }
        Ok(is_under_way)
    }

    /// Executes a call to its end, wherever it ends. The caller's leaving cancels the run, wherever
    /// it is executed by then, and unless it goes on without this process.
    pub(crate) async fn execute(&self, runtime: &Runtime, mut execution: Execution) -> Finished {
        let cancel = std::mem::take(&mut execution.cancel);
        let id = execution.id;
        let run = match self.begin(runtime, execution).await {
            Ok(run) => run,
            Err(error) => return Finished::failed(id, error),
        };
        let mut finished = std::pin::pin!(self.finished(run));
        tokio::select! {
            biased;
            finished = &mut finished => return finished,
            error = self.left(run) => return Finished::failed(run, error),
            () = cancel.cancelled() => {}
        }
        self.cancel(run).await;
        finished.await
    }

    /// The execution of a run: the one that was handed over, or another one.
    fn execution(&self, run: RunId, kept: &Kept) -> Result<(Runtime, Execution, bool), Stopped> {
        if let Some((runtime, execution)) = self.handed.lock().remove(&run) {
            return Ok((runtime, *execution, false));
        }
        let (runtime, graph, tool) = self.placed(kept).map_err(Stopped::Refused)?;
        let mut execution = Execution::new(graph, tool, kept.arguments.clone());
        execution.id = run;
        execution.origin = kept.origin.clone();
        execution.given = kept.given;
        Ok((runtime, execution, true))
    }

    /// Where a run is executed that another process began.
    fn placed(&self, kept: &Kept) -> Result<(Runtime, Arc<Graph>, Arc<Tool>), String> {
        let home = self.home.read().clone();
        let home = home.ok_or("runs of others have no home")?;
        match self.serves(kept) {
            Some(false) => Err("something else is served here".to_owned()),
            is_known => home.place(&kept.definition(is_known.is_some())),
        }
    }

    /// Whether a run is of what is served here; none if that is not known.
    fn serves(&self, kept: &Kept) -> Option<bool> {
        Some(self.served.as_ref()? == kept.served.as_ref()?)
    }
}

#[async_trait]
impl Executor for DurableRuns {
    fn accepts(&self, run: RunId, input: &Value) -> bool {
        // One that cannot be read is executed to say so.
        let Some(kept) = Kept::from_value(input) else { return true };
        let Err(why) = self.placed(&kept) else { return true };
        let (tool, served) = (&*kept.tool, kept.served.as_deref());
        if self.serves(&kept) == Some(true) {
            cannot_go_on(run, tool, &why);
        } else {
            // Whoever started this process need not mend anything.
            tracing::debug!(%run, tool, served, why, "a durable run waits for who serves the same");
        }
        false
    }

    async fn execute(
        self: Arc<Self>,
        run: RunId,
        input: Value,
        steps: Arc<dyn Steps>,
    ) -> Result<Value, Stopped> {
        let Some(kept) = Kept::from_value(&input) else {
            let error = RunError::new(
                ErrorKind::Internal,
                "what was kept of the run cannot be read by this version of mcpgraph",
            );
            return Ok(kept::finished_value(&Finished::failed(run, error)));
        };
        let (runtime, execution, is_again) = self
            .execution(run, &kept)
            .inspect_err(|stopped| cannot_go_on(run, &kept.tool, &stopped.to_string()))?;
        let finished = runtime.drive_durably(execution, Durably::new(steps, is_again)).await?;
        Ok(kept::finished_value(&finished))
    }
}

fn cannot_go_on(run: RunId, tool: &str, why: &str) {
    tracing::error!(%run, tool, "a durable run cannot go on here, and waits: {why}");
}

/// The record of a durable run, which another execution may have begun.
pub(crate) async fn record(
    journal: &Arc<Journal>,
    run: NewRun,
    is_again: bool,
) -> Result<RunRecorder, Stopped> {
    if !is_again {
        return Ok(journal.begin_durable(run));
    }
    let journal = Arc::clone(journal);
    let resumed = tokio::task::spawn_blocking(move || journal.resume(run)).await;
    match resumed {
        Ok(resumed) => resumed.map_err(|error| Stopped::Unusable(error.to_string())),
        Err(_) => Err(Stopped::Unusable("the record could not be taken up".to_owned())),
    }
}

fn ended_as(run: RunId, ended: Ended) -> Finished {
    match ended {
        Ended::Value(value) => kept::finished_of(run, &value),
        Ended::Cancelled => {
            let error = RunError::new(ErrorKind::Cancelled, "the run was cancelled");
            Finished::failed(run, error)
        }
    }
}

fn unusable(error: &DurableError) -> RunError {
    RunError::new(ErrorKind::Unavailable, error.to_string())
}
