//! Who may use what, and how often.
//!
//! This crate owns bearer tokens: how they are made, kept (hashed) and revoked, what each of them
//! grants, and how many requests it may make. [`Tokens`] is where they are kept, a
//! file or a store that several processes share, [`Access`] what a server asks.
//!
//! It must not know HTTP, MCP or the command line.

mod access;
mod grant;
mod lease;
mod rate;
mod store;

pub use access::{Access, TooMany};
pub use grant::{GRAPH, Grant};
pub use rate::{NotARate, Rate};
pub use store::{NewToken, StoreError, Token, Tokens};
