use std::sync::{Arc, LazyLock};
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, Given, LogLevel, PauseReason, RunError, StepId, StepPath};
use mcpgraph_graph::{Digest, Kind};
use mcpgraph_value::Value;

/// An event as the store has it: the same as [`Event`], but a payload may not be whole.
///
/// Durations are in whole microseconds.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the event")]
pub enum StoredEvent {
    /// See [`Event::Started`].
    Started { tool: Arc<str>, digest: Digest, input: Payload, given: Given },
    /// See [`Event::StepStarted`].
    StepStarted {
        step: StepId,
        path: StepPath,
        node: Arc<str>,
        kind: Arc<str>,
        input: Option<Payload>,
        item_name: Option<Arc<str>>,
        began: Duration,
        at: Duration,
    },
    /// See [`Event::StepFinished`].
    StepFinished { step: StepId, output: Payload, edge: Option<Arc<str>>, at: Duration },
    /// See [`Event::StepFailed`].
    StepFailed { step: StepId, error: StoredError, edge: Option<Arc<str>>, at: Duration },
    /// See [`Event::Retrying`].
    Retrying { step: StepId, attempt: u32, delay: Duration, error: StoredError, at: Duration },
    /// See [`Event::Paused`].
    Paused { why: PauseReason, at: Duration },
    /// See [`Event::Resumed`].
    Resumed { waited: Duration, at: Duration },
    /// See [`Event::OutputChanged`].
    OutputChanged { scope: StepPath, node: Arc<str>, output: Payload, at: Duration },
    /// See [`Event::Log`].
    Log { step: StepId, level: LogLevel, message: Payload, at: Duration },
    /// See [`Event::Finished`].
    Finished { outcome: Result<Payload, StoredError>, at: Duration },
}

/// Why a step or a run failed, as the store has it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredError {
    /// What sort of failure it is.
    pub kind: ErrorKind,
    /// What happened; a string where it is whole.
    pub message: Payload,
    /// The node it happened at.
    pub node: Option<Arc<str>>,
    /// What the other side said.
    pub data: Option<Payload>,
}

/// A value of an event, as far as it was kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// All of it.
    Whole(Value),
    /// It was larger than the limit.
    Truncated(Truncated),
}

/// The same, where it is.
#[derive(Clone, Copy)]
pub(crate) enum PayloadRef<'a> {
    Whole(&'a Value),
    Truncated(&'a Truncated),
}

impl<'a> From<&'a Payload> for PayloadRef<'a> {
    fn from(payload: &'a Payload) -> Self {
        match payload {
            Payload::Whole(value) => Self::Whole(value),
            Payload::Truncated(left) => Self::Truncated(left),
        }
    }
}

/// What is left of a payload that was larger than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// How its JSON begins.
    pub preview: Arc<str>,
    /// How long its JSON is.
    pub size: u64,
    /// Names it by what it says; equal payloads have the same.
    pub digest: Digest,
}

