//! The rows of runs.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};
use std::time::{SystemTime, UNIX_EPOCH};

use super::state::RunState;
use crate::database::Bound;
use crate::mask::Masker;
use crate::{Digest, NewRun, Origin, RunId};

/// How many rows one statement makes, where there are so many: beginning and ending it costs a third
/// of a row.
pub(super) const SEVERAL: usize = 8;

/// What a row has values for, in this order. None is changed yet.
const COLUMNS: [&str; 24] = [
    "no",
    "id",
    "started",
    "duration",
    "status",
    "writer",
    "steps",
    "events",
    "lost",
    "tool",
    "digest",
    "definition",
    "reached_step",
    "reached_node",
    "error",
    "face",
    "client",
    "protocol",
    "traceparent",
    "tracestate",
    "parent",
    "parent_step",
    "around",
    "principal",
];

/// Makes the row of a run.
pub(super) static INSERT: LazyLock<String> = LazyLock::new(|| insert(1));

/// The same, unless another run has its id.
pub(super) static INSERT_NEW: LazyLock<String> =
    LazyLock::new(|| insert(1) + " ON CONFLICT (id) DO NOTHING");

/// Makes the rows of [`SEVERAL`] runs.
pub(super) static INSERT_SEVERAL: LazyLock<String> = LazyLock::new(|| insert(SEVERAL));

fn insert(rows: usize) -> String {
    let placeholders = |row: usize| {
        let first = row * COLUMNS.len() + 1;
        let numbers = (first..first + COLUMNS.len()).map(|number| format!("?{number}"));
        format!("({}, 0)", numbers.collect::<Vec<_>>().join(", "))
    };
    let rows = (0..rows).map(placeholders).collect::<Vec<_>>().join(", ");
    format!("INSERT INTO runs ({}, change) VALUES {rows}", COLUMNS.join(", "))
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
    row: RowOf<'a>,
    state: &'a RunState,
    writer: Option<i64>,
    definition: Option<Digest>,
    client: Option<Cow<'a, str>>,
    protocol: Option<Cow<'a, str>>,
}

impl<'a> NewRow<'a> {
    pub(super) fn new(
        row: RowOf<'a>,
        state: &'a RunState,
        writer: Option<i64>,
        definition: Option<Digest>,
        masker: &Masker,
    ) -> Self {
        let client = row.origin.client.as_deref().map(|client| masker.json_text(client));
        let protocol = row.origin.protocol.as_deref().map(|protocol| masker.text(protocol));
        Self { row, state, writer, definition, client, protocol }
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
            row.tool.into(),
            (&row.digest).into(),
            self.definition.as_ref().into(),
            reached.map(|(step, _)| *step).into(),
            reached.map(|(_, node)| &**node).into(),
            state.error.as_deref().into(),
            origin.face.name().into(),
            self.client.as_deref().into(),
            self.protocol.as_deref().into(),
            trace.map(|trace| &*trace.traceparent).into(),
            trace.and_then(|trace| trace.tracestate.as_deref()).into(),
            parent.map(|parent| &parent.run).into(),
            parent.map(|parent| parent.from).into(),
            origin.around.as_ref().into(),
            origin.principal.as_deref().into(),
        ]
    }
}

/// A time as the file has it: microseconds since 1970.
pub(crate) fn micros(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
}
