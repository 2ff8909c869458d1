//! Durable runs of real processes, which are killed, paused and woken in the middle of their work,
//! with a server that counts what was really called.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod replicas;
mod restarted;
mod world;
