//! The rows of runs.

use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_engine::StepId;

use super::state::RunState;
use crate::database::Bound;
use crate::{Digest, NewRun, Origin, RunId, RunStatus};

/// How many rows one statement makes, where there are so many: beginning and ending it costs a third
/// of a row.
pub(super) const SEVERAL: usize = 8;

/// What a row has values for, in this order. None is changed yet, and what its run has in common with
/// others is said by its occasion (see [`super::occasion`]).
const COLUMNS: [&str; 18] = [
    "no",
    "id",
    "started",
    "duration",
    "status",
    "writer",
    "steps",
    "events",
    "lost",
    "occasion",
    "reached_step",
    "reached_node",
    // Only some runs have something to say in the others.
    "error",
    "traceparent",
    "tracestate",
    "parent",
    "parent_step",
    "around",
];

/// How many of them every run has something to say in.
pub(super) const PLAIN: usize = 12;

/// What a row has besides, which was said in each until there were occasions.
const CONSTANT: [(&str, &str); 4] =
    [("change", "0"), ("tool", "''"), ("digest", "''"), ("face", "''")];

/// Makes the row of a run.
pub(super) static INSERT: LazyLock<String> = LazyLock::new(|| insert(1, &COLUMNS));

/// The same, unless another run has its id.
pub(super) static INSERT_NEW: LazyLock<String> =
    LazyLock::new(|| insert(1, &COLUMNS) + " ON CONFLICT (id) DO NOTHING");

/// Makes the rows of [`SEVERAL`] runs, all of which are plain.
pub(super) static INSERT_SEVERAL: LazyLock<String> =
    LazyLock::new(|| insert(SEVERAL, &COLUMNS[..PLAIN]));

fn insert(rows: usize, columns: &[&str]) -> String {
    let placeholders = |row: usize| {
        let first = row * columns.len() + 1;
        let numbers = (first..first + columns.len()).map(|number| format!("?{number}"));
        let constants = CONSTANT.iter().map(|(_, value)| (*value).to_owned());
        format!("({})", numbers.chain(constants).collect::<Vec<_>>().join(", "))
    };
    let rows = (0..rows).map(placeholders).collect::<Vec<_>>().join(", ");
    let columns = columns.iter().copied().chain(CONSTANT.map(|(column, _)| column));
    format!("INSERT INTO runs ({}) VALUES {rows}", columns.collect::<Vec<_>>().join(", "))
}

/// What the row of a run says from its beginning on.
#[derive(Clone, Copy)]
pub(crate) struct RowOf<'a> {
    pub(crate) id: RunId,
    pub(crate) tool: &'a str,
    pub(crate) digest: Digest,
    pub(crate) definition: Option<&'a Arc<str>>,
    pub(crate) origin: &'a Origin,
    pub(crate) started: SystemTime,
}

impl<'a> RowOf<'a> {
    pub(super) fn of(run: &'a NewRun) -> Self {
        Self {
            id: run.id,
            tool: &run.tool,
            digest: run.digest,
            definition: run.definition.as_ref(),
            origin: &run.origin,
            started: run.started,
        }
    }
}

/// A row that is to be made.
pub(super) struct NewRow<'a> {
    pub(super) no: Option<i64>,
    pub(super) id: RunId,
    pub(super) started: SystemTime,
    pub(super) at: Duration,
    pub(super) status: RunStatus,
    pub(super) writer: Option<i64>,
    pub(super) steps: u64,
    pub(super) events: u64,
    pub(super) lost: u64,
    pub(super) occasion: Digest,
    pub(super) reached: Option<(StepId, &'a str)>,
    pub(super) error: Option<&'a str>,
    /// Where it comes from, if that says something which is not said by the occasion.
    pub(super) origin: Option<&'a Origin>,
}

impl<'a> NewRow<'a> {
    /// The row of a run that has come to something.
    pub(super) fn of(
        row: &RowOf<'a>,
        state: &'a RunState,
        writer: Option<i64>,
        occasion: Digest,
    ) -> Self {
        Self {
            no: state.no,
            id: row.id,
            started: row.started,
            at: state.at,
            status: state.status(),
            writer,
            steps: state.steps,
            events: state.events,
            lost: state.lost,
            occasion,
            reached: state.reached.as_ref().map(|(step, node)| (*step, &**node)),
            error: state.error.as_deref(),
            origin: Some(row.origin).filter(|origin| origin.is_particular()),
        }
    }

    /// Its first values, if it says nothing in the others.
    pub(super) fn plain_values(&self) -> Option<impl Iterator<Item = Bound<'_>>> {
        let is_plain = self.error.is_none() && self.origin.is_none();
        is_plain.then(|| self.values().into_iter().take(PLAIN))
    }

    /// The values of its [`COLUMNS`].
    pub(super) fn values(&self) -> [Bound<'_>; COLUMNS.len()] {
        let parent = self.origin.and_then(|origin| origin.parent.as_ref());
        let trace = self.origin.and_then(|origin| origin.trace.as_ref());
        [
            self.no.into(),
            (&self.id).into(),
            micros(self.started).into(),
            (self.at.as_micros() as i64).into(),
            self.status.name().into(),
            self.writer.into(),
            self.steps.into(),
            self.events.into(),
            self.lost.into(),
            (&self.occasion).into(),
            self.reached.map(|(step, _)| step).into(),
            self.reached.map(|(_, node)| node).into(),
            self.error.into(),
            trace.map(|trace| &*trace.traceparent).into(),
            trace.and_then(|trace| trace.tracestate.as_deref()).into(),
            parent.map(|parent| &parent.run).into(),
            parent.map(|parent| parent.from).into(),
            self.origin.and_then(|origin| origin.around.as_ref()).into(),
        ]
    }
}

impl Origin {
    /// Whether it says something that many runs do not have in common.
    pub(super) fn is_particular(&self) -> bool {
        self.trace.is_some() || self.parent.is_some() || self.around.is_some()
    }
}

/// A time as the file has it: microseconds since 1970.
pub(crate) fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
