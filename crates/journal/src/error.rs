use std::path::PathBuf;
use std::sync::Arc;

use mcpgraph_diagnostics::printable;
use mcpgraph_engine::StepId;

use crate::{DatabaseError, RunId};

/// Why the store could not do something. Recording never gives one: what it cannot keep it counts.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The folder or file cannot be made or opened.
    #[error("cannot open {}: {why}", path.display())]
    Open {
        /// What was to be opened.
        path: PathBuf,
        /// Why not: part of what this says, and not told of as its cause once more.
        why: std::io::Error,
    },
    /// The file has changes that only somebody who may write to its folder can read.
    #[error(
        "{} cannot be read by this user: its latest changes are still in {}, which only who may \
         write to the folder can read; ask as the user who writes it, or copy the folder and read \
         the copy with --data", path.display(), log.display()
    )]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The log of changes.
        log: PathBuf,
    },
    /// The file is not there any more.
    #[error(
        "{} was deleted or replaced while this process had it open: what is recorded now would be \
         lost; start this process again", path.display()
    )]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// There is no store to read.
    #[error("there are no runs in {}: no file runs.db", dir.display())]
    NoStore {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// The file was written by a newer version.
    #[error(
        "{} has format {found}, and this version of mcpgraph knows {known}: use a newer mcpgraph, \
         or another folder", path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// The file is no store of runs.
    #[error("{} is not a file of runs", path.display())]
    NotAStore {
        /// The file.
        path: PathBuf,
    },
    /// The database failed.
    #[error("the store failed: {0}")]
    Database(DatabaseError),
    /// Nothing can be sealed.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// What the file says makes no sense.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// No run has this id.
    #[error("there is no run `{0}`")]
    NoRun(String),
    /// No step has this number.
    #[error("run {run} has no step {step}")]
    NoStep {
        /// The run.
        run: RunId,
        /// The step.
        step: StepId,
    },
    /// A prefix of an id stands for several runs.
    #[error(
        "`{prefix}` may be {}{}; give more of the id",
        candidates.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        if *more { " and others" } else { "" }
    )]
    Ambiguous {
        /// What was given.
        prefix: String,
        /// Some of the runs it stands for.
        candidates: Vec<RunId>,
        /// Whether there are more.
        more: bool,
    },
    /// What was given is no id and no beginning of one.
    #[error("`{0}` is not the beginning of a run's id")]
    NotAnId(String),
    /// A run that is being executed cannot be removed.
    #[error("run {0} is still being executed")]
    StillRunning(RunId),
    /// A durable run that has not ended cannot be removed: it would be executed all the same.
    #[error(
        "run {0} has not ended: it is durable, and will go on when a server that serves it starts"
    )]
    GoesOn(RunId),
    /// Something that only the event itself has is missing.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// A document is not an exported run.
    #[error("not an exported run: {0}")]
    Import(String),
    /// Another run has the id already.
    #[error("there is another run {0} already; a record is never rewritten")]
    Exists(RunId),
}

impl From<DatabaseError> for JournalError {
    fn from(error: DatabaseError) -> Self {
        Self::Database(error)
    }
}

impl From<rusqlite::Error> for JournalError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.into())
    }
}

/// Something of a run was not kept, so that the run cannot be gone through again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} of run {run} {}was not kept", step.map(|step| format!("at step {step} ")).unwrap_or_default())]
pub struct Missing {
    /// The run.
    pub run: RunId,
    /// The place among the run's events.
    pub seq: u64,
    /// The step, where the event belongs to one.
    pub step: Option<StepId>,
    /// The node of which another output may be given, where a run is to go on from this one.
    pub node: Option<Arc<str>>,
    /// What is missing.
    pub what: MissingPart,
}

impl Missing {
    /// How the run can be gone on from all the same, if it can: from where, or with another output.
    /// `given` says where that is given.
    pub fn way_on(&self, given: &str) -> Option<String> {
        let MissingPart::Payload { .. } = self.what else { return None };
        let way = match self.step {
            Some(step) => {
                format!("go on from step {step} or an earlier one, so that it is executed again")
            }
            // The arguments.
            None if self.seq == 0 => return None,
            None => "go on from an earlier step".to_owned(),
        };
        Some(match &self.node {
            Some(node) => format!("{way}, or give another output of `{}` {given}", printable(node)),
            None => way,
        })
    }
}

/// What is missing of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MissingPart {
    /// An event was lost.
    #[error("an event")]
    Event,
    /// A payload was larger than the limit.
    #[error("the whole {field} ({size} bytes)")]
    Payload {
        /// Which: `input`, `output`, `message`, `data`.
        field: &'static str,
        /// Its size as JSON.
        size: u64,
    },
}
