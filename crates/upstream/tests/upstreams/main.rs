//! Upstreams with real processes, good and bad.
#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod calls;
mod catalogue;
mod life;
mod rounds;
mod secrets;
mod support;
mod watching;
