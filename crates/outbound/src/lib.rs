//! HTTP requests to addresses that somebody else may have chosen.
//!
//! This crate owns the guard between the product and the network: which hosts may be reached
//! ([`Hosts`]), how an address is told apart from one inside the own network ([`is_public`]), and a
//! [`Client`] that keeps to it. A host is checked by the addresses that its name has at the moment
//! of connecting, so that a name cannot change its mind in between; redirects are followed by the
//! client itself and checked like the first request; time and size of an answer are bounded.
//! Where names and addresses come from ([`Network`]) can be replaced as a whole, which is how the
//! guard is tested.
//!
//! It knows nothing of graphs, commands, hooks or MCP.
//!
//! ```
//! use mcpgraph_outbound::{Client, Hosts, Limits, Request};
//!
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! // Loopback, private and link-local addresses are refused unless the host is named.
//! let client = Client::new(Hosts::public(), Limits::default())?;
//! let refused = client.send(Request::get("http://127.0.0.1:1/")?).await;
//! assert!(refused.is_err_and(|error| error.is_refusal()));
//!
//! let client = Client::new(Hosts::public().and(["127.0.0.1:1"])?, Limits::default())?;
//! let unreachable = client.send(Request::get("http://127.0.0.1:1/")?).await;
//! assert!(unreachable.is_err_and(|error| !error.is_refusal()));
//! # Ok::<_, mcpgraph_outbound::OutboundError>(())
//! # })?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod address;
mod client;
mod error;
mod hosts;
mod resolve;

pub use address::is_public;
pub use client::{Client, Limits, Request, Response};
pub use error::OutboundError;
pub use hosts::{Hosts, NotAHost};
pub use resolve::{LookUp, Network, Resolver};
