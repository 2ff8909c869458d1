use std::time::Duration;

use mcpgraph_engine::{ErrorKind, PauseReason, StepId, StepPath};

use super::names;
use crate::{Payload, StoredError, StoredEvent};

/// Decides where a payload goes.
pub(crate) trait Place {
    /// Why it could not.
    type Error;

    /// Writes the member `key` for a payload.
    fn place(&mut self, out: &mut Vec<u8>, key: &str, payload: &Payload)
    -> Result<(), Self::Error>;
}

/// Writes an event on one line, without its end.
pub(crate) fn write_event<P: Place>(
    out: &mut Vec<u8>,
    event: &StoredEvent,
    place: &mut P,
) -> Result<(), P::Error> {
    match event {
        StoredEvent::Started { tool, digest, input, given } => {
            begin(out, names::STARTED);
            text(out, "tool", tool);
            text(out, "digest", &digest.to_string());
            number(out, "seed", given.seed);
            number(out, "clock", given.clock);
            member(out, place, "in", input)?;
        }
        StoredEvent::StepStarted { step, path, node, kind, input, item_name, began, at } => {
            begin(out, names::STEP);
            number(out, "s", *step);
            // A step of the tool itself mostly stands where its number says.
            if !is_place_of(path, *step) {
                text(out, "path", &path.to_string());
            }
            text(out, "node", node);
            text(out, "kind", kind);
            if let Some(name) = item_name {
                text(out, "item", name);
            }
            if began != at {
                time(out, "began", *began);
            }
            time(out, "at", *at);
            if let Some(input) = input {
                member(out, place, "in", input)?;
            }
        }
        StoredEvent::StepFinished { step, output, edge, at } => {
            begin(out, names::DONE);
            number(out, "s", *step);
            if let Some(edge) = edge {
                text(out, "to", edge);
            }
            time(out, "at", *at);
            member(out, place, "out", output)?;
        }
        StoredEvent::StepFailed { step, error, edge, at } => {
            begin(out, names::FAILED);
            number(out, "s", *step);
            if let Some(edge) = edge {
                text(out, "to", edge);
            }
            time(out, "at", *at);
            failure(out, place, error)?;
        }
        StoredEvent::Retrying { step, attempt, delay, error, at } => {
            begin(out, names::RETRY);
            number(out, "s", *step);
            number(out, "attempt", u64::from(*attempt));
            time(out, "delay", *delay);
            time(out, "at", *at);
            failure(out, place, error)?;
        }
        StoredEvent::Paused { why, at } => {
            begin(out, names::PAUSED);
            let (why, node) = match why {
                PauseReason::Asked => ("asked", None),
                PauseReason::Stepped => ("stepped", None),
                PauseReason::Before(node) => ("before", Some(node)),
                PauseReason::After(node) => ("after", Some(node)),
            };
            text(out, "why", why);
            if let Some(node) = node {
                text(out, "node", node);
            }
            time(out, "at", *at);
        }
        StoredEvent::Resumed { waited, at } => {
            begin(out, names::RESUMED);
            time(out, "waited", *waited);
            time(out, "at", *at);
        }
        StoredEvent::OutputChanged { scope, node, output, at } => {
            begin(out, names::CHANGED);
            text(out, "path", &scope.to_string());
            text(out, "node", node);
            time(out, "at", *at);
            member(out, place, "out", output)?;
        }
        StoredEvent::Log { step, level, message, at } => {
            begin(out, names::LOG);
            number(out, "s", *step);
            text(out, "level", level.name());
            time(out, "at", *at);
            member(out, place, "msg", message)?;
        }
        StoredEvent::Finished { outcome, at } => {
            begin(out, names::FINISHED);
            time(out, "at", *at);
            match outcome {
                Ok(output) => member(out, place, "out", output)?,
                Err(error) => failure(out, place, error)?,
            }
        }
    }
    out.push(b'}');
    Ok(())
}

/// Whether a place is the one that the number of the step says.
fn is_place_of(path: &StepPath, step: StepId) -> bool {
    matches!(path.positions(), [only] if u64::from(*only) == step)
}

fn failure<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    error: &StoredError,
) -> Result<(), P::Error> {
    text(out, "error", error.kind.name());
    if let ErrorKind::ProtocolError { code } = error.kind {
        key(out, "code");
        write_number(out, code);
    }
    if let Some(node) = &error.node {
        text(out, "errorNode", node);
    }
    member(out, place, "msg", &error.message)?;
    if let Some(data) = &error.data {
        member(out, place, "data", data)?;
    }
    Ok(())
}

fn member<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    name: &str,
    payload: &Payload,
) -> Result<(), P::Error> {
    out.push(b',');
    place.place(out, name, payload)
}

fn begin(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"{\"e\":\"");
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

/// Names are words of ours and need no escapes.
fn key(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn text(out: &mut Vec<u8>, name: &str, text: &str) {
    key(out, name);
    write_text(out, text);
}

fn number(out: &mut Vec<u8>, name: &str, number: u64) {
    key(out, name);
    write_number(out, number);
}

fn time(out: &mut Vec<u8>, name: &str, time: Duration) {
    number(out, name, u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
}

fn write_number(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Writes a string of JSON.
pub(crate) fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).unwrap_or_default();
}
