//! Recorded runs: listed, looked at, gone on from.

use std::sync::Arc;

use mcpgraph_diagnostics::codes;
use mcpgraph_engine::StepId;
use mcpgraph_journal::{
    Filter, Journal, JournalError, Origin, Parent, Payload, RunId, RunStatus, RunSummary,
    StepRecord, StoredEvent, compare,
};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{Execution, RecallError, Recalled, Recorded, Runtime};
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::asking::executed;
use crate::changed::{changes_of, outputs_changed};
use crate::expressions;
use crate::run::{Runnable, effects, runnable, saved};
use crate::toolkit::Toolkit;

/// How many runs are listed if the caller does not say.
const DEFAULT_RUNS: u64 = 20;

/// How many steps of a run are shown if the caller does not say.
const DEFAULT_STEPS: u64 = 200;

/// `listRuns`.
pub(crate) async fn list(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let filter = Filter {
        tool: arguments.text("toolName").map(str::to_owned),
        status: arguments.text("status").and_then(RunStatus::from_name),
        text: arguments.text("text").map(str::to_owned),
        limit: usize::try_from(arguments.number("limit").unwrap_or(DEFAULT_RUNS)).unwrap_or(1),
        before: arguments.text("before").map(parse).transpose()?,
        ..Filter::default()
    };
    read(toolkit, move |journal| {
        let listing = journal.list(&filter).map_err(|error| explain(&error))?;
        let items: Vec<_> = listing.runs.iter().map(|run| json!(run.to_value())).collect();
        let mut answer = json!({ "items": items });
        if let Some(next) = listing.next {
            answer["next"] = next.to_string().into();
        }
        Ok(answer)
    })
    .await
}

/// `getRun`.
pub(crate) async fn get(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let id = arguments.required("runId").to_owned();
    let step = arguments.number("step");
    let from = arguments.number("from").unwrap_or(0);
    let limit = arguments.number("limit").unwrap_or(DEFAULT_STEPS);
    read(toolkit, move |journal| {
        let run = find(journal, &id)?;
        let explain = |error| explain(&error);
        if let Some(step) = step {
            let record = journal.step(run.id, step).map_err(explain)?;
            let context = journal.context_at(run.id, step).map_err(explain)?;
            let steps = told(journal, run.id, &[record]).map_err(explain)?;
            return Ok(json!({
                "run": run.to_value(),
                "steps": steps,
                "context": context,
            }));
        }
        let last = run.steps.min(from.saturating_add(limit));
        let steps = (from..last).map(|step| journal.step(run.id, step));
        let steps = steps.collect::<Result<Vec<_>, JournalError>>().map_err(explain)?;
        let steps = told(journal, run.id, &steps).map_err(explain)?;
        let mut answer = json!({ "run": run.to_value(), "steps": steps });
        let changes = changes_of(journal, &run).map_err(explain)?;
        if !changes.is_empty() {
            answer["changes"] = changes.into();
        }
        if run.status == RunStatus::Running {
            let asked = journal.pending_questions(Some(run.id)).map_err(explain)?;
            let asked: Vec<_> = asked.iter().map(|question| json!(question.to_value())).collect();
            answer["questions"] = asked.into();
        }
        if last < run.steps {
            answer["next"] = last.into();
        }
        Ok(answer)
    })
    .await
}

/// Steps of a run as they are told: with `changedTo` where somebody changed their output.
fn told(
    journal: &Journal,
    run: RunId,
    steps: &[StepRecord],
) -> Result<Vec<serde_json::Value>, JournalError> {
    let Some(first) = steps.first() else { return Ok(Vec::new()) };
    let mut changed = outputs_changed(journal, run, first.began_seq)?;
    let told = steps.iter().map(|step| {
        let mut told = json!(step.to_value());
        if let Some(output) = changed.remove(&step.step) {
            told["changedTo"] = json!(output);
        }
        told
    });
    Ok(told.collect())
}

/// `rerunGraphTool`.
pub(crate) async fn rerun(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let id = arguments.required("runId").to_owned();
    let parent = read(toolkit, move |journal| find(journal, &id)).await?;
    let from = arguments.number("from").unwrap_or(0);
    let changes: Vec<(Arc<str>, Value)> = match arguments.object("changes") {
        Value::Object(members) => {
            members.iter().map(|(node, output)| (Arc::clone(node), output.clone())).collect()
        }
        _ => Vec::new(),
    };
    let given = arguments.get("arguments").cloned();
    if given.is_some() && (from > 0 || !changes.is_empty()) {
        let message = "other `arguments` begin the run anew: leave out `from` and `changes`";
        return Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message));
    }
    let is_recorded = arguments.flag("recorded");
    let runnable = if is_recorded {
        recorded(toolkit, &parent).await?
    } else {
        saved(toolkit, &parent.tool).await.map_err(|failure| {
            failure.with("suggestion", "`recorded: true` runs the version that was recorded")
        })?
    };
    let origin = Origin { parent: Some(Parent { run: parent.id, from }), ..Origin::default() };
    let begun = |input| Execution { origin, ..runnable.execution(input) };
    let logs = arguments.flag("logging");
    if from == 0 && changes.is_empty() {
        let (input, is_masked) = match given {
            Some(input) => (input, false),
            None => read(toolkit, move |journal| recorded_input(journal, parent.id)).await?,
        };
        let run =
            |runtime: Arc<Runtime>, execution| async move { runtime.execute(execution).await };
        let mut answer = executed(toolkit, call, (&runnable, begun(input)), logs, run).await?;
        answer["masked"] = is_masked.into();
        return Ok(answer);
    }
    let recalled = recall(toolkit, &runnable, parent, is_recorded, from, changes).await?;
    let ahead = effects(&recalled.fork.effects_ahead());
    let fork = recalled.fork;
    let run = |runtime: Arc<Runtime>, execution| async move {
        runtime.execute_fork(fork, execution).await
    };
    // The arguments are those of the record.
    let execution = begun(Value::Null);
    let mut answer = executed(toolkit, call, (&runnable, execution), logs, run).await?;
    answer["mayHaveCalled"] = ahead.into();
    answer["masked"] = recalled.is_masked.into();
    if let Some(note) = recalled.note {
        answer["note"] = note.into();
    }
    Ok(answer)
}

