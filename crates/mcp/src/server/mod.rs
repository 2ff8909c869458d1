//! A server of the protocol, in both eras at once and on any transport.
//!
//! The product implements [`Service`]; a [`Server`] puts it behind [`serve_stdio`] and
//! [`http_router`]. The core below the transports does what the protocol says about every message:
//! framing, versions, sessions, cancellation, subscriptions, the shape of results. A request
//! whose `_meta` names a modern version is served by itself; `initialize` opens a legacy session;
//! both may come over the same connection.

mod broadcast;
mod client;
mod dispatch;
mod handshake;
mod http;
mod in_flight;
mod limits;
mod listen;
mod outlet;
mod paging;
mod peer;
mod saved;
mod service;
mod session;
mod shape;
mod stdio;

pub use crate::meta_key;
pub use broadcast::{Broadcaster, Change};
pub use client::{Client, LogLevel, Meta, SessionKey};
pub use dispatch::Server;
pub use http::{Guard, HttpConfig, Principal, http_router, open_to_pages, serve_http};
pub use limits::Limits;
pub use peer::CallPeer;
pub use saved::{
    ChangeSession, SavedSession, SessionChange, SessionNews, SessionStore, SessionsAway,
};
pub use service::{Around, Call, Description, Service};
pub use stdio::{StandardInput, StandardOutput, serve_stdio, standard_streams};
