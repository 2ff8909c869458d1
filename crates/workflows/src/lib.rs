//! Workflows that live in the store.
//!
//! This crate owns what may be done with them: [`Library`] lists, checks, imports, enables and
//! removes workflows and the modules their hooks share, and compiles those in use. A workflow that
//! is enabled has no errors, and a module that is used stays; every face of the product keeps to
//! that because it comes through here. What is imported is kept to the letter.
//!
//! It knows nothing of how workflows are run, of HTTP or of the command line.

mod check;
mod entry;
mod error;
mod library;
mod modules;
mod present;
mod templates;
mod written;

pub use check::Checked;
pub use entry::Workflow;
pub use error::LibraryError;
pub use library::{Imported, Library};
pub use mcpgraph_journal::KeptModule as Module;
pub use modules::check_module;
pub use present::{module, problems};
pub use templates::{TEMPLATES, Template};
