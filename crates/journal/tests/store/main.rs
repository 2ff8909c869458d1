//! The store against a real file.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod failing;
mod following;
mod masking;
mod payloads;
mod processes;
mod reading;
mod requests;
mod retention;
mod round_trip;
mod support;
mod transfer;
