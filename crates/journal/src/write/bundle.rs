//! Short runs that are written together.

use super::chunk::ChunkRows;
use crate::database::{Repeated, Result, bound};
use crate::keys::key;
use crate::layout::{BETWEEN_RUNS, Packer};

/// A bundle that is this long is full: whoever reads one of its runs unpacks all of it.
const MAX_BYTES: usize = 64 * 1024;

/// Collects runs whose numbers follow each other into rows.
#[derive(Default)]
pub(crate) struct Bundle {
    sections: Vec<u8>,
    /// The number of the first run.
    first: i64,
    runs: i64,
}

impl Bundle {
    /// Adds the lines of a run, which are all of it. Whatever does not fit in the row, or does not
    /// follow, begins another.
    pub(crate) fn push(
        &mut self,
        run: i64,
        lines: &[u8],
        insert: &mut Repeated<'_>,
        packer: &mut Packer,
    ) -> Result<()> {
        if self.sections.len() + lines.len() > MAX_BYTES || self.first + self.runs != run {
            self.flush(insert, packer)?;
        }
        if self.runs == 0 {
            self.first = run;
        } else {
            self.sections.extend_from_slice(BETWEEN_RUNS.as_bytes());
        }
        self.runs += 1;
        self.sections.extend_from_slice(lines);
        Ok(())
    }

    /// Writes the row.
    pub(crate) fn flush(&mut self, insert: &mut Repeated<'_>, packer: &mut Packer) -> Result<()> {
        match self.runs {
            0 => {}
            1 => ChunkRows { insert, packer, run: self.first }.insert(0, &self.sections)?,
            _ => {
                let (events, layout) = packer.bundle(&self.sections);
                let row = bound![key(self.first, 0), events, layout as i64];
                insert.execute_later(row)?;
            }
        }
        self.clear();
        Ok(())
    }

    /// Forgets what was not written.
    pub(crate) fn clear(&mut self) {
        self.sections.clear();
        self.runs = 0;
    }
}
