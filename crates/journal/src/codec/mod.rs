//! Events as JSON and as lines of rows, and requests.
//!
//! The JSON of an event says everything of it in words. A payload is a member with its value; with
//! another mark after its name, it is something else: `out@` names a payload that stands by itself,
//! `out~` says what is left of one that was larger than the limit, and `out$` is the JSON of one that
//! nests too deep to stand inside another value. How it stands in a row is said in `lines`.

mod lines;
mod read;
mod requests;
mod write;

use mcpgraph_engine::StepPath;

use crate::JournalError;

pub(crate) use lines::{expand, write_line, write_plain_line, write_reference};
pub(crate) use read::{Fetch, outline, path, read_event};
pub(crate) use requests::{read_request, write_request};
pub(crate) use write::{Place, write_event};

/// An event without its payloads: what is needed to follow the course of a run.
#[derive(serde::Deserialize)]
pub(crate) struct Outline {
    #[serde(rename = "e")]
    pub(crate) name: String,
    #[serde(rename = "s", default)]
    pub(crate) step: u64,
    path: Option<String>,
    #[serde(default)]
    pub(crate) node: String,
    #[serde(default)]
    pub(crate) kind: String,
    #[serde(rename = "to")]
    pub(crate) edge: Option<serde::de::IgnoredAny>,
    began: Option<u64>,
    #[serde(default)]
    pub(crate) at: u64,
}

impl Outline {
    /// Where the step stands, or the body whose output was changed.
    pub(crate) fn path(&self) -> Result<StepPath, JournalError> {
        self.path.as_deref().map_or_else(|| read::place_of(self.step), path)
    }

    /// When the step began, in microseconds.
    pub(crate) fn began(&self) -> u64 {
        self.began.unwrap_or(self.at)
    }
}

/// The names of events.
pub(crate) mod names {
    pub(crate) const STARTED: &str = "started";
    pub(crate) const STEP: &str = "step";
    pub(crate) const DONE: &str = "done";
    pub(crate) const FAILED: &str = "failed";
    pub(crate) const RETRY: &str = "retry";
    pub(crate) const PAUSED: &str = "paused";
    pub(crate) const RESUMED: &str = "resumed";
    pub(crate) const CHANGED: &str = "changed";
    pub(crate) const LOG: &str = "log";
    pub(crate) const FINISHED: &str = "finished";
}
