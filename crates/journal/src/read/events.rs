use std::cell::Cell;
use std::ops::ControlFlow;

use mcpgraph_value::Value;

use super::row::expect;
use crate::codec::{Fetch, expand, outline, read_event};
use crate::database::{self, Connection, Row, bound};
use crate::keys::{MAX_EVENTS, key, run_of, seq_of};
use crate::layout::{self, Layout, MAX_STORED_BYTES};
use crate::tracker::Tracker;
use crate::{Digest, Journal, JournalError, RunId, RunSummary, StoredEvent};

/// How many rows of events are asked for together.
const MAX_ROWS_AT_ONCE: i64 = 64;

/// Reads the events of one run.
pub(crate) struct RunReader<'c> {
    connection: &'c Connection,
    /// The run's number.
    no: i64,
    /// How many events were decoded: what a reading costs.
    pub(crate) decoded: Cell<u64>,
}

/// Finds payloads in the file.
pub(crate) struct Payloads<'c>(pub(crate) &'c Connection);

impl Fetch for Payloads<'_> {
    fn fetch(&mut self, digest: Digest) -> Result<Value, JournalError> {
        let json = self.text(digest)?;
        Value::from_json(&json)
            .map_err(|error| JournalError::Damaged(format!("payload {digest}: {error}")))
    }
}

impl Payloads<'_> {
    fn text(&self, digest: Digest) -> Result<String, JournalError> {
        let sql = "SELECT size, packed, data FROM payloads WHERE digest = ?1";
        self.0
            .first(sql, bound![&digest], payload)?
            .flatten()
            .ok_or_else(|| JournalError::Damaged(format!("payload {digest} is missing")))
    }
}

/// The JSON of a payload from a row with its `size`, `packed` and `data`; none if it is damaged.
pub(crate) fn payload(row: &Row<'_>) -> database::Result<Option<String>> {
    let (size, is_packed): (i64, bool) = (row.get(0)?, row.get(1)?);
    let data = row.bytes(2)?;
    let size = usize::try_from(size).ok().filter(|size| *size <= MAX_STORED_BYTES);
    let json = match size {
        Some(size) if is_packed => lz4_flex::block::decompress(data, size).ok(),
        Some(_) => Some(data.to_owned()),
        None => None,
    };
    Ok(json.and_then(|json| String::from_utf8(json).ok()))
}

impl<'c> RunReader<'c> {
    pub(crate) fn new(connection: &'c Connection, no: i64) -> Self {
        Self { connection, no, decoded: Cell::new(0) }
    }

    /// Goes through the events from `from` on, as JSON, until told to stop.
    pub(crate) fn lines(
        &self,
        from: u64,
        mut look: impl FnMut(u64, &str) -> Result<ControlFlow<()>, JournalError>,
    ) -> Result<(), JournalError> {
        let (mut wanted, last) = (key(self.no, from), key(self.no, MAX_EVENTS - 1));
        // The row it stands in, which may be one that begins with a run before; or one of another run.
        let sql = "SELECT max(key) FROM chunks WHERE key <= ?1";
        if let Some(before) = self.connection.value::<Option<i64>>(sql, bound![wanted])?.flatten() {
            wanted = before;
        }
        // A file of an older format does not say whether a row is compressed; there, none is.
        let packed = if self.connection.format()? < 4 { "0" } else { "packed" };
        let sql = format!(
            "SELECT key, events, {packed} FROM chunks WHERE key BETWEEN ?1 AND ?2
             ORDER BY key LIMIT ?3"
        );
        // Mostly the first is enough.
        let mut at_once = 1;
        loop {
            let (mut rows, mut stopped) = (0, false);
            self.connection.each(&sql, bound![wanted, last, at_once], |row| {
                rows += 1;
                let first: i64 = row.get(0)?;
                wanted = first + 1;
                let flow = self.each_line(first, row, from, &mut look)?;
                stopped = flow.is_break();
                Ok::<_, JournalError>(flow)
            })?;
            if stopped || rows < at_once {
                return Ok(());
            }
            at_once = (at_once * 4).min(MAX_ROWS_AT_ONCE);
        }
    }

