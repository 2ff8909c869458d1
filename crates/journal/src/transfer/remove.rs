use rusqlite::TransactionBehavior;

use crate::read::row::find;
use crate::write::remove_runs;
use crate::{Journal, JournalError, RunId, RunStatus, schema};

/// How many runs are removed in one transaction.
const AT_ONCE: usize = 256;

impl Journal {
    /// Forgets runs and what only they need; how many there were. One that is being executed is
    /// not removed, and is an error.
    pub fn remove(&self, ids: &[RunId]) -> Result<usize, JournalError> {
        let mut connection = schema::open_writer(&self.dir)?;
        let mut removed = 0;
        for ids in ids.chunks(AT_ONCE) {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let mut runs = Vec::with_capacity(ids.len());
            for id in ids {
                match find(&transaction, &self.dir, *id)? {
                    Some((_, run)) if run.status == RunStatus::Running => {
                        return Err(JournalError::StillRunning(*id));
                    }
                    Some((no, _)) => runs.push(no),
                    None => {}
                }
            }
            runs.sort_unstable();
            runs.dedup();
            remove_runs(&transaction, &runs)?;
            removed += runs.len();
            transaction.commit()?;
        }
        Ok(removed)
    }
}
