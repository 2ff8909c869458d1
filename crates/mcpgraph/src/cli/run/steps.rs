use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::shortened;
use mcpgraph_engine::{Event, RunError, StepId};
use mcpgraph_value::{Map, Value};

/// The steps of a run, put together from its events.
pub(super) struct Steps {
    /// Whether steps that have ended are kept, with everything that went in and came out.
    keeps: bool,
    steps: BTreeMap<StepId, Step>,
}

struct Step {
    path: String,
    node: Arc<str>,
    kind: &'static str,
    input: Option<Value>,
    began: Duration,
    took: Duration,
    retries: u32,
    edge: Option<Arc<str>>,
    outcome: Option<Result<Value, RunError>>,
}

/// How much of a payload a line of the trace shows.
const SHOWN: usize = 120;

impl Steps {
    /// No steps yet. Those that end are only kept if they are wanted: a run may take a million.
    pub(super) fn new(keeps: bool) -> Self {
        Self { keeps, steps: BTreeMap::new() }
    }

    /// Takes an event; gives the line of the trace that it completes.
    pub(super) fn take(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::StepStarted { step, path, node, kind, input, at, .. } => {
                self.steps.insert(
                    *step,
                    Step {
                        path: path.to_string(),
                        node: Arc::clone(node),
                        kind,
                        input: input.clone(),
                        began: *at,
                        took: Duration::ZERO,
                        retries: 0,
                        edge: None,
                        outcome: None,
                    },
                );
                None
            }
            Event::StepFinished { step, output, edge, at } => {
                self.end(*step, Ok(output.clone()), edge.as_ref(), *at)
            }
            Event::StepFailed { step, error, edge, at } => {
                self.end(*step, Err(error.clone()), edge.as_ref(), *at)
            }
            Event::Retrying { step, attempt, delay, error, .. } => {
                let live = self.steps.get_mut(step)?;
                live.retries = *attempt;
                let message = shortened(&error.message, SHOWN);
                Some(format!(
                    "{:>6}  retry {attempt} in {} ms: {message}\n",
                    live.path,
                    delay.as_millis()
                ))
            }
            _ => None,
        }
    }

    fn end(
        &mut self,
        id: StepId,
        outcome: Result<Value, RunError>,
        edge: Option<&Arc<str>>,
        at: Duration,
    ) -> Option<String> {
        let mut step = self.steps.remove(&id)?;
        step.took = at.saturating_sub(step.began);
        step.edge = edge.cloned();
        step.outcome = Some(outcome);
        let line = step.line();
        if self.keeps {
            self.steps.insert(id, step);
        }
        Some(line)
    }

    /// Every step, for programs.
    pub(super) fn to_value(&self) -> Value {
        self.steps.iter().map(|(id, step)| step.to_value(*id)).collect::<Vec<_>>().into()
    }
}

impl Step {
    /// How long it took, to the microsecond.
    fn took_millis(&self) -> f64 {
        self.took.as_micros() as f64 / 1000.0
    }

    fn line(&self) -> String {
        let took = self.took_millis();
        let outcome = match &self.outcome {
            Some(Ok(output)) => shortened(&output.to_json(), SHOWN),
            Some(Err(error)) => format!("failed: {}", shortened(&error.message, SHOWN)),
            None => String::from("not finished"),
        };
        let mut line =
            format!("{:>6}  {:<20} {:<9} {took:>9.3} ms  ", self.path, self.node, self.kind);
        if let Some(input) = &self.input {
            line.push_str(&shortened(&input.to_json(), SHOWN));
            line.push_str(" → ");
        }
        line.push_str(&outcome);
        line.push('\n');
        line
    }

    fn to_value(&self, id: StepId) -> Value {
        let mut map: Map = Map::from_iter([
            ("step", Value::from(id)),
            ("path", Value::from(self.path.as_str())),
            ("node", Value::from(Arc::clone(&self.node))),
            ("type", Value::from(self.kind)),
            ("durationMs", Value::from(self.took_millis())),
        ]);
        if let Some(input) = &self.input {
            map.insert("input", input.clone());
        }
        match &self.outcome {
            Some(Ok(output)) => map.insert("output", output.clone()),
            Some(Err(error)) => map.insert("error", error.to_value()),
            None => None,
        };
        if self.retries > 0 {
            map.insert("retries", u64::from(self.retries));
        }
        if let Some(edge) = &self.edge {
            map.insert("next", Arc::clone(edge));
        }
        map.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_ended_are_kept_only_if_they_are_wanted() {
        for (keeps, left) in [(false, 0), (true, 1000)] {
            let mut steps = Steps::new(keeps);
            for step in 0..1000 {
                let began = Event::StepStarted {
                    step,
                    path: "1".parse().unwrap(),
                    node: "a".into(),
                    kind: "transform",
                    input: None,
                    item_name: None,
                    began: Duration::ZERO,
                    at: Duration::ZERO,
                };
                assert_eq!(steps.take(&began), None);
                let ended =
                    Event::StepFinished { step, output: 7.into(), edge: None, at: Duration::ZERO };
                assert!(steps.take(&ended).unwrap().ends_with("ms  7\n"));
            }
            assert_eq!(steps.steps.len(), left);
        }
    }
}
