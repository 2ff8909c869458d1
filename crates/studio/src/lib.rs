//! The HTTP interface to runs: they are read, followed live, started and debugged through it.
//!
//! This crate owns the paths under `/api` and `/metrics`, and what their answers look like. Runs are
//! read from the journal and executed by the gateway's runtime; nothing of them is kept here but
//! who debugs which.
//!
//! It must not know the command line or files.

mod api;
mod control;
mod events;
mod problem;
mod runs;

pub use api::{Studio, router};
