//! Reading what was recorded.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::extract::State;
use axum::response::Response;
use mcpgraph_journal::{Filter, NodeStats, RunStatus, RunSummary};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;

use crate::api::{Shared, run_id, step_id};
use crate::extract::{Path, Query};
use crate::problem::{Problem, json};
use crate::short::{shortened, shortened_context};

/// The most runs or requests one answer lists.
pub(crate) const MAX_LISTED: usize = 1000;

type Answer = Result<Response, Problem>;

/// Which runs are wanted. Times are milliseconds, moments since 1970.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Wanted {
    tool: Option<String>,
    status: Option<String>,
    since: Option<u64>,
    until: Option<u64>,
    text: Option<String>,
    slower_than: Option<u64>,
    limit: Option<usize>,
    before: Option<String>,
}

impl Wanted {
    fn filter(self) -> Result<Filter, Problem> {
        let statuses = RunStatus::ALL.map(|status| (status.name(), status));
        Ok(Filter {
            tool: self.tool,
            status: self.status.map(|status| word(&status, &statuses)).transpose()?,
            since: self.since.and_then(moment),
            until: self.until.and_then(moment),
            text: self.text,
            slower_than: self.slower_than.map(Duration::from_millis),
            limit: self.limit.unwrap_or(100).clamp(1, MAX_LISTED),
            before: self.before.as_deref().map(run_id).transpose()?,
        })
    }
}

/// A moment, in milliseconds since 1970.
pub(crate) fn moment(millis: u64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_millis(millis))
}

/// The status that a word stands for.
pub(crate) fn word<T: Copy>(word: &str, statuses: &[(&'static str, T)]) -> Result<T, Problem> {
    let found = statuses.iter().find(|(name, _)| *name == word).map(|(_, status)| *status);
    found.ok_or_else(|| {
        let known: Vec<&str> = statuses.iter().map(|(name, _)| *name).collect();
        let known = known.join(", ");
        Problem::invalid(format!("there is no status `{word}`; there are {known}"))
    })
}

pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    Query(wanted): Query<Wanted>,
) -> Answer {
    let filter = wanted.filter()?;
    let listing = shared.read(move |journal| journal.list(&filter)).await?;
    let runs: Vec<Value> = listing.runs.iter().map(RunSummary::to_value).collect();
    Ok(json(
        &Map::from_iter([
            ("runs", Value::from(runs)),
            ("next", listing.next.map(|id| id.to_string()).into()),
        ])
        .into(),
    ))
}

pub(crate) async fn stats(
    State(shared): State<Arc<Shared>>,
    Query(wanted): Query<Wanted>,
) -> Answer {
    let filter = wanted.filter()?;
    let stats = shared.read(move |journal| journal.stats(&filter)).await?;
    let nodes: Vec<Value> = stats.iter().map(NodeStats::to_value).collect();
    Ok(json(&Map::from_iter([("nodes", nodes)]).into()))
}

pub(crate) async fn status(State(shared): State<Arc<Shared>>) -> Answer {
    Ok(json(&shared.journal()?.status().to_value()))
}

pub(crate) async fn show(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let id = run_id(&id)?;
    Ok(json(&shared.recorded(id).await?.to_value()))
}

pub(crate) async fn remove(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let id = run_id(&id)?;
    if shared.studio.live.contains(id) {
        return Err(Problem::conflict("the run is under way; stop it first"));
    }
    match shared.read(move |journal| journal.remove(&[id])).await? {
        0 => Err(Problem::not_found(format!("there is no run {id}"))),
        count => Ok(json(&Map::from_iter([("removed", count as u64)]).into())),
    }
}

pub(crate) async fn export(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let id = run_id(&id)?;
    Ok(json(&shared.read(move |journal| journal.export(id)).await?))
}

/// How much of a step is wanted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wish {
    /// The size in bytes above which payloads are left out.
    short: Option<usize>,
}

pub(crate) async fn step(
    State(shared): State<Arc<Shared>>,
    Path((id, step)): Path<(String, String)>,
    Query(wish): Query<Wish>,
) -> Answer {
    let (id, step) = (run_id(&id)?, step_id(&step)?);
    let step = shared.read(move |journal| Ok(journal.step(id, step)?.to_value())).await?;
    Ok(json(&match wish.short {
        Some(limit) => shortened(step, limit),
        None => step,
    }))
}

/// Two steps whose contexts are wanted beside each other.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sides {
    a: u64,
    b: u64,
    /// The run of `b`, where it is another one.
    with: Option<String>,
    /// The size in bytes above which outputs are left out.
    short: Option<usize>,
}

/// What two steps saw.
pub(crate) async fn diff(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Query(sides): Query<Sides>,
) -> Answer {
    let id = run_id(&id)?;
    let other = sides.with.as_deref().map_or(Ok(id), run_id)?;
    let (a, b) = shared
        .read(move |journal| {
            Ok((journal.context_at(id, sides.a)?, journal.context_at(other, sides.b)?))
        })
        .await?;
    let names = [&a, &b].into_iter().filter_map(Value::as_object).flat_map(|seen| seen.keys());
    let mut changed: Vec<&str> =
        names.map(|name| &**name).filter(|name| a.get(name) != b.get(name)).collect();
    changed.sort_unstable();
    changed.dedup();
    let changed: Vec<Value> = changed.into_iter().map(Value::from).collect();
    let limit = sides.short.unwrap_or(usize::MAX);
    let ((a, _), (b, short)) = (shortened_context(&a, limit), shortened_context(&b, limit));
    let sides = [("a", a), ("b", b), ("changed", changed.into()), ("short", short.into())];
    Ok(json(&Map::from_iter(sides).into()))
}

pub(crate) async fn context(
    State(shared): State<Arc<Shared>>,
    Path((id, step)): Path<(String, String)>,
) -> Answer {
    let (id, step) = (run_id(&id)?, step_id(&step)?);
    Ok(json(&shared.read(move |journal| journal.context_at(id, step)).await?))
}
