//! Runs that leave the store and come back: as one document, or not at all.

mod export;
mod import;
mod remove;

pub use import::exported_events;
pub use remove::Removed;

/// What a document of a run calls itself.
const FORMAT: &str = "mcpgraph-run";

/// The version of the format.
const VERSION: i64 = 1;
