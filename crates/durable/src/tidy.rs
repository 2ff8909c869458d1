//! Forgets what DBOS keeps of runs that have ended and whose records are gone, because somebody
//! removed them or they became too old. DBOS itself forgets nothing.

use std::sync::{Arc, Weak};
use std::time::Duration;

use dbos::sysdb::SystemDatabase;
use dbos::sysdb::types::{Timestamp, WorkflowFilter, WorkflowStatus};
use mcpgraph_journal::RunId;
use tokio_util::sync::CancellationToken;

use crate::DurableError;
use crate::dbos::{Inner, unusable};

/// How often it is looked for what can be forgotten.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// How many runs are looked at at once, and how long others may use the database in between.
const AT_ONCE: u32 = 200;
const BETWEEN: Duration = Duration::from_millis(200);

/// How long what a run came to can be asked for even if there is no record of it, as after a run
/// that was cancelled before it began.
const ASKED_FOR: Duration = Duration::from_mins(10);

/// The number of tidying up among what processes do alone.
const TIDYING: i64 = 0x7469_6479;

/// How runs end.
const ENDED: [WorkflowStatus; 4] = [
    WorkflowStatus::Success,
    WorkflowStatus::Error,
    WorkflowStatus::Cancelled,
    WorkflowStatus::MaxRecoveryAttemptsExceeded,
];

/// Tidies up until the engine is closed.
pub(crate) async fn tidy(engine: Weak<Inner>, closing: CancellationToken) {
    loop {
        let Some(inner) = engine.upgrade() else { return };
        if let Err(error) = inner.tidy_up().await {
            tracing::debug!(%error, "durable runs that have ended could not be forgotten");
        }
        drop(inner);
        tokio::select! {
            () = tokio::time::sleep(TIDY_EVERY) => {}
            () = closing.cancelled() => return,
        }
    }
}

impl Inner {
    /// Goes through all runs that have ended, unless another process does.
    async fn tidy_up(self: &Arc<Self>) -> Result<(), DurableError> {
        let Some(database) = self.database_soon().await else { return Ok(()) };
        let Some(_alone) = self.with_journal(|journal| journal.alone(TIDYING)).await? else {
            return Ok(());
        };
        let before = Timestamp::now().as_epoch_ms() - ASKED_FOR.as_millis() as i64;
        let before = Timestamp::from_epoch_ms(before);
        let mut after = None;
        while !self.closing.is_cancelled() {
            let filter = WorkflowFilter {
                status: ENDED.to_vec(),
                created_after: after,
                completed_before: Some(before),
                limit: Some(i64::from(AT_ONCE)),
                load_input: false,
                load_output: false,
                ..WorkflowFilter::default()
            };
            let ended = database.list_workflows(&filter, None).await.map_err(unusable)?;
            let runs = ended.iter().filter_map(|ended| ended.workflow_id.parse().ok()).collect();
            self.forget(runs).await?;
            let Some(last) = ended.last().filter(|_| ended.len() == AT_ONCE as usize) else {
                break;
            };
            // The next ones begin with the last of these, unless all began in one millisecond.
            after = Some(if after == Some(last.created_at) {
                Timestamp::from_epoch_ms(last.created_at.as_epoch_ms() + 1)
            } else {
                last.created_at
            });
            tokio::time::sleep(BETWEEN).await;
        }
        Ok(())
    }

    /// Forgets those of these runs that have no record.
    async fn forget(&self, runs: Vec<RunId>) -> Result<(), DurableError> {
        let Some(database) = self.database() else { return Ok(()) };
        let gone = self.with_journal(move |journal| journal.without_record(runs)).await?;
        if gone.is_empty() {
            return Ok(());
        }
        let ids: Vec<String> = gone.iter().map(ToString::to_string).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let forgotten = database.delete_workflows(&ids, false, None).await.map_err(unusable)?;
        tracing::debug!(runs = forgotten, "durable runs without a record were forgotten");
        Ok(())
    }
}
