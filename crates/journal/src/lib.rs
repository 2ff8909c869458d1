//! Keeps runs: their events, the payloads in them and the definitions they ran.
//!
//! This crate owns what is written about a run, how it is found again and when it is forgotten.
//! Everything it tells of a run is a function of the run's events.
//!
//! It must not know how runs are executed, HTTP or the command line.

mod id;
mod origin;

pub use id::RunId;
pub use origin::{Face, Origin, Parent, TraceContext};
