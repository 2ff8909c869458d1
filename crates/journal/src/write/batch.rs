//! One transaction: everything that was taken from the queue together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::chunk::{Chunk, ChunkRows, INSERT_CHUNK};
use super::live::Live;
use super::payloads::{PayloadWriter, Rows};
use super::queue::{Item, Series};
use super::remove::remove_data;
use super::requests;
use super::state::RunState;
use super::whole::Whole;
use crate::database::{Access, Connection, DatabaseError, Repeated, Result, bound};
use crate::keys::{MAX_EVENTS, key};
use crate::mask::Masker;
use crate::{Digest, JournalOptions, Origin, RunId, RunStatus, StoredEvent, numbers};

macro_rules! insert_run {
    () => {
        "INSERT INTO runs (no, id, change, started, duration, status, writer, steps, events, lost,
             tool, digest, definition, reached_step, reached_node, error, face, client, protocol,
             traceparent, tracestate, parent, parent_step, around, principal)
         VALUES (?1, ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
             ?19, ?20, ?21, ?22, ?23, ?24)"
    };
}

/// After how many events a snapshot is taken, or more where it would be large.
const SNAPSHOT_EVERY: u64 = 128;

/// How many texts of definitions are kept masked in memory.
const MAX_DEFINITIONS: usize = 16;

/// What runs have come to.
pub(crate) type States = Vec<(Arc<Live>, RunState)>;

/// Makes the row of a run.
const INSERT_RUN: &str = concat!(insert_run!());

/// The same, unless another run has its id.
const INSERT_NEW_RUN: &str = concat!(insert_run!(), " ON CONFLICT (id) DO NOTHING");

/// Writes transactions.
pub(crate) struct Batcher {
    pub(crate) connection: Connection,
    /// The number of this process among those that write; none for one that only imports.
    pub(crate) writer: Option<i64>,
    definitions: Definitions,
    chunk: Chunk,
    /// The latest attempt failed because there was something already.
    was_refused: bool,
    /// How many attempts there were to write something.
    attempts: i64,
    /// What the latest attempt would have come to, if it is not known whether it did.
    unsure: Option<States>,
}

/// The texts of definitions, masked, by where the text is in memory.
#[derive(Default)]
struct Definitions {
    masked: Vec<(Arc<str>, Digest, Arc<str>)>,
    masked_by: Option<Arc<Masker>>,
}

/// What the row of a run says from its beginning on.
pub(crate) struct RowOf<'a> {
    pub(crate) id: RunId,
    pub(crate) tool: &'a str,
    pub(crate) digest: Digest,
    pub(crate) definition: Option<&'a Arc<str>>,
    pub(crate) origin: &'a Origin,
    pub(crate) started: SystemTime,
}

/// A transaction under way.
pub(crate) struct Part<'a> {
    connection: &'a Connection,
    options: &'a JournalOptions,
    masker: &'a Arc<Masker>,
    writer: Option<i64>,
    definitions: &'a mut Definitions,
    chunk: &'a mut Chunk,
    /// Adds the row of a run.
    runs: Repeated<'a>,
    /// Adds a row of events.
    chunks: Repeated<'a>,
    /// The definitions that are in the file for sure.
    stored: HashSet<Digest>,
    /// The next of [`numbers`].
    next: i64,
    /// New runs are taken to have ids that no other has. Where answers take their time it is not
    /// asked for each, and everything is done again if that was wrong.
    trusts_ids: bool,
}

/// What is to be written of one run.
struct Group<'a> {
    run: &'a Arc<Live>,
    /// Its events, in order.
    parts: Vec<&'a Series>,
    /// Or all of it, made ready.
    whole: Option<&'a Whole>,
    /// Something has to be noted of it.
    settles: bool,
}

