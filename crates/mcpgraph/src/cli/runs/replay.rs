use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_diagnostics::printable;
use mcpgraph_engine::{ErrorKind, Event, RunError};
use mcpgraph_journal::{Calls, DivergenceReport, Parent, RunStatus, RunSummary, compare};
use mcpgraph_runtime::{EffectCall, Effects, Record, Runtime};
use mcpgraph_value::{Map, Value};

use super::super::args::runs::ReplayArgs;
use super::super::draw;
use super::nature::Nature;
use super::text::count;
use super::{Exit, Runs, failed, output, print, version};
use crate::load::Servers;

/// Does a run again with recorded outputs in the place of upstream calls.
pub(super) fn replay(args: &ReplayArgs, runs: &Runs, json: bool) -> anyhow::Result<Exit> {
    let run = runs.find(&args.id)?;
    // A workflow happens again without what it was put around; the record has that.
    let nature = runs.nature(&run)?;
    if let Some(why) = nature.objection(&run).filter(|_| nature != Nature::Workflow) {
        return Err(failed(format!("run {} cannot be replayed: {why}", run.id)));
    }
    let loaded = if args.files.graph.is_some() {
        version::without_servers(&args.files)?
    } else {
        version::recorded(runs, &run, Servers::Unused)?
    };
    let Some(graph) = loaded.graph else { return Ok(Exit::of(&loaded.diagnostics)) };
    let tool = draw::find(&graph, &run.tool)?;
    let events = runs.record(&run, &tool)?;
    let calls = if args.files.graph.is_some() {
        runs.journal.calls(&run, &events, &graph)?
    } else {
        Calls::same()
    };
    let is_same = |recorded: &Event, now: &Event| calls.is_same(recorded, now);
    let record = Record { graph, tool, events: &events, is_same: &is_same };
    let divergence = without_world().replay(&record).err();
    let report = divergence.map(|divergence| DivergenceReport::new(&divergence, &events, &calls));
    if json {
        print(&document(&run, &events, &calls, report.as_ref()))?;
    } else {
        output::data(&text(&run, &events, &calls, report.as_ref()))?;
    }
    Ok(if report.is_some() { Exit::Failure } else { Exit::Success })
}

fn document(
    run: &RunSummary,
    events: &[Event],
    calls: &Calls,
    report: Option<&DivergenceReport>,
) -> Value {
    let mut document = Map::new();
    document.insert("run", run.to_value());
    document.insert("same", report.is_none());
    document.insert("complete", is_complete(events));
    document.insert("masked", is_masked(events));
    document.insert("targetsCompared", calls.are_known());
    if let Some(note) = calls.note() {
        document.insert("note", note);
    }
    if let Some(report) = report {
        document.insert("divergence", report.to_value());
    }
    document.into()
}

fn text(
    run: &RunSummary,
    events: &[Event],
    calls: &Calls,
    report: Option<&DivergenceReport>,
) -> String {
    let mut parts = vec![match report {
        None => format!("same: {} happened again\n", count(events.len(), "event")),
        Some(report) => report.text(),
    }];
    if !is_complete(events) {
        let end = match &run.reached {
            Some(reached) => format!("step {} `{}`", reached.step, printable(&reached.node)),
            None => "its beginning".to_owned(),
        };
        let status = match run.status {
            RunStatus::Running => "is still being executed",
            _ => "was interrupted",
        };
        parts.push(format!("the record goes as far as {end}: the run {status}\n"));
    }
    parts.extend(calls.note().map(|note| note + "\n"));
    if let (Some(parent), Some(step)) =
        (&run.origin.parent, report.and_then(DivergenceReport::step))
        && step < parent.from
    {
        let Parent { run, from } = parent;
        parts.push(format!(
            "the steps before {from} were taken over from run {run}: what they made of the time of \
             day was computed when that one began\n"
        ));
    }
    if report.is_some() && is_masked(events) {
        parts.push(
            "the record has masked values, which expressions see as they are: a difference in what \
             was made of one may come from that\n"
                .to_owned(),
        );
    }
    parts.concat()
}

fn is_complete(events: &[Event]) -> bool {
    matches!(events.last(), Some(Event::Finished { .. }))
}

fn is_masked(events: &[Event]) -> bool {
    events.iter().any(compare::is_masked_event)
}

/// What follows records without calling anything.
pub(super) fn without_world() -> Runtime {
    Runtime::new(Arc::new(NoTools))
}

/// No tools at all: a replay takes outputs from the record.
struct NoTools;

#[async_trait]
impl Effects for NoTools {
    async fn call(&self, _: EffectCall) -> Result<Value, RunError> {
        Err(RunError::new(ErrorKind::Unavailable, "a replay calls nothing"))
    }
}
