//! Durable runs of real processes, which are killed, paused and woken in the middle of their work,
//! with a server that counts what was really called.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on should panic, and what happened by chance is told"
)]

mod drained;
mod kills;
mod load;
mod others;
mod outages;
mod removing;
mod replicas;
mod restarted;
mod storm;
mod traced;
mod world;
