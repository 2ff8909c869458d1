//! Debugging a run: who controls it, and where it stops.
//!
//! A [`Debugger`] is held by whoever looks at the run; its [`DebugSession`] goes with the run. They
//! talk through a bounded channel, so that a run is only ever changed by the task that drives it.

use std::sync::Arc;

use mcpgraph_engine::{NotChanged, PauseReason, RunError, StepPath, Upcoming};
use mcpgraph_expr::JsonLogic;
use mcpgraph_value::Value;
use tokio::sync::{mpsc, oneshot, watch};

/// Controls one run. When the last clone is gone, the run goes on by itself.
#[derive(Clone)]
pub struct Debugger {
    commands: mpsc::Sender<Command>,
    state: watch::Receiver<DebugState>,
}

/// The run's side of a [`Debugger`].
pub struct DebugSession {
    pub(crate) commands: mpsc::Receiver<Command>,
    pub(crate) state: watch::Sender<DebugState>,
    pub(crate) breakpoints: Vec<(Breakpoint, u64)>,
    pub(crate) starts_paused: bool,
}

/// Where a run stops.
#[derive(Clone, Debug)]
pub struct Breakpoint {
    /// The node.
    pub node: Arc<str>,
    /// Before or after it.
    pub when: When,
    /// Stops only where this holds for the context. It may take 100 ms; where it fails or takes
    /// longer, the run stops, and its state tells why.
    pub condition: Option<Arc<JsonLogic>>,
    /// Stops from this time on that it would; 1 is the first.
    pub hits: u64,
}

/// On which side of a node a run stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum When {
    /// Before it begins.
    Before,
    /// After it has its output or its error.
    After,
}

/// How a run that is debugged stands.
#[derive(Clone, Debug, PartialEq)]
pub enum DebugState {
    /// It goes on.
    Running,
    /// It stands still.
    Paused {
        /// Why.
        why: PauseReason,
        /// What comes next, if anything does before something that is under way has ended. That
        /// may end while the run stands still.
        next: Option<Upcoming>,
        /// What went wrong with the node after which it stands still, if nothing takes care of that.
        error: Option<Box<RunError>>,
        /// Why it is not known whether it should stand still: the condition of the breakpoint failed.
        problem: Option<Arc<str>>,
        /// A run inside it stands still, and it does for as long, whatever its debugger wants.
        inside: bool,
    },
    /// Another debugger took over. The run goes on or stands still as that one says.
    Replaced,
    /// It is over.
    Ended,
}

/// Why a debugger was not obeyed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotObeyed {
    /// The run is over, so nothing can be asked of it.
    #[error("the run has ended")]
    Ended,
    /// The run is controlled by another debugger now.
    #[error("another debugger took over the run")]
    Replaced,
    /// The output that was to be changed was not.
    #[error(transparent)]
    Output(NotChanged),
}

/// The name under which `mcpgraph::debug` has it.
pub type RunEnded = NotObeyed;

/// What a debugger wants. It is answered once it is done, so that the state is the new one then.
pub(crate) enum Command {
    Move(Move, oneshot::Sender<()>),
    SetBreakpoints(Vec<Breakpoint>, oneshot::Sender<()>),
    Context(Option<StepPath>, oneshot::Sender<Option<Value>>),
    SetOutput {
        scope: Option<StepPath>,
        node: Arc<str>,
        output: Value,
        reply: oneshot::Sender<Result<(), NotChanged>>,
    },
}

/// How a run is to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Nothing more begins.
    Pause,
    /// It goes on.
    Resume,
    /// One node begins, and the run pauses before the next, wherever that is. One that does not
    /// stand still does before its next node.
    Step,
    /// Like a step, but what is inside the node runs without a pause, except at a breakpoint.
    StepOver,
    /// It is cancelled.
    Stop,
}

/// How many commands wait for the run.
const PENDING_COMMANDS: usize = 16;

impl Debugger {
    /// A debugger and what to give to the run it shall control.
    pub fn new(starts_paused: bool, breakpoints: Vec<Breakpoint>) -> (Self, DebugSession) {
        let (command_sender, commands) = mpsc::channel(PENDING_COMMANDS);
        let (state_sender, state) = watch::channel(DebugState::Running);
        let session = DebugSession {
            commands,
            state: state_sender,
            breakpoints: breakpoints.into_iter().map(|point| (point, 0)).collect(),
            starts_paused,
        };
        (Self { commands: command_sender, state }, session)
    }

    /// Makes the run go on in this way.
    pub async fn go(&self, how: Move) -> Result<(), NotObeyed> {
        self.ask(|reply| Command::Move(how, reply)).await
    }

