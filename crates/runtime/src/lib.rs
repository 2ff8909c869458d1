//! Drives the engine with the world.
//!
//! This crate owns how a run is executed: expressions are evaluated without holding up other runs,
//! calls reach what they are made to ([`World`]), deadlines are kept, and cancelling reaches whatever is under way.
//! What a run *means* is the engine's business.
//!
//! It must not know HTTP, the command line or who is asking: callers see a run through [`Caller`].

mod asking;
mod caller;
mod clock;
mod commands;
mod control;
mod debug;
mod debugging;
mod drain;
mod drive;
mod durable;
mod effects;
mod ending;
mod evaluate;
mod execution;
mod finished;
mod hooks;
mod lines;
mod live;
mod observe;
mod recall;
mod replay;
mod runtime;
mod sessions;
mod tools;
mod waiting;
mod watch;
mod work;

pub use asking::{Asker, Questions, Refused, Reply};
pub use caller::{Caller, Silent};
pub use control::{MAX_BREAKPOINTS, Unclear, only_known};
pub use debug::{Breakpoint, DebugSession, DebugState, Debugger, Move, NotObeyed, RunEnded, When};
pub use drain::{Drain, UnderWay};
pub use durable::{Definition, DurableRuns, Home};
pub use effects::{EffectCall, Effects, Said, World, Wrapped};
pub use ending::process_ends;
pub use execution::Execution;
pub use finished::{FailedStep, Finished};
pub use hooks::Hooks;
pub use live::{LiveRuns, Unreached};
pub use mcpgraph_durable::DurableError;
pub use observe::{
    Instruments, Observer, PassObserver, PassStart, RunObserver, RunStart, trace_id,
};
pub use recall::{RecallError, Recalled, Recorded};
pub use replay::{Fork, ForkError, Record};
pub use runtime::Runtime;
pub use sessions::DebugSessions;
pub use tools::{failed_call, put_trace};
pub use waiting::after_waiting;
