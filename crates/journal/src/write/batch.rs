//! One transaction: everything that was taken from the queue together.

use std::collections::HashMap;
use std::sync::Arc;

use super::bundle::Bundle;
use super::chunk::{Chunk, ChunkRows, INSERT_CHUNK};
use super::live::Live;
use super::occasion::{Occasions, Stored};
use super::payloads::{PayloadWriter, Rows};
use super::queue::{Item, Series};
use super::remove::remove_data;
use super::requests;
use super::row::{self, NewRow, RowOf};
use super::state::RunState;
use super::whole::Whole;
use crate::database::{Access, Bound, Connection, DatabaseError, Repeated, Result, bound};
use crate::keys::{MAX_EVENTS, key};
use crate::layout::Packer;
use crate::mask::Masker;
use crate::{JournalOptions, RunId, RunStatus, StoredEvent, numbers};

/// After how many events a snapshot is taken, or more where it would be large.
const SNAPSHOT_EVERY: u64 = 128;

/// What a transaction came to.
#[derive(Clone, Default)]
pub(crate) struct Written {
    /// What the runs have come to of which more may follow.
    pub(super) states: Vec<(Arc<Live>, RunState)>,
    /// Those of the others that are not kept: another run has their id.
    pub(super) refused: Vec<RunId>,
}

/// Writes transactions.
pub(crate) struct Batcher {
    pub(crate) connection: Connection,
    /// The number of this process among those that write; none for one that only imports.
    pub(crate) writer: Option<i64>,
    occasions: Occasions,
    chunk: Chunk,
    bundle: Bundle,
    packer: Packer,
    /// The latest attempt failed because there was something already.
    was_refused: bool,
    /// How many attempts there were to write something.
    attempts: i64,
    /// What the latest attempt would have come to, if it is not known whether it did.
    unsure: Option<Written>,
}

/// A transaction under way.
pub(crate) struct Part<'a> {
    connection: &'a Connection,
    options: &'a JournalOptions,
    masker: &'a Arc<Masker>,
    writer: Option<i64>,
    occasions: &'a mut Occasions,
    chunk: &'a mut Chunk,
    bundle: &'a mut Bundle,
    packer: &'a mut Packer,
    /// Adds the row of a run.
    run: Repeated<'a>,
    /// Adds the rows of several.
    runs: Repeated<'a>,
    /// Adds a row of events.
    chunks: Repeated<'a>,
    stored: Stored,
    /// The next of [`numbers`].
    next: i64,
    /// New runs are taken to have ids that no other has. It is not asked for each, and everything is
    /// done again if that was wrong.
    trusts_ids: bool,
}

/// What is to be written of one run.
struct Group<'a> {
    run: &'a Arc<Live>,
    /// Its events, in order.
    parts: Vec<&'a Series>,
    /// Something has to be noted of it.
    settles: bool,
}

impl Batcher {
    pub(crate) fn new(connection: Connection, writer: Option<i64>) -> Self {
        Self {
            connection,
            writer,
            occasions: Occasions::default(),
            chunk: Chunk::default(),
            bundle: Bundle::default(),
            packer: Packer::default(),
            was_refused: false,
            attempts: 0,
            unsure: None,
        }
    }

