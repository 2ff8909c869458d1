use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::Digest;
use mcpgraph_value::Value;

use crate::RunError;

/// Steps of a run are numbered from 0 in the order their beginning is told.
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
        /// What it was given from outside.
        given: Given,
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
        /// The name under which the body of a loop sees its item.
        item_name: Option<Arc<str>>,
        /// When it began; evaluating the input is a part of it.
        began: Duration,
        /// When this was told: its input was there.
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
    /// The run stands still: nothing begins until it goes on. Its time stands still too.
    Paused {
        /// Why.
        why: PauseReason,
        /// When.
        at: Duration,
    },
    /// The run goes on.
    Resumed {
        /// How long it stood still, which does not count as its time.
        waited: Duration,
        /// When.
        at: Duration,
    },
    /// Somebody put another value in the place of a node's latest output.
    OutputChanged {
        /// The body the node belongs to: the path of its steps without their own position.
        scope: StepPath,
        /// The node's id.
        node: Arc<str>,
        /// The value from now on.
        output: Value,
        /// When.
        at: Duration,
    },
    /// A node said something.
    Log {
        /// The step.
        step: StepId,
        /// How much it matters.
        level: LogLevel,
        /// What it said.
        message: Arc<str>,
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

/// What a run is given from outside besides its input. The same again gives the same again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// What the random functions of its expressions draw from.
    pub seed: u64,
    /// The time that expressions are told when it begins, in milliseconds since 1970.
    pub clock: u64,
}

/// Why a run stands still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PauseReason {
    /// It was to begin so, or somebody asked.
    Asked,
    /// One step was to be made, and has been.
    Stepped,
    /// A breakpoint before this node.
    Before(Arc<str>),
    /// A breakpoint after this node.
    After(Arc<str>),
}

/// How much a line of a log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogLevel {
    /// For whoever looks for a fault.
    Debug,
    /// Worth knowing.
    Info,
    /// May be wrong.
    Warn,
    /// Is wrong.
    Error,
}

impl Event {
    /// When it happened, as time since the run began.
    pub fn at(&self) -> Duration {
        match self {
            Self::Started { .. } => Duration::ZERO,
            Self::StepStarted { at, .. }
            | Self::StepFinished { at, .. }
            | Self::StepFailed { at, .. }
            | Self::Retrying { at, .. }
            | Self::Paused { at, .. }
            | Self::Resumed { at, .. }
            | Self::OutputChanged { at, .. }
            | Self::Log { at, .. }
            | Self::Finished { at, .. } => *at,
        }
    }
}

impl LogLevel {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

impl StepPath {
    /// A path of these positions, outermost first.
    pub fn new(positions: &[u32]) -> Self {
        Self(positions.into())
    }

    /// Whether a step at this place is a part of the step at another.
    pub fn is_inside(&self, container: &Self) -> bool {
        self.0.len() > container.0.len() && self.0.starts_with(&container.0)
    }

    /// The positions, outermost first.
    pub fn positions(&self) -> &[u32] {
        &self.0
    }
}

/// A text that is no path of a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a path of numbers and dots")]
pub struct NotAPath(String);

impl FromStr for StepPath {
    type Err = NotAPath;

    /// Reads what [`fmt::Display`] writes; nothing is the place of the tool that was called.
    fn from_str(text: &str) -> Result<Self, NotAPath> {
        let positions = text.split('.').filter(|part| !part.is_empty()).map(str::parse);
        let positions: Result<Vec<u32>, _> = positions.collect();
        positions.map(|positions| Self::new(&positions)).map_err(|_| NotAPath(text.to_owned()))
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
