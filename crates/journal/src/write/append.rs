//! Runs that no process holds: a conversation is served now here and now there.

use mcpgraph_engine::Event;

use super::batch::Part;
use super::{Batcher, RowOf, RunState};
use crate::liveness::NOBODY;
use crate::read::RunReader;
use crate::read::row::find;
use crate::{Journal, JournalError, NewRun, RunId, RunStatus, StoredEvent};

impl Journal {
    /// Begins a run that no process holds, with its first events. They are in the store when this
    /// returns.
    pub fn begin_unheld(&self, run: &NewRun, events: Vec<Event>) -> Result<(), JournalError> {
        let row = RowOf::of(run);
        self.write_unheld(run.id, |part| write(part, row, RunState::default(), events))
    }

    /// Adds events to a run that no process holds. They are in the store when this returns. A run
    /// that has ended, or is not kept any more, is left as it is.
    pub fn append(&self, run: RunId, events: Vec<Event>) -> Result<(), JournalError> {
        self.write_unheld(run, |part| {
            let connection = part.connection();
            let found = find(connection, &self.store, run)?;
            let is_open = |known: &crate::RunSummary| known.status == RunStatus::Running;
            let Some((no, known)) = found.filter(|(_, known)| is_open(known)) else {
                return Ok(());
            };
            let reader = RunReader::new(connection, no);
            let (snapshot, mut tracker) = reader.latest_snapshot(known.events, |_, _| Ok(true))?;
            reader.track(&mut tracker, snapshot, |_, _, _| false)?;
            let state = RunState {
                no: Some(no),
                tracker,
                snapshot,
                steps: known.steps,
                events: known.events,
                lost: known.lost,
                reached: known.reached.map(|reached| (reached.step, reached.node)),
                at: known.duration,
                ..RunState::default()
            };
            let row = RowOf {
                id: run,
                tool: &known.tool,
                digest: known.digest,
                definition: None,
                origin: &known.origin,
                started: known.started,
            };
            write(part, row, state, events)
        })
    }

    /// Does something in a transaction, and tells those who follow the run.
    fn write_unheld(
        &self,
        run: RunId,
        body: impl FnOnce(&mut Part<'_>) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let masker = self.shared.masker();
        let mut appending = self.appending.lock();
        let mut batcher = match appending.take().filter(|known| !known.connection.is_closed()) {
            Some(batcher) => batcher,
            None => Batcher::new(self.store.open_writer()?, Some(NOBODY)),
        };
        let written = batcher.transaction(&self.shared.options, &masker, |part| {
            body(part)?;
            Ok::<_, JournalError>(part.connection().tell([run].into_iter())?)
        });
        *appending = Some(batcher);
        drop(appending);
        written?;
        self.shared.heard(Some(&[run]));
        Ok(())
    }
}

fn write(
    part: &mut Part<'_>,
    row: RowOf<'_>,
    mut state: RunState,
    events: Vec<Event>,
) -> Result<(), JournalError> {
    let events: Vec<StoredEvent> = events.into_iter().map(StoredEvent::from).collect();
    let first = state.events;
    Ok(part.write_run(row, &mut state, false, (first..).zip(&events), |_| {})?)
}
