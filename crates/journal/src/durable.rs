//! Durable runs: a record that is taken up again, and in a file what they need to go on after the
//! process that executed them, which is sealed by those who keep it. In a database an engine of its
//! own keeps that.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use crate::database::{Access, Connection, bound};
use crate::write::RunState;
use crate::{Journal, JournalError, NewRun, RunId, RunRecorder, liveness, numbers};

/// A durable run in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptRun {
    /// The run.
    pub run: RunId,
    /// What it was started with.
    pub input: String,
}

/// A message that a run has taken, or what it has come to instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// What the step kept before, or keeps now.
    Value(String),
    /// Nothing has come.
    Nothing,
}

impl Journal {
    /// Begins the record of a durable run. What this process writes of it counts only as long as
    /// no other has taken the run over.
    pub fn begin_durable(&self, run: NewRun) -> RunRecorder {
        let run = self.shared.begin(run, true, RunState::default());
        RunRecorder::new(self.shared.clone(), run)
    }

    /// Takes up the record of a durable run that is executed again from its beginning: what is in
    /// the store already is not written a second time, and from now on the run is this process's
    /// own. Begins the record where there is none. Blocks as files do.
    pub fn resume(&self, run: NewRun) -> Result<RunRecorder, JournalError> {
        self.shared.supersede(run.id);
        let writer = self.shared.writer();
        let found = self.alter_whole(|connection| {
            let sql = "SELECT no, events, lost, status FROM runs WHERE id = ?1";
            let found = connection.first(sql, bound![&run.id], |row| {
                let (no, events, lost): (i64, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((no, events.unsigned_abs(), lost.unsigned_abs(), row.get::<String>(3)?))
            })?;
            if let Some((no, .., status)) = &found {
                // One that has ended may be executed again to tell the engine what it came to.
                let status = if status == "interrupted" { "running" } else { status.as_str() };
                let change = numbers::latest(connection)? + 1;
                let sql = "UPDATE runs SET writer = ?1, status = ?2, change = ?3 WHERE no = ?4";
                connection.execute(sql, bound![writer, status, change, *no])?;
                connection.tell(std::iter::once(run.id))?;
            }
            Ok::<_, JournalError>(found)
        })?;
        let state = match found {
            Some((no, kept, lost, _)) => {
                RunState { no: Some(no), kept, lost, ..RunState::default() }
            }
            None => RunState::default(),
        };
        let run = self.shared.begin(run, true, state);
        Ok(RunRecorder::new(self.shared.clone(), run))
    }

    /// The number of this process among those that write; another one after the others thought it
    /// gone, and none until then. What was begun under one number does not count under the next.
    pub fn presence(&self) -> Option<i64> {
        self.shared.writer()
    }

    /// Whether the others have seen this process live so lately that they cannot have given it up.
    pub fn is_seen(&self) -> bool {
        !self.is_shared() || self.shared.seen().elapsed() < liveness::CERTAIN_FOR
    }

    /// Whether another process that lives has the record of a run.
    pub fn is_held_elsewhere(&self, run: RunId) -> Result<bool, JournalError> {
        self.read(|connection| {
            let sql = "SELECT writer FROM runs WHERE id = ?1";
            let writer = connection.value::<Option<i64>>(sql, bound![&run])?.flatten();
            let Some(writer) = writer.filter(|writer| self.presence() != Some(*writer)) else {
                return Ok(false);
            };
            let living = liveness::living(connection, &self.store)?;
            Ok(writer != liveness::NOBODY && living.contains(&writer))
        })
    }

    /// Says that somebody in this process hands over the runs of writers that are gone: these are
    /// then kept until [`Journal::forget_writers`].
    pub fn hands_over(&self) {
        self.shared.hands_over.store(true, Ordering::Release);
    }

    /// The names of the writers that are gone and whose runs nobody has handed over.
    pub fn gone_writers(&self) -> Result<Vec<String>, JournalError> {
        self.read(|connection| Ok(liveness::gone(connection)?))
    }

    /// Those of these runs that have no record.
    pub fn without_record(&self, mut runs: Vec<RunId>) -> Result<Vec<RunId>, JournalError> {
        self.read(|connection| {
            let sql = "SELECT id FROM runs WHERE id = ?1";
            let mut recorded = HashSet::new();
            for run in &runs {
                recorded.extend(connection.value(sql, bound![run])?.map(RunId::from_bytes));
            }
            runs.retain(|run| !recorded.contains(run));
            Ok(runs)
        })
    }

    /// Whether the writer of this name lives, as far as others can tell.
    pub fn lives(&self, name: &str) -> Result<bool, JournalError> {
        self.read(|connection| Ok(liveness::living_names(connection, &self.store)?.contains(name)))
    }

    /// The runs of these writers are handed over.
    pub fn forget_writers(&self, names: &[String]) -> Result<(), JournalError> {
        self.alter_whole(|connection| {
            for name in names {
                let sql = "UPDATE writers SET gone = 2 WHERE name = ?1 AND gone = 1";
                connection.execute(sql, bound![name])?;
            }
            Ok(())
        })
    }
}

impl Journal {
    /// Changes something of runs, beside the writer of this process.
    fn alter_whole<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.alter(|connection| connection.transaction(Access::Write, body))
    }
}

