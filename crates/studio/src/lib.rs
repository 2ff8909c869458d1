//! The web studio and its HTTP interface.
//!
//! This crate owns the paths under `/api` and `/metrics`, what their answers look like, and the
//! pages that a browser shows. Runs are read from the journal and executed by the gateway's
//! runtime; graph files are read and saved through the toolkit's documents. Nothing is kept here
//! but which runs were begun here, and who debugs which run.
//!
//! It must not know the command line or the disk.

mod api;
mod begun;
mod control;
mod documents;
mod events;
mod expressions;
mod extract;
mod find;
mod fork;
mod pages;
mod problem;
mod procedures;
mod questions;
mod rename;
mod report;
mod requests;
mod runs;
mod short;
mod upstreams;
mod view;
mod walk;
mod workflows;

pub use api::{Serve, Studio, Workshop, router};
pub use procedures::ReadProcedures;