    /// Does something in one transaction that has the file to itself.
    pub(crate) fn transaction<T, E: From<DatabaseError>>(
        &mut self,
        options: &JournalOptions,
        masker: &Arc<Masker>,
        body: impl FnOnce(&mut Part<'_>) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let Self { connection, writer, occasions, chunk, bundle, packer, .. } = self;
        let trusts_ids = !self.was_refused;
        // A transaction that failed may have left something there.
        chunk.clear();
        bundle.clear();
        connection.transaction(Access::Write, |connection| {
            let next = numbers::latest(connection)? + 1;
            let insert_run = if trusts_ids { &*row::INSERT } else { &*row::INSERT_NEW };
            body(&mut Part {
                connection,
                options,
                masker,
                writer: *writer,
                occasions,
                chunk,
                bundle,
                packer,
                run: Repeated::new(connection, insert_run),
                runs: Repeated::new(connection, &row::INSERT_SEVERAL),
                chunks: Repeated::new(connection, INSERT_CHUNK),
                stored: Stored::default(),
                next,
                trusts_ids,
            })
        })
    }

    /// Writes the items; what that came to is handed back once it is in the file.
    ///
    /// Where others may have kept the store for a while, what came meanwhile is added to the items:
    /// the fewer transactions, the less everybody waits.
    pub(crate) fn write(
        &mut self,
        items: &mut Vec<Item>,
        more: impl FnOnce() -> Vec<Item>,
        options: &JournalOptions,
        masker: &Arc<Masker>,
    ) -> Result<Written> {
        if let Some(written) = self.settled()? {
            return Ok(written);
        }
        self.attempts += 1;
        let (attempt, mut unsure) = (self.attempts, None);
        let outcome = self.transaction(options, masker, |part| {
            if !part.connection.answers_at_once() {
                items.extend(more());
            }
            let (groups, wholes) = group(items);
            let noted = items.iter().filter_map(|item| match item {
                Item::Requests(requests) => Some(&**requests),
                _ => None,
            });
            requests::insert(part.connection, noted, part.packer)?;
            let mut written = Written::default();
            for group in &groups {
                written.states.push(part.write_group(group)?);
            }
            part.write_wholes(&wholes, &mut written.refused)?;
            if !part.connection.answers_at_once() {
                let sql = "UPDATE writers SET batch = ?1, seen = now() WHERE no = ?2";
                part.connection.execute_later(sql, bound![attempt, part.writer])?;
                let groups = written.states.iter().map(|(run, _)| run.new.id);
                let runs: Vec<RunId> = groups.chain(wholes.iter().map(|whole| whole.id)).collect();
                part.connection.tell(runs.into_iter())?;
                unsure = Some(written.clone());
            }
            Ok(written)
        });
        self.was_refused = outcome.as_ref().is_err_and(DatabaseError::is_conflict);
        self.unsure = unsure.filter(|_| outcome.is_err());
        outcome
    }

    /// What the latest attempt came to, if it failed in its last moment and is in the database all
    /// the same. Before that is known, nothing is written again.
    fn settled(&mut self) -> Result<Option<Written>> {
        if self.unsure.is_none() {
            return Ok(None);
        }
        let sql = "SELECT batch FROM writers WHERE no = ?1";
        let latest = self.connection.value::<i64>(sql, bound![self.writer])?;
        Ok(self.unsure.take().filter(|_| latest == Some(self.attempts)))
    }

    /// Whether the latest attempt failed because something was there already. The next one asks.
    pub(crate) fn was_refused(&self) -> bool {
        self.was_refused
    }

    /// Nobody wants to know any more what the latest attempt came to.
    pub(crate) fn give_up(&mut self) {
        self.unsure = None;
    }
}

/// Puts what belongs to one run together, and those apart of which all was made ready. Of either the
/// runs stay in the order they came.
fn group(items: &[Item]) -> (Vec<Group<'_>>, Vec<&Whole>) {
    let (mut groups, mut wholes): (Vec<Group<'_>>, Vec<&Whole>) = Default::default();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for item in items {
        let (run, part) = match item {
            Item::Series(part) => (&part.run, Some(&**part)),
            Item::Settle(run) => (run, None),
            Item::Whole(whole) => {
                wholes.push(whole);
                continue;
            }
            Item::Lost(_) | Item::Requests(_) => continue,
        };
        let place = *places.entry(run.ordinal).or_insert_with(|| {
            groups.push(Group { run, parts: Vec::new(), settles: false });
            groups.len() - 1
        });
        let group = &mut groups[place];
        group.parts.extend(part);
        group.settles |= part.is_none();
    }
    (groups, wholes)
}

impl Group<'_> {
    fn events(&self) -> impl Iterator<Item = (u64, &StoredEvent)> {
        self.parts.iter().flat_map(|part| (part.first..).zip(&part.events))
    }

