//! Commands: what is sent to a backend, and what its answer means.
//!
//! This crate owns the way from a command in a file and the arguments of a call to a [`Request`] in
//! which no argument can change the structure: templates with typed placeholders, a rule of quoting
//! for every place a value can stand in, SELECTs built and checked as syntax trees. It also owns the
//! way back: JSON is found in what programs print, and the response parser takes its part of it.
//!
//! Everything here is a function of its input. Requests are carried out elsewhere; this crate knows
//! no sockets, processes or databases, and nothing of graphs.

mod answer;
mod body;
mod command;
mod compile;
mod edgelake;
mod fill;
mod request;
mod sql;
mod template;
mod url_template;

pub use command::{AnswerError, Backend, BackendKind, Command, Output};
pub use compile::compile;
pub use fill::Refusal;
pub use request::{Answer, Body, Request};
