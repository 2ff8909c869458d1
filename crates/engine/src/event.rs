use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::Digest;
use mcpgraph_value::Value;

use crate::RunError;

/// Steps of a run are numbered from 0 in the order they begin.
pub type StepId = u64;

/// Where a step stands: the position among its siblings, after the path of the step and the item
/// or branch that contains it. `3.2.0` is the first step of the third item of the fourth step.
///
/// Unlike a [`StepId`], it does not depend on which of two parallel branches was faster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepPath(pub(crate) Arc<[u32]>);

/// What happened. A run is the list of its events; everything else is derived from them.
///
/// `at` is the time since the run began.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The run began.
    Started {
        /// The tool that was called.
        tool: Arc<str>,
        /// The version of the tool.
        digest: Digest,
        /// The arguments, defaults filled in.
        input: Value,
    },
    /// A node is being executed.
    StepStarted {
        /// Its number.
        step: StepId,
        /// Its place.
        path: StepPath,
        /// The node's id.
        node: Arc<str>,
        /// The node's type.
        kind: &'static str,
        /// What it works on, where that is evaluated: the arguments of a call, the items of a loop.
        input: Option<Value>,
        /// When.
        at: Duration,
    },
    /// It gave an output.
    StepFinished {
        /// Its number.
        step: StepId,
        /// The output.
        output: Value,
        /// The node that comes next, if one does.
        edge: Option<Arc<str>>,
        /// When.
        at: Duration,
    },
    /// It failed for good.
    StepFailed {
        /// Its number.
        step: StepId,
        /// Why.
        error: RunError,
        /// The node that takes the error, if one does.
        edge: Option<Arc<str>>,
        /// When.
        at: Duration,
    },
    /// It failed and will be tried again.
    Retrying {
        /// Its number.
        step: StepId,
        /// 1 for the first retry.
        attempt: u32,
        /// The pause before it.
        delay: Duration,
        /// Why it failed.
        error: RunError,
        /// When.
        at: Duration,
    },
    /// The run ended.
    Finished {
        /// The result or the error.
        outcome: Result<Value, RunError>,
        /// When.
        at: Duration,
    },
}

impl StepPath {
    /// The positions, outermost first.
    pub fn positions(&self) -> &[u32] {
        &self.0
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, position) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            write!(f, "{position}")?;
        }
        Ok(())
    }
}
