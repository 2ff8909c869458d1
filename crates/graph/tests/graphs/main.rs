//! Graph files and what compiling them gives: a graph, or everything that is wrong with them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod check;
mod compiled;
mod draw;
mod layout;
mod rename;
mod schema;
mod support;
