//! The Model Context Protocol on the wire: messages, eras, and the transports of both sides.
//!
//! This crate owns JSON-RPC framing, the two protocol eras (`initialize` with sessions, and the
//! stateless revision of 2026-07-28), stdio, streamable HTTP and the old HTTP+SSE transport, each
//! as a server and as a client. Parameters and results are raw JSON: what passes through is not
//! parsed, re-typed or re-ordered, so nothing in it can be lost.
//!
//! It must not know what a tool, a graph or a run is.

mod cancellation;
pub mod client;
mod edit;
mod excerpt;
pub mod header;
mod lines;
pub mod message;
pub mod meta_key;
pub mod mirror;
pub mod server;
pub mod sse;
mod subscription;
pub mod trace;
pub mod version;
