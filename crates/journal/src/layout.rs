//! How events stand in a row of `chunks`: each is a line, and what stands there may be compressed.
//!
//! Short runs that were written together stand in one row. A row costs a store about as much as what
//! is in one of theirs, and runs of one tool say nearly the same, which is compressed together. The
//! row has the key of the first run; the numbers of the others follow, and each has its section.

use std::borrow::Cow;

use lz4_flex::block::{
    CompressTable, compress_into_with_table, compress_prepend_size, get_maximum_output_size,
};

/// The most that is taken out of one row.
pub(crate) const MAX_STORED_BYTES: usize = 256 * 1024 * 1024;

/// A row that is this long is compressed. Payloads often stand in several events, and a byte that
/// is written costs more than one that is compressed.
const MIN_PACKED_BYTES: usize = 1024;

/// What ends the section of a run that another follows. No line is empty.
pub(crate) const BETWEEN_RUNS: &str = "\n\n";

/// How a row is to be read, as its column `packed` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Lines of one run.
    Lines = 0,
    /// Lines of one run, compressed.
    Packed = 1,
    /// Sections of several runs, compressed.
    Bundled = 2,
}

impl Layout {
    /// The layout with this number.
    pub(crate) fn of(number: i64) -> Option<Self> {
        [Self::Lines, Self::Packed, Self::Bundled]
            .into_iter()
            .find(|layout| *layout as i64 == number)
    }
}

/// Makes rows, with memory that is used again for each.
#[derive(Default)]
pub(crate) struct Packer {
    table: CompressTable,
    /// Its length is the most that was needed so far.
    packed: Vec<u8>,
}

impl Packer {
    /// The lines of one run as they go into a row.
    pub(crate) fn pack<'a>(&'a mut self, lines: &'a [u8]) -> (&'a [u8], Layout) {
        if lines.len() >= MIN_PACKED_BYTES {
            let packed = self.compress(lines);
            if packed.len() < lines.len() {
                return (packed, Layout::Packed);
            }
        }
        (lines, Layout::Lines)
    }

    /// The sections of several runs as they go into a row.
    pub(crate) fn bundle(&mut self, sections: &[u8]) -> (&[u8], Layout) {
        (self.compress(sections), Layout::Bundled)
    }

    /// The compressed text after its size, as [`unpack`] reads it.
    fn compress(&mut self, text: &[u8]) -> &[u8] {
        const SIZE: usize = size_of::<u32>();
        let room = SIZE + get_maximum_output_size(text.len());
        if self.packed.len() < room {
            self.packed.resize(room, 0);
        }
        self.packed[..SIZE].copy_from_slice(&(text.len() as u32).to_le_bytes());
        match compress_into_with_table(text, &mut self.packed[SIZE..], &mut self.table) {
            Ok(end) => &self.packed[..SIZE + end],
            // There is enough room for anything, so this is not known to happen.
            Err(_) => {
                self.packed = compress_prepend_size(text);
                &self.packed
            }
        }
    }
}

/// What stands in a row; none if that is damaged.
pub(crate) fn unpack(events: &[u8], layout: Layout) -> Option<Cow<'_, str>> {
    match layout {
        Layout::Lines => std::str::from_utf8(events).ok().map(Cow::Borrowed),
        Layout::Packed | Layout::Bundled => {
            let (size, packed) = lz4_flex::block::uncompressed_size(events).ok()?;
            if size > MAX_STORED_BYTES {
                return None;
            }
            let unpacked = lz4_flex::block::decompress(packed, size).ok()?;
            String::from_utf8(unpacked).ok().map(Cow::Owned)
        }
    }
}

/// The sections of a bundle, one for each run.
pub(crate) fn sections(bundle: &str) -> impl Iterator<Item = &str> {
    bundle.split(BETWEEN_RUNS)
}
