//! One transaction: everything that was taken from the queue together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, TransactionBehavior, params};

use super::chunk::Chunk;
use super::live::Live;
use super::payloads::PayloadWriter;
use super::queue::{Item, Series};
use super::remove::remove_data;
use super::requests;
use super::state::RunState;
use crate::mask::Masker;
use crate::schema::{MAX_EVENTS, key};
use crate::{Digest, JournalOptions, Origin, RunId, RunStatus, StoredEvent, numbers};

/// After how many events a snapshot is taken, or more where it would be large.
const SNAPSHOT_EVERY: u64 = 128;

/// How many texts of definitions are kept masked in memory.
const MAX_DEFINITIONS: usize = 16;

/// Writes transactions.
pub(crate) struct Batcher {
    pub(crate) connection: Connection,
    /// The number of this process among those that write; none for one that only imports.
    pub(crate) writer: Option<i64>,
    definitions: Definitions,
    chunk: Chunk,
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
    /// The definitions that are in the file for sure.
    stored: HashSet<Digest>,
    /// The next of [`numbers`].
    next: i64,
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
        Self { connection, writer, definitions: Definitions::default(), chunk: Chunk::default() }
    }

    /// Does something in one transaction that has the file to itself.
    pub(crate) fn transaction<T, E: From<rusqlite::Error>>(
        &mut self,
        options: &JournalOptions,
        masker: &Arc<Masker>,
        body: impl FnOnce(&mut Part<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        // A transaction that failed may have left something there.
        self.chunk.clear();
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut part = Part {
            next: numbers::latest(&transaction)? + 1,
            connection: &transaction,
            options,
            masker,
            writer: self.writer,
            definitions: &mut self.definitions,
            chunk: &mut self.chunk,
            stored: HashSet::new(),
        };
        let result = body(&mut part)?;
        transaction.commit()?;
        Ok(result)
    }

    /// Writes the items; what the runs have come to is handed back once it is in the file.
    pub(crate) fn write(
        &mut self,
        items: &[Item],
        options: &JournalOptions,
        masker: &Arc<Masker>,
    ) -> rusqlite::Result<Vec<(Arc<Live>, RunState)>> {
        let groups = group(items);
        self.transaction(options, masker, |part| {
            for item in items {
                if let Item::Request(request) = item {
                    requests::insert(part.connection, request, part.masker)?;
                }
            }
            groups.iter().map(|group| part.write_group(group)).collect()
        })
    }
}

