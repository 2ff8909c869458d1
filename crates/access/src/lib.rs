//! Who may use what, and how often.
//!
//! This crate owns bearer tokens: how they are made, kept (hashed) and revoked, what each of them
//! grants, and how many requests it may make. [`Tokens`] is the file they are kept in, [`Access`]
//! what a server asks.
//!
//! It must not know HTTP, MCP or the command line.

mod access;
mod glob;
mod grant;
mod rate;
mod store;

pub use access::{Access, TooMany};
pub use grant::{GRAPH, Grant};
pub use rate::{NotARate, Rate};
pub use store::{NewToken, StoreError, Token, Tokens};
