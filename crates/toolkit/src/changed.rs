//! The outputs of recorded runs that somebody changed.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_engine::StepId;
use mcpgraph_journal::{Journal, JournalError, Payload, RunId, RunSummary, StoredEvent};
use mcpgraph_value::Value;
use serde_json::json;

/// How many events before the step that a run went on from are looked at for changes.
const MAX_CHANGES: u64 = 100;

/// How many events are looked at for changes of steps.
const MAX_EVENTS: usize = 10_000;

/// How many of them are read at a time: their payloads may be large.
const PAGE: usize = 64;

/// A node of a body, which is the path of its steps without their own position.
type Place = (Vec<u32>, Arc<str>);

/// What was put in the place of the outputs of steps, from the event with this number on: a debugger
/// may do that, and whoever goes on from a run.
pub(crate) fn outputs_changed(
    journal: &Journal,
    run: RunId,
    from: u64,
) -> Result<HashMap<StepId, Value>, JournalError> {
    let (mut open, mut latest) = (HashMap::<StepId, Place>::new(), HashMap::<Place, StepId>::new());
    let mut changed = HashMap::new();
    let mut next = from;
    for _ in 0..MAX_EVENTS / PAGE {
        let page = journal.events(run, next, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        next = last + 1;
        for (_, event) in page {
            match event {
                StoredEvent::StepStarted { step, path, node, .. } => {
                    let scope = path.positions().split_last().map_or(&[][..], |(_, scope)| scope);
                    open.insert(step, (scope.to_vec(), node));
                }
                StoredEvent::StepFinished { step, .. } => {
                    latest.extend(open.remove(&step).map(|place| (place, step)));
                }
                StoredEvent::StepFailed { step, .. } => drop(open.remove(&step)),
                StoredEvent::OutputChanged { scope, node, output, .. } => {
                    if let Some(step) = latest.get(&(scope.positions().to_vec(), node)) {
                        changed.insert(*step, shown(output));
                    }
                }
                _ => {}
            }
        }
    }
    Ok(changed)
}

/// The outputs that were changed where a run went on from another: right before the first step that
/// it executed itself.
pub(crate) fn changes_of(
    journal: &Journal,
    run: &RunSummary,
) -> Result<serde_json::Map<String, serde_json::Value>, JournalError> {
    let from = run.origin.parent.as_ref().map(|parent| parent.from);
    let Some(from) = from.filter(|from| *from < run.steps) else { return Ok(<_>::default()) };
    let first = journal.step(run.id, from)?.began_seq;
    let before = journal.events(run.id, first.saturating_sub(MAX_CHANGES), MAX_CHANGES as usize)?;
    let change = |(seq, event)| match event {
        StoredEvent::OutputChanged { node, output, .. } if seq < first => {
            Some((node.to_string(), json!(shown(output))))
        }
        _ => None,
    };
    Ok(before.into_iter().filter_map(change).collect())
}

fn shown(output: Payload) -> Value {
    match output {
        Payload::Whole(output) => output,
        Payload::Truncated(left) => left.to_value(),
    }
}
