//! What is kept of a durable run: what it was called with, and what it came to.

use std::sync::Arc;

use mcpgraph_engine::{ErrorKind, Given, Place, RunError};
use mcpgraph_graph::Digest;
use mcpgraph_journal::{Face, Origin, Parent, RunId, TraceContext};
use mcpgraph_value::{Map, Value};

use super::Definition;
use crate::{Execution, FailedStep, Finished};

/// What another execution needs to be the same. The text of the definition is a part of it: the
/// journal keeps it masked and forgets it in time.
pub(super) struct Kept {
    pub(super) tool: Arc<str>,
    text: Arc<str>,
    digest: Digest,
    pub(super) arguments: Value,
    pub(super) origin: Origin,
    pub(super) given: Option<Given>,
    /// What was served by who began it; runs of older versions do not say.
    pub(super) served: Option<Arc<str>>,
}

impl Kept {
    pub(super) fn of(execution: &Execution, served: Option<Arc<str>>) -> Self {
        Self {
            tool: Arc::clone(&execution.tool.name),
            text: Arc::clone(&execution.graph.text),
            digest: execution.tool.digest,
            arguments: execution.input.clone(),
            origin: execution.origin.clone(),
            given: execution.given,
            served,
        }
    }

    pub(super) fn definition(&self, is_known: bool) -> Definition<'_> {
        let Self { text, tool, digest, arguments, .. } = self;
        Definition { text, tool, digest: *digest, arguments, is_known }
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("tool", Arc::clone(&self.tool));
        map.insert("digest", self.digest.to_string());
        map.insert("definition", Arc::clone(&self.text));
        map.insert("arguments", self.arguments.clone());
        if let Some(given) = self.given {
            // As a text: not every number that this can be is one in JSON.
            map.insert("seed", given.seed.to_string());
            map.insert("clock", given.clock);
        }
        let origin = &self.origin;
        map.insert("face", origin.face.name());
        let texts = [
            ("served", &self.served),
            ("client", &origin.client),
            ("protocol", &origin.protocol),
            ("principal", &origin.principal),
        ];
        for (key, text) in texts {
            if let Some(text) = text {
                map.insert(key, Arc::clone(text));
            }
        }
        if let Some(trace) = &origin.trace {
            map.insert("traceparent", Arc::clone(&trace.traceparent));
            if let Some(state) = &trace.tracestate {
                map.insert("tracestate", Arc::clone(state));
            }
        }
        if let Some(parent) = &origin.parent {
            map.insert("parent", parent.run.to_string());
            map.insert("parentStep", parent.from);
        }
        if let Some(around) = &origin.around {
            map.insert("around", around.to_string());
        }
        map.into()
    }

    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let text = |key| value.get(key).and_then(Value::as_str).map(Arc::<str>::from);
        let number = |key| value.get(key).and_then(Value::as_i64);
        let count = |key| number(key).and_then(|number| u64::try_from(number).ok());
        let given = match (text("seed"), count("clock")) {
            (Some(seed), Some(clock)) => Some(Given { seed: seed.parse().ok()?, clock }),
            _ => None,
        };
        let trace = text("traceparent")
            .map(|traceparent| TraceContext { traceparent, tracestate: text("tracestate") });
        let parent = match (text("parent"), count("parentStep")) {
            (Some(run), Some(from)) => Some(Parent { run: run.parse().ok()?, from }),
            _ => None,
        };
        Some(Self {
            tool: text("tool")?,
            text: text("definition")?,
            digest: text("digest")?.parse().ok()?,
            arguments: value.get("arguments").cloned().unwrap_or_default(),
            origin: Origin {
                face: Face::from_name(&text("face")?)?,
                client: text("client"),
                protocol: text("protocol"),
                principal: text("principal"),
                trace,
                parent,
                around: match text("around") {
                    Some(around) => Some(around.parse().ok()?),
                    None => None,
                },
            },
            given,
            served: text("served"),
        })
    }
}

/// What a run came to, as the engine keeps it.
pub(super) fn finished_value(finished: &Finished) -> Value {
    let mut map = Map::new();
    put_outcome(&mut map, &finished.outcome);
    if let Some(failed) = &finished.failed {
        if let Some(step) = failed.step {
            map.insert("step", step);
        }
        map.insert("context", failed.context.clone());
    }
    if let Some(place) = &finished.place {
        let mut details = Map::new();
        place.put(&mut details);
        map.insert("place", details);
    }
    map.into()
}

/// Reads what [`finished_value`] wrote.
pub(super) fn finished_of(run: RunId, value: &Value) -> Finished {
    let outcome = outcome_of(value);
    let step = value.get("step").and_then(Value::as_i64).and_then(|step| u64::try_from(step).ok());
    let context = value.get("context").cloned();
    let failed = context.map(|context| FailedStep { step, context });
    let place = value.get("place").and_then(Place::from_value);
    Finished { run, outcome, failed, place }
}

pub(super) fn put_outcome(map: &mut Map, outcome: &Result<Value, RunError>) {
    match outcome {
        Ok(value) => map.insert("ok", value.clone()),
        Err(error) => map.insert("error", error.to_value()),
    };
}

pub(super) fn outcome_of(value: &Value) -> Result<Value, RunError> {
    if let Some(value) = value.get("ok") {
        return Ok(value.clone());
    }
    let error = value.get("error").and_then(RunError::from_value);
    Err(error.unwrap_or_else(|| {
        let what = "what was kept of a durable run cannot be read by this version of mcpgraph";
        RunError::new(ErrorKind::Internal, what)
    }))
}
