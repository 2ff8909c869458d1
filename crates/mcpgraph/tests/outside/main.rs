//! The product against the outside world: the official conformance suite, clients and servers
//! written with the official SDKs, and real servers from npm.
//!
//! `cargo xtask setup-tests` installs what these tests need; without it they are skipped.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]
#![expect(clippy::print_stderr, reason = "a failed test shows what it was doing")]

mod clients;
mod conformance;
mod equivalence;
mod npm_servers;
mod product;
mod replicas;
mod servers;
mod workflows;
