use std::ops::Range;

/// A piece of the source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// Where it begins.
    pub start: u32,
    /// Where it ends; the byte there is no longer part of it.
    pub end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // The parser refuses sources longer than `MAX_SOURCE_BYTES`, so nothing is cut off here.
        Self { start: start as u32, end: end as u32 }
    }

    /// The span as a range to slice the source with.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// From the beginning of this to the end of `other`.
    pub(crate) fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end.max(self.start) }
    }
}
