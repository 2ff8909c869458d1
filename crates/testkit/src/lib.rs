//! What tests share: the environment of the outside-world tests, the official SDKs as clients and
//! servers, the conformance suite, and small harnesses to run programs with.
//!
//! Nothing here knows this project's own crates, so that every layer may use it in its tests, and
//! so that the product is judged from outside. Functions panic instead of returning errors: what
//! fails here fails a test.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a harness reports by panicking and printing, as tests do"
)]

pub mod cable;
pub mod clients;
pub mod conformance;
pub mod edgelake;
pub mod environment;
pub mod http_server;
pub mod https_server;
pub mod observe;
pub mod postgres;
pub mod program;
pub mod replica;
pub mod round_robin;
pub mod stdio_client;

pub use cable::Cable;
pub use clients::{Call, Report, Sdk};
pub use edgelake::EdgeLakeNode;
pub use environment::Environment;
pub use http_server::HttpServer;
pub use https_server::HttpsServer;
pub use postgres::PostgresServer;
pub use program::Program;
pub use replica::Replica;
pub use round_robin::RoundRobin;
pub use stdio_client::StdioClient;
