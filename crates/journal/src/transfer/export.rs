use std::convert::Infallible;
use std::ops::ControlFlow;
use std::time::{SystemTime, UNIX_EPOCH};

use mcpgraph_value::{Map, Value, write_text};

use super::{FORMAT, VERSION};
use crate::codec::{Place, write_event};
use crate::read::RunReader;
use crate::read::row::expect;
use crate::write::write_truncated;
use crate::{Journal, JournalError, Origin, PayloadRef, RunId, RunSummary};

/// A payload that nests deeper than this is a text in the document, which adds levels.
const MAX_DEPTH: usize = 64;

impl Journal {
    /// A run as one document, with everything that was kept of it.
    pub fn export(&self, id: RunId) -> Result<Value, JournalError> {
        let (summary, events) = self.read(|connection| {
            let (no, summary) = expect(connection, &self.store, id)?;
            let reader = RunReader::new(connection, no);
            let mut events = Vec::new();
            reader.lines(0, |seq, line| {
                let event = reader.decode(line)?;
                let mut json = Vec::new();
                let Ok(()) = write_event(&mut json, &event, &mut Inline);
                let damaged = |error| JournalError::Damaged(format!("event {seq}: {error}"));
                let event: Value = serde_json::from_slice(&json).map_err(damaged)?;
                let mut numbered = Map::from_iter([("seq", seq)]);
                for (key, member) in event.as_object().into_iter().flat_map(|event| event.iter()) {
                    numbered.insert(key.clone(), member.clone());
                }
                events.push(Value::object(numbered));
                Ok(ControlFlow::Continue(()))
            })?;
            Ok((summary, events))
        })?;
        let definition = match summary.definition {
            Some(digest) => self.definition(digest)?,
            None => None,
        };
        let mut document = Map::new();
        document.insert("format", FORMAT);
        document.insert("version", VERSION);
        document.insert("run", run(&summary));
        document.insert("definition", definition);
        document.insert("events", events);
        Ok(document.into())
    }
}

/// What the document says of a run besides its events.
fn run(summary: &RunSummary) -> Value {
    let mut run = Map::new();
    run.insert("id", summary.id.to_string());
    run.insert("tool", summary.tool.clone());
    run.insert("digest", summary.digest.to_string());
    run.insert("startedMicros", since_1970(summary.started));
    run.insert("durationMicros", summary.duration.as_micros() as u64);
    run.insert("status", summary.status.name());
    run.insert("lost", summary.lost);
    run.insert("origin", origin(&summary.origin));
    run.into()
}

fn origin(origin: &Origin) -> Value {
    let mut members = Map::new();
    members.insert("face", origin.face.name());
    members.insert("client", origin.client.clone());
    members.insert("protocol", origin.protocol.clone());
    members.insert("traceparent", origin.trace.as_ref().map(|trace| trace.traceparent.clone()));
    let tracestate = origin.trace.as_ref().and_then(|trace| trace.tracestate.clone());
    members.insert("tracestate", tracestate);
    members.insert("parent", origin.parent.map(|parent| parent.run.to_string()));
    members.insert("parentStep", origin.parent.map(|parent| parent.from));
    members.insert("around", origin.around.map(|run| run.to_string()));
    members.into()
}

fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

/// Writes payloads where they are.
struct Inline;

impl Place for Inline {
    type Error = Infallible;

    fn place(
        &mut self,
        out: &mut Vec<u8>,
        key: &str,
        payload: PayloadRef<'_>,
    ) -> Result<(), Infallible> {
        out.push(b'"');
        out.extend_from_slice(key.as_bytes());
        match payload {
            PayloadRef::Truncated(left) => write_truncated(out, left),
            PayloadRef::Whole(value) if value.is_deeper_than(MAX_DEPTH) => {
                out.extend_from_slice(b"$\":");
                write_text(out, &value.to_json());
            }
            PayloadRef::Whole(value) => {
                out.extend_from_slice(b"\":");
                value.write_json(out);
            }
        }
        Ok(())
    }
}
