use crate::database::{Access, Connection, bound};
use crate::read::row::find;
use crate::write::remove_runs;
use crate::{Journal, JournalError, RunId, RunStatus};

/// How many runs are removed in one transaction.
const AT_ONCE: usize = 256;

/// What became of runs that were to be removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// How many are gone.
    pub removed: usize,
    /// How many are being executed, and are left.
    pub running: usize,
    /// How many are durable and have not ended, and are left.
    pub going_on: usize,
}

impl Journal {
    /// Forgets runs and what only they need; how many there were. One that is being executed, or
    /// that will go on, is not removed, and is an error.
    pub fn remove(&self, ids: &[RunId]) -> Result<usize, JournalError> {
        Ok(self.remove_or(ids, Err)?.removed)
    }

    /// Forgets those of these runs that have ended.
    pub fn remove_ended(&self, ids: &[RunId]) -> Result<Removed, JournalError> {
        self.remove_or(ids, |_| Ok(()))
    }

    /// Forgets runs; whether one that cannot go is left or keeps the others, too, is decided for it.
    fn remove_or(
        &self,
        ids: &[RunId],
        leave: impl Fn(JournalError) -> Result<(), JournalError>,
    ) -> Result<Removed, JournalError> {
        let connection = self.store.open_writer()?;
        let mut all = Removed::default();
        for ids in ids.chunks(AT_ONCE) {
            connection.transaction(Access::Write, |connection| {
                let mut runs = Vec::with_capacity(ids.len());
                for id in ids {
                    let Some((no, run)) = find(connection, &self.store, *id)? else { continue };
                    if run.status == RunStatus::Running {
                        leave(JournalError::StillRunning(*id))?;
                        all.running += 1;
                    } else if goes_on(connection, *id)? {
                        leave(JournalError::GoesOn(*id))?;
                        all.going_on += 1;
                    } else {
                        runs.push(no);
                    }
                }
                runs.sort_unstable();
                runs.dedup();
                remove_runs(connection, &runs)?;
                all.removed += runs.len();
                Ok::<_, JournalError>(())
            })?;
        }
        Ok(all)
    }

    /// Whether a run is durable and has not ended, so that whoever serves it goes on with it.
    pub fn goes_on(&self, run: RunId) -> Result<bool, JournalError> {
        self.read(|connection| goes_on(connection, run))
    }
}

fn goes_on(connection: &Connection, run: RunId) -> Result<bool, JournalError> {
    let sql = format!("SELECT no FROM runs WHERE id = ?1 AND {}", connection.goes_on("runs.id")?);
    Ok(connection.value::<i64>(&sql, bound![&run])?.is_some())
}
