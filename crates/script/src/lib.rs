//! The sandbox in which hooks run.
//!
//! This crate owns what a script may do: [`Sandbox::run`] executes the body of an `async` function
//! in a JavaScript engine of its own, with limits on time, memory, stack, result and console, and
//! with nothing of the host in reach but `context`, `console`, `sleep`, `getServerInfo` and
//! `fetch`. Data goes in and out as JSON. Nothing outlives an execution.
//!
//! It does no input or output: what a script may ask of the world is behind [`Host`]. It knows
//! nothing of graphs, runs or MCP.

mod check;
mod console;
mod error;
mod execute;
mod globals;
mod host;
mod limits;
mod operations;
mod sandbox;
mod watch;
mod worker;

pub use check::{SyntaxError, check};
pub use console::{ConsoleLevel, ConsoleLine};
pub use error::{Place, ScriptError};
pub use host::{Alone, FetchRequest, FetchResponse, Host};
pub use limits::{Capacity, Limits};
pub use sandbox::{Execution, Report, Sandbox};
