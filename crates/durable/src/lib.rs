//! Runs that survive the process that executes them.
//!
//! This crate owns the narrow face of a durable engine, and its implementations:
//! [`Local`] for one process, which keeps everything in the journal's file or, without one, in
//! memory, and [`Dbos`] for several processes that share a PostgreSQL database. It must not know graphs, the protocol or what runs do.
//!
//! # How a run goes on
//!
//! A run is executed from its beginning, again and again if need be, until it has ended. What must
//! not be done twice is a *step*: its outcome is kept, and an execution that comes to a step which
//! has an outcome takes that instead of doing it. So an execution must come to the same steps in
//! the same order whenever the outcomes are the same; what it does between them is its own affair.
//!
//! - [`Engine::start`] keeps the input of a run and has it executed by the [`Executor`] that was
//!   given to [`Engine::serve`]. When the process is gone, another one (or the same, started again)
//!   executes it.
//! - An [`Executor`] is given [`Steps`]: the engine as one execution of one run sees it.
//!   [`Steps::place`] takes the place of the next step; places are taken in the order of the calls,
//!   not of what is awaited, so that steps may be under way at the same time.
//! - [`step`] does something once. [`Repeat::Safe`] says that it may be done again if an earlier
//!   execution began it and nobody knows how it ended; with [`Repeat::Never`] the intent is kept
//!   before, and whoever finds an intent without an outcome does not do it again.
//! - [`Steps::receive`] waits for a message of a topic, or until a time, without holding a thread or
//!   a connection. [`Engine::send`] leaves a message for a run wherever it is executed; two messages
//!   with the same key are one. A message is received once, however often the run is executed.
//! - To wait until a time is a step like others: one that is safe to repeat and sleeps until then.
//! - [`Engine::outcome`] waits for what a run came to, on any process; [`Engine::look`] does not
//!   wait. [`Engine::cancel`] ends a run wherever it is executed: its execution is told by
//!   [`Steps::stopped`].
//! - [`Engine::retire`] lets a process end without leaving anything behind of which nobody knows how
//!   it ended.
//!
//! A store may be shared by processes that serve different things. Who goes on with a run is decided
//! by [`Executor::accepts`] in a file, and in a database before that by the name of what is served.
//!
//! An execution that must not go on (its run was cancelled, or is somebody else's by now) is told so
//! with [`Stopped`] by the next thing it asks of its steps, and by [`Steps::stopped`] at once.

mod dbos;
mod engine;
mod executions;
mod halt;
mod local;
mod refused;
mod sealed;
mod shelf;
mod step;
mod sweep;
mod tidy;

pub use self::dbos::Dbos;
pub use engine::{DurableError, Ended, Engine, Executor, Message, Place, Steps, Stopped};
pub use executions::Course;
pub use local::Local;
pub use step::{Repeat, step};
