//! Whether a guard holds.

use std::time::Duration;

use mcpgraph_expr::{Budget, Chance, Env, PlainScope, truthy};
use mcpgraph_value::Value;

use crate::Guard;

/// How long a guard may take.
const TIME: Duration = Duration::from_millis(100);

/// How many bytes a guard may build.
const BYTES: usize = 16 << 20;

/// Whether a guard holds for what tools gave; an error is no yes.
pub(super) fn verdict(guard: &Guard, results: Value, now: u64) -> Result<bool, String> {
    let mut env = Env::at(i64::try_from(now).unwrap_or(i64::MAX));
    env.budget = Budget { time: TIME, bytes: BYTES, ..Budget::default() };
    // The same walk is judged in the same way.
    env.chance = Chance::seeded(0);
    let outcome = guard.rule.eval(&PlainScope::shared(results), &env);
    outcome.map(|value| truthy(&value)).map_err(|error| error.message)
}
