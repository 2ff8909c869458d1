//! Drives the engine with the world.
//!
//! This crate owns how a run is executed: expressions are evaluated without holding up other runs,
//! upstream tools are called, deadlines are kept, and cancelling reaches whatever is under way.
//! What a run *means* is the engine's business.
//!
//! It must not know HTTP, the command line or who is asking: callers see a run through [`Caller`].

mod caller;
mod drive;
mod evaluate;
mod observe;
mod tools;

pub use caller::{Caller, Silent};
pub use drive::{Execution, Finished, Runtime};
pub use observe::{Observer, RunObserver, RunStart};
pub use tools::{ToolCall, Tools};
