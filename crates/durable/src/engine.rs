//! The face of an engine.

use std::sync::{Arc, Weak};
use std::time::SystemTime;

use async_trait::async_trait;
use mcpgraph_journal::RunId;
use mcpgraph_value::Value;
use tokio_util::sync::CancellationToken;

use crate::Course;

/// What has runs executed to their end, whatever happens to a process.
#[async_trait]
pub trait Engine: Send + Sync + 'static {
    /// Has runs executed here from now on; if it takes over, also those that others have left. It
    /// is called once, inside a Tokio runtime.
    fn serve(&self, executor: Weak<dyn Executor>, takes_over: bool);

    /// Begins a run. It is executed by this process, for as long as that lives. Starting a run that
    /// has been started before changes nothing.
    async fn start(&self, run: RunId, input: Value) -> Result<(), DurableError>;

    /// Waits for what a run came to.
    async fn outcome(&self, run: RunId) -> Result<Ended, DurableError>;

    /// What a run has come to; none while it has not ended.
    async fn look(&self, run: RunId) -> Result<Option<Ended>, DurableError>;

    /// Ends a run. Nothing happens if it has ended.
    async fn cancel(&self, run: RunId) -> Result<(), DurableError>;

    /// Leaves a message for a run; false if the run has ended, or is not known.
    async fn send(&self, run: RunId, message: Message) -> Result<bool, DurableError>;

    /// Whether runs go on after the end of all processes.
    fn is_lasting(&self) -> bool;

    /// Begins no step any more that must not be repeated, and waits for the end of those under way:
    /// whoever goes on with their runs would not know how they ended. The others go on.
    async fn retire(&self);

    /// Stops executing. What has not ended is left to others, or to the next start.
    async fn close(&self);
}

/// Executes runs.
#[async_trait]
pub trait Executor: Send + Sync + 'static {
    /// Whether a run that another process has left is to be executed here. Why not, it says in the
    /// log.
    fn accepts(&self, run: RunId, input: &Value) -> bool;

    /// Executes a run from its beginning to its end, and gives what it came to.
    async fn execute(
        self: Arc<Self>,
        run: RunId,
        input: Value,
        steps: Arc<dyn Steps>,
    ) -> Result<Value, Stopped>;
}

/// The engine as one execution of one run sees it.
#[async_trait]
pub trait Steps: Send + Sync + 'static {
    /// Where the execution is.
    fn course(&self) -> &Course;

    /// What was kept at a place.
    async fn recall(&self, place: &Place) -> Result<Option<Value>, Stopped>;

    /// Keeps something at a place; what is kept there then, which somebody else may have kept
    /// before.
    async fn keep(&self, place: &Place, value: Value) -> Result<Value, Stopped>;

    /// Waits for a message of a topic, but not longer than until a time. Two executions of a run,
    /// and one execution at two places, must not wait for the same topic at once.
    async fn receive(
        &self,
        place: &Place,
        topic: &str,
        until: SystemTime,
    ) -> Result<Option<Value>, Stopped>;

    /// Takes the place of the next step. An execution takes the same places with the same names in
    /// the same order as the executions before it, as far as these came.
    fn place(&self, name: &str) -> Place {
        self.course().next(name)
    }

    /// Tells this execution apart from all others.
    fn mark(&self) -> &str {
        self.course().mark()
    }

    /// Fires when the execution must stop.
    fn stopped(&self) -> &CancellationToken {
        self.course().stopped()
    }

    /// Why it must stop, once it must.
    fn why(&self) -> Option<Stopped> {
        self.course().why()
    }
}

/// The place of a step in its run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// Its number: 0, 2, 4 … The number after it is the step's own, too.
    pub number: u32,
    /// What the step is called.
    pub name: Arc<str>,
}

/// A message for a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What it is about.
    pub topic: String,
    /// Tells it apart from others of the topic.
    pub key: String,
    /// What it says.
    pub value: Value,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// Its executor gave this.
    Value(Value),
    /// Somebody cancelled it.
    Cancelled,
}

/// Why an execution must not go on. The run itself may go on somewhere else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// Somebody else executes the run.
    #[error("the run is executed by another process")]
    Elsewhere,
    /// The run is not one that this process can execute. It waits for another, or for the next
    /// start.
    #[error("{0}")]
    Refused(String),
    /// The engine cannot be used: it is closed, or its database does not answer.
    #[error("{0}")]
    Unusable(String),
}

/// Why an engine did not do something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurableError {
    /// It has no such run.
    #[error("there is no durable run {0}")]
    Unknown(RunId),
    /// It cannot be used.
    #[error("durable runs cannot be executed: {0}")]
    Unusable(String),
}

impl Place {
    /// The place where the step says that it is about to be done.
    #[must_use]
    pub fn intent(&self) -> Self {
        Self { number: self.number + 1, name: format!("{}?", self.name).into() }
    }
}

impl Stopped {
    /// The process is about to end.
    pub(crate) fn ending() -> Self {
        Self::Unusable("the process ends".to_owned())
    }
}

impl From<Stopped> for DurableError {
    fn from(stopped: Stopped) -> Self {
        Self::Unusable(stopped.to_string())
    }
}
