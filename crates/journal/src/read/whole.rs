use std::ops::ControlFlow;

use mcpgraph_engine::Event;
use mcpgraph_graph::{Digest, Kind};

use super::events::RunReader;
use super::row::expect;
use crate::{Journal, JournalError, Missing, MissingPart, RunId};

impl Journal {
    /// All events of a run as they were, or [`JournalError::Missing`] with the first thing that was
    /// not kept. What was masked stays so.
    ///
    /// `Started` names `version`: a replay on another version must not differ by that alone. The
    /// one that was recorded is in [`crate::RunSummary::digest`].
    pub fn whole_events(&self, id: RunId, version: Digest) -> Result<Vec<Event>, JournalError> {
        self.read(|connection| {
            let (no, summary) = expect(connection, &self.dir, id)?;
            let reader = RunReader::new(connection, no);
            let mut events = Vec::new();
            let missing = |seq, step, what| Missing { run: id, seq, step, what };
            reader.lines(0, |seq, line| {
                let expected = events.len() as u64;
                if seq != expected {
                    return Err(missing(expected, None, MissingPart::Event).into());
                }
                let event = reader.decode(line)?;
                let step = event.step();
                let event = event.into_event(version, &kind).map_err(|(field, size)| {
                    missing(seq, step, MissingPart::Payload { field, size })
                })?;
                events.push(event);
                Ok(ControlFlow::Continue(()))
            })?;
            let count = events.len() as u64;
            if count < summary.events {
                return Err(missing(count, None, MissingPart::Event).into());
            }
            Ok(events)
        })
    }
}

/// The name of a node's type as an event has it; a type that this version does not have is unknown.
fn kind(name: &str) -> &'static str {
    Kind::NAMES.into_iter().find(|known| *known == name).unwrap_or("unknown")
}
