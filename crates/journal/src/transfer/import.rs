use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use mcpgraph_engine::{Event, StepId};
use mcpgraph_value::Value;

use super::{FORMAT, VERSION};
use crate::codec::{Fetch, read_event};
use crate::read::WholeEvents;
use crate::read::row::find;
use crate::write::{Batcher, RowOf, RunState};
use crate::{
    Digest, Face, Journal, JournalError, Origin, Parent, RunId, RunStatus, StoredEvent,
    TraceContext, keys,
};

/// The most events a document may have.
const MAX_EVENTS: usize = 2_000_000;

/// The longest text of a document besides its payloads and its definition.
const MAX_TEXT_BYTES: usize = 64 * 1024;

/// The longest definition of a document.
const MAX_DEFINITION_BYTES: usize = 16 * 1024 * 1024;

/// A document that was looked through.
struct Document {
    id: RunId,
    tool: Arc<str>,
    digest: Digest,
    definition: Option<Arc<str>>,
    origin: Origin,
    started: Duration,
    lost: u64,
    events: Vec<(u64, StoredEvent)>,
}

impl Journal {
    /// Takes in a document that [`Journal::export`] made. The same one may come again; another run
    /// with the same id is refused. How the run stands follows from its events.
    pub fn import(&self, document: &Value) -> Result<RunId, JournalError> {
        let read = Document::read(document)?;
        if self.read(|connection| find(connection, &self.store, read.id))?.is_some() {
            let known = self.export(read.id)?;
            let is_same = known.get("events") == document.get("events")
                && known.pointer("/run/digest") == document.pointer("/run/digest");
            return if is_same { Ok(read.id) } else { Err(JournalError::Exists(read.id)) };
        }
        let mut batcher = Batcher::new(self.store.open_writer()?, None);
        let row = RowOf {
            id: read.id,
            tool: &read.tool,
            digest: read.digest,
            definition: read.definition.as_ref(),
            origin: &read.origin,
            started: UNIX_EPOCH + read.started,
        };
        let masker = self.shared.masker();
        batcher
            .transaction(&self.shared.options, &masker, |part| {
                let mut state = RunState { lost: read.lost, ..RunState::default() };
                let events = read.events.iter().map(|(seq, event)| (*seq, event));
                Ok(part.write_run(row, &mut state, false, events, |state| {
                    state.ended.get_or_insert(RunStatus::Interrupted);
                })?)
            })
            .map_err(|error| match error {
                // Another process was faster.
                JournalError::Database(error) if error.is_conflict() => {
                    JournalError::Exists(read.id)
                }
                other => other,
            })?;
        Ok(read.id)
    }
}

/// The events of a document that [`Journal::export`] made, as [`Journal::whole_events`] gives those
/// of a run in the store.
pub fn exported_events(document: &Value) -> Result<Vec<Event>, JournalError> {
    let read = Document::read(document)?;
    let mut whole = WholeEvents::new(read.id, read.digest);
    for (seq, event) in read.events {
        whole.push(seq, event)?;
    }
    Ok(whole.all(0)?)
}

/// How long after the beginning of its run an event may be: no run takes longer.
const LONGEST_RUN: Duration = Duration::from_hours(100 * 366 * 24);

impl Document {
    fn read(document: &Value) -> Result<Self, JournalError> {
        let is_ours = document.get("format").and_then(Value::as_str) == Some(FORMAT);
        if !is_ours {
            return Err(bad(format!("its `format` is not `{FORMAT}`")));
        }
        if document.get("version").and_then(Value::as_i64) != Some(VERSION) {
            return Err(bad(format!(
                "its `version` is not {VERSION}; use the mcpgraph it is from"
            )));
        }
        let run = document.get("run").ok_or_else(|| bad("it has no `run`"))?;
        let origin = run.get("origin").unwrap_or(&Value::Null);
        let started = micros(run, "startedMicros")?;
        let read = Self {
            id: parsed(run, "id")?,
            tool: text(run, "tool")?.ok_or_else(|| bad("`tool` is missing"))?,
            digest: parsed(run, "digest")?,
            definition: bounded(document, "definition", MAX_DEFINITION_BYTES)?,
            origin: Origin {
                face: text(origin, "face")?
                    .and_then(|face| Face::from_name(&face))
                    .unwrap_or_default(),
                client: text(origin, "client")?,
                protocol: text(origin, "protocol")?,
                trace: match text(origin, "traceparent")? {
                    Some(traceparent) => {
                        Some(TraceContext { traceparent, tracestate: text(origin, "tracestate")? })
                    }
                    None => None,
                },
                parent: match text(origin, "parent")? {
                    Some(_) => Some(Parent {
                        run: parsed(origin, "parent")?,
                        from: number(origin, "parentStep")?,
                    }),
                    None => None,
                },
                principal: None,
                around: match text(origin, "around")? {
                    Some(_) => Some(parsed(origin, "around")?),
                    None => None,
                },
            },
            started,
            lost: number(run, "lost")?,
            events: events(document)?,
        };
        read.check()?;
        Ok(read)
    }

