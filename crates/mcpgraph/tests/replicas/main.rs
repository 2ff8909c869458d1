//! Several processes of the product with one PostgreSQL, and a load balancer in front that sends every
//! request to the next of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod access;
mod cluster;
mod questions;
mod sessions;
mod walks;
mod workflows;
