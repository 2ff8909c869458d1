//! The client against real processes and real sockets: well-behaved servers written with the
//! official SDK, and servers that misbehave in every way we could think of.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod cancelling;
mod death;
mod era;
mod events;
mod fixture;
mod http;
mod limits;
mod scripted;
mod sse;
mod streams;
mod support;
mod watching;
