//! What runs do outside of themselves.

use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_backends::Backends;
use mcpgraph_engine::{Call, ErrorKind, LogLevel, RunError};
use mcpgraph_graph::Target;
use mcpgraph_journal::TraceContext;
use mcpgraph_upstream::{Raw, Upstreams};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use crate::hooks::Hooks;
use crate::{Asker, Caller, asking, commands, tools, waiting};

/// Carries out what runs do outside of themselves.
#[async_trait]
pub trait Effects: Send + Sync + 'static {
    /// Makes a call and gives what it answers.
    async fn call(&self, call: EffectCall) -> Result<Value, RunError>;

    /// Whether a call may be made again where nobody knows whether it was made: what is called says
    /// that this does no harm.
    async fn may_repeat(&self, call: &Call) -> bool {
        let _ = call;
        false
    }
}

/// One call.
pub struct EffectCall {
    /// What to call.
    pub call: Call,
    /// Ends the call, on the other side too.
    pub cancel: CancellationToken,
    /// Who wants it.
    pub caller: Arc<dyn Caller>,
    /// Entries of `_meta` to send along.
    pub meta: Vec<(String, Raw)>,
    /// The trace the call belongs to, where a span was opened for it.
    pub trace: Option<TraceContext>,
    /// Takes what is said on the way, for the record of the run.
    pub said: Said,
    /// Asks people for the run; none where runs are not recorded.
    pub asker: Option<Asker>,
}

/// What a workflow is put around: another workflow, or the call itself.
#[async_trait]
pub trait Wrapped: Send + Sync {
    /// Answers the request `{method, params}` with a response. What happens inside belongs to the
    /// trace of the node that asks, where a span was opened for it.
    async fn call(
        &self,
        request: Value,
        trace: Option<TraceContext>,
        cancel: CancellationToken,
    ) -> Result<Value, RunError>;
}

/// What a call says while it is made.
#[derive(Clone, Default)]
pub struct Said(Arc<Mutex<Vec<Line>>>);

/// How much a line matters, and what it says.
type Line = (LogLevel, Arc<str>);

/// How many lines of one call are kept.
const MAX_LINES: usize = 1000;

/// The real world: each target has its part of it.
#[derive(Clone)]
pub struct World {
    /// Where tools of other servers are called.
    pub upstreams: Arc<Upstreams>,
    /// Where commands are carried out.
    pub backends: Arc<Backends>,
    /// Where scripts run.
    pub hooks: Hooks,
}

impl Said {
    /// Adds a line.
    pub fn say(&self, level: LogLevel, line: impl Into<Arc<str>>) {
        let mut lines = self.0.lock();
        if lines.len() < MAX_LINES {
            lines.push((level, line.into()));
        }
    }

    pub(crate) fn take(&self) -> Vec<Line> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl World {
    /// The world in which these are the other servers; its backends are made when they are first
    /// used.
    pub fn new(upstreams: Arc<Upstreams>) -> Self {
        let backends = Backends::new(upstreams.reaper().cloned());
        Self { upstreams, backends: Arc::new(backends), hooks: Hooks::default() }
    }
}

#[async_trait]
impl Effects for World {
    async fn call(&self, call: EffectCall) -> Result<Value, RunError> {
        match call.call.target.clone() {
            Target::Tool { server, tool } => {
                tools::call(&self.upstreams, &server, &tool, call).await
            }
            Target::Command(command) => commands::run(&self.backends, &command, &call.call).await,
            Target::Hook(hook) => self.hooks.run(&hook, &self.upstreams, call).await,
            Target::Ask(ask) => asking::ask(call, &ask).await,
            // Whoever asked for the run makes it.
            Target::Wrapped => Err(nothing_wrapped()),
            Target::Time { .. } => waiting::until_then(&call.call).await,
        }
    }

    async fn may_repeat(&self, call: &Call) -> bool {
        match &call.target {
            Target::Tool { server, tool } => tools::may_repeat(&self.upstreams, server, tool).await,
            Target::Command(command) => command.only_reads(),
            // A question that was asked is the same one.
            Target::Ask(_) | Target::Time { .. } => true,
            Target::Hook(_) | Target::Wrapped => false,
        }
    }
}

/// A workflow was run with nothing to put it around.
pub(crate) fn nothing_wrapped() -> RunError {
    RunError::new(
        ErrorKind::Unavailable,
        "a workflow runs around a call of a client, and here is none; call a tool it is put around",
    )
}
