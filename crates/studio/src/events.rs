//! Events as they happen.
//!
//! A reader is told that there is something new and then reads it from the record at its own pace:
//! a slow one loses nothing and holds up nobody. What it has read it names when it comes back.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream};
use http::header::ACCEPT;
use http::{HeaderMap, StatusCode};
use mcpgraph_journal::{Follower, Journal, RunId, RunStatus, RunSummary, StoredEvent};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;

use crate::api::{Shared, run_id};
use crate::extract::{Path, Query};
use crate::problem::{Problem, json};
use crate::short::shortened;

/// How many events are read at a time.
const PAGE: usize = 256;

/// The most events one answer lists.
const MAX_LISTED: usize = 10_000;

/// How long a stream is silent before a comment keeps it open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How often the record is looked at for what other processes write, of which nobody tells us.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The first event wanted.
    from: Option<u64>,
    /// How many at most, where they are asked for as one answer.
    limit: Option<usize>,
    /// The size in bytes above which payloads are left out; see [`shortened`].
    short: Option<usize>,
}

/// The events of a run: as a stream where the client takes one, otherwise those there are.
pub(crate) async fn of_run(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Query(wanted): Query<Wanted>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = run_id(&id)?;
    let journal = shared.journal()?;
    let first = first(&wanted, &headers);
    if !takes_stream(&headers) {
        shared.recorded(id).await?;
        let limit = wanted.limit.unwrap_or(PAGE).min(MAX_LISTED);
        let events = shared.read(move |journal| journal.events(id, first, limit)).await?;
        let numbered =
            |(seq, event): &(u64, StoredEvent)| numbered(*seq, told(event, wanted.short));
        let events: Vec<Value> = events.iter().map(numbered).collect();
        return Ok(json(&Map::from_iter([("events", events)]).into()));
    }
    // Following begins before the first look, so that nothing falls between the two.
    let follower = journal.follow(Some(id));
    // A run that is just beginning may not be in the record yet.
    if !shared.studio.live.contains(id) && shared.read(move |all| all.run(id)).await?.is_none() {
        return Err(Problem::not_found(format!("there is no run {id}")));
    }
    let mut reader = Reader {
        shared,
        journal,
        follower,
        id,
        next: first,
        short: wanted.short,
        page: Vec::new(),
        ended: false,
    };
    if !reader.look().await {
        // The answer after which a browser that has lost its connection does not come back.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Ok(sse(stream::unfold(reader, Reader::next)))
}

/// The event to begin with: after the last one the client had, or the one it asks for.
fn first(wanted: &Wanted, headers: &HeaderMap) -> u64 {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    last.map_or(wanted.from.unwrap_or(0), |last| last.saturating_add(1))
}

fn takes_stream(headers: &HeaderMap) -> bool {
    let accept = headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    accept.contains("text/event-stream")
}

fn sse<S>(stream: S) -> Response
where
    S: Stream<Item = Result<Event, Infallible>> + Send + 'static,
{
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn told(event: &StoredEvent, short: Option<usize>) -> Value {
    match short {
        Some(limit) => shortened(event.to_value(), limit),
        None => event.to_value(),
    }
}

fn numbered(seq: u64, event: Value) -> Value {
    let mut map: Map = Map::from_iter([("seq", seq)]);
    for (key, value) in event.as_object().into_iter().flat_map(|map| map.iter()) {
        map.insert(key.clone(), value.clone());
    }
    map.into()
}

/// Reads the events of one run, one after the other.
struct Reader {
    shared: Arc<Shared>,
    journal: Arc<Journal>,
    follower: Follower,
    id: RunId,
    next: u64,
    short: Option<usize>,
    /// What was read and not sent yet, the next last.
    page: Vec<(u64, StoredEvent)>,
    ended: bool,
}

impl Reader {
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            // Whoever reads the events of a run it debugs is still there.
            self.shared.sessions.touch(self.id);
            if let Some((seq, event)) = self.page.pop() {
                self.next = seq + 1;
                self.ended |= matches!(event, StoredEvent::Finished { .. });
                let sent = Event::default()
                    .id(seq.to_string())
                    .event(event.name())
                    .data(told(&event, self.short).to_json());
                return Some((Ok(sent), self));
            }
            if self.ended {
                return None;
            }
            if !self.look().await {
                return None;
            }
            if self.page.is_empty()
                && let Ok(false) = tokio::time::timeout(LOOK, self.follower.changed()).await
            {
                return None;
            }
        }
    }

    /// Reads what comes next; false if nothing does, because the run is over.
    async fn look(&mut self) -> bool {
        self.read().await;
        if !self.page.is_empty() || !self.is_over().await {
            return true;
        }
        // The end may have been written between the two looks.
        self.read().await;
        !self.page.is_empty()
    }

    async fn read(&mut self) {
        let (journal, id, next) = (Arc::clone(&self.journal), self.id, self.next);
        let read = tokio::task::spawn_blocking(move || journal.events(id, next, PAGE)).await;
        // A run that has not been written yet, or a record that cannot be read for now, has none.
        self.page = read.ok().and_then(Result::ok).unwrap_or_default();
        self.page.reverse();
    }

    /// Whether nothing more is written of the run. Its event `finished` may have been read before,
    /// or lost.
    async fn is_over(&self) -> bool {
        let id = self.id;
        // A run is under way until its record is written.
        if self.shared.studio.live.contains(id) {
            return false;
        }
        match self.shared.read(move |journal| journal.run(id)).await {
            Ok(Some(run)) => match run.status {
                RunStatus::Running => false,
                RunStatus::Interrupted => !self.shared.goes_on(id).await,
                RunStatus::Succeeded | RunStatus::Failed | RunStatus::Cancelled => true,
            },
            // It was forgotten.
            Ok(None) => true,
            // The record cannot be read for now.
            Err(_) => false,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Since {
    /// What an earlier answer said to come back with.
    from: Option<u64>,
    /// Only what changes from now on.
    #[serde(default)]
    new: bool,
}

/// Runs that are new or different, as a stream. The id of an event is what to come back with.
pub(crate) async fn changes(
    State(shared): State<Arc<Shared>>,
    Query(since): Query<Since>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let journal = shared.journal()?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<u64>().ok());
    let since = match last.or(since.from) {
        // A store that was begun anew since has not come that far: what it tells from now on is new.
        Some(since) if since > 0 => since.min(shared.read(Journal::latest_change).await?),
        Some(_) => 0,
        None if since.new => shared.read(Journal::latest_change).await?,
        None => 0,
    };
    let follower = journal.follow(None);
    let state = (journal, follower, since);
    Ok(sse(stream::unfold(state, |(journal, mut follower, mut since)| async move {
        loop {
            let reading = Arc::clone(&journal);
            let read = tokio::task::spawn_blocking(move || reading.changes(since, PAGE)).await;
            if let Ok(Ok(changes)) = read {
                since = changes.next;
                if !changes.runs.is_empty() {
                    let runs: Vec<Value> = changes.runs.iter().map(RunSummary::to_value).collect();
                    let event = Event::default()
                        .id(since.to_string())
                        .event("runs")
                        .data(Value::from(runs).to_json());
                    return Some((Ok(event), (journal, follower, since)));
                }
            }
            if let Ok(false) = tokio::time::timeout(LOOK, follower.changed()).await {
                return None;
            }
        }
    })))
}
