//! A run as a pure state machine.
//!
//! This crate owns what it means to execute a graph: which node comes next, what an expression
//! sees, what a failure leads to, when a limit is reached. [`Run::poll`] hands out [`Action`]s,
//! [`Run::apply`] takes their [`Outcome`]s, and everything that happened is an [`Event`].
//!
//! It does no input or output, reads no clock and knows neither threads nor protocols: time is a
//! [`std::time::Duration`] since the run began, passed in by whoever drives it. The same outcomes
//! in the same order therefore give the same events, which is what replay rests on.

mod action;
mod error;
mod event;
mod place;
mod replay;
mod run;
mod scope;

pub use action::{Action, Call, Evaluated, Evaluation, Outcome, TaskId};
pub use error::{ErrorKind, RunError};
pub use event::{Event, Given, LogLevel, NotAPath, PauseReason, StepId, StepPath};
pub use place::{Place, PlaceNode};
pub use replay::{Divergence, Progress, Replay};
pub use run::{Failing, Flow, Held, NotChanged, Run, Upcoming};
pub use scope::ScopeView;
