use std::sync::Arc;

use mcpgraph_engine::StepId;

use super::events::RunReader;
use super::row::expect;
use crate::codec::names;
use crate::tracker::{OpenStep, Tracker};
use crate::{Journal, JournalError, RunId, StepEnd, StepRecord, StoredEvent};

impl Journal {
    /// One step. What it costs does not depend on how long the run is.
    pub fn step(&self, id: RunId, step: StepId) -> Result<StepRecord, JournalError> {
        self.read(|connection| {
            let (no, summary) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            record(&reader, summary.events, step)?.ok_or(JournalError::NoStep { run: id, step })
        })
    }
}

/// Where a run stood when a step began: the event that says so, and everything before it.
pub(crate) fn beginning(
    reader: &RunReader<'_>,
    events: u64,
    step: StepId,
) -> Result<Option<(u64, Tracker)>, JournalError> {
    let (from, mut tracker) =
        reader.latest_snapshot(events, |_, snapshot| Ok(snapshot.begun <= step))?;
    let mut began = None;
    reader.track(&mut tracker, from, |_, seq, event| {
        if event.name == names::STEP && event.step == step {
            began = Some(seq);
        }
        began.is_some()
    })?;
    Ok(began.map(|seq| (seq, tracker)))
}

pub(crate) fn record(
    reader: &RunReader<'_>,
    events: u64,
    step: StepId,
) -> Result<Option<StepRecord>, JournalError> {
    let Some((began_seq, before)) = beginning(reader, events, step)? else { return Ok(None) };
    let Some(StoredEvent::StepStarted { path, node, kind, input, began, .. }) =
        reader.event(began_seq)?
    else {
        return Ok(None);
    };
    let (end_seq, open) = ending(reader, events, step, began_seq, before)?;
    let end = match end_seq {
        Some(seq) => reader.event(seq)?.and_then(|event| end(seq, event)),
        None => None,
    };
    let between = open.map(|open| open.between).unwrap_or_default();
    Ok(Some(StepRecord { step, path, node, kind, input, began, began_seq, end, between }))
}

/// The event that ends a step, if it has ended, and what was known of the step before it.
fn ending(
    reader: &RunReader<'_>,
    events: u64,
    step: StepId,
    began: u64,
    before: Tracker,
) -> Result<(Option<u64>, Option<OpenStep>), JournalError> {
    let (snapshot, tracker) = reader.latest_snapshot(events, |seq, snapshot| {
        Ok(seq <= began || snapshot.tracker()?.open.contains_key(&step))
    })?;
    // The step is open in a later snapshot, or it ended before there was one.
    let (from, mut tracker) = if snapshot > began { (snapshot, tracker) } else { (began, before) };
    let mut end = None;
    reader.track(&mut tracker, from, |_, seq, event| {
        if event.step == step && (event.name == names::DONE || event.name == names::FAILED) {
            end = Some(seq);
        }
        end.is_some()
    })?;
    let open = tracker.open.remove(&step);
    Ok((end, open))
}

fn end(seq: u64, event: StoredEvent) -> Option<StepEnd> {
    let (outcome, edge, at): (_, Option<Arc<str>>, _) = match event {
        StoredEvent::StepFinished { output, edge, at, .. } => (Ok(output), edge, at),
        StoredEvent::StepFailed { error, edge, at, .. } => (Err(error), edge, at),
        _ => return None,
    };
    Some(StepEnd { outcome, edge, at, seq })
}
