use super::payloads::PayloadWriter;
use crate::StoredEvent;
use crate::codec::write_event;
use crate::database::{Connection, Result, bound};
use crate::keys::key;

/// The most events in a row.
const MAX_EVENTS: u64 = 128;

/// A row that is this long is full.
const MAX_BYTES: usize = 128 * 1024;

/// A row that is this long is compressed. Payloads often stand in several events, and a byte that
/// is written costs more than one that is compressed.
const MIN_PACKED_BYTES: usize = 1024;

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
        payloads: &mut PayloadWriter<'_>,
    ) -> Result<()> {
        let is_full = self.count >= MAX_EVENTS || self.lines.len() >= MAX_BYTES;
        if is_full || self.first + self.count != seq {
            self.flush(payloads)?;
        }
        if self.count == 0 {
            self.first = seq;
        } else {
            self.lines.push(b'\n');
        }
        self.count += 1;
        write_event(&mut self.lines, event, payloads)
    }

    /// Writes the row.
    pub(crate) fn flush(&mut self, payloads: &mut PayloadWriter<'_>) -> Result<()> {
        payloads.seen.clear();
        if self.count > 0 {
            insert(payloads.connection, key(payloads.run, self.first), &self.lines)?;
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

fn insert(connection: &Connection, key: i64, lines: &[u8]) -> Result<()> {
    let packed = (lines.len() >= MIN_PACKED_BYTES)
        .then(|| lz4_flex::block::compress_prepend_size(lines))
        .filter(|packed| packed.len() < lines.len());
    connection.execute_later(
        "INSERT INTO chunks (key, events, packed) VALUES (?1, ?2, ?3)",
        bound![key, packed.as_deref().unwrap_or(lines), packed.is_some()],
    )
}