/// The version of a run's tool that was recorded.
async fn recorded(toolkit: &Toolkit, run: &RunSummary) -> Result<Runnable, Failure> {
    let (tool, run) = (Arc::clone(&run.tool), run.clone());
    let text =
        read(toolkit, move |journal| journal.definition_of(&run).map_err(|error| explain(&error)));
    let text = text.await?.ok_or_else(|| {
        Failure::new(codes::TOOLKIT_NO_RECORD, "the definition of that run was not kept")
    })?;
    let loaded = toolkit.off_thread(move |documents| Ok(documents.with_text(&text))).await?;
    toolkit.serve(&loaded);
    runnable(loaded, &tool)
}

/// Follows a record up to a step, where blocking is no harm.
async fn recall(
    toolkit: &Toolkit,
    runnable: &Runnable,
    parent: RunSummary,
    is_recorded: bool,
    from: StepId,
    changes: Vec<(Arc<str>, Value)>,
) -> Result<Recalled, Failure> {
    let runtime = Arc::clone(&toolkit.runtime);
    let (graph, tool) = (Arc::clone(&runnable.graph), Arc::clone(&runnable.tool));
    read(toolkit, move |journal| {
        let recorded = Recorded { journal, run: &parent, graph: &graph, tool: &tool, is_recorded };
        runtime
            .recall(&recorded, from, changes)
            .map_err(|error| not_recalled(&error, &parent, from))
    })
    .await
}

fn not_recalled(error: &RecallError, run: &RunSummary, from: StepId) -> Failure {
    let message = format!("{error} (run {}, step {from})", run.id);
    let failure = Failure::new(codes::TOOLKIT_NOT_CONTINUED, message);
    match error {
        RecallError::Record(JournalError::Missing(missing)) => {
            let failure = Failure::new(codes::TOOLKIT_NO_RECORD, missing.to_string());
            match missing.way_on("in `changes`") {
                Some(way) => failure.with("suggestion", way),
                None => failure,
            }
        }
        RecallError::Record(error) => explain(error),
        RecallError::Diverged(report) => failure.with("divergence", json!(report.to_value())).with(
            "suggestion",
            "the tool was changed since: go on from an earlier step, or on the version that \
                 was recorded, with `recorded: true`",
        ),
        RecallError::NoStep(_) => failure.with("steps", run.steps),
        RecallError::NotChanged(_) => {
            failure.with("suggestion", "`getRun` lists the nodes that had run before that step")
        }
    }
}

/// The arguments of a recorded run, and whether something of them was masked.
fn recorded_input(journal: &Journal, run: RunId) -> Result<(Value, bool), Failure> {
    let events = journal.events(run, 0, 1).map_err(|error| explain(&error))?;
    match events.into_iter().next() {
        Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => {
            let is_masked = compare::is_masked(&input);
            Ok((input, is_masked))
        }
        _ => {
            let message = "the arguments of that run were not kept whole";
            Err(Failure::new(codes::TOOLKIT_NO_RECORD, message)
                .with("suggestion", "give `arguments`"))
        }
    }
}

fn find(journal: &Journal, id: &str) -> Result<RunSummary, Failure> {
    let found = journal.resolve(id).and_then(|id| journal.run(id));
    let found = found.map_err(|error| explain(&error))?;
    found.ok_or_else(|| no_run(format!("there is no run `{id}`")))
}

const LISTS: &str = "`listRuns` lists those that are";

pub(crate) fn explain(error: &JournalError) -> Failure {
    match error {
        JournalError::NoRun(_) | JournalError::NotAnId(_) => no_run(error.to_string()),
        _ => Failure::new(codes::TOOLKIT_NO_RECORD, error.to_string()),
    }
}

fn no_run(message: String) -> Failure {
    Failure::new(codes::TOOLKIT_NO_RECORD, message).with("suggestion", LISTS)
}

pub(crate) fn parse(id: &str) -> Result<RunId, Failure> {
    id.parse().map_err(|_| no_run(format!("`{id}` is no id of a run")))
}

/// The failure of what needs the record where there is none.
pub(crate) fn not_recorded() -> Failure {
    Failure::new(codes::TOOLKIT_NO_RECORD, "runs are not recorded")
        .with("suggestion", "start the toolkit without --no-history")
}

/// Reads the record where blocking is no harm.
async fn read<T: Send + 'static>(
    toolkit: &Toolkit,
    work: impl FnOnce(&Journal) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let journal = toolkit.instruments.journal.clone();
    let journal = journal.ok_or_else(not_recorded)?;
    expressions::off_thread(move |_| work(&journal)).await
}