impl Batcher {
    pub(crate) fn new(connection: Connection, writer: Option<i64>) -> Self {
        let (definitions, chunk) = (Definitions::default(), Chunk::default());
        Self {
            connection,
            writer,
            definitions,
            chunk,
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
        let (writer, definitions, chunk) = (self.writer, &mut self.definitions, &mut self.chunk);
        let trusts_ids = !self.connection.answers_at_once() && !self.was_refused;
        // A transaction that failed may have left something there.
        chunk.clear();
        self.connection.transaction(Access::Write, |connection| {
            let next = numbers::latest(connection)? + 1;
            let stored = HashSet::new();
            let insert_run = if trusts_ids { INSERT_RUN } else { INSERT_NEW_RUN };
            body(&mut Part {
                connection,
                options,
                masker,
                writer,
                definitions,
                chunk,
                runs: Repeated::new(connection, insert_run),
                chunks: Repeated::new(connection, INSERT_CHUNK),
                stored,
                next,
                trusts_ids,
            })
        })
    }

    /// Writes the items; what the runs have come to is handed back once it is in the file.
    ///
    /// Where others may have kept the store for a while, what came meanwhile is added to the items:
    /// the fewer transactions, the less everybody waits.
    pub(crate) fn write(
        &mut self,
        items: &mut Vec<Item>,
        more: impl FnOnce() -> Vec<Item>,
        options: &JournalOptions,
        masker: &Arc<Masker>,
    ) -> Result<States> {
        if let Some(states) = self.settled()? {
            return Ok(states);
        }
        self.attempts += 1;
        let (attempt, mut unsure) = (self.attempts, None);
        let written = self.transaction(options, masker, |part| {
            if !part.connection.answers_at_once() {
                items.extend(more());
            }
            let groups = group(items);
            let noted = items.iter().filter_map(|item| match item {
                Item::Request(request) => Some(&**request),
                _ => None,
            });
            requests::insert(part.connection, noted, part.masker)?;
            let states =
                groups.iter().map(|group| part.write_group(group)).collect::<Result<States>>()?;
            if !part.connection.answers_at_once() {
                let sql = "UPDATE writers SET batch = ?1, seen = now() WHERE no = ?2";
                part.connection.execute_later(sql, bound![attempt, part.writer])?;
                part.connection.tell(states.iter().map(|(run, _)| run.new.id))?;
                unsure = Some(states.clone());
            }
            Ok(states)
        });
        self.was_refused = written.as_ref().is_err_and(DatabaseError::is_conflict);
        self.unsure = unsure.filter(|_| written.is_err());
        written
    }

    /// What the latest attempt came to, if it failed in its last moment and is in the database all
    /// the same. Before that is known, nothing is written again.
    fn settled(&mut self) -> Result<Option<States>> {
        if self.unsure.is_none() {
            return Ok(None);
        }
        let sql = "SELECT batch FROM writers WHERE no = ?1";
        let latest = self.connection.value::<i64>(sql, bound![self.writer])?;
        Ok(self.unsure.take().filter(|_| latest == Some(self.attempts)))
    }

    /// Nobody wants to know any more what the latest attempt came to.
    pub(crate) fn give_up(&mut self) {
        self.unsure = None;
    }
}

/// Puts what belongs to one run together; the runs stay in the order they came.
fn group(items: &[Item]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(items.len());
    let mut places: HashMap<u64, usize> = HashMap::with_capacity(items.len());
    for item in items {
        let run = match item {
            Item::Series(part) => &part.run,
            Item::Whole(whole) => &whole.run,
            Item::Settle(run) => run,
            Item::Lost(_) | Item::Request(_) => continue,
        };
        let place = *places.entry(run.ordinal).or_insert_with(|| {
            groups.push(Group { run, parts: Vec::new(), whole: None, settles: false });
            groups.len() - 1
        });
        let group = &mut groups[place];
        match item {
            Item::Series(part) => group.parts.push(part),
            Item::Whole(whole) => group.whole = Some(whole),
            _ => group.settles = true,
        }
    }
    groups
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
        let row = RowOf {
            id: run.new.id,
            tool: &run.new.tool,
            digest: run.new.digest,
            definition: run.new.definition.as_ref(),
            origin: &run.new.origin,
            started: run.new.started,
        };
        if let Some(whole) = group.whole {
            state = RunState { lost: state.lost, ..(*whole.state).clone() };
            self.write_whole(&row, &whole.lines, &mut state)?;
            return Ok((Arc::clone(run), state));
        }
        let is_over = run.is_over() && group.settles;
        let is_whole = state.no.is_none() && group.is_whole();
        self.write_run(&row, &mut state, is_whole, group.events(), |state| {
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
        row: &RowOf<'_>,
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
        let mut rows = ChunkRows { insert: &mut self.chunks, run: no };
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

    /// Writes a run that has ended, all of which was made ready.
    fn write_whole(&mut self, row: &RowOf<'_>, lines: &[u8], state: &mut RunState) -> Result<()> {
        let no = self.next;
        self.next += 1;
        state.no = Some(no);
        ChunkRows { insert: &mut self.chunks, run: no }.insert(0, lines)?;
        self.insert_new(no, row, state)
    }

    fn insert_new(&mut self, no: i64, row: &RowOf<'_>, state: &mut RunState) -> Result<()> {
        if !self.insert(no, row, state)? {
            // A record is never rewritten, so the one that was there stays.
            remove_data(self.connection, &(no..=no))?;
            *state = RunState { refused: true, ..RunState::default() };
        }
        Ok(())
    }

    /// Makes the row of a run; false if another run has its id.
    fn insert(&mut self, no: i64, row: &RowOf<'_>, state: &RunState) -> Result<bool> {
        let definition = row.definition.map(|text| self.define(text)).transpose()?;
        let origin = row.origin;
        let client = origin.client.as_deref().map(|client| self.masker.json_text(client));
        let protocol = origin.protocol.as_deref().map(|protocol| self.masker.text(protocol));
        let reached = state.reached.as_ref();
        let values = bound![
            no,
            &row.id,
            micros(row.started),
            state.at.as_micros() as i64,
            state.status().name(),
            self.writer,
            state.steps,
            state.events,
            state.lost,
            row.tool,
            &row.digest,
            definition.as_ref(),
            reached.map(|(step, _)| *step),
            reached.map(|(_, node)| &**node),
            state.error.as_deref(),
            origin.face.name(),
            client.as_deref(),
            protocol.as_deref(),
            origin.trace.as_ref().map(|trace| &*trace.traceparent),
            origin.trace.as_ref().and_then(|trace| trace.tracestate.as_deref()),
            origin.parent.as_ref().map(|parent| &parent.run),
            origin.parent.as_ref().map(|parent| parent.from),
            origin.around.as_ref(),
            origin.principal.as_deref(),
        ];
        if self.trusts_ids {
            self.runs.execute_later(values)?;
            return Ok(true);
        }
        Ok(self.runs.execute(values)? > 0)
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

    /// Keeps the text of a definition, unless it is there.
    fn define(&mut self, text: &Arc<str>) -> Result<Digest> {
        let (digest, masked) = self.definitions.masked(text, self.masker);
        if self.stored.insert(digest) {
            self.connection.execute_later(
                "INSERT INTO definitions (digest, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                bound![&digest, &*masked],
            )?;
        }
        Ok(digest)
    }
}

fn snapshot(connection: &Connection, no: i64, state: &mut RunState) -> Result<()> {
    state.snapshot = state.events;
    connection.execute_later(
        "INSERT INTO snapshots (key, begun, state) VALUES (?1, ?2, ?3)",
        bound![key(no, state.events), state.tracker.begun, &state.tracker.to_json()],
    )
}

impl Definitions {
    fn masked(&mut self, text: &Arc<str>, masker: &Arc<Masker>) -> (Digest, Arc<str>) {
        if !self.masked_by.as_ref().is_some_and(|by| Arc::ptr_eq(by, masker)) {
            self.masked.clear();
            self.masked_by = Some(Arc::clone(masker));
        }
        if let Some((_, digest, masked)) =
            self.masked.iter().find(|(known, ..)| Arc::ptr_eq(known, text))
        {
            return (*digest, Arc::clone(masked));
        }
        let masked: Arc<str> = masker.text(text).into();
        let digest = Digest::of(masked.as_bytes());
        if self.masked.len() == MAX_DEFINITIONS {
            self.masked.remove(0);
        }
        self.masked.push((Arc::clone(text), digest, Arc::clone(&masked)));
        (digest, masked)
    }
}

/// A time as the file has it: microseconds since 1970.
pub(crate) fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
