//! The binary as its users see it: what is typed and what comes out, what clients ask and what
//! they get, and what is left behind when it ends.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod access;
mod asking;
mod calls;
mod codes;
mod command_tools;
mod crash;
mod demo;
mod doctor;
mod documents;
mod eras;
mod examples;
mod failures;
mod http;
mod isolation;
mod life;
mod listing;
mod product;
mod progress;
mod questions;
mod reload;
mod requests;
mod resources;
mod results;
mod routing;
mod runs;
mod schema;
mod sessions;
mod sop;
mod stopping;
mod storm;
mod studio;
mod telling;
mod testing;
mod toolkit;
mod typing;
mod workflows;
