//! Runs that outlive the requests that began them: a person may be asked on the way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, RunError};
use mcpgraph_journal::{Journal, JournalError, Question, RunId, RunStatus};
use mcpgraph_runtime::{DurableError, Execution, Finished, Questions, Runtime};
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Offer;

/// How long it is remembered here what a run came to; afterwards the store knows.
const REMEMBERED: Duration = Duration::from_mins(10);

/// How often the store is looked at when nobody tells of a change.
const LOOK: Duration = Duration::from_secs(1);

/// How long a new run is waited for to be in the store.
const FIRST_COMMIT: Duration = Duration::from_secs(5);

/// How many runs may go on by themselves in one process; a call that would be one more is refused.
pub(crate) const MAX_RUNS: usize = 10_000;

/// The runs of this process that go on by themselves.
#[derive(Clone, Default)]
pub(crate) struct Apart(Arc<Mutex<HashMap<RunId, Going>>>);

struct Going {
    cancel: CancellationToken,
    finished: watch::Receiver<Option<Arc<Finished>>>,
}

/// What a run comes to next.
pub(crate) enum Next {
    /// It asks: what waits for an answer, the oldest first.
    Asked(Vec<Question>),
    /// It has ended.
    Finished(Arc<Finished>),
}

impl Apart {
    /// Whether another run may begin.
    pub(crate) fn has_room(&self) -> bool {
        self.0.lock().len() < MAX_RUNS
    }

    /// Lets a run go on by itself.
    pub(crate) fn begin(&self, offer: Arc<Offer>, mut execution: Execution) {
        let (id, cancel) = (execution.id, CancellationToken::new());
        execution.cancel = cancel.clone();
        let (done, finished) = watch::channel(None);
        self.0.lock().insert(id, Going { cancel, finished });
        let apart = self.clone();
        tokio::spawn(async move {
            let finished = offer.runtime().execute(execution).await;
            done.send_replace(Some(Arc::new(finished)));
            tokio::time::sleep(REMEMBERED).await;
            apart.0.lock().remove(&id);
        });
    }

    /// Ends a run, wherever it is executed.
    pub(crate) async fn cancel(&self, runtime: &Runtime, run: RunId) {
        let here = self.0.lock().get(&run).map(|going| going.cancel.clone());
        match (here, runtime.durable()) {
            (Some(cancel), _) => cancel.cancel(),
            (None, Some(durable)) => durable.cancel(run).await,
            (None, None) => {}
        }
    }

    /// What a run comes to next, wherever it is executed. A question that waits comes first.
    pub(crate) async fn next(
        &self,
        runtime: &Runtime,
        questions: &Questions,
        run: RunId,
    ) -> Result<Next, JournalError> {
        let mut follower = questions.journal().follow(Some(run));
        let mut here = self.0.lock().get(&run).map(|going| going.finished.clone());
        loop {
            if let Some(next) = self.look(runtime, questions, run).await? {
                return Ok(next);
            }
            let ended = async {
                match &mut here {
                    // The sender lives until it has been remembered for long enough.
                    Some(here) => drop(here.changed().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = ended => {}
                _ = follower.changed() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// What a run has come to, or asks; none while it is busy.
    pub(crate) async fn look(
        &self,
        runtime: &Runtime,
        questions: &Questions,
        run: RunId,
    ) -> Result<Option<Next>, JournalError> {
        let here = self.0.lock().get(&run).map(|going| going.finished.clone());
        if let Some(finished) = here.as_ref().and_then(|here| here.borrow().clone()) {
            return Ok(Some(Next::Finished(finished)));
        }
        let pending = questions.pending(Some(run)).await?;
        if !pending.is_empty() {
            return Ok(Some(Next::Asked(pending)));
        }
        if here.is_some() {
            return Ok(None);
        }
        if let Some(durable) = runtime.durable() {
            match durable.look(run).await {
                Ok(finished) => return Ok(finished.map(|ended| Next::Finished(Arc::new(ended)))),
                // It is not durable; what it came to is in its record.
                Err(DurableError::Unknown(_)) => {}
                Err(error) => {
                    tracing::debug!(%run, %error, "it cannot be seen how a run stands");
                    return Ok(None);
                }
            }
        }
        let journal = Arc::clone(questions.journal());
        let read = tokio::task::spawn_blocking(move || outcome(&journal, run)).await;
        let outcome = read.unwrap_or_else(|error| Err(JournalError::Damaged(error.to_string())))?;
        let finished = |outcome| Finished { run, outcome, failed: None, place: None };
        Ok(outcome.map(|outcome| Next::Finished(Arc::new(finished(outcome)))))
    }

    /// Waits until a new run is in the store, where others find it, but not for ever.
    pub(crate) async fn in_store(&self, questions: &Questions, run: RunId) {
        let mut follower = questions.journal().follow(Some(run));
        let journal = Arc::clone(questions.journal());
        let there = async move {
            loop {
                let journal = Arc::clone(&journal);
                let read = tokio::task::spawn_blocking(move || journal.run(run)).await;
                if matches!(read, Ok(Ok(Some(_)))) {
                    return;
                }
                drop(tokio::time::timeout(LOOK, follower.changed()).await);
            }
        };
        drop(tokio::time::timeout(FIRST_COMMIT, there).await);
    }
}

/// What the store says a run came to; none while it is executed.
fn outcome(
    journal: &Journal,
    run: RunId,
) -> Result<Option<Result<mcpgraph_value::Value, RunError>>, JournalError> {
    let summary = journal.run(run)?.ok_or_else(|| JournalError::NoRun(run.to_string()))?;
    match summary.status {
        RunStatus::Running => Ok(None),
        RunStatus::Interrupted => {
            let message = "the process that executed the run has ended; call the tool again";
            Ok(Some(Err(RunError::new(ErrorKind::Internal, message))))
        }
        RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled => {
            match journal.whole_events(run, summary.digest)?.pop() {
                Some(Event::Finished { outcome, .. }) => Ok(Some(outcome)),
                _ => Err(JournalError::Damaged(format!("run {run} has no end"))),
            }
        }
    }
}
