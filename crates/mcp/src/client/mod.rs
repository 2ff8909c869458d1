//! A client of the protocol: one connection to one server, over any transport, in either era.
//!
//! [`Connection::connect`] starts or reaches the server, finds out which era it speaks and keeps
//! the connection. [`Connection::request`] sends raw parameters and gives back the raw result;
//! what the server says about the request meanwhile arrives as [`CallEvent`]s, in the order of the
//! wire and before the answer. What belongs to no request goes to the connection's [`Events`].
//!
//! A connection does not restart a server that died: it says so, with the reason, to everyone who
//! waits. Supervision is the business of the layer above.

mod calls;
mod connection;
mod error;
mod events;
mod handshake;
mod http;
mod listen;
mod options;
mod params;
mod process;
mod secrets;
mod stdio;
mod subscribe;
mod transport;

pub use connection::Connection;
pub use error::{ClientError, CloseReason};
pub use events::{CallEvent, Event, Events, List, NoEvents, Reply};
pub use mcpgraph_programs::{Reaper, run_reaper};
pub use options::{
    ClientInfo, ClientOptions, EraChoice, HttpConfig, HttpKind, RequestOptions, StdioConfig,
    TransportConfig, limits,
};
