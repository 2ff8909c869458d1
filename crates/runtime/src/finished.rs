//! What a run came to.

use mcpgraph_engine::{Place, Run, RunError, StepId};
use mcpgraph_expr::Scope as _;
use mcpgraph_journal::RunId;
use mcpgraph_value::Value;

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The run.
    pub run: RunId,
    /// Its result or its error.
    pub outcome: Result<Value, RunError>,
    /// Where it failed, if it did and at a step.
    pub failed: Option<FailedStep>,
    /// The node it failed at, and how it came there.
    pub place: Option<Place>,
}

/// The step at which a run failed.
#[derive(Clone, Debug)]
pub struct FailedStep {
    /// Its number; none if the run ended before it began.
    pub step: Option<StepId>,
    /// What it saw: `{node_id: output}`.
    pub context: Value,
}

impl Finished {
    /// What a run has come to by now, if it has come to something.
    pub(crate) fn of(id: RunId, run: &Run) -> Option<Self> {
        let outcome = run.answer()?.clone();
        let failed = run
            .failing()
            .filter(|_| outcome.is_err())
            .map(|failing| FailedStep { step: failing.step, context: failing.view.context() });
        let place = run.place().filter(|_| outcome.is_err()).cloned();
        Some(Self { run: id, outcome, failed, place })
    }

    /// Why it failed, after the way to the node if there is more to say of it than its name.
    pub fn explained(&self, error: &RunError) -> String {
        match self.place.as_ref().filter(|place| place.is_nested()) {
            Some(place) => format!("{place}: {}", error.message),
            None => error.to_string(),
        }
    }

    /// The same for programs.
    pub fn details(&self, error: &RunError) -> Value {
        match (error.to_value(), self.place.as_ref().filter(|place| place.is_nested())) {
            (Value::Object(details), Some(place)) => {
                let mut details = (*details).clone();
                place.put(&mut details);
                details.into()
            }
            (details, _) => details,
        }
    }

    /// A run that failed, and not at a node.
    pub(crate) fn failed(run: RunId, error: RunError) -> Self {
        Self { run, outcome: Err(error), failed: None, place: None }
    }
}
