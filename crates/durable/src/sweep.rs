//! Hands runs back to DBOS that nobody executes any more. All else is the affair of DBOS.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dbos::sysdb::types::{WorkflowFilter, WorkflowStatus};
use dbos::sysdb::{INTERNAL_QUEUE, SystemDatabase};
use mcpgraph_journal::{Journal, RunId};
use tokio_util::sync::CancellationToken;

use crate::dbos::{Inner, unusable};
use crate::{DurableError, Stopped};

/// How often it is looked for runs that nobody executes.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Sweeps until the engine is closed.
pub(crate) async fn sweep(engine: Weak<Inner>, closing: CancellationToken) {
    let mut suspects = HashSet::new();
    loop {
        tokio::select! {
            () = tokio::time::sleep(SWEEP_EVERY) => {}
            () = closing.cancelled() => return,
        }
        let Some(engine) = engine.upgrade() else { return };
        if let Err(error) = engine.hand_over().await {
            tracing::debug!(%error, "runs of processes that are gone could not be handed over");
        }
        match engine.look_after_own(suspects).await {
            Ok(next) => suspects = next,
            Err(error) => {
                tracing::debug!(%error, "the runs of this process could not be looked after");
                suspects = HashSet::new();
            }
        }
    }
}

impl Inner {
    /// Hands back the runs of processes that are gone. Doing it twice changes nothing, so that it
    /// does not matter how many processes do, or whether one of them dies meanwhile.
    async fn hand_over(self: &Arc<Self>) -> Result<(), DurableError> {
        let Some(database) = self.database() else { return Ok(()) };
        let gone = self.with_journal(Journal::gone_writers).await?;
        if gone.is_empty() {
            return Ok(());
        }
        if gone.iter().any(|name| **name == **self.journal.name()) {
            self.stop_all().await;
        }
        let names: Vec<&str> = gone.iter().map(String::as_str).collect();
        let filter = WorkflowFilter {
            executor_ids: names.clone(),
            status: vec![WorkflowStatus::Pending],
            load_input: false,
            load_output: false,
            ..WorkflowFilter::default()
        };
        let left = database.list_workflows(&filter, None).await.map_err(unusable)?;
        // Also those of processes that served something else: it is the queue that gives a run to
        // the right ones, and these may look when this one has forgotten who is gone.
        let versions: BTreeSet<&str> =
            left.iter().filter_map(|run| run.application_version.as_deref()).collect();
        for version in versions {
            let moved = database.reenqueue_for_recovery(&names, version, INTERNAL_QUEUE).await;
            let moved = moved.map_err(unusable)?;
            tracing::info!(
                runs = moved.len(),
                "the durable runs of a process that is gone are handed over"
            );
        }
        Ok(self.with_journal(move |journal| journal.forget_writers(&gone)).await?)
    }

    /// The others have given this process up: it executes nothing until they know of it again.
    async fn stop_all(&self) {
        self.executions.stop_all(&Stopped::Elsewhere);
        while !self.executions.runs().is_empty() && !self.closing.is_cancelled() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Hands back runs that are this process's own and that it does not execute, as after a failure
    /// of the database; those that were so before, because a run may be about to begin. Stops those
    /// that somebody cancelled on another process.
    async fn look_after_own(
        &self,
        suspects: HashSet<RunId>,
    ) -> Result<HashSet<RunId>, DurableError> {
        let Some(database) = self.database() else { return Ok(suspects) };
        let before = self.executions.runs();
        let name = Arc::clone(self.journal.name());
        let filter = WorkflowFilter {
            executor_ids: vec![&name],
            status: vec![WorkflowStatus::Pending],
            load_input: false,
            load_output: false,
            ..WorkflowFilter::default()
        };
        let pending = database.list_workflows(&filter, None).await.map_err(unusable)?;
        let pending: HashSet<RunId> =
            pending.iter().filter_map(|found| found.workflow_id.parse().ok()).collect();
        for run in before.iter().filter(|run| !pending.contains(run)) {
            let found = database.get_workflow(&run.to_string()).await.map_err(unusable)?;
            if found.is_some_and(|found| found.status == WorkflowStatus::Cancelled) {
                self.executions.stop(*run, Stopped::Cancelled);
            }
        }
        let orphans = pending
            .into_iter()
            .filter(|run| !self.executions.contains(*run) && !self.refused.contains(*run));
        let (mut again, new): (HashSet<RunId>, HashSet<RunId>) =
            orphans.partition(|run| suspects.contains(run));
        for run in again.clone() {
            // What this process kept last of a run that was taken over makes it look like its own.
            if self.with_journal(move |journal| journal.is_held_elsewhere(run)).await? {
                again.remove(&run);
            }
        }
        if !again.is_empty() {
            tracing::info!(runs = again.len(), "durable runs that nobody executed go on");
            let ids: Vec<String> = again.iter().map(ToString::to_string).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            database.resume_workflows(&ids, None, None).await.map_err(unusable)?;
        }
        Ok(new)
    }
}
