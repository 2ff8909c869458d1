//! Evaluation by the engine of this workspace, the only place that knows how it is called.

use std::sync::{Arc, LazyLock};

use mcpgraph_jsonata::{BadSignature, Bindings, Environment, EvalError, Limits, Program};
use mcpgraph_value::Value;

use crate::bounds;
use crate::budget::{Meter, cancelled, out_of_bytes};
use crate::{ExprError, Limit, Scope, code};

/// The functions of the history. An expression can also come to their names by `$eval`, in a text
/// that it computes.
const NAMES: [&str; 4] = ["previousNode", "executionCount", "nodeExecution", "eval"];

/// Whether an expression may call a function of the history.
pub(super) fn uses_history(source: &str) -> bool {
    NAMES.iter().any(|name| source.contains(name))
}

/// Evaluates a program; with the functions of the history, if it wants them.
pub(super) fn evaluate(
    program: &Program,
    history: bool,
    scope: &Arc<dyn Scope>,
    meter: &Meter<'_>,
) -> Result<Option<Value>, ExprError> {
    let budget = &meter.env.budget;
    let mut environment = Environment {
        limits: Limits {
            // Time is what steps are counted for.
            steps: u64::MAX,
            time: meter.remaining()?,
            depth: budget.depth,
            bytes: budget.bytes as u64,
            sequence: budget.sequence,
        },
        now_millis: meter.env.now,
        seed: meter.env.chance.next_seed(),
        cancelled: Some(meter.env.cancel.flag()),
        ..Environment::default()
    };
    if history {
        environment.bindings = history_functions()
            .map_err(|error| ExprError::new(code::INTERNAL, error.to_string()))?;
        environment.state = Some(Arc::new(History(Arc::clone(scope))));
    }
    let result = program
        .evaluate(Some(&scope.context()), &environment)
        .map_err(|error| explain(error, meter, program.source()))?;
    if let Some(value) = &result {
        bounds::check(value, meter)?;
    }
    Ok(result)
}

/// What the functions of the history work on.
struct History(Arc<dyn Scope>);

/// The functions of the history, made once.
fn history_functions() -> Result<Bindings, BadSignature> {
    static FUNCTIONS: LazyLock<Result<Bindings, BadSignature>> = LazyLock::new(|| {
        let mut functions = Bindings::new();
        functions.function_on("previousNode", "<n?:x>", |History(scope), args| {
            let back = number(args, 0).unwrap_or(1.0);
            let found = (back >= 1.0).then(|| scope.previous(back as usize)).flatten();
            Ok(Some(found.unwrap_or_default()))
        })?;
        functions.function_on("executionCount", "<s:n>", |History(scope), args| {
            Ok(Some(node(args).map_or(0, |node| scope.execution_count(node)).into()))
        })?;
        functions.function_on("nodeExecution", "<sn:x>", |History(scope), args| {
            let found = match (node(args), number(args, 1)) {
                (Some(node), Some(index)) => scope.execution(node, index.floor() as i64),
                _ => None,
            };
            Ok(Some(found.unwrap_or_default()))
        })?;
        functions.function_on("nodeExecutions", "<s:a>", |History(scope), args| {
            let all = node(args).map(|node| scope.executions(node));
            Ok(Some(Value::array(all.unwrap_or_default())))
        })?;
        Ok(functions)
    });
    FUNCTIONS.clone()
}

/// The first argument, a node's id; none where it is undefined.
fn node(args: &[Option<Value>]) -> Option<&str> {
    args.first()?.as_ref()?.as_str()
}

fn number(args: &[Option<Value>], index: usize) -> Option<f64> {
    args.get(index)?.as_ref()?.as_f64()
}

/// The error in our words, with the limit where one was exceeded.
fn explain(error: EvalError, meter: &Meter<'_>, source: &str) -> ExprError {
    let budget = &meter.env.budget;
    let (limit, message) = match error.code {
        "U1003" => return cancelled(),
        // What was going on when it was enough says nothing; which expression it was does.
        "U1002" => {
            return ExprError { expression: Some(source.into()), ..out_of_bytes(budget.bytes) };
        }
        code::TIME => return ExprError { expression: Some(source.into()), ..meter.out_of_time() },
        "D1011" => (
            Some(Limit::Depth),
            format!("the expression's calls nest deeper than the limit of {} levels", budget.depth),
        ),
        "D2014" | code::SEQUENCE => (
            Some(Limit::Sequence),
            format!("a sequence has more than the limit of {} items", budget.sequence),
        ),
        // The steps of a regular expression that goes back and forth.
        "U1001" | "U1004" => (Some(Limit::Time), error.message),
        _ => (None, error.message),
    };
    ExprError {
        position: error.span.map(|span| span.range().start).or(error.position),
        token: error.token,
        expression: Some(source.into()),
        limit,
        ..ExprError::new(error.code, message)
    }
}
