//! What rows of events and snapshots are found by.

/// How many bits of a key number the event.
const SEQ_BITS: u32 = 28;

/// The most events a run may have.
pub(crate) const MAX_EVENTS: u64 = 1 << SEQ_BITS;

/// The key of an event of a run, in `chunks` and `snapshots`.
pub(crate) fn key(run: i64, seq: u64) -> i64 {
    let seq = i64::try_from(seq.min(MAX_EVENTS - 1)).unwrap_or(i64::MAX);
    (run << SEQ_BITS) | seq
}

/// The number of the event a key stands for.
pub(crate) fn seq_of(key: i64) -> u64 {
    (key as u64) & (MAX_EVENTS - 1)
}

/// The number of the run a key belongs to.
pub(crate) fn run_of(key: i64) -> i64 {
    key >> SEQ_BITS
}
