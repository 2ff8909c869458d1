use std::collections::BTreeSet;
use std::io::{IsTerminal as _, stdin};
use std::sync::Arc;

use mcpgraph_diagnostics::printable;
use mcpgraph_engine::{Given, Run};
use mcpgraph_graph::Target;
use mcpgraph_journal::{
    Face, JournalError, Missing, MissingPart, Origin, Parent, Payload, RunSummary, StoredEvent,
    compare,
};
use mcpgraph_runtime::{Execution, Fork, RecallError, Recorded};
use mcpgraph_value::Value;

use super::super::args::HistoryArgs;
use super::super::args::runs::RerunArgs;
use super::super::run::{Show, Subject};
use super::super::{draw, usage};
use super::replay::without_world;
use super::text::count;
use super::{Exit, Runs, failed, no_step, output, version};

/// How a new run begins.
enum Beginning {
    /// With the recorded arguments, and nothing else.
    Anew(Value),
    /// With what the record says up to a step.
    Recalled(Box<Fork>),
}

/// Starts a new run that goes on from the record of another.
pub(super) fn rerun(
    args: RerunArgs,
    runs: &Runs,
    history: &HistoryArgs,
    json: bool,
) -> anyhow::Result<Exit> {
    let parent = runs.find(&args.id)?;
    if let Some(why) = runs.nature(&parent)?.objection(&parent) {
        return Err(failed(format!("run {} cannot be gone on from: {why}", parent.id)));
    }
    let changes = args.set.iter().map(|text| change(text)).collect::<anyhow::Result<Vec<_>>>()?;
    let loaded = if args.recorded {
        version::recorded(runs, &parent, version::current_servers(&args.files)?)?
    } else {
        version::current(&args.files)?
    };
    let (Some(file), Some(graph)) = (loaded.file, loaded.graph) else {
        return Ok(Exit::of(&loaded.diagnostics));
    };
    let tool = draw::find(&graph, &parent.tool)?;
    let beginning = if args.from == 0 && changes.is_empty() {
        Beginning::Anew(recorded_input(runs, &parent)?)
    } else {
        let recorded = Recorded {
            journal: &runs.journal,
            run: &parent,
            graph: &graph,
            tool: &tool,
            is_recorded: args.recorded,
        };
        Beginning::Recalled(Box::new(recall(runs, &recorded, args.from, changes)?))
    };
    let effects = match &beginning {
        Beginning::Anew(input) => {
            Run::start(Arc::clone(&graph), &tool, input.clone(), Given::default()).effects_ahead()
        }
        Beginning::Recalled(fork) => fork.effects_ahead(),
    };
    if !is_wanted(&effects, args.yes)? {
        return Ok(Exit::Failure);
    }
    let parent = Parent { run: parent.id, from: args.from };
    let origin = Origin { face: Face::Cli, parent: Some(parent), ..Origin::default() };
    let show = Show { steps: args.trace, json };
    let subject = Subject { file, graph, files: args.files.files().ok() };
    show.execute(subject, history, async |product, watched| {
        let finished = match beginning {
            Beginning::Anew(input) => {
                let call = Execution { origin, ..product.call(&tool, input) };
                product.execute(watched.with(call)).await
            }
            Beginning::Recalled(fork) => {
                // The arguments are those of the record.
                let call = Execution { origin, ..product.call(&tool, Value::Null) };
                product.runtime().execute_fork(*fork, watched.with(call)).await
            }
        };
        watched.say(&format!("run {} goes on from {}\n", finished.run, parent.run));
        finished
    })
}

/// Another output for a node, as it is typed.
fn change(text: &str) -> anyhow::Result<(Arc<str>, Value)> {
    let (node, json) =
        text.split_once('=').ok_or_else(|| usage(format!("--set `{text}` is not NODE=JSON")))?;
    let value = Value::from_json(json).map_err(|error| {
        usage(format!("--set {node}: not JSON ({error}); a text needs quotes: {node}='\"…\"'"))
    })?;
    Ok((node.into(), value))
}

/// The arguments of the recorded call.
fn recorded_input(runs: &Runs, run: &RunSummary) -> anyhow::Result<Value> {
    let first = runs.journal.events(run.id, 0, 1)?.into_iter().next();
    match first {
        Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => {
            if compare::is_masked(&input) {
                warn_of_masks();
            }
            Ok(input)
        }
        Some((0, StoredEvent::Started { input: Payload::Truncated(left), .. })) => {
            let what = MissingPart::Payload { field: "input", size: left.size };
            Err(failed(runs.explain(&Missing {
                run: run.id,
                seq: 0,
                step: None,
                node: None,
                what,
            })))
        }
        _ => Err(failed(format!("the beginning of run {} was lost", run.id))),
    }
}

/// Follows the record up to a step.
fn recall(
    runs: &Runs,
    recorded: &Recorded<'_>,
    from: u64,
    changes: Vec<(Arc<str>, Value)>,
) -> anyhow::Result<Fork> {
    let recalled =
        without_world().recall(recorded, from, changes).map_err(|error| match error {
            RecallError::Record(JournalError::Missing(missing)) => {
                let way = missing.way_on("with --set").map(|way| format!("; {way}"));
                failed(runs.explain(&missing) + &way.unwrap_or_default())
            }
            RecallError::Record(error) => error.into(),
            RecallError::Diverged(report) => {
                output::say(&report.text());
                failed(format!(
                    "the graph does something else before step {from}; go on from an earlier \
                     step, or on the recorded version with --recorded"
                ))
            }
            RecallError::NoStep(_) => no_step(recorded.run, from),
            RecallError::NotChanged(why) => failed(format!(
                "--set: {why}, before step {from}; `mcpgraph runs show {}` lists the steps",
                recorded.run.id
            )),
        })?;
    if let Some(note) = recalled.note {
        output::say(&(note + "\n"));
    }
    if recalled.is_masked {
        warn_of_masks();
    }
    Ok(recalled.fork)
}

fn warn_of_masks() {
    output::say("the record has masked values: the new run sees [redacted] in their place\n");
}

/// Says what will be called, and asks if somebody is there to be asked.
fn is_wanted(effects: &BTreeSet<Target>, is_agreed: bool) -> anyhow::Result<bool> {
    if effects.is_empty() {
        output::say("nothing outside will be called\n");
        return Ok(true);
    }
    output::say(&format!("up to {} may be called:\n", count(effects.len(), "target")));
    for target in effects {
        output::say(&format!("  {}\n", printable(&target.to_string())));
    }
    if is_agreed {
        return Ok(true);
    }
    if !stdin().is_terminal() {
        return Err(usage("say --yes to call them: nobody is here to be asked"));
    }
    output::say("go on? [y/N] ");
    let mut answer = String::new();
    stdin().read_line(&mut answer)?;
    let is_wanted = matches!(answer.trim(), "y" | "Y" | "yes");
    if !is_wanted {
        output::say("nothing was executed\n");
    }
    Ok(is_wanted)
}