    /// Goes through the lines of the run in a row with this key, which has them second and their
    /// layout third; those of events before `from` are passed over.
    fn each_line(
        &self,
        key: i64,
        row: &Row<'_>,
        from: u64,
        look: &mut impl FnMut(u64, &str) -> Result<ControlFlow<()>, JournalError>,
    ) -> Result<ControlFlow<()>, JournalError> {
        let damaged = || JournalError::Damaged("a row of events".to_owned());
        let layout = Layout::of(row.get(2)?).ok_or_else(damaged)?;
        let ahead = usize::try_from(self.no - run_of(key)).map_err(|_| damaged())?;
        if ahead > 0 && layout != Layout::Bundled {
            return Ok(ControlFlow::Continue(()));
        }
        let text = layout::unpack(row.bytes(1)?, layout).ok_or_else(damaged)?;
        let lines = match layout {
            Layout::Bundled => layout::sections(&text).nth(ahead).unwrap_or_default(),
            Layout::Lines | Layout::Packed => &*text,
        };
        if lines.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let numbered = (seq_of(key)..).zip(lines.split('\n'));
        for (seq, line) in numbered.skip_while(|(seq, _)| *seq < from) {
            let json = expand(line, lines).ok_or_else(damaged)?;
            if look(seq, &json)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// One event.
    pub(crate) fn event(&self, seq: u64) -> Result<Option<StoredEvent>, JournalError> {
        let mut found = None;
        self.lines(seq, |at, line| {
            if at == seq {
                found = Some(self.decode(line)?);
            }
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Reads a line.
    pub(crate) fn decode(&self, line: &str) -> Result<StoredEvent, JournalError> {
        self.decoded.set(self.decoded.get() + 1);
        let event = Value::from_json(line)
            .map_err(|error| JournalError::Damaged(format!("an event: {error}")))?;
        read_event(&event, &mut Payloads(self.connection))
    }

    /// Goes on with a tracker from the event `from`, until told to stop before one.
    pub(crate) fn track(
        &self,
        tracker: &mut Tracker,
        from: u64,
        mut stop: impl FnMut(&Tracker, u64, &crate::codec::Outline) -> bool,
    ) -> Result<(), JournalError> {
        self.lines(from, |seq, line| {
            self.decoded.set(self.decoded.get() + 1);
            let event = outline(line)?;
            if stop(tracker, seq, &event) {
                return Ok(ControlFlow::Break(()));
            }
            tracker.apply_outline(seq, &event)?;
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The latest snapshot that says what `holds` accepts, as the event before which it was taken
    /// and the tracker; the beginning of the run if there is none. `holds` must be true up to some
    /// snapshot and false from there on.
    pub(crate) fn latest_snapshot(
        &self,
        events: u64,
        holds: impl Fn(u64, &Snapshot) -> Result<bool, JournalError>,
    ) -> Result<(u64, Tracker), JournalError> {
        let mut latest = None;
        let (mut low, mut high) = (1, events);
        while low <= high {
            let middle = low + (high - low) / 2;
            match self.snapshot_up_to(middle)? {
                None => low = middle + 1,
                Some((seq, snapshot)) => {
                    if holds(seq, &snapshot)? {
                        latest = Some((seq, snapshot));
                        low = middle + 1;
                    } else {
                        high = seq.saturating_sub(1);
                    }
                }
            }
        }
        match latest {
            Some((seq, snapshot)) => Ok((seq, snapshot.tracker()?)),
            None => Ok((0, Tracker::default())),
        }
    }

    fn snapshot_up_to(&self, seq: u64) -> Result<Option<(u64, Snapshot)>, JournalError> {
        Ok(self.connection.first(
            "SELECT key, begun, state FROM snapshots WHERE key BETWEEN ?1 AND ?2
             ORDER BY key DESC LIMIT 1",
            bound![key(self.no, 0), key(self.no, seq)],
            |row| {
                let begun = row.get::<i64>(1)?.unsigned_abs();
                Ok((seq_of(row.get(0)?), Snapshot { begun, state: row.get(2)? }))
            },
        )?)
    }
}

/// A snapshot as it stands in its row.
pub(crate) struct Snapshot {
    /// Every step below this one had begun.
    pub(crate) begun: u64,
    state: String,
}

impl Snapshot {
    pub(crate) fn tracker(&self) -> Result<Tracker, JournalError> {
        Tracker::from_json(self.begun, &self.state)
    }
}

impl Journal {
    /// At most `limit` events of a run from number `from` on, with their numbers. A number that is
    /// left out is one that was lost.
    pub fn events(
        &self,
        id: RunId,
        from: u64,
        limit: usize,
    ) -> Result<Vec<(u64, StoredEvent)>, JournalError> {
        self.read(|connection| {
            let (no, _) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            let mut events = Vec::new();
            reader.lines(from, |seq, line| {
                if events.len() >= limit {
                    return Ok(ControlFlow::Break(()));
                }
                events.push((seq, reader.decode(line)?));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(events)
        })
    }

    /// The text of the definition that a run was of, masked as it was; none if it was not kept.
    pub fn definition_of(
        &self,
        run: &RunSummary,
    ) -> Result<Option<std::sync::Arc<str>>, JournalError> {
        run.definition.map_or(Ok(None), |digest| self.definition(digest))
    }

    /// The text of a definition, masked as it was.
    pub fn definition(&self, digest: Digest) -> Result<Option<std::sync::Arc<str>>, JournalError> {
        self.read(|connection| {
            let sql = "SELECT text FROM definitions WHERE digest = ?1";
            Ok(connection.value::<String>(sql, bound![&digest])?.map(Into::into))
        })
    }
}
