use std::collections::HashSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::database::{self, Connection, Row, Store, bound};
use crate::{
    Digest, Face, Journal, JournalError, Origin, Parent, Reached, RunId, RunStatus, RunSummary,
    TraceContext, liveness,
};

/// How many runs that go on from one, or are inside it, are told of.
const MAX_CHILDREN: i64 = 1000;

/// How many runs an ambiguous beginning of an id names.
const MAX_CANDIDATES: u8 = 5;

/// Reads rows of runs.
pub(crate) struct Rows {
    /// The writers that are alive.
    pub(crate) living: HashSet<i64>,
    /// Whether the file says which runs are inside others.
    knows_around: bool,
    /// Whether the file says whose runs they are.
    knows_principal: bool,
    /// Whether the file says once for many runs what they have in common.
    knows_occasions: bool,
}

impl Rows {
    pub(crate) fn new(connection: &Connection, store: &Store) -> database::Result<Self> {
        let format = connection.format()?;
        Ok(Self {
            living: liveness::living(connection, store)?,
            knows_around: format >= 3,
            knows_principal: format >= 6,
            knows_occasions: format >= 10,
        })
    }

    /// The condition that the writer of a run lives, so far as it has one.
    pub(crate) fn lives(&self) -> String {
        let living: Vec<String> = self.living.iter().map(ToString::to_string).collect();
        format!("coalesce(writer, -1) IN ({})", living.join(", "))
    }

    /// Where runs are, with what they have in common.
    pub(crate) fn runs(&self) -> &'static str {
        if self.knows_occasions {
            "runs LEFT JOIN occasions ON occasion_key = occasion"
        } else {
            "runs"
        }
    }

    /// A column of [`Rows::runs`] that may be of many at once.
    pub(crate) fn shared(&self, column: &str) -> String {
        if self.knows_occasions {
            format!("coalesce(occasion_{column}, {column})")
        } else {
            column.to_owned()
        }
    }

    /// What [`Rows::summary`] reads of [`Rows::runs`], in its order.
    pub(crate) fn columns(&self) -> String {
        let [tool, digest, definition, face, client, protocol] =
            ["tool", "digest", "definition", "face", "client", "protocol"]
                .map(|column| self.shared(column));
        let around = if self.knows_around { "around" } else { "NULL" };
        let principal =
            if self.knows_principal { self.shared("principal") } else { "NULL".to_owned() };
        format!(
            "no, id, change, started, duration, status, writer, steps, events, lost, {tool}, \
             {digest}, {definition}, reached_step, reached_node, error, {face}, {client}, \
             {protocol}, traceparent, tracestate, parent, parent_step, {around}, {principal}"
        )
    }

    pub(crate) fn summary(&self, row: &Row<'_>) -> database::Result<RunSummary> {
        let status = RunStatus::from_name(row.text(5)?);
        let writer: Option<i64> = row.get(6)?;
        let is_alive = writer.is_some_and(|writer| self.living.contains(&writer));
        let trace = row.get::<Option<String>>(19)?;
        let parent = row.get::<Option<[u8; 16]>>(21)?;
        let tracestate = row.get::<Option<String>>(20)?.map(Into::into);
        let from = row.get::<Option<i64>>(22)?.unwrap_or_default() as u64;
        let reached_step = row.get::<Option<i64>>(13)?;
        let reached_node = row.get::<Option<String>>(14)?;
        let status = match status {
            Some(RunStatus::Running) if is_alive => RunStatus::Running,
            Some(RunStatus::Running) | None => RunStatus::Interrupted,
            Some(status) => status,
        };
        let started = time(row.get(3)?);
        let mut duration = Duration::from_micros(row.get::<i64>(4)? as u64);
        if status == RunStatus::Running {
            // Its latest event may be long ago. Another machine's clock may be ahead.
            duration = duration.max(started.elapsed().unwrap_or_default());
        }
        Ok(RunSummary {
            id: RunId::from_bytes(row.get(1)?),
            started,
            duration,
            status,
            steps: row.get::<i64>(7)? as u64,
            events: row.get::<i64>(8)? as u64,
            lost: row.get::<i64>(9)? as u64,
            tool: row.get::<String>(10)?.into(),
            digest: Digest::from_bytes(row.get(11)?),
            definition: row.get::<Option<[u8; 16]>>(12)?.map(Digest::from_bytes),
            reached: reached_step
                .zip(reached_node)
                .map(|(step, node)| Reached { step: step as u64, node: node.into() }),
            error: row.get::<Option<String>>(15)?.map(Into::into),
            origin: Origin {
                face: Face::from_name(row.text(16)?).unwrap_or_default(),
                client: row.get::<Option<String>>(17)?.map(Into::into),
                protocol: row.get::<Option<String>>(18)?.map(Into::into),
                trace: trace.map(|parent| TraceContext { traceparent: parent.into(), tracestate }),
                parent: parent.map(|run| Parent { run: RunId::from_bytes(run), from }),
                around: row.get::<Option<[u8; 16]>>(23)?.map(RunId::from_bytes),
                principal: row.get::<Option<String>>(24)?.map(Into::into),
            },
            children: Vec::new(),
            inside: Vec::new(),
        })
    }
}

