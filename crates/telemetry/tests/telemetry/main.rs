//! Runs as a collector and as Prometheus see them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

#[path = "../../../runtime/tests/support/compile.rs"]
mod compile;
#[path = "../../../runtime/tests/support/scripted.rs"]
mod scripted;

mod answers;
mod around;
mod attempts;
mod by_hand;
mod collector;
mod delivery;
mod driven;
mod durable;
mod numbers;
mod passing;
mod prometheus;
mod propagation;
mod spans;
mod told;
mod wire;
