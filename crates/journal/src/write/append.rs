//! Runs that no process holds.

use std::sync::Arc;

use mcpgraph_engine::Event;

use super::{Batcher, RowOf, RunState};
use crate::liveness::NOBODY;
use crate::mask::Masker;
use crate::read::RunReader;
use crate::read::row::find;
use crate::{Journal, JournalError, NewRun, RunStatus, StoredEvent};

impl Journal {
    /// Adds events to a run that no process holds, such as a conversation that is served now here and
    /// now there; it begins with its first events. They are in the store when this returns.
    ///
    /// A run that has ended, or of which nothing is kept any more, is left as it is.
    pub fn append(&self, run: &NewRun, events: Vec<Event>) -> Result<(), JournalError> {
        let masker = self.shared.masker();
        let events: Vec<StoredEvent> = events.into_iter().map(StoredEvent::from).collect();
        let mut appending = self.appending.lock();
        let mut batcher = match appending.take().filter(|known| !known.connection.is_closed()) {
            Some(batcher) => batcher,
            None => Batcher::new(self.store.open_writer()?, Some(NOBODY)),
        };
        let written = self.append_with(&mut batcher, run, &events, &masker);
        *appending = Some(batcher);
        drop(appending);
        written?;
        self.shared.heard(Some(&[run.id]));
        Ok(())
    }

    fn append_with(
        &self,
        batcher: &mut Batcher,
        run: &NewRun,
        events: &[StoredEvent],
        masker: &Arc<Masker>,
    ) -> Result<(), JournalError> {
        batcher.transaction(&self.shared.options, masker, |part| {
            let connection = part.connection();
            let mut state = match find(connection, &self.store, run.id)? {
                Some((_, known)) if known.status != RunStatus::Running => return Ok(()),
                Some((no, known)) => {
                    let reader = RunReader::new(connection, no);
                    let (snapshot, mut tracker) =
                        reader.latest_snapshot(known.events, |_, _| Ok(true))?;
                    reader.track(&mut tracker, snapshot, |_, _, _| false)?;
                    RunState {
                        no: Some(no),
                        tracker,
                        snapshot,
                        steps: known.steps,
                        events: known.events,
                        lost: known.lost,
                        reached: known.reached.map(|reached| (reached.step, reached.node)),
                        at: known.duration,
                        ..RunState::default()
                    }
                }
                None if matches!(events.first(), Some(StoredEvent::Started { .. })) => {
                    RunState::default()
                }
                None => return Ok(()),
            };
            let row = RowOf {
                id: run.id,
                tool: &run.tool,
                digest: run.digest,
                definition: run.definition.as_ref(),
                origin: &run.origin,
                started: run.started,
            };
            let first = state.events;
            part.write_run(&row, &mut state, false, (first..).zip(events), |_| {})?;
            Ok(connection.tell([run.id].into_iter())?)
        })
    }
}
