//! Keeps runs: their events, the payloads in them, the definitions they ran and what they ask
//! people. Beside them it keeps the log of requests, workflows and the scripts their hooks share,
//! and what several processes have in common (see `common`), without knowing what they say.
//!
//! This crate owns what is written about a run, how it is found again and when it is forgotten.
//! Everything it tells of a run is a function of the run's events.
//!
//! [`Journal::begin`] gives a [`RunRecorder`], which never waits; one thread writes what all of
//! them record, many events in one commit, into SQLite or PostgreSQL (see `database`). Reading goes
//! past that thread, straight to the store, and blocks as files do: from async code it belongs on a
//! blocking thread.
//!
//! It must not know how runs are executed, HTTP or the command line.

mod callers;
mod calls;
mod codec;
mod common;
pub mod compare;
mod database;
mod definitions;
mod difference;
mod durable;
mod error;
mod examine;
mod id;
mod journal;
mod keys;
mod layout;
mod liveness;
mod mask;
mod nodes;
mod numbers;
mod options;
mod origin;
mod present;
mod questions;
mod read;
mod recorder;
mod request;
mod stored;
mod summary;
mod targets;
mod tracker;
mod transfer;
mod write;

pub use calls::Calls;
pub use common::{Alone, Kept, KeptToken, News, NewsReader, SealKey, Seals, Shelf, Shelved, Spent};
pub use database::DatabaseError;
pub use definitions::{KeptModule, KeptWorkflow};
pub use difference::DivergenceReport;
pub use durable::{KeptRun, Taken};
pub use error::{JournalError, Missing, MissingPart};
pub use examine::Examined;
pub use id::RunId;
pub use journal::{Follower, Journal, JournalStatus};
pub use mask::Masker;
pub use mcpgraph_graph::{Digest, NotADigest};
pub use options::{JournalOptions, Redaction, Retention};
pub use origin::{Face, Origin, Parent, TraceContext};
pub use present::{rfc3339, rfc3339_millis};
pub use questions::{Ending, NewQuestion, Question, QuestionId, QuestionState};
pub use recorder::{Delivery, NewRun, RunRecorder};
pub use request::{
    KeptRequest, Request, RequestFilter, RequestListing, RequestStatus, RequestToken,
};
pub(crate) use stored::PayloadRef;
pub use stored::{Payload, StoredError, StoredEvent, Truncated};
pub use summary::{
    Changes, Filter, Listing, NodeStats, Reached, RunStatus, RunSummary, StepEnd, StepRecord,
};
pub use transfer::{Removed, exported_events};
