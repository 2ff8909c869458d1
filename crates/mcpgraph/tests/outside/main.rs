//! The product against the outside world: the official conformance suite, clients and servers
//! written with the official SDKs, and real servers from npm.
//!
//! `cargo xtask setup-tests` installs what these tests need; without it they are skipped.

mod clients;
mod conformance;
mod npm_servers;
mod product;
mod servers;
