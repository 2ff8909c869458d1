use crate::database::Access;
use crate::read::row::find;
use crate::write::remove_runs;
use crate::{Journal, JournalError, RunId, RunStatus};

/// How many runs are removed in one transaction.
const AT_ONCE: usize = 256;

impl Journal {
    /// Forgets runs and what only they need; how many there were. One that is being executed is
    /// not removed, and is an error.
    pub fn remove(&self, ids: &[RunId]) -> Result<usize, JournalError> {
        let connection = self.store.open_writer()?;
        let mut removed = 0;
        for ids in ids.chunks(AT_ONCE) {
            removed += connection.transaction(Access::Write, |connection| {
                let mut runs = Vec::with_capacity(ids.len());
                for id in ids {
                    match find(connection, &self.store, *id)? {
                        Some((_, run)) if run.status == RunStatus::Running => {
                            return Err(JournalError::StillRunning(*id));
                        }
                        Some((no, _)) => runs.push(no),
                        None => {}
                    }
                }
                runs.sort_unstable();
                runs.dedup();
                remove_runs(connection, &runs)?;
                Ok(runs.len())
            })?;
        }
        Ok(removed)
    }
}
