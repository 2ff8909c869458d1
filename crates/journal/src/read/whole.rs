use std::ops::ControlFlow;

use mcpgraph_engine::Event;
use mcpgraph_graph::{Digest, Kind};

use super::events::RunReader;
use super::row::expect;
use crate::{Journal, JournalError, Missing, MissingPart, RunId, StoredEvent};

impl Journal {
    /// All events of a run as they were, or [`JournalError::Missing`] with the first thing that was
    /// not kept. What was masked stays so.
    ///
    /// `Started` names `version`: a replay on another version must not differ by that alone. The
    /// one that was recorded is in [`crate::RunSummary::digest`].
    pub fn whole_events(&self, id: RunId, version: Digest) -> Result<Vec<Event>, JournalError> {
        self.whole_events_of(id, version, kind)
    }

    /// The same for a run whose nodes have other types than those of graphs: `kind` gives the name
    /// of a type as events have it.
    pub fn whole_events_of(
        &self,
        id: RunId,
        version: Digest,
        kind: fn(&str) -> &'static str,
    ) -> Result<Vec<Event>, JournalError> {
        self.read(|connection| {
            let (no, summary) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            let mut whole = WholeEvents { kind, ..WholeEvents::new(id, version) };
            reader.lines(0, |seq, line| {
                whole.push(seq, reader.decode(line)?)?;
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(whole.all(summary.events)?)
        })
    }
}

/// The events of a run as they were, put together one by one.
pub(crate) struct WholeEvents {
    run: RunId,
    version: Digest,
    kind: fn(&str) -> &'static str,
    events: Vec<Event>,
}

impl WholeEvents {
    /// None yet; `Started` will name `version`.
    pub(crate) fn new(run: RunId, version: Digest) -> Self {
        Self { run, version, kind, events: Vec::new() }
    }

    /// Adds the next event.
    pub(crate) fn push(&mut self, seq: u64, event: StoredEvent) -> Result<(), Missing> {
        self.all_up_to(seq)?;
        let step = event.step();
        let event = event.into_event(self.version, &self.kind).map_err(|(field, size)| {
            self.missing(seq, step, MissingPart::Payload { field, size })
        })?;
        self.events.push(event);
        Ok(())
    }

    /// All of them, if there are as many as there should be.
    pub(crate) fn all(self, count: u64) -> Result<Vec<Event>, Missing> {
        self.all_up_to(count)?;
        Ok(self.events)
    }

    fn all_up_to(&self, seq: u64) -> Result<(), Missing> {
        let count = self.events.len() as u64;
        if count < seq { Err(self.missing(count, None, MissingPart::Event)) } else { Ok(()) }
    }

    fn missing(&self, seq: u64, step: Option<u64>, what: MissingPart) -> Missing {
        Missing { run: self.run, seq, step, node: None, what }
    }
}

/// The name of a node's type as an event has it; a type that this version does not have is unknown.
fn kind(name: &str) -> &'static str {
    let mut known = Kind::NAMES.into_iter().chain(Kind::WORKFLOW_NAMES);
    known.find(|known| *known == name).unwrap_or("unknown")
}
