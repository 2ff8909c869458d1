use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Given, LogLevel, PauseReason, StepId, StepPath};
use mcpgraph_value::{Object, Value};

use super::{Outline, names};
use crate::{Digest, JournalError, Payload, StoredError, StoredEvent, Truncated};

/// The longest name of a node, a tool or the like that is read.
const MAX_NAME_BYTES: usize = 64 * 1024;

/// The longest path of a step that is read.
const MAX_PATH: usize = 1024;

/// Finds payloads that stand by themselves.
pub(crate) trait Fetch {
    /// The payload with this digest.
    fn fetch(&mut self, digest: Digest) -> Result<Value, JournalError>;
}

/// Reads an event.
pub(crate) fn read_event<F: Fetch>(
    event: &Value,
    fetch: &mut F,
) -> Result<StoredEvent, JournalError> {
    let Some(members) = event.as_object() else {
        return Err(damaged("an event is not an object"));
    };
    let mut fields = Fields { members, fetch };
    let name = fields.name("e")?;
    Ok(match &*name {
        names::STARTED => StoredEvent::Started {
            tool: fields.name("tool")?,
            digest: digest(&fields.name("digest")?)?,
            input: fields.payload("in")?,
            given: Given { seed: fields.number("seed")?, clock: fields.number("clock")? },
        },
        names::STEP => {
            let step = fields.number("s")?;
            let at = fields.time("at")?;
            StoredEvent::StepStarted {
                step,
                path: match fields.optional_name("path")? {
                    Some(text) => path(&text)?,
                    None => place_of(step)?,
                },
                node: fields.name("node")?,
                kind: fields.name("kind")?,
                input: fields.optional_payload("in")?,
                item_name: fields.optional_name("item")?,
                began: if fields.has("began") { fields.time("began")? } else { at },
                at,
            }
        }
        names::DONE => StoredEvent::StepFinished {
            step: fields.number("s")?,
            output: fields.payload("out")?,
            edge: fields.optional_name("to")?,
            at: fields.time("at")?,
        },
        names::FAILED => StoredEvent::StepFailed {
            step: fields.number("s")?,
            error: fields.error()?,
            edge: fields.optional_name("to")?,
            at: fields.time("at")?,
        },
        names::RETRY => StoredEvent::Retrying {
            step: fields.number("s")?,
            attempt: u32::try_from(fields.number("attempt")?)
                .map_err(|_| damaged("the number of an attempt is too large"))?,
            delay: fields.time("delay")?,
            error: fields.error()?,
            at: fields.time("at")?,
        },
        names::PAUSED => StoredEvent::Paused { why: fields.why()?, at: fields.time("at")? },
        names::RESUMED => {
            StoredEvent::Resumed { waited: fields.time("waited")?, at: fields.time("at")? }
        }
        names::CHANGED => StoredEvent::OutputChanged {
            scope: path(&fields.name("path")?)?,
            node: fields.name("node")?,
            output: fields.payload("out")?,
            at: fields.time("at")?,
        },
        names::LOG => StoredEvent::Log {
            step: fields.number("s")?,
            level: level(&fields.name("level")?)?,
            message: fields.payload("msg")?,
            at: fields.time("at")?,
        },
        names::FINISHED => StoredEvent::Finished {
            outcome: if members.contains_key("error") {
                Err(fields.error()?)
            } else {
                Ok(fields.payload("out")?)
            },
            at: fields.time("at")?,
        },
        other => return Err(damaged(format!("there is no event `{other}`"))),
    })
}

/// Reads an event without its payloads.
pub(crate) fn outline(line: &str) -> Result<Outline, JournalError> {
    serde_json::from_str(line).map_err(|error| damaged(format!("an event: {error}")))
}

/// Reads what a [`StepPath`] shows.
pub(crate) fn path(text: &str) -> Result<StepPath, JournalError> {
    if text.is_empty() {
        return Ok(StepPath::new(&[]));
    }
    let positions: Option<Vec<u32>> =
        text.split('.').take(MAX_PATH + 1).map(|position| position.parse().ok()).collect();
    match positions {
        Some(positions) if positions.len() <= MAX_PATH => Ok(StepPath::new(&positions)),
        _ => Err(damaged("a path is not numbers with points between")),
    }
}

struct Fields<'a, F> {
    members: &'a Object,
    fetch: &'a mut F,
}

