//! The steps of a run, put together from its events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Event, RunError, StepId, StepPath};
use mcpgraph_gateway::Watch;
use mcpgraph_runtime::FailedStep;
use mcpgraph_value::Value;
use parking_lot::Mutex;
use serde_json::json;

use crate::definition::{id_of, name_of, nodes};

/// How many steps of a run are told; of a longer run the first ones are left out.
pub(crate) const MAX_STEPS: usize = 2_000;

/// The latest steps of a run under way.
#[derive(Clone, Default)]
pub(crate) struct Steps(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    steps: VecDeque<Step>,
    left_out: usize,
    /// The `graph` nodes under way.
    calls: Vec<GraphCall>,
}

/// A node that calls another tool, from its beginning to its end.
struct GraphCall {
    step: StepId,
    path: StepPath,
    /// The nodes that lead to the called tool, this one last.
    chain: Arc<[Arc<str>]>,
}

struct Step {
    id: StepId,
    path: StepPath,
    /// The `graph` nodes around it, from the outside in.
    callers: Option<Arc<[Arc<str>]>>,
    node: Arc<str>,
    kind: &'static str,
    input: Option<Value>,
    began: Duration,
    took: Option<Duration>,
    next: Option<Arc<str>>,
    outcome: Option<Result<Value, RunError>>,
    /// What somebody put in the place of its output.
    changed: Option<Value>,
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
        let nodes: Vec<ToolNodes<'_>> = definitions
            .iter()
            .map(|tool| (name_of(tool), nodes(std::slice::from_ref(tool))))
            .collect();
        self.0.lock().steps.iter().map(|step| step.to_json(&nodes)).collect()
    }

    /// How many steps were left out.
    pub(crate) fn left_out(&self) -> usize {
        self.0.lock().left_out
    }

    /// The step at which the run failed: its number, its node, what it was given and what it saw.
    /// One that the run ended before has neither a number nor an input.
    pub(crate) fn failed(&self, failed: &FailedStep, node: Option<&str>) -> serde_json::Value {
        let mut told = json!({ "node": node, "context": failed.context });
        let Some(number) = failed.step else { return told };
        told["step"] = number.into();
        if let Some(step) = self.0.lock().steps.iter().rev().find(|step| step.id == number) {
            told["node"] = json!(step.node);
            told["input"] = json!(step.input);
        }
        told
    }
}

/// A tool's name and its nodes.
type ToolNodes<'d> = (Option<&'d str>, Vec<&'d Value>);

impl Seen {
    fn take(&mut self, event: &Event) {
        match event {
            Event::StepStarted { step, path, node, kind, input, began, .. } => {
                if self.steps.len() == MAX_STEPS {
                    self.steps.pop_front();
                    self.left_out += 1;
                }
                let around = self.calls.iter().filter(|call| path.is_inside(&call.path));
                let callers =
                    around.max_by_key(|call| call.chain.len()).map(|call| Arc::clone(&call.chain));
                if *kind == "graph" {
                    let outer = callers.iter().flat_map(|chain| chain.iter());
                    let chain = outer.chain([node]).cloned().collect();
                    self.calls.push(GraphCall { step: *step, path: path.clone(), chain });
                }
                self.steps.push_back(Step {
                    id: *step,
                    path: path.clone(),
                    callers,
                    node: Arc::clone(node),
                    kind,
                    input: input.clone(),
                    began: *began,
                    took: None,
                    next: None,
                    outcome: None,
                    changed: None,
                });
            }
            Event::StepFinished { step, output, edge, at } => {
                self.end(*step, Ok(output.clone()), edge.as_ref(), *at);
            }
            Event::StepFailed { step, error, edge, at } => {
                self.end(*step, Err(error.clone()), edge.as_ref(), *at);
            }
            Event::OutputChanged { scope, node, output, .. } => {
                let is_latest = |step: &&mut Step| {
                    step.node == *node && matches!(&step.outcome, Some(Ok(_))) && step.is_in(scope)
                };
                if let Some(step) = self.steps.iter_mut().rev().find(is_latest) {
                    step.changed = Some(output.clone());
                }
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
        self.calls.retain(|call| call.step != id);
        let Some(step) = self.steps.iter_mut().rev().find(|step| step.id == id) else { return };
        step.took = Some(at.saturating_sub(step.began));
        step.next = next.cloned();
        step.outcome = Some(outcome);
    }
}

impl Step {
    /// Whether it belongs to a body.
    fn is_in(&self, scope: &StepPath) -> bool {
        self.path.positions().split_last().is_some_and(|(_, body)| body == scope.positions())
    }

    /// The node as it is written: in the tool that was called, or in the one that the nodes around
    /// it lead to.
    fn definition<'d>(&self, tools: &[ToolNodes<'d>]) -> Option<&'d Value> {
        let find = |tool: &ToolNodes<'d>, id: &str| {
            tool.1.iter().copied().find(|node| id_of(node) == Some(id))
        };
        let mut tool = tools.first()?;
        for caller in self.callers.iter().flat_map(|chain| chain.iter()) {
            let called = find(tool, caller)?.get("tool").and_then(Value::as_str);
            tool = tools.iter().find(|(name, _)| *name == called)?;
        }
        find(tool, &self.node)
    }

    fn to_json(&self, tools: &[ToolNodes<'_>]) -> serde_json::Value {
        let mut told = json!({
            "step": self.id,
            "path": self.path.to_string(),
            "node": self.node,
            "type": self.kind,
        });
        if let Some(input) = &self.input {
            told["input"] = json!(input);
        }
        if let Some(expression) = self.definition(tools).and_then(written) {
            told["expression"] = json!(expression);
        }
        match &self.outcome {
            Some(Ok(output)) => told["output"] = json!(output),
            Some(Err(error)) => told["error"] = json!(error.to_value()),
            None => {}
        }
        if let Some(changed) = &self.changed {
            told["changedTo"] = json!(changed);
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