impl Journal {
    /// One run.
    pub fn run(&self, id: RunId) -> Result<Option<RunSummary>, JournalError> {
        self.read(|connection| {
            let Some((_, mut run)) = find(connection, &self.store, id)? else { return Ok(None) };
            let of = |column: &str| {
                let sql = format!("SELECT id FROM runs WHERE {column} = ?1 ORDER BY id LIMIT ?2");
                connection.all(&sql, bound![&id, MAX_CHILDREN], run_id)
            };
            run.children = of("parent")?;
            if connection.format()? >= 3 {
                run.inside = of("around")?;
            }
            Ok(Some(run))
        })
    }

    /// The run whose id begins so; hyphens do not matter. A whole id need not be of a run.
    pub fn resolve(&self, prefix: &str) -> Result<RunId, JournalError> {
        if let Ok(id) = prefix.parse() {
            return Ok(id);
        }
        let digits: Vec<u8> = prefix
            .chars()
            .filter(|character| *character != '-')
            .take(33)
            .map(|character| character.to_digit(16).map(|digit| digit as u8))
            .collect::<Option<_>>()
            .filter(|digits: &Vec<u8>| (1..=32).contains(&digits.len()))
            .ok_or_else(|| JournalError::NotAnId(prefix.chars().take(64).collect()))?;
        let filled = |rest: u8| {
            let mut bytes = [0_u8; 16];
            for (index, byte) in bytes.iter_mut().enumerate() {
                let digit = |at: usize| digits.get(at).copied().unwrap_or(rest);
                *byte = digit(index * 2) << 4 | digit(index * 2 + 1);
            }
            bytes
        };
        let mut candidates: Vec<RunId> = self.read(|connection| {
            let sql = "SELECT id FROM runs WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3";
            let most = i64::from(MAX_CANDIDATES) + 1;
            Ok(connection.all(sql, bound![&filled(0), &filled(15), most], run_id)?)
        })?;
        match candidates.as_slice() {
            [] => Err(JournalError::NoRun(prefix.to_owned())),
            [id] => Ok(*id),
            _ => {
                let more = candidates.len() > usize::from(MAX_CANDIDATES);
                candidates.truncate(MAX_CANDIDATES.into());
                Err(JournalError::Ambiguous { prefix: prefix.to_owned(), candidates, more })
            }
        }
    }
}

fn run_id(row: &Row<'_>) -> database::Result<RunId> {
    row.get(0).map(RunId::from_bytes)
}

/// The number and the summary of a run.
pub(crate) fn find(
    connection: &Connection,
    store: &Store,
    id: RunId,
) -> Result<Option<(i64, RunSummary)>, JournalError> {
    let rows = Rows::new(connection, store)?;
    let sql = format!("SELECT {} FROM {} WHERE id = ?1", rows.columns(), rows.runs());
    Ok(connection.first(&sql, bound![&id], |row| Ok((row.get(0)?, rows.summary(row)?)))?)
}

/// The same, for a run that has to be there.
pub(crate) fn expect(
    connection: &Connection,
    store: &Store,
    id: RunId,
) -> Result<(i64, RunSummary), JournalError> {
    find(connection, store, id)?.ok_or_else(|| JournalError::NoRun(id.to_string()))
}

pub(crate) fn time(micros: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(u64::try_from(micros).unwrap_or_default())
}