/// Puts what belongs to one run together; the runs stay in the order they came.
fn group(items: &[Item]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::with_capacity(items.len());
    let mut places: HashMap<u64, usize> = HashMap::with_capacity(items.len());
    for item in items {
        let (run, part) = match item {
            Item::Series(part) => (&part.run, Some(part)),
            Item::Settle(run) => (run, None),
            Item::Lost(_) | Item::Request(_) => continue,
        };
        let place = *places.entry(run.ordinal).or_insert_with(|| {
            groups.push(Group { run, parts: Vec::new(), settles: false });
            groups.len() - 1
        });
        groups[place].settles |= part.is_none();
        groups[place].parts.extend(part);
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

impl Part<'_> {
    fn write_group(&mut self, group: &Group<'_>) -> rusqlite::Result<(Arc<Live>, RunState)> {
        let run = group.run;
        let mut state = run.state.lock().clone();
        state.lost = run.lost();
        let is_over = run.is_over() && group.settles;
        let row = RowOf {
            id: run.new.id,
            tool: &run.new.tool,
            digest: run.new.digest,
            definition: run.new.definition.as_ref(),
            origin: &run.new.origin,
            started: run.new.started,
        };
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

    /// Writes events of a run and brings its row up to date. `settle` has the last word on it. A run
    /// that is whole and short gets no snapshot.
    pub(crate) fn write_run<'e>(
        &mut self,
        row: &RowOf<'_>,
        state: &mut RunState,
        is_whole: bool,
        events: impl Iterator<Item = (u64, &'e StoredEvent)>,
        settle: impl FnOnce(&mut RunState),
    ) -> rusqlite::Result<()> {
        if state.refused {
            return Ok(());
        }
        let is_new = state.no.is_none();
        let number = self.next;
        self.next += 1;
        let no = *state.no.get_or_insert(number);
        let mut payloads = PayloadWriter {
            connection: self.connection,
            options: self.options,
            masker: self.masker,
            run: no,
            seen: Vec::new(),
        };
        for (seq, event) in events {
            if seq >= MAX_EVENTS {
                state.lost += 1;
                continue;
            }
            self.chunk.push(seq, event, &mut payloads)?;
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
                self.snapshot(no, state)?;
            }
        }
        self.chunk.flush(&mut payloads)?;
        settle(state);
        if !is_new {
            return self.update(no, number, state);
        }
        if !self.insert(no, row, state)? {
            // A record is never rewritten, so the one that was there stays.
            remove_data(self.connection, no)?;
            *state = RunState { refused: true, ..RunState::default() };
        }
        Ok(())
    }

    fn snapshot(&self, no: i64, state: &mut RunState) -> rusqlite::Result<()> {
        state.snapshot = state.events;
        self.connection
            .prepare_cached("INSERT INTO snapshots (key, begun, state) VALUES (?, ?, ?)")?
            .execute(params![
                key(no, state.events),
                state.tracker.begun.cast_signed(),
                state.tracker.to_json(),
            ])?;
        Ok(())
    }

    /// Makes the row of a run; false if another run has its id.
    fn insert(&mut self, no: i64, row: &RowOf<'_>, state: &RunState) -> rusqlite::Result<bool> {
        let definition = row.definition.map(|text| self.define(text)).transpose()?;
        let origin = row.origin;
        let client = origin.client.as_deref().map(|client| self.masker.json_text(client));
        let protocol = origin.protocol.as_deref().map(|protocol| self.masker.text(protocol));
        let reached = state.reached.as_ref();
        let inserted = self
            .connection
            .prepare_cached(
                "INSERT INTO runs (no, id, change, started, duration, status, writer, steps,
                     events, lost, tool, digest, definition, reached_step, reached_node, error,
                     face, client, protocol, traceparent, tracestate, parent, parent_step, around)
                 VALUES (?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT (id) DO NOTHING",
            )?
            .execute(params![
                no,
                row.id.as_bytes(),
                micros(row.started),
                state.at.as_micros() as i64,
                state.status().name(),
                self.writer,
                state.steps.cast_signed(),
                state.events.cast_signed(),
                state.lost.cast_signed(),
                row.tool,
                row.digest.as_bytes(),
                definition.as_ref().map(Digest::as_bytes),
                reached.map(|(step, _)| step.cast_signed()),
                reached.map(|(_, node)| &**node),
                state.error,
                origin.face.name(),
                client.as_deref(),
                protocol.as_deref(),
                origin.trace.as_ref().map(|trace| &*trace.traceparent),
                origin.trace.as_ref().and_then(|trace| trace.tracestate.as_deref()),
                origin.parent.as_ref().map(|parent| parent.run.as_bytes()),
                origin.parent.as_ref().map(|parent| parent.from.cast_signed()),
                origin.around.as_ref().map(RunId::as_bytes),
            ])?;
        Ok(inserted > 0)
    }

    fn update(&self, no: i64, change: i64, state: &RunState) -> rusqlite::Result<()> {
        let reached = state.reached.as_ref();
        self.connection
            .prepare_cached(
                "UPDATE runs SET change = ?, duration = ?, status = ?, steps = ?, events = ?,
                     lost = ?, reached_step = ?, reached_node = ?, error = ?
                 WHERE no = ?",
            )?
            .execute(params![
                change,
                state.at.as_micros() as i64,
                state.status().name(),
                state.steps.cast_signed(),
                state.events.cast_signed(),
                state.lost.cast_signed(),
                reached.map(|(step, _)| step.cast_signed()),
                reached.map(|(_, node)| &**node),
                state.error,
                no,
            ])?;
        Ok(())
    }

    /// Keeps the text of a definition, unless it is there.
    fn define(&mut self, text: &Arc<str>) -> rusqlite::Result<Digest> {
        let (digest, masked) = self.definitions.masked(text, self.masker);
        if self.stored.insert(digest) {
            self.connection
                .prepare_cached("INSERT OR IGNORE INTO definitions (digest, text) VALUES (?, ?)")?
                .execute(params![digest.as_bytes(), &*masked])?;
        }
        Ok(digest)
    }
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
