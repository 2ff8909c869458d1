use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{StepId, StepPath};

use crate::{Digest, Origin, Payload, RunId, StoredError};

/// What is told of a run without its events.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// The tool that was called.
    pub tool: Arc<str>,
    /// The version of the tool.
    pub digest: Digest,
    /// Names the text of the file it was defined in, which [`crate::Journal::definition`] gives.
    pub definition: Option<Digest>,
    /// Where it comes from.
    pub origin: Origin,
    /// When it began.
    pub started: SystemTime,
    /// How long it took, or has taken up to now; of an interrupted one up to its latest event.
    pub duration: Duration,
    /// How it stands.
    pub status: RunStatus,
    /// Why it failed, shortened.
    pub error: Option<Arc<str>>,
    /// How many steps have begun.
    pub steps: u64,
    /// How many events it has; numbers of events are below this.
    pub events: u64,
    /// How many of them were lost.
    pub lost: u64,
    /// The latest step that began.
    pub reached: Option<Reached>,
    /// The runs that go on from this one; only [`crate::Journal::run`] looks for them.
    pub children: Vec<RunId>,
    /// The runs inside this one, where it is that of a workflow; found as the children are.
    pub inside: Vec<RunId>,
}

/// The latest step of a run that began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Its number.
    pub step: StepId,
    /// Its node.
    pub node: Arc<str>,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunStatus {
    /// It is being executed.
    Running,
    /// It gave a result.
    Succeeded,
    /// It gave an error.
    Failed,
    /// Its caller gave up.
    Cancelled,
    /// Whoever executed it went away before it ended.
    Interrupted,
}

/// Which runs are wanted. The default wants the latest 100.
#[derive(Clone, Debug)]
pub struct Filter {
    /// Runs of this tool.
    pub tool: Option<String>,
    /// Runs that stand so.
    pub status: Option<RunStatus>,
    /// Runs that began then or later.
    pub since: Option<SystemTime>,
    /// Runs that began before that.
    pub until: Option<SystemTime>,
    /// Runs with this text in their tool, error or events, whatever its case.
    pub text: Option<String>,
    /// Runs that took longer.
    pub slower_than: Option<Duration>,
    /// How many at most.
    pub limit: usize,
    /// Runs before this one: the cursor of the page before.
    pub before: Option<RunId>,
}

impl Default for Filter {
    fn default() -> Self {
        Self {
            tool: None,
            status: None,
            since: None,
            until: None,
            text: None,
            slower_than: None,
            limit: 100,
            before: None,
        }
    }
}

/// Runs, the newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// There may be more: [`Filter::before`] for the next page. A search for a text looks at a
    /// bounded amount at a time, so a page may be short, or empty, and not be the last.
    pub next: Option<RunId>,
}

/// What changed in the list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// Runs that are new or different.
    pub runs: Vec<RunSummary>,
    /// What to ask with next.
    pub next: u64,
    /// Whether there is more already.
    pub more: bool,
}

/// What is told of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Its number.
    pub step: StepId,
    /// Its place.
    pub path: StepPath,
    /// The node's id.
    pub node: Arc<str>,
    /// The node's type.
    pub kind: Arc<str>,
    /// What it worked on, where that is evaluated.
    pub input: Option<Payload>,
    /// When it began, as time since the run began.
    pub began: Duration,
    /// The number of the event that says so.
    pub began_seq: u64,
    /// How it ended, if it did.
    pub end: Option<StepEnd>,
    /// The numbers of the events between that belong to it: retries and log lines, the latest 64.
    pub between: Vec<u64>,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub struct StepEnd {
    /// The output or the error.
    pub outcome: Result<Payload, StoredError>,
    /// The node that came next.
    pub edge: Option<Arc<str>>,
    /// When, as time since the run began.
    pub at: Duration,
    /// The number of the event that says so.
    pub seq: u64,
}

/// How the executions of a node went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeStats {
    /// The tool whose node it is. Where it is not known which tool a `graph` node called, what that
    /// did stands under the way there, `outer › node`.
    pub tool: Arc<str>,
    /// The node.
    pub node: Arc<str>,
    /// How many ended.
    pub count: u64,
    /// Half took no longer.
    pub p50: Duration,
    /// Nineteen of twenty took no longer.
    pub p95: Duration,
    /// The longest.
    pub max: Duration,
    /// How many failed.
    pub errors: u64,
}

impl RunStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled, Self::Interrupted];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    /// The status with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}
