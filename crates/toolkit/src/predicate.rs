use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mcpgraph_expr::{Cancel, Env, Jsonata, PlainScope, truthy};
use mcpgraph_value::Value;

use crate::expressions::{compiled, failed};

/// A JSONata expression that is tried on one value after the other. All evaluations together may
/// take the time that one of a node may.
pub struct Predicate {
    expression: Jsonata,
    env: Env,
    until: Instant,
}

/// Stops the evaluations of a predicate when it is dropped.
pub struct StopOnDrop(pub(crate) Cancel);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

impl Predicate {
    /// The error is that of `testJSONata`: `{error}`.
    pub fn new(expression: &str) -> Result<Self, serde_json::Value> {
        let expression = compiled(expression).map_err(crate::answer::Failure::into_value)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let env = Env::at(i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
        let until = Instant::now() + env.budget.time;
        Ok(Self { expression, env, until })
    }

    /// What stops it from elsewhere.
    pub fn stop_on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.env.cancel.clone())
    }

    /// Whether there is no time left, or nobody wants to know any more.
    pub fn is_over(&self) -> bool {
        self.env.cancel.is_cancelled() || self.left().is_zero()
    }

    /// Whether it holds for a value, which is `$`. The error is that of `testJSONata`.
    pub fn holds(&mut self, value: Value) -> Result<bool, serde_json::Value> {
        self.env.budget.time = self.left();
        let result = self.expression.eval(&PlainScope::shared(value), &self.env);
        let result = result.map_err(|error| failed(vec![error]).into_value())?;
        Ok(result.is_some_and(|result| truthy(&result)))
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}