impl<F: Fetch> Fields<'_, F> {
    fn has(&self, key: &str) -> bool {
        self.members.get(key).is_some()
    }

    fn name(&self, key: &str) -> Result<Arc<str>, JournalError> {
        self.optional_name(key)?.ok_or_else(|| damaged(format!("an event has no `{key}`")))
    }

    fn optional_name(&self, key: &str) -> Result<Option<Arc<str>>, JournalError> {
        match self.members.get(key) {
            None => Ok(None),
            Some(Value::String(name)) if name.len() <= MAX_NAME_BYTES => Ok(Some(Arc::clone(name))),
            Some(_) => Err(damaged(format!(
                "`{key}` of an event is not a text of at most {MAX_NAME_BYTES} bytes"
            ))),
        }
    }

    fn number(&self, key: &str) -> Result<u64, JournalError> {
        let number = self.members.get(key).and_then(Value::as_number);
        let whole = number.and_then(|number| match number.as_i64() {
            Some(number) => u64::try_from(number).ok(),
            None => number.to_string().parse().ok(),
        });
        whole.ok_or_else(|| damaged(format!("`{key}` of an event is not a number from 0")))
    }

    fn time(&self, key: &str) -> Result<Duration, JournalError> {
        self.number(key).map(Duration::from_micros)
    }

    fn payload(&mut self, key: &str) -> Result<Payload, JournalError> {
        self.optional_payload(key)?.ok_or_else(|| damaged(format!("an event has no `{key}`")))
    }

    fn optional_payload(&mut self, key: &str) -> Result<Option<Payload>, JournalError> {
        if let Some(value) = self.members.get(key) {
            return Ok(Some(Payload::Whole(value.clone())));
        }
        if let Some(reference) = self.members.get(&format!("{key}@")) {
            let reference = digest(reference.as_str().unwrap_or_default())?;
            return Ok(Some(Payload::Whole(self.fetch.fetch(reference)?)));
        }
        if let Some(text) = self.members.get(&format!("{key}$")) {
            let value = Value::from_json(text.as_str().unwrap_or_default())
                .map_err(|error| damaged(format!("`{key}$` of an event: {error}")))?;
            return Ok(Some(Payload::Whole(value)));
        }
        let Some(left) = self.members.get(&format!("{key}~")) else { return Ok(None) };
        let size = left.get("size").and_then(Value::as_i64).and_then(|size| size.try_into().ok());
        let preview = left.get("preview").and_then(Value::as_str);
        let (Some(size), Some(preview)) = (size, preview) else {
            return Err(damaged(format!("`{key}~` of an event has no size and preview")));
        };
        let digest = digest(left.get("digest").and_then(Value::as_str).unwrap_or_default())?;
        Ok(Some(Payload::Truncated(Truncated { preview: preview.into(), size, digest })))
    }

    fn error(&mut self) -> Result<StoredError, JournalError> {
        let kind = self.name("error")?;
        let code = self.members.get("code").and_then(Value::as_i64);
        Ok(StoredError {
            kind: error_kind(&kind, code)?,
            message: self.payload("msg")?,
            node: self.optional_name("errorNode")?,
            data: self.optional_payload("data")?,
        })
    }

    fn why(&self) -> Result<PauseReason, JournalError> {
        Ok(match &*self.name("why")? {
            "asked" => PauseReason::Asked,
            "stepped" => PauseReason::Stepped,
            "before" => PauseReason::Before(self.name("node")?),
            "after" => PauseReason::After(self.name("node")?),
            other => return Err(damaged(format!("nothing pauses for `{other}`"))),
        })
    }
}

fn digest(text: &str) -> Result<Digest, JournalError> {
    text.parse().map_err(|error| damaged(format!("`{text:.64}`: {error}")))
}

fn level(name: &str) -> Result<LogLevel, JournalError> {
    [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error]
        .into_iter()
        .find(|level| level.name() == name)
        .ok_or_else(|| damaged(format!("there is no level `{name}`")))
}

/// The place of a step that stands where its number says.
pub(super) fn place_of(step: StepId) -> Result<StepPath, JournalError> {
    let position = u32::try_from(step).map_err(|_| damaged("a step has no path"))?;
    Ok(StepPath::new(&[position]))
}

fn error_kind(name: &str, code: Option<i64>) -> Result<ErrorKind, JournalError> {
    ErrorKind::from_name(name, code.unwrap_or_default())
        .ok_or_else(|| damaged(format!("there is no kind of error `{name}`")))
}

fn damaged(what: impl Into<String>) -> JournalError {
    JournalError::Damaged(what.into())
}
