//! Runs that go on between the calls of whoever looks after them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::codes;
use mcpgraph_journal::RunId;
use mcpgraph_runtime::{DebugSessions, Finished, Questions, Runtime};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::answer::Failure;
use crate::breakpoints::reachable_nodes;
use crate::run::Runnable;
use crate::steps::Steps;

/// How long an agent may say nothing before its run is released: models think for a while.
const LEASE: Duration = Duration::from_mins(10);

/// How many such runs are remembered at once.
const MAX_RUNS: usize = 32;

/// How long released runs may take to end when the toolkit does.
const END_GRACE: Duration = Duration::from_secs(5);

/// The runs that are debugged, and those that may ask people.
pub(crate) struct AttendedRuns {
    /// Who debugs which.
    pub(crate) sessions: Arc<DebugSessions>,
    runs: Mutex<HashMap<RunId, Arc<Attended>>>,
    under_way: TaskTracker,
    /// Ends runs that may ask as soon as the toolkit ends: their answers would come to nobody.
    pub(crate) asking: CancellationToken,
    /// Ends those that were debugged and did not end by themselves.
    pub(crate) closing: CancellationToken,
}

/// A run that was started here, and what is told of it.
pub(crate) struct Attended {
    pub(crate) steps: Steps,
    pub(crate) definitions: Vec<Value>,
    /// The nodes that it may come to.
    pub(crate) nodes: Vec<Arc<str>>,
    /// Where it asks; none if it never does.
    pub(crate) questions: Option<Questions>,
    /// Ends it.
    pub(crate) cancel: CancellationToken,
    finished: watch::Receiver<Option<Finished>>,
}

/// What tells that a run has ended.
pub(crate) type Ending = watch::Sender<Option<Finished>>;

impl AttendedRuns {
    pub(crate) fn new() -> Self {
        Self {
            sessions: DebugSessions::new(LEASE),
            runs: Mutex::default(),
            under_way: TaskTracker::new(),
            asking: CancellationToken::new(),
            closing: CancellationToken::new(),
        }
    }

    /// Lets debugged runs go on by themselves; those that take too long are cancelled.
    pub(crate) async fn close(&self) {
        self.asking.cancel();
        self.sessions.clear();
        self.under_way.close();
        if tokio::time::timeout(END_GRACE, self.under_way.wait()).await.is_err() {
            self.closing.cancel();
            // One that does not even end then goes with the process.
            tokio::time::timeout(END_GRACE, self.under_way.wait()).await.ok();
        }
    }

    /// Lets a run go on by itself, and remembers it. Of those that have ended one is forgotten
    /// where there are too many.
    pub(crate) fn begin(
        &self,
        run: RunId,
        (attended, ending): (Attended, Ending),
        running: impl Future<Output = Finished> + Send + 'static,
    ) -> Result<Arc<Attended>, Failure> {
        let attended = Arc::new(attended);
        let mut runs = self.runs.lock();
        if runs.len() >= MAX_RUNS {
            let ended = runs.iter().filter(|(_, run)| run.has_ended());
            let Some(oldest) = ended.map(|(id, _)| *id).min() else {
                let message = format!("{MAX_RUNS} runs are debugged or wait for people, the limit");
                return Err(Failure::new(codes::TOOLKIT_NOT_DEBUGGED, message).with(
                    "suggestion",
                    "end one of them with controlRun: `stop` or `leave`, after a `join` if it is \
                     not debugged",
                ));
            };
            runs.remove(&oldest);
        }
        runs.insert(run, Arc::clone(&attended));
        self.under_way.spawn(async move { ending.send_replace(Some(running.await)) });
        Ok(attended)
    }

    /// A run that was started here.
    pub(crate) fn get(&self, run: RunId) -> Option<Arc<Attended>> {
        self.runs.lock().get(&run).cloned()
    }
}

impl Attended {
    /// What is known of a run before it begins.
    pub(crate) fn new(
        runtime: &Runtime,
        runnable: &Runnable,
        steps: Steps,
        cancel: CancellationToken,
    ) -> (Self, Ending) {
        let (ending, finished) = watch::channel(None);
        let Runnable { graph, tool, definitions } = runnable;
        let attended = Self {
            steps,
            definitions: definitions.clone(),
            nodes: reachable_nodes(graph, tool),
            questions: runtime.questions().filter(|_| tool.body.asks(graph)),
            cancel,
            finished,
        };
        (attended, ending)
    }

    /// How the run ended, once it has.
    pub(crate) async fn finished(&self) -> Option<Finished> {
        self.finished.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Whether it has.
    pub(crate) fn has_ended(&self) -> bool {
        self.finished.borrow().is_some()
    }
}