/// What durable runs keep in the file.
impl Journal {
    /// Keeps a run until it has ended.
    pub fn keep_run(&self, run: RunId, input: &str) -> Result<(), JournalError> {
        self.on_shelf(|connection| {
            connection.execute(
                "INSERT INTO durable_runs (run, owner, input, status) VALUES (?1, ?2, ?3, 'pending')
                 ON CONFLICT DO NOTHING",
                bound![&run, &**self.name(), input],
            )?;
            Ok(())
        })
    }

    /// The runs that have not ended and are other processes', be these gone or not.
    pub fn runs_of_others(&self) -> Result<Vec<RunId>, JournalError> {
        let sql = "SELECT run FROM durable_runs WHERE status = 'pending' AND owner <> ?1";
        self.read(|connection| {
            let name = bound![&**self.name()];
            Ok(connection.all(sql, name, |row| Ok(RunId::from_bytes(row.get(0)?)))?)
        })
    }

    /// The runs of this process that have not ended.
    pub fn pending_runs(&self) -> Result<HashSet<RunId>, JournalError> {
        let sql = "SELECT run FROM durable_runs WHERE status = 'pending' AND owner = ?1";
        self.read(|connection| {
            let all = connection
                .all(sql, bound![&**self.name()], |row| Ok(RunId::from_bytes(row.get(0)?)))?;
            Ok(all.into_iter().collect())
        })
    }

    /// The runs of processes that are gone.
    pub fn left_runs(&self) -> Result<Vec<KeptRun>, JournalError> {
        self.on_shelf(|connection| {
            let living = liveness::living_names(connection, &self.store)?;
            let sql =
                "SELECT run, input, owner FROM durable_runs WHERE status = 'pending' ORDER BY run";
            let pending = connection.all(sql, &[], |row| {
                let run = RunId::from_bytes(row.get(0)?);
                Ok((KeptRun { run, input: row.get(1)? }, row.get::<String>(2)?))
            })?;
            let left = pending.into_iter().filter(|(_, owner)| !living.contains(owner));
            Ok(left.map(|(run, _)| run).collect())
        })
    }

    /// Makes runs this process's own that have not ended and whose processes are gone; those of
    /// them that nobody else was faster with.
    pub fn take_over(&self, runs: &[RunId]) -> Result<Vec<RunId>, JournalError> {
        self.on_shelf(|connection| {
            let living = liveness::living_names(connection, &self.store)?;
            let mut taken = Vec::with_capacity(runs.len());
            for run in runs {
                let sql = "SELECT owner FROM durable_runs WHERE run = ?1 AND status = 'pending'";
                let owner = connection.value::<String>(sql, bound![run])?;
                if owner.is_none_or(|owner| living.contains(&owner)) {
                    continue;
                }
                let sql = "UPDATE durable_runs SET owner = ?1 WHERE run = ?2";
                connection.execute(sql, bound![&**self.name(), run])?;
                taken.push(*run);
            }
            Ok(taken)
        })
    }

