//! What a run came to.

use mcpgraph_engine::{Run, RunError, StepId};
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
}

/// The step at which a run failed.
#[derive(Clone, Debug)]
pub struct FailedStep {
    /// Its number.
    pub step: StepId,
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
        Some(Self { run: id, outcome, failed })
    }
}
