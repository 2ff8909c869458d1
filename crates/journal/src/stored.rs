use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, LogLevel, PauseReason, RunError, StepId, StepPath};
use mcpgraph_value::Value;

use crate::ContentDigest;

/// An event as the store has it: the same as [`Event`], but a payload may not be whole.
///
/// Durations are in whole microseconds.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the event")]
pub enum StoredEvent {
    /// See [`Event::Started`].
    Started { tool: Arc<str>, digest: ContentDigest, input: Payload },
    /// See [`Event::StepStarted`].
    StepStarted {
        step: StepId,
        path: StepPath,
        node: Arc<str>,
        kind: Arc<str>,
        input: Option<Payload>,
        item_name: Option<Arc<str>>,
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

/// What is left of a payload that was larger than the limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truncated {
    /// How its JSON begins.
    pub preview: Arc<str>,
    /// How long its JSON is.
    pub size: u64,
    /// Names it by what it says; equal payloads have the same.
    pub digest: ContentDigest,
}

impl Payload {
    /// The value, if it is whole.
    pub fn whole(&self) -> Option<&Value> {
        match self {
            Self::Whole(value) => Some(value),
            Self::Truncated(_) => None,
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
