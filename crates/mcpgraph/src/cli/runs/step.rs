//! One step of a run.

use std::fmt::Write as _;

use mcpgraph_diagnostics::{printable, shortened};
use mcpgraph_engine::StepId;
use mcpgraph_journal::{JournalError, RunSummary, StepRecord, StoredEvent};
use mcpgraph_value::{Map, Value};

use super::text::{duration, facts, indented, payload};
use super::{Exit, Runs, no_step, output, print};

/// How much of a message a line shows.
const SHOWN: usize = 500;

/// Shows one step.
pub(super) fn show(
    runs: &Runs,
    run: &RunSummary,
    number: StepId,
    with_context: bool,
    json: bool,
) -> anyhow::Result<Exit> {
    let step = runs.journal.step(run.id, number).map_err(|error| match error {
        JournalError::NoStep { .. } => no_step(run, number),
        other => other.into(),
    })?;
    let context = with_context.then(|| runs.journal.context_at(run.id, number)).transpose()?;
    let mut between = Vec::new();
    for seq in &step.between {
        let events = runs.journal.events(run.id, *seq, 1)?;
        between
            .extend(events.into_iter().filter(|(found, _)| found == seq).map(|(_, event)| event));
    }
    if json {
        let mut document = Map::from_iter([("run", run.to_value()), ("step", step.to_value())]);
        let between: Vec<Value> = between.iter().map(StoredEvent::to_value).collect();
        document.insert("between", between);
        if let Some(context) = context {
            document.insert("context", context);
        }
        print(&document.into())?;
    } else {
        output::data(&text(run, &step, &between, context.as_ref()))?;
    }
    Ok(Exit::Success)
}

fn text(
    run: &RunSummary,
    step: &StepRecord,
    between: &[StoredEvent],
    context: Option<&Value>,
) -> String {
    let mut about = vec![
        ("step", format!("{} of run {} ({})", step.step, run.id, run.tool)),
        ("node", format!("{} ({})", step.node, step.kind)),
        ("path", step.path.to_string()),
        ("began", format!("{} after the run", duration(step.began))),
    ];
    match &step.end {
        Some(end) => {
            about.push(("took", duration(end.at.saturating_sub(step.began))));
            about.push(("next", end.edge.as_deref().unwrap_or("nothing").to_owned()));
        }
        None => about.push(("took", "not finished".to_owned())),
    }
    let mut text = facts(&about);
    if let Some(input) = &step.input {
        text.push_str("\ninput\n");
        text.push_str(&payload(input));
    }
    if !between.is_empty() {
        text.push_str("\nmeanwhile\n");
        for event in between {
            let at = duration(event.at());
            // Writing to a text does not fail.
            writeln!(text, "  at {at}: {}", printable(&meanwhile(event))).unwrap_or_default();
        }
    }
    if let Some(end) = &step.end {
        match &end.outcome {
            Ok(output) => {
                text.push_str("\noutput\n");
                text.push_str(&payload(output));
            }
            Err(error) => {
                let (code, kind) = (error.kind.code(), error.kind.name());
                let message = format!("{} [{code}, {kind}]", error.message.text());
                text.push_str("\nerror\n");
                text.push_str(&indented(&message));
                if let Some(data) = &error.data {
                    text.push_str(&payload(data));
                }
            }
        }
    }
    if let Some(context) = context {
        text.push_str("\ncontext\n");
        text.push_str(&indented(&context.to_json_pretty()));
    }
    text
}

/// What happened between the beginning and the end of a step.
fn meanwhile(event: &StoredEvent) -> String {
    match event {
        StoredEvent::Retrying { attempt, delay, error, .. } => format!(
            "retry {attempt} in {}: {}",
            duration(*delay),
            shortened(&error.message.text(), SHOWN)
        ),
        StoredEvent::Log { level, message, .. } => {
            format!("{}: {}", level.name(), shortened(&message.text(), SHOWN))
        }
        other => other.name().to_owned(),
    }
}
