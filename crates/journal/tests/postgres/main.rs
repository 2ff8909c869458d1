//! The store against a real PostgreSQL server: the tests of the file, where they are not about files,
//! and those of what only a database goes through.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../store/bundles.rs"]
mod bundles;
#[path = "../store/common.rs"]
mod common;
#[path = "../store/following.rs"]
mod following;
#[path = "../store/masking.rs"]
mod masking;
#[path = "../store/occasions.rs"]
mod occasions;
#[path = "../store/payloads.rs"]
mod payloads;
#[path = "../store/questions.rs"]
mod questions;
#[path = "../store/reading.rs"]
mod reading;
#[path = "../store/requests.rs"]
mod requests;
#[path = "../store/retention.rs"]
mod retention;
#[path = "../store/round_trip.rs"]
mod round_trip;
#[path = "../store/support.rs"]
mod support;
#[path = "../store/transfer.rs"]
mod transfer;

mod outages;
mod replicas;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpgraph_testkit::postgres::PostgresServer;
use support::Home;
use tempfile::TempDir;

/// One server for all tests of this process.
static SERVER: LazyLock<Option<PostgresServer>> = LazyLock::new(PostgresServer::start);

/// A database of its own for a test. Where there is no PostgreSQL, that was said, and the tests go
/// through a file once more.
fn home() -> Home {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    match &*SERVER {
        Some(server) => {
            let name = format!("store_{}", NEXT.fetch_add(1, Ordering::Relaxed));
            Home::Database(server.create_database(&name))
        }
        None => Home::File(TempDir::new().unwrap()),
    }
}