    /// Most runs are short and all of one comes at once: none of it will be gone on from.
    fn is_whole(&self) -> bool {
        matches!(self.parts[..], [part] if part.first == 0
            && (part.events.len() as u64) < SNAPSHOT_EVERY
            && matches!(part.events.last(), Some(StoredEvent::Finished { .. })))
    }
}

impl<'a> Part<'a> {
    pub(crate) fn connection(&self) -> &'a Connection {
        self.connection
    }

    fn write_group(&mut self, group: &Group<'_>) -> Result<(Arc<Live>, RunState)> {
        let run = group.run;
        let mut state = run.state.lock().clone();
        state.lost = run.lost();
        if run.is_durable && !self.owns(run, &state)? {
            state.refused = true;
            return Ok((Arc::clone(run), state));
        }
        let row = RowOf::of(&run.new);
        let is_over = run.is_over() && group.settles;
        let is_whole = state.no.is_none() && group.is_whole();
        self.write_run(row, &mut state, is_whole, group.events(), |state| {
            if !is_over {
                return;
            }
            state.events = state.events.max(run.recorded());
            if state.ended.is_none() {
                let (status, at) = run.ended().unwrap_or((RunStatus::Interrupted, state.at));
                state.ended = Some(status);
                state.at = state.at.max(at);
            }
        })?;
        Ok((Arc::clone(run), state))
    }

    /// Whether a run that is in the store is still this process's own.
    fn owns(&self, run: &Live, state: &RunState) -> Result<bool> {
        if run.is_superseded() {
            return Ok(false);
        }
        let Some(no) = state.no else { return Ok(true) };
        let sql = "SELECT writer FROM runs WHERE no = ?1";
        let writer = self.connection.value::<Option<i64>>(sql, bound![no])?.flatten();
        Ok(writer.is_some() && writer == self.writer)
    }

    /// Writes events of a run and brings its row up to date. `settle` has the last word on it. A run
    /// that is whole and short gets no snapshot.
    pub(crate) fn write_run<'e>(
        &mut self,
        row: RowOf<'_>,
        state: &mut RunState,
        is_whole: bool,
        events: impl Iterator<Item = (u64, &'e StoredEvent)>,
        settle: impl FnOnce(&mut RunState),
    ) -> Result<()> {
        if state.refused {
            return Ok(());
        }
        let is_new = state.no.is_none();
        let number = self.next;
        self.next += 1;
        let no = *state.no.get_or_insert(number);
        let elsewhere = Rows(self.connection, no);
        let mut payloads = PayloadWriter::new(self.options, self.masker, elsewhere);
        let mut rows = ChunkRows { insert: &mut self.chunks, packer: self.packer, run: no };
        for (seq, event) in events {
            if seq >= MAX_EVENTS {
                state.lost += 1;
                continue;
            }
            let is_kept = seq < state.kept;
            if !is_kept {
                self.chunk.push(seq, event, &mut payloads, &mut rows)?;
            }
            if is_whole {
                state.note(seq, event, self.masker);
                continue;
            }
            state.apply(seq, event, self.masker);
            let since = state.events - state.snapshot;
            if since >= SNAPSHOT_EVERY
                && since.is_multiple_of(SNAPSHOT_EVERY)
                && state.tracker.weight() as u64 <= since
            {
                if is_kept {
                    state.snapshot = state.events;
                } else {
                    snapshot(self.connection, no, state)?;
                }
            }
        }
        self.chunk.flush(&mut rows)?;
        settle(state);
        if state.events < state.kept {
            return self.update_again(no, number, state);
        }
        if !is_new {
            return self.update(no, number, state);
        }
        self.insert_new(no, row, state)
    }

    /// Writes runs that have ended, all of which was made ready; adds those that are not kept.
    fn write_wholes(&mut self, wholes: &[&Whole], refused: &mut Vec<RunId>) -> Result<()> {
        for several in wholes.chunks(row::SEVERAL) {
            let numbers = self.next..;
            self.next = self.next.saturating_add_unsigned(several.len() as u64);
            let mut rows = Vec::with_capacity(row::SEVERAL);
            for (no, whole) in numbers.clone().zip(several) {
                let (occasions, stored) = (&mut *self.occasions, &mut self.stored);
                let occasion =
                    occasions.keep(&whole.occasion, self.masker, self.connection, stored)?;
                rows.push(whole.row(no, self.writer, occasion));
            }
            let are_made = self.insert_several(&rows)?;
            for ((no, whole), row) in numbers.zip(several).zip(&rows) {
                if are_made || self.insert(row)? {
                    self.bundle.push(no, whole.lines(), &mut self.chunks, self.packer)?;
                } else {
                    refused.push(whole.id);
                }
            }
        }
        self.bundle.flush(&mut self.chunks, self.packer)
    }

    /// Makes the rows of runs by one statement; false if it cannot.
    fn insert_several(&mut self, rows: &[NewRow<'_>]) -> Result<bool> {
        if !self.trusts_ids || rows.len() != row::SEVERAL {
            return Ok(false);
        }
        let mut values: Vec<Bound<'_>> = Vec::with_capacity(row::SEVERAL * row::PLAIN);
        for row in rows {
            let Some(plain) = row.plain_values() else { return Ok(false) };
            values.extend(plain);
        }
        self.runs.execute_later(&values)?;
        Ok(true)
    }

    fn insert_new(&mut self, no: i64, row: RowOf<'_>, state: &mut RunState) -> Result<()> {
        let (occasions, stored) = (&mut *self.occasions, &mut self.stored);
        let occasion = occasions.keep_of(&row, self.masker, self.connection, stored)?;
        if !self.insert(&NewRow::of(&row, state, self.writer, occasion))? {
            // A record is never rewritten, so the one that was there stays.
            remove_data(self.connection, &(no..=no))?;
            *state = RunState::refused();
        }
        Ok(())
    }

    /// Makes the row of a run; false if another run has its id.
    fn insert(&mut self, row: &NewRow<'_>) -> Result<bool> {
        if self.trusts_ids {
            self.run.execute_later(&row.values())?;
            return Ok(true);
        }
        Ok(self.run.execute(&row.values())? > 0)
    }

    fn update(&self, no: i64, change: i64, state: &RunState) -> Result<()> {
        let reached = state.reached.as_ref();
        self.connection.execute_later(
            "UPDATE runs SET change = ?1, duration = ?2, status = ?3, steps = ?4, events = ?5,
                 lost = ?6, reached_step = ?7, reached_node = ?8, error = ?9
             WHERE no = ?10",
            bound![
                change,
                state.at.as_micros() as i64,
                state.status().name(),
                state.steps,
                state.events,
                state.lost,
                reached.map(|(step, _)| *step),
                reached.map(|(_, node)| &**node),
                state.error.as_deref(),
                no,
            ],
        )
    }

    /// A run that is executed again has not come to where it was before: the row knows more of it.
    fn update_again(&self, no: i64, change: i64, state: &RunState) -> Result<()> {
        self.connection.execute_later(
            "UPDATE runs SET change = ?1, status = ?2 WHERE no = ?3 AND status = 'running'",
            bound![change, state.status().name(), no],
        )
    }
}

fn snapshot(connection: &Connection, no: i64, state: &mut RunState) -> Result<()> {
    state.snapshot = state.events;
    connection.execute_later(
        "INSERT INTO snapshots (key, begun, state) VALUES (?1, ?2, ?3)",
        bound![key(no, state.events), state.tracker.begun, &state.tracker.to_json()],
    )
}
