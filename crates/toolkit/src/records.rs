//! Recorded runs: listed, looked at, gone on from.

use std::sync::Arc;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_gateway::attend;
use mcpgraph_journal::{
    Filter, Journal, JournalError, Origin, Parent, Payload, RunId, RunStatus, RunSummary,
    StoredEvent,
};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{Execution, ForkError, Record};
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::expressions;
use crate::run::{effects, saved, told};
use crate::steps::Steps;
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
            return Ok(json!({
                "run": run.to_value(),
                "steps": [record.to_value()],
                "context": context,
            }));
        }
        let last = run.steps.min(from.saturating_add(limit));
        let steps = (from..last).map(|step| Ok(json!(journal.step(run.id, step)?.to_value())));
        let steps = steps.collect::<Result<Vec<_>, JournalError>>().map_err(explain)?;
        let mut answer = json!({ "run": run.to_value(), "steps": steps });
        if last < run.steps {
            answer["next"] = last.into();
        }
        Ok(answer)
    })
    .await
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
        return Err(Failure::new(
            "other `arguments` begin the run anew: leave out `from` and `changes`",
        ));
    }
    let runnable = saved(toolkit, &parent.tool).await?;
    let (graph, tool) = (&runnable.graph, &runnable.tool);
    let origin = Origin { parent: Some(Parent { run: parent.id, from }), ..Origin::default() };
    let steps = Steps::default();
    let runtime = &toolkit.runtime;
    let begun =
        |input| Execution { origin, ..Execution::new(Arc::clone(graph), Arc::clone(tool), input) };
    if from == 0 && changes.is_empty() {
        let input = match given {
            Some(input) => input,
            None => read(toolkit, move |journal| recorded_input(journal, parent.id)).await?,
        };
        let run = |execution| runtime.execute(execution);
        let finished = attend(call, begun(input), Some(steps.watch()), run).await;
        return told(&finished, &steps, &runnable.definitions, arguments.flag("logging"));
    }
    let digest = tool.digest;
    let run = parent.id;
    let events = read(toolkit, move |journal| {
        journal.whole_events(run, digest).map_err(|error| explain(&error))
    })
    .await?;
    let fork = {
        let record = Record {
            graph: Arc::clone(graph),
            tool: Arc::clone(tool),
            events: &events,
            is_same: &Event::tells_the_same_as,
        };
        let forked = runtime.fork(&record, from, changes);
        forked.map_err(|error| not_forked(&error, &parent, from))?
    };
    let ahead = effects(&fork.effects_ahead());
    let run = |execution| runtime.execute_fork(fork, execution);
    // The arguments are those of the record.
    let finished = attend(call, begun(Value::Null), Some(steps.watch()), run).await;
    let mut answer = told(&finished, &steps, &runnable.definitions, arguments.flag("logging"))?;
    answer["mayHaveCalled"] = ahead.into();
    Ok(answer)
}

fn not_forked(error: &ForkError, run: &RunSummary, from: StepId) -> Failure {
    let failure = Failure::new(format!("{error} (run {}, step {from})", run.id));
    match error {
        ForkError::Diverged(_) => failure.with(
            "suggestion",
            "the tool was changed since, or the record has masked values; go on from an earlier step",
        ),
        ForkError::NoStep(_) => failure.with("steps", run.steps),
        ForkError::NotChanged(_) => failure
            .with("suggestion", "`getRun` lists the nodes that had run before that step"),
    }
}

fn recorded_input(journal: &Journal, run: RunId) -> Result<Value, Failure> {
    let events = journal.events(run, 0, 1).map_err(|error| explain(&error))?;
    match events.into_iter().next() {
        Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => Ok(input),
        _ => Err(Failure::new("the arguments of that run were not kept whole")
            .with("suggestion", "give `arguments`")),
    }
}

fn find(journal: &Journal, id: &str) -> Result<RunSummary, Failure> {
    let found = journal.resolve(id).and_then(|id| journal.run(id));
    let found = found.map_err(|error| explain(&error))?;
    found.ok_or_else(|| Failure::new(format!("there is no run `{id}`")).with("suggestion", LISTS))
}

const LISTS: &str = "`listRuns` lists those that are";

fn explain(error: &JournalError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        JournalError::NoRun(_) | JournalError::NotAnId(_) => failure.with("suggestion", LISTS),
        _ => failure,
    }
}

fn parse(id: &str) -> Result<RunId, Failure> {
    id.parse()
        .map_err(|_| Failure::new(format!("`{id}` is no id of a run")).with("suggestion", LISTS))
}

/// Reads the record where blocking is no harm.
async fn read<T: Send + 'static>(
    toolkit: &Toolkit,
    work: impl FnOnce(&Journal) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let journal = toolkit.instruments.journal.clone();
    let journal = journal.ok_or_else(|| Failure::new("runs are not recorded"))?;
    expressions::off_thread(move |_| work(&journal)).await
}
