//! Runs that outlive the requests that began them: a person may be asked on the way.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::codes;
use mcpgraph_engine::{ErrorKind, Event, RunError};
use mcpgraph_journal::{Journal, JournalError, Question, RunId, RunStatus};
use mcpgraph_mcp::message::{RpcError, code};
use mcpgraph_runtime::{DurableError, Execution, Finished, Questions, Runtime};
use parking_lot::Mutex;
use serde_json::json;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::Offer;

/// How long it is remembered here what a run came to; afterwards the store knows.
const REMEMBERED: Duration = Duration::from_mins(10);

/// How often the store is looked at when nobody tells of a change.
const LOOK: Duration = Duration::from_secs(1);

/// How long a new run is waited for to be in the store.
const FIRST_COMMIT: Duration = Duration::from_secs(5);

/// How soon it is looked again after a change of a run that another process executes: the store says
/// that it has ended a moment after it says what happened last.
const SOON: [Duration; 5] = [
    Duration::from_millis(10),
    Duration::from_millis(20),
    Duration::from_millis(40),
    Duration::from_millis(80),
    Duration::from_millis(100),
];

/// How many runs may go on by themselves in one process; a call that would be one more is refused.
const MAX_RUNS: usize = 10_000;

/// The runs of this process that go on by themselves.
#[derive(Clone, Default)]
pub(crate) struct Apart(Arc<Mutex<Known>>);

#[derive(Default)]
struct Known {
    /// Those that go on, and those that have ended and are remembered: both together [`MAX_RUNS`].
    runs: HashMap<RunId, Going>,
    /// Those that have ended, the one that did first in front.
    ended: VecDeque<RunId>,
}

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
    /// An error if no other run may begin.
    pub(crate) fn room(&self) -> Result<(), RpcError> {
        if self.0.lock().going() < MAX_RUNS {
            return Ok(());
        }
        let message = format!(
            "{MAX_RUNS} runs go on by themselves in this process, which is the limit; call again \
             when some have ended"
        );
        let data = json!({ "code": codes::TOO_MANY_APART.id() });
        Err(RpcError::new(code::UNAVAILABLE, message).with_data(&data))
    }

    /// Lets a run go on by itself.
    pub(crate) fn begin(&self, offer: Arc<Offer>, mut execution: Execution) {
        let (id, cancel) = (execution.id, CancellationToken::new());
        execution.cancel = cancel.clone();
        let (done, finished) = watch::channel(None);
        self.0.lock().begin(id, Going { cancel, finished });
        let apart = self.clone();
        tokio::spawn(async move {
            let finished = offer.runtime().execute(execution).await;
            done.send_replace(Some(Arc::new(finished)));
            apart.0.lock().ended.push_back(id);
            tokio::time::sleep(REMEMBERED).await;
            apart.0.lock().forget(id);
        });
    }

    /// Ends a run, wherever it is executed.
    pub(crate) async fn cancel(&self, runtime: &Runtime, run: RunId) {
        let here = self.0.lock().runs.get(&run).map(|going| going.cancel.clone());
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
        let mut here = self.finished(run);
        let mut soon = SOON.iter();
        loop {
            if let Some(next) = self.look(runtime, questions, run).await? {
                return Ok(next);
            }
            // Whoever executes it here tells of its end at once.
            let next = soon.next().filter(|_| here.is_none()).copied().unwrap_or(LOOK);
            let ended = async {
                match &mut here {
                    // The sender lives until it has been remembered for long enough.
                    Some(here) => drop(here.changed().await),
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = ended => {}
                _ = follower.changed() => soon = SOON.iter(),
                () = tokio::time::sleep(next) => {}
            }
        }
    }

    /// What a run of this process comes to; none if it is another's.
    fn finished(&self, run: RunId) -> Option<watch::Receiver<Option<Arc<Finished>>>> {
        self.0.lock().runs.get(&run).map(|going| going.finished.clone())
    }

    /// What a run has come to, or asks; none while it is busy.
    pub(crate) async fn look(
        &self,
        runtime: &Runtime,
        questions: &Questions,
        run: RunId,
    ) -> Result<Option<Next>, JournalError> {
        let here = self.finished(run);
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

impl Known {
    /// How many have not ended.
    fn going(&self) -> usize {
        self.runs.len() - self.ended.len()
    }

    fn begin(&mut self, run: RunId, going: Going) {
        if self.runs.len() >= MAX_RUNS
            && let Some(oldest) = self.ended.pop_front()
        {
            self.runs.remove(&oldest);
        }
        self.runs.insert(run, going);
    }

    /// A run has been remembered for long enough; others may have taken its place before.
    fn forget(&mut self, run: RunId) {
        if self.ended.front() == Some(&run) {
            self.ended.pop_front();
            self.runs.remove(&run);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn going() -> Going {
        Going { cancel: CancellationToken::new(), finished: watch::channel(None).1 }
    }

    /// What has ended is remembered, and makes room for what begins.
    #[test]
    fn runs_that_have_ended_take_no_room() {
        let apart = Apart::default();
        let runs: Vec<RunId> = (0..MAX_RUNS).map(|_| RunId::new()).collect();
        for run in &runs {
            assert!(apart.room().is_ok());
            apart.0.lock().begin(*run, going());
        }
        let full = apart.room().unwrap_err();
        assert_eq!(full.code, code::UNAVAILABLE);
        assert!(full.data.unwrap().get().contains("MG0437"));
        apart.0.lock().ended.extend([runs[1], runs[0]]);
        assert!(apart.room().is_ok() && apart.finished(runs[1]).is_some());
        // The one that ended first goes first, and is not missed when its time has come.
        let new = RunId::new();
        apart.0.lock().begin(new, going());
        assert!(apart.finished(runs[1]).is_none() && apart.finished(runs[0]).is_some());
        apart.0.lock().forget(runs[1]);
        apart.0.lock().forget(runs[0]);
        assert!(apart.finished(runs[0]).is_none() && apart.finished(new).is_some());
        assert_eq!(apart.0.lock().going(), MAX_RUNS - 1);
    }
}