    /// Lets nothing more begin.
    pub async fn pause(&self) -> Result<(), NotObeyed> {
        self.go(Move::Pause).await
    }

    /// Goes on.
    pub async fn resume(&self) -> Result<(), NotObeyed> {
        self.go(Move::Resume).await
    }

    /// Lets one node begin, and pauses before the next, wherever that is.
    pub async fn step(&self) -> Result<(), NotObeyed> {
        self.go(Move::Step).await
    }

    /// Like [`Self::step`], but what is inside the node runs without a pause.
    pub async fn step_over(&self) -> Result<(), NotObeyed> {
        self.go(Move::StepOver).await
    }

    /// Cancels the run.
    pub async fn stop(&self) -> Result<(), NotObeyed> {
        self.go(Move::Stop).await
    }

    /// Replaces all breakpoints.
    pub async fn set_breakpoints(&self, breakpoints: Vec<Breakpoint>) -> Result<(), NotObeyed> {
        self.ask(|reply| Command::SetBreakpoints(breakpoints, reply)).await
    }

    /// What the nodes of a body see now; of the body that goes on next if none is named.
    pub async fn context(&self, scope: Option<StepPath>) -> Result<Option<Value>, NotObeyed> {
        self.ask(|reply| Command::Context(scope, reply)).await
    }

    /// Puts another value in the place of a node's latest output, while the run stands still.
    pub async fn set_output(
        &self,
        scope: Option<StepPath>,
        node: Arc<str>,
        output: Value,
    ) -> Result<(), NotObeyed> {
        if self.state() == DebugState::Running {
            return Err(NotObeyed::Output(NotChanged::Running));
        }
        let command = |reply| Command::SetOutput { scope, node, output, reply };
        self.ask(command).await?.map_err(|why| match why {
            NotChanged::Ended => NotObeyed::Ended,
            why => NotObeyed::Output(why),
        })
    }

    /// How the run stands.
    pub fn state(&self) -> DebugState {
        self.state.borrow().clone()
    }

    /// Waits until the run stands still or is over, or another debugger took over.
    pub async fn stopped(&mut self) -> DebugState {
        match self.state.wait_for(|state| !matches!(state, DebugState::Running)).await {
            Ok(state) => state.clone(),
            Err(_) => DebugState::Ended,
        }
    }

    /// Waits until the run stands otherwise than so.
    pub async fn changed_from(&self, before: &DebugState) {
        let mut state = self.state.clone();
        // Where nobody can say how it stands any more, it is over.
        drop(state.wait_for(|now| now != before).await);
    }

    /// Every command comes to an end: what was sent at the moment in which the session ended is
    /// read by nobody, and nobody drops it as long as a debugger is left.
    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, NotObeyed> {
        let (reply, mut answer) = oneshot::channel();
        let room = self.commands.reserve().await.map_err(|_| self.why_over())?;
        room.send(command(reply));
        tokio::select! {
            biased;
            answer = &mut answer => answer.map_err(|_| self.why_over()),
            // What was obeyed was answered before the session ended.
            () = self.over() => answer.try_recv().map_err(|_| self.why_over()),
        }
    }

    /// Waits until the session has ended.
    async fn over(&self) {
        let is_over =
            |state: &DebugState| matches!(state, DebugState::Ended | DebugState::Replaced);
        let mut state = self.state.clone();
        drop(state.wait_for(is_over).await);
    }

    fn why_over(&self) -> NotObeyed {
        match *self.state.borrow() {
            DebugState::Replaced => NotObeyed::Replaced,
            _ => NotObeyed::Ended,
        }
    }
}

impl DebugSession {
    /// Another debugger takes over.
    pub(crate) fn replaced(self) {
        self.state.send_replace(DebugState::Replaced);
    }
}

impl Drop for DebugSession {
    fn drop(&mut self) {
        self.state.send_if_modified(|state| {
            let is_left = *state != DebugState::Replaced;
            if is_left {
                *state = DebugState::Ended;
            }
            is_left
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Sends a command whose room in the channel was there before the session ended.
    async fn asked_late(end: impl FnOnce(DebugSession)) -> Result<(), NotObeyed> {
        let (debugger, session) = Debugger::new(false, Vec::new());
        let late = debugger.ask(|reply| {
            end(session);
            Command::Move(Move::Pause, reply)
        });
        tokio::time::timeout(Duration::from_secs(10), late).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_command_that_comes_as_the_session_ends_is_answered() {
        assert_eq!(asked_late(drop).await, Err(NotObeyed::Ended));
        assert_eq!(asked_late(DebugSession::replaced).await, Err(NotObeyed::Replaced));
    }
}
