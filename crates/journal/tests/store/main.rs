//! The store against a real file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod bundles;
mod common;
mod failing;
mod file;
mod following;
mod masking;
mod occasions;
mod payloads;
mod processes;
mod questions;
mod reading;
mod requests;
mod retention;
mod round_trip;
mod support;
mod taken_over;
mod transfer;
mod waiting;

use tempfile::TempDir;

use support::Home;

/// Where the store of a test is.
fn home() -> Home {
    Home::File(TempDir::new().unwrap())
}
