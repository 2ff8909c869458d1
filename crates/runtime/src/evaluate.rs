//! Evaluating without holding up other runs.
//!
//! Almost every expression takes microseconds, and handing it to another thread would cost more
//! than that. So it is first evaluated where the run is, with a budget of a few milliseconds. What
//! needs longer is evaluated again, from the start, on a thread that may block: expressions are
//! pure, so doing it twice changes nothing.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Evaluated, Evaluation, Outcome, ScopeView};
use mcpgraph_expr::{Budget, Cancel, Chance, Env, ExprError, JsonLogic, Limit, Scope, truthy};
use tokio::sync::Semaphore;

/// How long an expression may keep the thread that other runs share.
const INLINE_TIME: Duration = Duration::from_millis(2);

/// How long the condition of a breakpoint may take: the run waits for it where it is.
const CONDITION_TIME: Duration = Duration::from_millis(100);

/// How many slow expressions are evaluated at once; further ones wait.
const MAX_SLOW: usize = 8;

/// Evaluates expressions for all runs.
#[derive(Clone)]
pub(crate) struct Evaluator {
    budget: Budget,
    slow: Arc<Semaphore>,
}

impl Evaluator {
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, slow: Arc::new(Semaphore::new(MAX_SLOW)) }
    }

    /// Evaluates at once; none if it takes too long for that.
    pub(crate) fn try_now(&self, evaluation: &Evaluation) -> Option<Outcome> {
        let env = Self::env(evaluation, self.budget_within(INLINE_TIME), Cancel::new());
        match evaluation.run(&env) {
            Err(ExprError { limit: Some(Limit::Time), .. }) => None,
            outcome => Some(Outcome::Evaluated(outcome)),
        }
    }

    /// Evaluates here and now, however long it takes.
    pub(crate) fn now(&self, evaluation: &Evaluation) -> Result<Evaluated, ExprError> {
        evaluation.run(&Self::env(evaluation, self.budget.clone(), Cancel::new()))
    }

    /// Evaluates on a thread of its own. Dropping the future stops the evaluation, which is also
    /// how the time limits of the node and of the run reach it.
    pub(crate) async fn slowly(&self, evaluation: Evaluation) -> Outcome {
        let cancel = Cancel::new();
        let stop = StopOnDrop(cancel.clone());
        let Ok(permit) = Arc::clone(&self.slow).acquire_owned().await else {
            return failed("the evaluator is closed");
        };
        let env = Self::env(&evaluation, self.budget.clone(), cancel);
        let outcome = tokio::task::spawn_blocking(move || {
            let outcome = evaluation.run(&env);
            drop(permit);
            outcome
        })
        .await;
        drop(stop);
        match outcome {
            Ok(outcome) => Outcome::Evaluated(outcome),
            Err(_) => failed("the expression made its evaluator fail"),
        }
    }

    /// Whether the condition of a breakpoint holds, at a time in milliseconds since 1970.
    pub(crate) fn holds(
        &self,
        rule: &JsonLogic,
        view: &ScopeView,
        told: i64,
    ) -> Result<bool, ExprError> {
        let scope: Arc<dyn Scope> = Arc::new(view.clone());
        let env = Env { budget: self.budget_within(CONDITION_TIME), ..Env::at(told) };
        rule.eval(&scope, &env).map(|value| truthy(&value))
    }

    fn budget_within(&self, time: Duration) -> Budget {
        Budget { time: time.min(self.budget.time), ..self.budget.clone() }
    }

    fn env(evaluation: &Evaluation, budget: Budget, cancel: Cancel) -> Env {
        let chance = Chance::seeded(evaluation.seed());
        Env { budget, now: evaluation.told_time(), chance, cancel }
    }
}

struct StopOnDrop(Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn failed(message: &str) -> Outcome {
    Outcome::Evaluated(Err(ExprError::new(mcpgraph_expr::code::INTERNAL, message)))
}
