use mcpgraph_journal::{Filter, JournalError, Removed, RunId, RunStatus};
use mcpgraph_value::Map;

use super::super::args::runs::RemoveArgs;
use super::text::count;
use super::{Exit, Runs, failed, output, print, usage};

/// How many runs are looked up at a time.
const PAGE: usize = 1000;

/// Forgets runs and says how many.
pub(super) fn remove(args: &RemoveArgs, runs: &Runs, json: bool) -> anyhow::Result<Exit> {
    if args.ids.is_empty() && args.older_than.is_none() {
        let ways = "`mcpgraph runs rm ID…`, or all that began before: `--older-than 7d`";
        return Err(usage(format!("say which runs to forget: {ways}")));
    }
    let done = match args.older_than {
        Some(when) => {
            let until = Some(when.moment());
            let ids = ended(runs, Filter { until, limit: PAGE, ..Filter::default() })?;
            runs.journal.remove_ended(&ids).map_err(explained)?
        }
        None => {
            let ids = args.ids.iter().map(|id| runs.find(id).map(|run| run.id));
            let ids: Vec<RunId> = ids.collect::<anyhow::Result<_>>()?;
            let removed = runs.journal.remove(&ids).map_err(|error| match error {
                JournalError::StillRunning(_) => failed(format!("{error}; stop it first")),
                JournalError::GoesOn(run) => {
                    failed(format!("{error}; stop it first with `mcpgraph runs stop {run}`"))
                }
                other => explained(other),
            })?;
            Removed { removed, ..Removed::default() }
        }
    };
    if json {
        let mut document = Map::from_iter([("removed", done.removed as u64)]);
        if done.going_on > 0 {
            document.insert("goingOn", done.going_on as u64);
        }
        print(&document.into())?;
        return Ok(Exit::Success);
    }
    output::say(&format!("removed {}\n", count(done.removed, "run")));
    if done.going_on > 0 {
        output::say(&format!(
            "left {} that will go on when a server that serves them starts; `mcpgraph runs stop` \
             ends one\n",
            count(done.going_on, "durable run")
        ));
    }
    Ok(Exit::Success)
}

/// Where there is no room, whoever wants to make some hears what is in the way.
fn explained(error: JournalError) -> anyhow::Error {
    match error {
        JournalError::Database(full) if full.is_full() => anyhow::anyhow!(
            "{full}: forgetting runs needs some room, too, because a change is written beside the \
             file before it is made; free a few MiB on that disk first, or forget fewer runs at a \
             time"
        ),
        other => other.into(),
    }
}

/// The runs a filter wants, without those that are being executed.
fn ended(runs: &Runs, mut filter: Filter) -> anyhow::Result<Vec<RunId>> {
    let mut ids = Vec::new();
    loop {
        let page = runs.journal.list(&filter)?;
        let ended = page.runs.iter().filter(|run| run.status != RunStatus::Running);
        ids.extend(ended.map(|run| run.id));
        filter.before = page.next;
        if filter.before.is_none() {
            return Ok(ids);
        }
    }
}
