//! The rows of runs.

use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

use super::state::RunState;
use crate::database::Bound;
use crate::{Digest, NewRun, Origin, RunId};

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
const PLAIN: usize = 12;

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
    pub(super) row: RowOf<'a>,
    pub(super) state: &'a RunState,
    pub(super) writer: Option<i64>,
    pub(super) occasion: Digest,
}

impl NewRow<'_> {
    /// Its first values, if it says nothing in the others.
    pub(super) fn plain_values(&self) -> Option<impl Iterator<Item = Bound<'_>>> {
        let origin = self.row.origin;
        let is_plain = self.state.error.is_none()
            && origin.trace.is_none()
            && origin.parent.is_none()
            && origin.around.is_none();
        is_plain.then(|| self.values().into_iter().take(PLAIN))
    }

    /// The values of its [`COLUMNS`].
    pub(super) fn values(&self) -> [Bound<'_>; COLUMNS.len()] {
        let Self { row, state, .. } = self;
        let origin = row.origin;
        let (reached, parent) = (state.reached.as_ref(), origin.parent.as_ref());
        let trace = origin.trace.as_ref();
        [
            state.no.into(),
            (&row.id).into(),
            micros(row.started).into(),
            (state.at.as_micros() as i64).into(),
            state.status().name().into(),
            self.writer.into(),
            state.steps.into(),
            state.events.into(),
            state.lost.into(),
            (&self.occasion).into(),
            reached.map(|(step, _)| *step).into(),
            reached.map(|(_, node)| &**node).into(),
            state.error.as_deref().into(),
            trace.map(|trace| &*trace.traceparent).into(),
            trace.and_then(|trace| trace.tracestate.as_deref()).into(),
            parent.map(|parent| &parent.run).into(),
            parent.map(|parent| parent.from).into(),
            origin.around.as_ref().into(),
        ]
    }
}

/// A time as the file has it: microseconds since 1970.
pub(crate) fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
