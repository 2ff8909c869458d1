use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Given, PauseReason, StepId, StepPath};
use mcpgraph_value::write_text;

use super::names;
use crate::{Digest, PayloadRef, StoredError, StoredEvent};

/// Decides where a payload goes.
pub(crate) trait Place {
    /// Why it could not.
    type Error;

    /// Writes the member `key` for a payload.
    fn place(
        &mut self,
        out: &mut Vec<u8>,
        key: &str,
        payload: PayloadRef<'_>,
    ) -> Result<(), Self::Error>;
}

/// The name of a member, with what stands around it. Names are words of ours and need no escapes.
macro_rules! name {
    ($name:literal) => {
        concat!(",\"", $name, "\":").as_bytes()
    };
}

/// Writes an event on one line, without its end.
pub(crate) fn write_event<P: Place>(
    out: &mut Vec<u8>,
    event: &StoredEvent,
    place: &mut P,
) -> Result<(), P::Error> {
    match event {
        StoredEvent::Started { tool, digest, input, given } => {
            return write_started(out, place, (tool, *digest, *given), input.into());
        }
        StoredEvent::StepStarted { step, path, node, kind, input, item_name, began, at } => {
            begin(out, names::STEP);
            number(out, name!("s"), *step);
            // A step of the tool itself mostly stands where its number says.
            if !is_place_of(path, *step) {
                text(out, name!("path"), &path.to_string());
            }
            text(out, name!("node"), node);
            text(out, name!("kind"), kind);
            if let Some(name) = item_name {
                text(out, name!("item"), name);
            }
            if began != at {
                time(out, name!("began"), *began);
            }
            time(out, name!("at"), *at);
            if let Some(input) = input {
                member(out, place, "in", input.into())?;
            }
        }
        StoredEvent::StepFinished { step, output, edge, at } => {
            begin(out, names::DONE);
            number(out, name!("s"), *step);
            if let Some(edge) = edge {
                text(out, name!("to"), edge);
            }
            time(out, name!("at"), *at);
            member(out, place, "out", output.into())?;
        }
        StoredEvent::StepFailed { step, error, edge, at } => {
            begin(out, names::FAILED);
            number(out, name!("s"), *step);
            if let Some(edge) = edge {
                text(out, name!("to"), edge);
            }
            time(out, name!("at"), *at);
            failure(out, place, error)?;
        }
        StoredEvent::Retrying { step, attempt, delay, error, at } => {
            begin(out, names::RETRY);
            number(out, name!("s"), *step);
            number(out, name!("attempt"), u64::from(*attempt));
            time(out, name!("delay"), *delay);
            time(out, name!("at"), *at);
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
            text(out, name!("why"), why);
            if let Some(node) = node {
                text(out, name!("node"), node);
            }
            time(out, name!("at"), *at);
        }
        StoredEvent::Resumed { waited, at } => {
            begin(out, names::RESUMED);
            time(out, name!("waited"), *waited);
            time(out, name!("at"), *at);
        }
        StoredEvent::OutputChanged { scope, node, output, at } => {
            begin(out, names::CHANGED);
            text(out, name!("path"), &scope.to_string());
            text(out, name!("node"), node);
            time(out, name!("at"), *at);
            member(out, place, "out", output.into())?;
        }
        StoredEvent::Log { step, level, message, at } => {
            begin(out, names::LOG);
            number(out, name!("s"), *step);
            text(out, name!("level"), level.name());
            time(out, name!("at"), *at);
            member(out, place, "msg", message.into())?;
        }
        StoredEvent::Finished { outcome, at } => {
            let error = match outcome {
                Ok(output) => return write_succeeded(out, place, output.into(), *at),
                Err(error) => error,
            };
            begin(out, names::FINISHED);
            time(out, name!("at"), *at);
            failure(out, place, error)?;
        }
    }
    out.push(b'}');
    Ok(())
}

/// Writes that a run of a tool began, in a version of it, with what it was given.
pub(super) fn write_started<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    (tool, digest, given): (&str, Digest, Given),
    input: PayloadRef<'_>,
) -> Result<(), P::Error> {
    begin(out, names::STARTED);
    text(out, name!("tool"), tool);
    out.extend_from_slice(name!("digest"));
    out.push(b'"');
    out.extend_from_slice(&digest.hex());
    out.push(b'"');
    number(out, name!("seed"), given.seed);
    number(out, name!("clock"), given.clock);
    member(out, place, "in", input)?;
    out.push(b'}');
    Ok(())
}

/// Writes that a run came to something.
pub(super) fn write_succeeded<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    output: PayloadRef<'_>,
    at: Duration,
) -> Result<(), P::Error> {
    begin(out, names::FINISHED);
    time(out, name!("at"), at);
    member(out, place, "out", output)?;
    out.push(b'}');
    Ok(())
}

/// Whether a place is the one that the number of the step says.
pub(super) fn is_place_of(path: &StepPath, step: StepId) -> bool {
    matches!(path.positions(), [only] if u64::from(*only) == step)
}

fn failure<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    error: &StoredError,
) -> Result<(), P::Error> {
    text(out, name!("error"), error.kind.name());
    if let ErrorKind::ProtocolError { code } = error.kind {
        out.extend_from_slice(name!("code"));
        write_number(out, code);
    }
    if let Some(node) = &error.node {
        text(out, name!("errorNode"), node);
    }
    member(out, place, "msg", (&error.message).into())?;
    if let Some(data) = &error.data {
        member(out, place, "data", data.into())?;
    }
    Ok(())
}

pub(super) fn member<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    name: &str,
    payload: PayloadRef<'_>,
) -> Result<(), P::Error> {
    out.push(b',');
    place.place(out, name, payload)
}

fn begin(out: &mut Vec<u8>, name: &str) {
    out.extend_from_slice(b"{\"e\":\"");
    out.extend_from_slice(name.as_bytes());
    out.push(b'"');
}

#[inline]
fn text(out: &mut Vec<u8>, name: &[u8], text: &str) {
    out.extend_from_slice(name);
    write_text(out, text);
}

#[inline]
fn number(out: &mut Vec<u8>, name: &[u8], number: u64) {
    out.extend_from_slice(name);
    write_number(out, number);
}

#[inline]
fn time(out: &mut Vec<u8>, name: &[u8], time: Duration) {
    out.extend_from_slice(name);
    write_time(out, time);
}

/// In whole microseconds.
pub(super) fn write_time(out: &mut Vec<u8>, time: Duration) {
    let micros = time.as_secs().saturating_mul(1_000_000);
    write_number(out, micros.saturating_add(u64::from(time.subsec_micros())));
}

pub(super) fn write_number(out: &mut Vec<u8>, number: impl itoa::Integer + Copy + TryInto<u8>) {
    match number.try_into() {
        // As most steps are.
        Ok(digit @ 0..10) => out.push(b'0' + digit),
        _ => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
    }
}
