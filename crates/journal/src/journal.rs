use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_graph::Digest;
use mcpgraph_value::Value;

use crate::{
    Changes, ContentDigest, Filter, JournalError, JournalOptions, Listing, NewRun, NodeStats,
    Redaction, RunId, RunRecorder, RunSummary, StepRecord, StoredEvent,
};

/// The store of runs.
pub struct Journal {}

/// How the store keeps up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalStatus {
    /// Events that wait to be written.
    pub queued_events: usize,
    /// What they hold, about.
    pub queued_bytes: usize,
    /// Events that were lost since the journal was opened.
    pub lost_events: u64,
    /// Runs that lost events.
    pub lost_runs: u64,
    /// How long the oldest event that is not in the file has waited.
    pub lag: Duration,
    /// Commits since the journal was opened.
    pub commits: u64,
    /// Why the latest attempt to write failed; none if it did not.
    pub last_error: Option<Arc<str>>,
}

/// Waits for commits.
pub struct Follower {}

impl Follower {
    /// Waits until something was committed since the last call; false once the journal is closed.
    pub async fn changed(&mut self) -> bool {
        unimplemented!()
    }
}

impl Journal {
    /// Opens the store in a folder, for writing and reading.
    pub fn open(_dir: &Path, _options: JournalOptions) -> Result<Self, JournalError> {
        unimplemented!()
    }
    /// Opens an existing store for reading.
    pub fn open_read(_dir: &Path) -> Result<Self, JournalError> {
        unimplemented!()
    }
    /// Masks something else from now on.
    pub fn set_redaction(&self, _redaction: Redaction) {
        unimplemented!()
    }
    /// Begins the record of a run.
    pub fn begin(&self, _run: NewRun) -> RunRecorder {
        unimplemented!()
    }
    /// How the store keeps up.
    pub fn status(&self) -> JournalStatus {
        unimplemented!()
    }
    /// Runs, newest first.
    pub fn list(&self, _filter: &Filter) -> Result<Listing, JournalError> {
        unimplemented!()
    }
    /// What changed since the number the last answer gave; 0 begins with everything.
    pub fn changes(&self, _since: u64, _limit: usize) -> Result<Changes, JournalError> {
        unimplemented!()
    }
    /// One run.
    pub fn run(&self, _id: RunId) -> Result<Option<RunSummary>, JournalError> {
        unimplemented!()
    }
    /// The run whose id begins so.
    pub fn resolve(&self, _prefix: &str) -> Result<RunId, JournalError> {
        unimplemented!()
    }
    /// Events of a run, with their numbers.
    pub fn events(
        &self,
        _id: RunId,
        _from: u64,
        _limit: usize,
    ) -> Result<Vec<(u64, StoredEvent)>, JournalError> {
        unimplemented!()
    }
    /// All events of a run as they were, or what is missing. `Started` says `version`.
    pub fn whole_events(&self, _id: RunId, _version: Digest) -> Result<Vec<Event>, JournalError> {
        unimplemented!()
    }
    /// One step.
    pub fn step(&self, _id: RunId, _step: StepId) -> Result<StepRecord, JournalError> {
        unimplemented!()
    }
    /// What a step saw.
    pub fn context_at(&self, _id: RunId, _step: StepId) -> Result<Value, JournalError> {
        unimplemented!()
    }
    /// How the nodes of the runs went, the slowest first.
    pub fn stats(&self, _filter: &Filter) -> Result<Vec<NodeStats>, JournalError> {
        unimplemented!()
    }
    /// The text of a definition.
    pub fn definition(&self, _digest: ContentDigest) -> Result<Option<Arc<str>>, JournalError> {
        unimplemented!()
    }
    /// Forgets runs; how many there were.
    pub fn remove(&self, _ids: &[RunId]) -> Result<usize, JournalError> {
        unimplemented!()
    }
    /// A run as one document.
    pub fn export(&self, _id: RunId) -> Result<Value, JournalError> {
        unimplemented!()
    }
    /// Takes in a document that `export` made.
    pub fn import(&self, _document: &Value) -> Result<RunId, JournalError> {
        unimplemented!()
    }
    /// Waits for commits of one run, or of all.
    pub fn follow(&self, _id: Option<RunId>) -> Follower {
        unimplemented!()
    }
    /// Writes what is queued, within the bound, and ends the writer.
    pub fn close(self) {
        unimplemented!()
    }
}
