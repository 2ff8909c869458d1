use std::collections::HashMap;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use mcpgraph_engine::{LogLevel, Outcome, StepId, TaskId};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::Said;

/// What is under way for a run. Dropping it stops all of it.
#[derive(Default)]
pub(crate) struct Work<'a> {
    pub(crate) running: FuturesUnordered<BoxFuture<'a, (TaskId, Option<Outcome>)>>,
    stops: HashMap<TaskId, DropGuard>,
    /// What calls say, for the steps that made them.
    said: HashMap<TaskId, (StepId, Said)>,
}

impl<'a> Work<'a> {
    /// Begins something; it is given the token that stops it.
    pub(crate) fn add<W>(&mut self, task: TaskId, begin: impl FnOnce(CancellationToken) -> W)
    where
        W: Future<Output = Outcome> + Send + 'a,
    {
        let stop = CancellationToken::new();
        self.stops.insert(task, stop.clone().drop_guard());
        let work = begin(stop.clone());
        self.running.push(
            async move {
                tokio::select! {
                    biased;
                    // It is looked at once more when it is stopped, and must not answer then.
                    outcome = work => (task, (!stop.is_cancelled()).then_some(outcome)),
                    () = stop.cancelled() => (task, None),
                }
            }
            .boxed(),
        );
    }

    /// Listens to what a call says.
    pub(crate) fn listen(&mut self, task: TaskId, step: StepId) -> Said {
        let said = Said::default();
        self.said.insert(task, (step, said.clone()));
        said
    }

    /// What a call has said since it was last asked.
    pub(crate) fn heard(&self, task: TaskId) -> Vec<(StepId, LogLevel, Arc<str>)> {
        let Some((step, said)) = self.said.get(&task) else { return Vec::new() };
        said.take().into_iter().map(|(level, line)| (*step, level, line)).collect()
    }

    /// Stops what is under way under this name; nothing if nothing is.
    pub(crate) fn stop(&mut self, task: TaskId) {
        self.said.remove(&task);
        drop(self.stops.remove(&task));
    }
}
