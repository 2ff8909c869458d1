//! Ends a durable run from beside the process that executes it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_durable::Dbos;
use mcpgraph_journal::{Journal, RunId, RunStatus};
use mcpgraph_runtime::DurableError;
use mcpgraph_value::{Map, Value};

use super::super::args::HistoryArgs;
use super::super::args::runs::StopArgs;
use super::super::{Threads, block_on};
use super::{Exit, Runs, failed, output, print};
use crate::durable::Identity;

/// How long the process that executes the run may take to say in the record that it was stopped. It
/// looks once a second.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the record is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Stops a run, and says what became of it.
pub(super) fn stop(
    args: &StopArgs,
    runs: Runs,
    history: &HistoryArgs,
    json: bool,
) -> anyhow::Result<Exit> {
    let run = runs.find(&args.id)?.id;
    let journal = Arc::new(runs.journal);
    let status = block_on(Threads::One, async {
        match stopped(&journal, history, run).await {
            Ok(true) => came_to(&journal, run).await,
            Ok(false) => Err(has_ended(run)),
            Err(DurableError::Unknown(_)) => Err(match journal.run(run)?.map(|run| run.status) {
                Some(RunStatus::Running) => failed(format!(
                    "run {run} is not durable: only the process that executes it can stop it; \
                     over HTTP, POST to /api/runs/{run}/stop there"
                )),
                _ => has_ended(run),
            }),
            Err(error) => Err(error.into()),
        }
    })?;
    if json {
        let told = [("run", Value::from(run.to_string())), ("status", status.name().into())];
        print(&Map::from_iter(told).into())?;
    } else {
        output::say(&match status {
            RunStatus::Interrupted => {
                format!("no process executes run {run}, and none will go on with it\n")
            }
            RunStatus::Running => format!("run {run} is told to end, and has not done so yet\n"),
            ended => format!("run {run} has ended: {}\n", ended.name()),
        });
    }
    Ok(Exit::Success)
}

/// Ends the run for whoever executes it or will; false if it has ended before.
async fn stopped(
    journal: &Arc<Journal>,
    history: &HistoryArgs,
    run: RunId,
) -> Result<bool, DurableError> {
    let Some(url) = &history.store else {
        // Nothing is executed here, so that it does not matter what is served.
        return history.durable(Some(journal), &Identity::new("", None)).stop(run).await;
    };
    let goes_on = journal.goes_on(run);
    if !goes_on.map_err(|error| DurableError::Unusable(error.to_string()))? {
        return Err(DurableError::Unknown(run));
    }
    Dbos::stop_beside(url, run).await
}

fn has_ended(run: RunId) -> anyhow::Error {
    failed(format!("run {run} has ended; `mcpgraph runs show {run}` says what it came to"))
}

/// What the record says of a run that was stopped, once that is its end.
async fn came_to(journal: &Journal, run: RunId) -> anyhow::Result<RunStatus> {
    let began = Instant::now();
    loop {
        let status = journal.run(run)?.map_or(RunStatus::Interrupted, |run| run.status);
        if status != RunStatus::Running || began.elapsed() > PATIENCE {
            return Ok(status);
        }
        tokio::time::sleep(LOOK).await;
    }
}
