//! The steps of a run, put together from its events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Event, RunError, StepId, StepPath};
use mcpgraph_gateway::Watch;
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde_json::json;

use crate::definition::{id_of, nodes};

/// How many steps of a run are told; of a longer run the first ones are left out.
pub(crate) const MAX_STEPS: usize = 2_000;

/// The latest steps of a run under way.
#[derive(Clone, Default)]
pub(crate) struct Steps(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    steps: VecDeque<Step>,
    left_out: usize,
}

struct Step {
    id: StepId,
    path: StepPath,
    node: Arc<str>,
    kind: &'static str,
    input: Option<Value>,
    began: Duration,
    took: Option<Duration>,
    next: Option<Arc<str>>,
    outcome: Option<Result<Value, RunError>>,
}

impl Steps {
    /// What takes the events of the run.
    pub(crate) fn watch(&self) -> Watch {
        let seen = Arc::clone(&self.0);
        Arc::new(move |event| seen.lock().take(event))
    }

    /// Every step, with the expressions of its node as the definitions write them. The first
    /// definition is the one of the tool that was called.
    pub(crate) fn to_json(&self, definitions: &[Value]) -> Vec<serde_json::Value> {
        let nodes = nodes(definitions);
        self.0.lock().steps.iter().map(|step| step.to_json(&nodes)).collect()
    }

    /// How many steps were left out.
    pub(crate) fn left_out(&self) -> usize {
        self.0.lock().left_out
    }

    /// The step at which the run failed: its number, its node and what it was given.
    pub(crate) fn failing(&self) -> Option<(StepId, serde_json::Value)> {
        let seen = self.0.lock();
        let step = seen
            .steps
            .iter()
            .rev()
            .find(|step| step.next.is_none() && matches!(step.outcome, Some(Err(_))))?;
        let told = json!({ "step": step.id, "node": step.node, "input": step.input });
        Some((step.id, told))
    }
}

impl Seen {
    fn take(&mut self, event: &Event) {
        match event {
            Event::StepStarted { step, path, node, kind, input, began, .. } => {
                if self.steps.len() == MAX_STEPS {
                    self.steps.pop_front();
                    self.left_out += 1;
                }
                self.steps.push_back(Step {
                    id: *step,
                    path: path.clone(),
                    node: Arc::clone(node),
                    kind,
                    input: input.clone(),
                    began: *began,
                    took: None,
                    next: None,
                    outcome: None,
                });
            }
            Event::StepFinished { step, output, edge, at } => {
                self.end(*step, Ok(output.clone()), edge.as_ref(), *at);
            }
            Event::StepFailed { step, error, edge, at } => {
                self.end(*step, Err(error.clone()), edge.as_ref(), *at);
            }
            _ => {}
        }
    }

    fn end(
        &mut self,
        id: StepId,
        outcome: Result<Value, RunError>,
        next: Option<&Arc<str>>,
        at: Duration,
    ) {
        let Some(step) = self.steps.iter_mut().rev().find(|step| step.id == id) else { return };
        step.took = Some(at.saturating_sub(step.began));
        step.next = next.cloned();
        step.outcome = Some(outcome);
    }
}

impl Step {
    fn to_json(&self, nodes: &[&Value]) -> serde_json::Value {
        let mut told = json!({
            "step": self.id,
            "path": self.path.to_string(),
            "node": self.node,
            "type": self.kind,
        });
        if let Some(input) = &self.input {
            told["input"] = json!(input);
        }
        let own = nodes.iter().find(|node| id_of(node) == Some(&*self.node));
        if let Some(expression) = own.and_then(|node| written(node)) {
            told["expression"] = json!(expression);
        }
        match &self.outcome {
            Some(Ok(output)) => told["output"] = json!(output),
            Some(Err(error)) => told["error"] = json!(error.to_value()),
            None => {}
        }
        if let Some(took) = self.took {
            told["durationMs"] = json!(took.as_micros() as f64 / 1000.0);
        }
        if let Some(next) = &self.next {
            told["next"] = json!(next);
        }
        told
    }
}

/// What a node evaluates.
fn written(node: &Value) -> Option<&Value> {
    let transform = node.get("transform").and_then(|transform| transform.get("expr"));
    transform
        .or_else(|| ["expr", "conditions", "args", "items"].iter().find_map(|key| node.get(key)))
}