    /// Whether the events are those of a run, as far as the rest relies on it.
    fn check(&self) -> Result<(), JournalError> {
        let mut begun: StepId = 0;
        for (index, (seq, event)) in self.events.iter().enumerate() {
            let is_last = index + 1 == self.events.len();
            if event.at() > LONGEST_RUN {
                return Err(bad(format!("event {seq} is more than 100 years after its run began")));
            }
            match event {
                StoredEvent::Started { tool, digest, .. }
                    if *seq != 0 || *tool != self.tool || *digest != self.digest =>
                {
                    return Err(bad(format!("event {seq} starts something else")));
                }
                StoredEvent::StepStarted { step, path, .. } => {
                    if path.positions().is_empty() || *step < begun {
                        return Err(bad(format!("event {seq} is not the beginning of a step")));
                    }
                    if self.lost == 0 && *step != begun {
                        return Err(bad(format!("event {seq}: step {begun} comes next")));
                    }
                    begun = step.saturating_add(1);
                }
                StoredEvent::Finished { .. } if !is_last => {
                    return Err(bad(format!("events come after the end, {seq}")));
                }
                _ => {}
            }
            if index == 0 && self.lost == 0 && !matches!(event, StoredEvent::Started { .. }) {
                return Err(bad("its first event is not `started`"));
            }
        }
        if self.events.is_empty() && self.lost == 0 {
            return Err(bad("it has no events"));
        }
        Ok(())
    }
}

fn events(document: &Value) -> Result<Vec<(u64, StoredEvent)>, JournalError> {
    let events = document.get("events").and_then(Value::as_array);
    let events = events.ok_or_else(|| bad("it has no list `events`"))?;
    if events.len() > MAX_EVENTS {
        return Err(bad(format!("it has more than {MAX_EVENTS} events")));
    }
    let mut read: Vec<(u64, StoredEvent)> = Vec::with_capacity(events.len());
    for (index, event) in events.iter().enumerate() {
        let explain = |error| match error {
            JournalError::Damaged(what) => bad(format!("event {index}: {what}")),
            other => other,
        };
        let seq = number(event, "seq").map_err(explain)?;
        let previous = read.last().map(|(seq, _)| *seq);
        let follows = previous.is_none_or(|previous| seq > previous);
        if !follows || seq >= keys::MAX_EVENTS {
            return Err(bad(format!("event {index} has the number {seq}")));
        }
        read.push((seq, read_event(event, &mut Nothing).map_err(explain)?));
    }
    let lost = document.pointer("/run/lost").and_then(Value::as_i64).unwrap_or(0);
    let is_dense = read.iter().enumerate().all(|(index, (seq, _))| index as u64 == *seq);
    if lost == 0 && !is_dense {
        return Err(bad("events are missing, and it says that none were lost"));
    }
    Ok(read)
}

/// A document has its payloads where they are.
struct Nothing;

impl Fetch for Nothing {
    fn fetch(&mut self, digest: Digest) -> Result<Value, JournalError> {
        Err(JournalError::Damaged(format!("payload {digest} is not in the document")))
    }
}

fn bad(what: impl Into<String>) -> JournalError {
    JournalError::Import(what.into())
}

fn bounded(value: &Value, key: &str, limit: usize) -> Result<Option<Arc<str>>, JournalError> {
    match value.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= limit => Ok(Some(Arc::clone(text))),
        Some(_) => Err(bad(format!("`{key}` is not a text of at most {limit} bytes"))),
    }
}

fn text(value: &Value, key: &str) -> Result<Option<Arc<str>>, JournalError> {
    bounded(value, key, MAX_TEXT_BYTES)
}

fn parsed<T: std::str::FromStr>(value: &Value, key: &str) -> Result<T, JournalError> {
    let text = text(value, key)?;
    text.and_then(|text| text.parse().ok()).ok_or_else(|| bad(format!("`{key}` cannot be read")))
}

fn number(value: &Value, key: &str) -> Result<u64, JournalError> {
    let number = value.get(key).and_then(Value::as_i64);
    number
        .and_then(|number| u64::try_from(number).ok())
        .ok_or_else(|| bad(format!("`{key}` is not a number from 0")))
}

/// A time since 1970 that every clock can show.
fn micros(value: &Value, key: &str) -> Result<Duration, JournalError> {
    const YEAR_9999: u64 = 253_402_300_799_000_000;
    let micros = number(value, key)?;
    if micros > YEAR_9999 {
        return Err(bad(format!("`{key}` is after the year 9999")));
    }
    Ok(Duration::from_micros(micros))
}
