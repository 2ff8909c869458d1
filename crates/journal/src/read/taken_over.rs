use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_graph::{Digest, Target};
use mcpgraph_value::Value;

use super::events::RunReader;
use super::row::expect;
use super::whole::WholeEvents;
use crate::{Journal, JournalError, Payload, RunId, StoredEvent};

impl Journal {
    /// The events of a run that another goes on from at the step `from`, with `version` as in
    /// [`Journal::whole_events`]. What comes before that step begins is as it was, or
    /// [`JournalError::Missing`] tells the first thing that was not kept.
    ///
    /// `given` are outputs that take the place of the latest ones of their nodes once they were
    /// taken over: where such a one was not kept, the given one is what the record says.
    ///
    /// What comes later is executed again, and only its order, times and places tell a replay
    /// something. A payload of it that was not kept is the text of its preview, which nothing
    /// compares or uses: the error at the end, which is looked for in what comes before, is the same
    /// only where both were kept.
    pub fn events_taken_over(
        &self,
        id: RunId,
        version: Digest,
        from: StepId,
        given: &[(Arc<str>, Value)],
    ) -> Result<Vec<Event>, JournalError> {
        let (mut events, count) = self.read(|connection| {
            let (no, summary) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            let mut events = Vec::new();
            reader.lines(0, |seq, line| {
                events.push((seq, reader.decode(line)?));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok((events, summary.events))
        })?;
        let is_next = |(_, event): &(u64, StoredEvent)| matches!(event, StoredEvent::StepStarted { step, .. } if *step >= from);
        let next = events.iter().position(is_next);
        let (before, later) = events.split_at_mut(next.unwrap_or_default());
        let latest = match later.first() {
            // The outputs that are changed are those of the body which goes on.
            Some((_, StoredEvent::StepStarted { path, .. })) if path.positions().len() == 1 => {
                latest_outputs(before)
            }
            _ => HashMap::new(),
        };
        // Of several for a node the last is what it has in the end.
        for (node, value) in given.iter().rev() {
            let place = latest.get(node).and_then(|place| before.get_mut(*place));
            if let Some((_, event)) = place {
                give(event, value);
            }
        }
        for (_, event) in later {
            event.put_previews();
        }
        let mut whole = WholeEvents::new(id, version);
        for (place, (seq, event)) in events.into_iter().enumerate() {
            whole.push(seq, event).map_err(|mut missing| {
                let mut nodes = latest.iter();
                missing.node = nodes.find(|(_, of)| **of == place).map(|(node, _)| node.clone());
                missing
            })?;
        }
        let events = whole.all(count)?;
        next.map(|_| events).ok_or(JournalError::NoStep { run: id, step: from })
    }
}

/// Where the latest outputs of the tool's own nodes are told of, as far as they came from outside or
/// were changed: all others a replay finds anew.
fn latest_outputs(events: &[(u64, StoredEvent)]) -> HashMap<Arc<str>, usize> {
    let mut steps = HashMap::new();
    let mut latest = HashMap::new();
    for (place, (_, event)) in events.iter().enumerate() {
        match event {
            StoredEvent::StepStarted { step, path, node, kind, .. }
                if path.positions().len() == 1 =>
            {
                steps.insert(*step, (node, Target::KINDS.contains(&&**kind)));
            }
            StoredEvent::StepFinished { step, .. } => {
                match steps.get(step) {
                    Some((node, true)) => latest.insert(Arc::clone(node), place),
                    Some((node, false)) => latest.remove(*node),
                    None => None,
                };
            }
            StoredEvent::OutputChanged { scope, node, .. } if scope.positions().is_empty() => {
                latest.insert(Arc::clone(node), place);
            }
            _ => {}
        }
    }
    latest
}

/// Puts a value in the place of an output that was not kept.
fn give(event: &mut StoredEvent, value: &Value) {
    if let StoredEvent::StepFinished { output, .. } | StoredEvent::OutputChanged { output, .. } =
        event
        && matches!(output, Payload::Truncated(_))
    {
        *output = Payload::Whole(value.clone());
    }
}
