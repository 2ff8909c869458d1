use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use mcpgraph_engine::Event;
use mcpgraph_graph::Digest;
use parking_lot::Mutex;

use super::events::RunReader;
use super::row::expect;
use crate::{Journal, JournalError, Missing, MissingPart, RunId};

/// How many names of node types are known at a time; more than there will ever be.
const MAX_KINDS: usize = 256;

impl Journal {
    /// All events of a run as they were, or [`JournalError::Missing`] with the first thing that was
    /// not kept. What was masked stays so.
    ///
    /// The version that `Started` names is `version`, as only a graph makes a [`Digest`]; the one
    /// that was recorded is in [`crate::RunSummary::digest`], which compares with it.
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

/// The name of a node's type with the life it has in an event.
fn kind(name: &str) -> &'static str {
    static KINDS: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut kinds = KINDS.lock();
    if let Some(known) = kinds.get(name) {
        return known;
    }
    if kinds.len() >= MAX_KINDS {
        return "unknown";
    }
    let name: &'static str = Box::leak(name.into());
    kinds.insert(name);
    name
}
