use std::time::Duration;

/// How runs are kept.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// A payload whose JSON is longer than this is kept as a preview, its size and its digest.
    pub max_payload_bytes: usize,
    /// How much of such a payload the preview shows.
    pub preview_bytes: usize,
    /// When runs are forgotten.
    pub retention: Retention,
    /// What is masked before it is written.
    pub redaction: Redaction,
    /// How long a run waits for its record, in total, and how long the writer tries to keep what
    /// the disk does not take.
    pub wait: Duration,
    /// How many events may wait to be written.
    pub max_queued_events: usize,
    /// How many bytes they may hold, about.
    pub max_queued_bytes: usize,
    /// The most pages the file may have, which is what a disk without room looks like; none leaves
    /// it to the disk.
    pub max_pages: Option<u32>,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            max_payload_bytes: 256 * 1024,
            preview_bytes: 1024,
            retention: Retention::default(),
            redaction: Redaction::default(),
            wait: Duration::from_secs(2),
            max_queued_events: 65_536,
            max_queued_bytes: 64 * 1024 * 1024,
            max_pages: None,
        }
    }
}

/// When runs are forgotten: the oldest first, as soon as one of these is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// The oldest a run may get.
    pub max_age: Option<Duration>,
    /// How many there may be.
    pub max_runs: Option<u64>,
    /// How many requests the log may have; they get no older than runs.
    pub max_requests: Option<u64>,
    /// How large the file may get, about.
    pub max_bytes: Option<u64>,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_age: Some(Duration::from_hours(30 * 24)),
            max_runs: Some(100_000),
            max_requests: Some(100_000),
            max_bytes: Some(1024 * 1024 * 1024),
        }
    }
}

/// What is masked before anything is written.
///
/// A secret is masked wherever its text occurs: in payloads, messages, what a client says of itself
/// and definitions. One that is shorter than four bytes is not: it would be found everywhere.
/// A field is masked by its name, whatever its case, and with everything in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redaction {
    /// Texts nobody may read.
    pub secrets: Vec<String>,
    /// Names of members whose values nobody may read.
    pub fields: Vec<String>,
}
