//! What a step saw.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use mcpgraph_engine::{Flow, RunError, StepId};
use mcpgraph_value::{Map, Value};

use super::events::RunReader;
use super::row::expect;
use super::steps::beginning;
use crate::tracker::{Tracker, scope_of};
use crate::{Journal, JournalError, Payload, RunId, StoredError, StoredEvent};

impl Journal {
    /// What a step saw when it began: the latest outputs of the nodes of its body and of those
    /// around it, the item of a loop and its `index`, the `error` that was caught last; in a
    /// workflow also what flows through it.
    ///
    /// A payload that was larger than the limit is an object with the member `$truncated`, which
    /// has its `preview`, `size` and `digest`.
    ///
    /// What it costs does not depend on how long the run is.
    pub fn context_at(&self, id: RunId, step: StepId) -> Result<Value, JournalError> {
        self.read(|connection| {
            let (no, summary) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            context(&reader, summary.events, step)?.ok_or(JournalError::NoStep { run: id, step })
        })
    }
}

pub(crate) fn context(
    reader: &RunReader<'_>,
    events: u64,
    step: StepId,
) -> Result<Option<Value>, JournalError> {
    let Some((began, tracker)) = beginning(reader, events, step)? else { return Ok(None) };
    let Some(StoredEvent::StepStarted { path, .. }) = reader.event(began)? else {
        return Ok(None);
    };
    let mut map = Map::new();
    for (name, value) in flow(reader, began)?.iter().flat_map(Flow::members) {
        map.insert(name, value);
    }
    let scope = scope_of(&path);
    collect(reader, &tracker, scope.positions(), &mut map)?;
    Ok(Some(map.into()))
}

/// What flows through a workflow before an event; none in the run of something else. Workflows have
/// no loops, so that nearly all of them are short.
fn flow(reader: &RunReader<'_>, before: u64) -> Result<Option<Flow>, JournalError> {
    let Some(StoredEvent::StepStarted { kind, .. }) = reader.event(1)? else { return Ok(None) };
    let (true, Some(StoredEvent::Started { input, .. })) = (&*kind == "start", reader.event(0)?)
    else {
        return Ok(None);
    };
    let mut flow = Flow::new(&shown(input));
    let mut kinds: HashMap<StepId, Arc<str>> = HashMap::new();
    reader.lines(0, |seq, line| {
        if seq >= before {
            return Ok(ControlFlow::Break(()));
        }
        match reader.decode(line)? {
            StoredEvent::StepStarted { step, kind, .. } => drop(kinds.insert(step, kind)),
            StoredEvent::StepFinished { step, output, edge: Some(_), .. } => {
                let kind = kinds.get(&step).map_or("", |kind| &**kind);
                flow.take(kind, &shown(output));
            }
            _ => {}
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Some(flow))
}

/// Adds what the nodes of a body see, what is around it first.
fn collect(
    reader: &RunReader<'_>,
    tracker: &Tracker,
    scope: &[u32],
    map: &mut Map,
) -> Result<(), JournalError> {
    let mut named: Vec<(Arc<str>, Value)> = Vec::new();
    let mut set =
        |name: Arc<str>, value: Value| match named.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => named.push((name, value)),
        };
    if let Some((index, around)) = scope.split_last()
        && let Some(container) = tracker.step_at(around)
    {
        // A tool that is called by a node sees nothing of its caller.
        if &*container.kind != "graph" {
            collect(reader, tracker, &around[..around.len().saturating_sub(1)], map)?;
        }
        if &*container.kind == "foreach"
            && let Some(StoredEvent::StepStarted { input, item_name: Some(name), .. }) =
                reader.event(container.seq)?
        {
            set(name, item(input, *index as usize));
            set("index".into(), u64::from(*index).into());
        }
    }
    let outputs = tracker.scopes.iter().find(|(path, _)| path.positions() == scope);
    if let Some((_, outputs)) = outputs {
        if let Some(seq) = outputs.error
            && let Some(StoredEvent::StepFailed { error, .. }) = reader.event(seq)?
        {
            set("error".into(), shown_error(error));
        }
        map_extend(map, named);
        for (node, seq) in &outputs.latest {
            if let Some(
                StoredEvent::StepFinished { output, .. }
                | StoredEvent::OutputChanged { output, .. },
            ) = reader.event(*seq)?
            {
                map.insert(Arc::clone(node), shown(output));
            }
        }
    } else {
        map_extend(map, named);
    }
    Ok(())
}

fn map_extend(map: &mut Map, named: Vec<(Arc<str>, Value)>) {
    for (name, value) in named {
        map.insert(name, value);
    }
}

/// An item of a loop: something that is no list is a list of itself.
fn item(input: Option<Payload>, index: usize) -> Value {
    match input {
        Some(Payload::Whole(Value::Array(items))) => items.get(index).cloned().unwrap_or_default(),
        Some(Payload::Whole(single)) => single,
        Some(truncated) => shown(truncated),
        None => Value::Null,
    }
}

fn shown_error(error: StoredError) -> Value {
    let data = error.data.map(shown);
    let message = error.message.text().to_string();
    RunError { kind: error.kind, message, node: error.node, data }.to_value()
}

/// A payload as a value, whole or not.
fn shown(payload: Payload) -> Value {
    match payload {
        Payload::Whole(value) => value,
        Payload::Truncated(left) => {
            let members: [(&str, Value); 3] = [
                ("preview", left.preview.into()),
                ("size", left.size.into()),
                ("digest", left.digest.to_string().into()),
            ];
            Map::from_iter([("$truncated", Value::object(Map::from_iter(members)))]).into()
        }
    }
}