/// A payload is not whole; which it is, and its size.
pub(crate) type NotWhole = (&'static str, u64);

impl From<Event> for StoredEvent {
    fn from(event: Event) -> Self {
        let whole = Payload::Whole;
        match event {
            Event::Started { tool, digest, input, given } => {
                Self::Started { tool, digest, input: whole(input), given }
            }
            Event::StepStarted { step, path, node, kind, input, item_name, began, at } => {
                let (kind, input) = (kind_name(kind), input.map(whole));
                Self::StepStarted { step, path, node, kind, input, item_name, began, at }
            }
            Event::StepFinished { step, output, edge, at } => {
                Self::StepFinished { step, output: whole(output), edge, at }
            }
            Event::StepFailed { step, error, edge, at } => {
                Self::StepFailed { step, error: error.into(), edge, at }
            }
            Event::Retrying { step, attempt, delay, error, at } => {
                Self::Retrying { step, attempt, delay, error: error.into(), at }
            }
            Event::Paused { why, at } => Self::Paused { why, at },
            Event::Resumed { waited, at } => Self::Resumed { waited, at },
            Event::OutputChanged { scope, node, output, at } => {
                Self::OutputChanged { scope, node, output: whole(output), at }
            }
            Event::Log { step, level, message, at } => {
                Self::Log { step, level, message: whole(Value::String(message)), at }
            }
            Event::Finished { outcome, at } => {
                Self::Finished { outcome: outcome.map(whole).map_err(StoredError::from), at }
            }
            // The engine may come to tell more; until it is kept here, a line says that it did.
            other => Self::Log {
                step: 0,
                level: LogLevel::Debug,
                message: whole(format!("{other:?}").into()),
                at: other.at(),
            },
        }
    }
}

/// The name of a node's type, of which every event of the process shares one.
fn kind_name(kind: &'static str) -> Arc<str> {
    static NAMES: LazyLock<Vec<Arc<str>>> = LazyLock::new(|| {
        Kind::NAMES.into_iter().chain(Kind::WORKFLOW_NAMES).map(Arc::from).collect()
    });
    NAMES.iter().find(|name| ***name == *kind).cloned().unwrap_or_else(|| kind.into())
}

impl From<RunError> for StoredError {
    fn from(error: RunError) -> Self {
        Self {
            kind: error.kind,
            message: Payload::Whole(error.message.into()),
            node: error.node,
            data: error.data.map(Payload::Whole),
        }
    }
}

impl StoredError {
    /// The error as it was, if all of it was kept.
    pub(crate) fn into_error(self) -> Result<RunError, NotWhole> {
        let message = self.message.into_value("message")?;
        Ok(RunError {
            kind: self.kind,
            message: message.as_str().unwrap_or_default().to_owned(),
            node: self.node,
            data: self.data.map(|data| data.into_value("data")).transpose()?,
        })
    }
}

impl Payload {
    /// The value, if it is whole.
    pub fn whole(&self) -> Option<&Value> {
        match self {
            Self::Whole(value) => Some(value),
            Self::Truncated(_) => None,
        }
    }

    pub(crate) fn into_value(self, field: &'static str) -> Result<Value, NotWhole> {
        match self {
            Self::Whole(value) => Ok(value),
            Self::Truncated(truncated) => Err((field, truncated.size)),
        }
    }

    /// A text for people: a string as it is, anything else as JSON, or the preview.
    pub fn text(&self) -> Arc<str> {
        match self {
            Self::Whole(Value::String(text)) => Arc::clone(text),
            Self::Whole(value) => value.to_json().into(),
            Self::Truncated(truncated) => Arc::clone(&truncated.preview),
        }
    }
}

impl StoredEvent {
    /// The event as it was, if all of it was kept. `version` is what `Started` says; `kinds` gives
    /// the name of a node's type the life that it has in an event.
    pub(crate) fn into_event(
        self,
        version: Digest,
        kinds: &dyn Fn(&str) -> &'static str,
    ) -> Result<Event, NotWhole> {
        Ok(match self {
            Self::Started { tool, input, given, .. } => {
                let input = input.into_value("input")?;
                Event::Started { tool, digest: version, input, given }
            }
            Self::StepStarted { step, path, node, kind, input, item_name, began, at } => {
                let input = input.map(|input| input.into_value("input")).transpose()?;
                let kind = kinds(&kind);
                Event::StepStarted { step, path, node, kind, input, item_name, began, at }
            }
            Self::StepFinished { step, output, edge, at } => {
                Event::StepFinished { step, output: output.into_value("output")?, edge, at }
            }
            Self::StepFailed { step, error, edge, at } => {
                Event::StepFailed { step, error: error.into_error()?, edge, at }
            }
            Self::Retrying { step, attempt, delay, error, at } => {
                Event::Retrying { step, attempt, delay, error: error.into_error()?, at }
            }
            Self::Paused { why, at } => Event::Paused { why, at },
            Self::Resumed { waited, at } => Event::Resumed { waited, at },
            Self::OutputChanged { scope, node, output, at } => {
                Event::OutputChanged { scope, node, output: output.into_value("output")?, at }
            }
            Self::Log { step, level, message, at } => {
                let message = message.into_value("message")?;
                Event::Log { step, level, message: message.as_str().unwrap_or_default().into(), at }
            }
            Self::Finished { outcome, at } => Event::Finished {
                outcome: match outcome {
                    Ok(output) => Ok(output.into_value("output")?),
                    Err(error) => Err(error.into_error()?),
                },
                at,
            },
        })
    }

    /// Puts texts, the previews, in the place of payloads that were not kept.
    pub(crate) fn put_previews(&mut self) {
        for payload in self.payloads_mut() {
            if let Payload::Truncated(left) = payload {
                *payload = Payload::Whole(Value::String(Arc::clone(&left.preview)));
            }
        }
    }

    fn payloads_mut(&mut self) -> impl Iterator<Item = &mut Payload> {
        let payloads = match self {
            Self::Started { input: payload, .. }
            | Self::StepFinished { output: payload, .. }
            | Self::OutputChanged { output: payload, .. }
            | Self::Log { message: payload, .. }
            | Self::Finished { outcome: Ok(payload), .. } => [Some(payload), None],
            Self::StepStarted { input, .. } => [input.as_mut(), None],
            Self::StepFailed { error, .. }
            | Self::Retrying { error, .. }
            | Self::Finished { outcome: Err(error), .. } => {
                [Some(&mut error.message), error.data.as_mut()]
            }
            Self::Paused { .. } | Self::Resumed { .. } => [None, None],
        };
        payloads.into_iter().flatten()
    }

    /// The step it belongs to, if it belongs to one.
    pub fn step(&self) -> Option<StepId> {
        match self {
            Self::StepStarted { step, .. }
            | Self::StepFinished { step, .. }
            | Self::StepFailed { step, .. }
            | Self::Retrying { step, .. }
            | Self::Log { step, .. } => Some(*step),
            Self::Started { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::OutputChanged { .. }
            | Self::Finished { .. } => None,
        }
    }

    /// When it happened, as time since the run began.
    pub fn at(&self) -> Duration {
        match self {
            Self::Started { .. } => Duration::ZERO,
            Self::StepStarted { at, .. }
            | Self::StepFinished { at, .. }
            | Self::StepFailed { at, .. }
            | Self::Retrying { at, .. }
            | Self::Paused { at, .. }
            | Self::Resumed { at, .. }
            | Self::OutputChanged { at, .. }
            | Self::Log { at, .. }
            | Self::Finished { at, .. } => *at,
        }
    }
}
