use super::payloads::{PayloadWriter, Rows};
use crate::StoredEvent;
use crate::codec::write_line;
use crate::database::{Repeated, Result, bound};
use crate::keys::key;
use crate::layout::Packer;

/// The most events in a row.
pub(super) const MAX_EVENTS: u64 = 128;

/// A row that is this long is full.
const MAX_BYTES: usize = 128 * 1024;

/// Writes a row.
pub(crate) const INSERT_CHUNK: &str =
    "INSERT INTO chunks (key, events, packed) VALUES (?1, ?2, ?3)";

/// Collects the lines of events that follow each other into rows.
#[derive(Default)]
pub(crate) struct Chunk {
    lines: Vec<u8>,
    first: u64,
    count: u64,
}

impl Chunk {
    /// Adds an event. Whatever does not fit in the row, or does not follow, begins another.
    pub(crate) fn push(
        &mut self,
        seq: u64,
        event: &StoredEvent,
        payloads: &mut PayloadWriter<'_, Rows<'_>>,
        rows: &mut ChunkRows<'_, '_>,
    ) -> Result<()> {
        let is_full = self.count >= MAX_EVENTS || self.lines.len() >= MAX_BYTES;
        if is_full || self.first + self.count != seq {
            payloads.begin_row();
            self.flush(rows)?;
        }
        if self.count == 0 {
            self.first = seq;
        } else {
            self.lines.push(b'\n');
        }
        self.count += 1;
        write_line(&mut self.lines, event, payloads)
    }

    /// Writes the row.
    pub(crate) fn flush(&mut self, rows: &mut ChunkRows<'_, '_>) -> Result<()> {
        if self.count > 0 {
            rows.insert(self.first, &self.lines)?;
        }
        self.clear();
        Ok(())
    }

    /// Forgets what was not written.
    pub(crate) fn clear(&mut self) {
        self.lines.clear();
        self.count = 0;
    }
}

/// Writes rows of a run.
pub(crate) struct ChunkRows<'r, 'c> {
    pub(crate) insert: &'r mut Repeated<'c>,
    pub(crate) packer: &'r mut Packer,
    /// The number of the run.
    pub(crate) run: i64,
}

impl ChunkRows<'_, '_> {
    /// Writes the lines of events from this one on.
    pub(crate) fn insert(&mut self, first: u64, lines: &[u8]) -> Result<()> {
        let (events, layout) = self.packer.pack(lines);
        self.insert.execute_later(bound![key(self.run, first), events, layout as i64])
    }
}
