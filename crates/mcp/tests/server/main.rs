//! The server side of the protocol, seen from outside: by raw bytes and by an independent client.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod crowd;
mod http_legacy;
mod http_modern;
mod http_pages;
mod http_refusals;
mod random;
mod rmcp_peer;
mod service;
mod standard_streams;
mod stdio;
mod trace_context;
mod wire;