    /// How a run stands: `pending`, `ended` or `cancelled`, and what it came to.
    pub fn kept_run(&self, run: RunId) -> Result<Option<(String, Option<String>)>, JournalError> {
        self.on_shelf(|connection| {
            let sql = "SELECT status, outcome FROM durable_runs WHERE run = ?1";
            Ok(connection.first(sql, bound![&run], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
    }

    /// Notes what a run came to, or that it was cancelled; false if it had ended before. What it
    /// kept is forgotten.
    pub fn end_run(&self, run: RunId, outcome: Option<&str>) -> Result<bool, JournalError> {
        let status = if outcome.is_some() { "ended" } else { "cancelled" };
        self.on_shelf(|connection| {
            let ended = connection.execute(
                "UPDATE durable_runs SET status = ?1, outcome = ?2
                 WHERE run = ?3 AND status = 'pending'",
                bound![status, outcome, &run],
            )?;
            connection.execute("DELETE FROM durable_steps WHERE run = ?1", bound![&run])?;
            connection.execute("DELETE FROM durable_messages WHERE run = ?1", bound![&run])?;
            Ok(ended > 0)
        })
    }

    /// What a step kept, with its name.
    pub fn kept_step(
        &self,
        run: RunId,
        place: u64,
    ) -> Result<Option<(String, String)>, JournalError> {
        self.on_shelf(|connection| {
            let sql = "SELECT name, value FROM durable_steps WHERE run = ?1 AND place = ?2";
            Ok(connection.first(sql, bound![&run, place], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })
    }

    /// Keeps the outcome of a step, unless the run has ended; what is kept then, which an earlier
    /// execution may have kept.
    pub fn keep_step(
        &self,
        run: RunId,
        place: u64,
        name: &str,
        value: &str,
    ) -> Result<Option<String>, JournalError> {
        self.on_shelf(|connection| {
            if !is_pending(connection, run)? {
                return Ok(None);
            }
            connection.execute(
                "INSERT INTO durable_steps (run, place, name, value) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
                bound![&run, place, name, value],
            )?;
            let sql = "SELECT value FROM durable_steps WHERE run = ?1 AND place = ?2";
            Ok(connection.value(sql, bound![&run, place])?)
        })
    }

    /// Leaves a message for a run; false if the run does not wait for any: it has ended, or is not
    /// known. A message with the key of another one is that one.
    pub fn put_message(
        &self,
        run: RunId,
        topic: &str,
        key: &str,
        value: &str,
    ) -> Result<bool, JournalError> {
        self.on_shelf(|connection| {
            if !is_pending(connection, run)? {
                return Ok(false);
            }
            connection.execute(
                "INSERT INTO durable_messages (run, topic, key, value) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT DO NOTHING",
                bound![&run, topic, key, value],
            )?;
            Ok(true)
        })
    }

    /// Takes the oldest message of a topic as the outcome of a step.
    pub fn take_message(&self, run: RunId, place: u64, topic: &str) -> Result<Taken, JournalError> {
        self.on_shelf(|connection| {
            let sql = "SELECT value FROM durable_steps WHERE run = ?1 AND place = ?2";
            if let Some(kept) = connection.value::<String>(sql, bound![&run, place])? {
                return Ok(Taken::Value(kept));
            }
            let sql = "SELECT no, value FROM durable_messages
                 WHERE run = ?1 AND topic = ?2 AND taken = 0 ORDER BY no LIMIT 1";
            let next = connection.first(sql, bound![&run, topic], |row| {
                Ok((row.get::<i64>(0)?, row.get::<String>(1)?))
            })?;
            let Some((no, value)) = next else { return Ok(Taken::Nothing) };
            connection
                .execute("UPDATE durable_messages SET taken = 1 WHERE no = ?1", bound![no])?;
            connection.execute(
                "INSERT INTO durable_steps (run, place, name, value) VALUES (?1, ?2, ?3, ?4)",
                bound![&run, place, topic, &value],
            )?;
            Ok(Taken::Value(value))
        })
    }

    /// Changes what durable runs keep. A step must not be lost with the power either, so this has
    /// a connection of its own that waits for the disk.
    fn on_shelf<T>(
        &self,
        change: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let mut shelf = self.shelf.lock();
        if shelf.is_none() {
            let connection = self.store.open_writer()?;
            connection.waits_for_disk()?;
            *shelf = Some(connection);
        }
        let connection =
            shelf.as_ref().ok_or_else(|| JournalError::Damaged("no file".to_owned()))?;
        connection.transaction(Access::Write, change)
    }
}

fn is_pending(connection: &Connection, run: RunId) -> Result<bool, JournalError> {
    let sql = "SELECT status FROM durable_runs WHERE run = ?1";
    Ok(connection.value::<String>(sql, bound![&run])?.is_some_and(|status| status == "pending"))
}
