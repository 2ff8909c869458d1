//! Breakpoints as requests write them.

use std::sync::Arc;

use mcpgraph_expr::JsonLogic;
use mcpgraph_runtime::{Breakpoint, When};
use mcpgraph_value::Value;

use crate::problem::Problem;

/// How many breakpoints a run may have.
const MAX_BREAKPOINTS: usize = 256;

/// Reads a list of breakpoints; nothing is none.
pub(crate) fn read(list: Option<&Value>) -> Result<Vec<Breakpoint>, Problem> {
    let list = match list {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Problem::invalid("`breakpoints` must be a list")),
    };
    if list.len() > MAX_BREAKPOINTS {
        let message = format!("there are more than {MAX_BREAKPOINTS} breakpoints, the limit");
        return Err(Problem::invalid(message));
    }
    list.iter().map(breakpoint).collect()
}

fn breakpoint(value: &Value) -> Result<Breakpoint, Problem> {
    let node = value
        .get("node")
        .and_then(Value::as_str)
        .ok_or_else(|| Problem::invalid("a breakpoint needs a `node`"))?;
    let when = match value.get("when").map(Value::as_str) {
        None | Some(Some("before")) => When::Before,
        Some(Some("after")) => When::After,
        Some(_) => return Err(Problem::invalid("`when` is `before` or `after`")),
    };
    let hits = match value.get("hits") {
        None => 1,
        Some(hits) => hits
            .as_i64()
            .and_then(|hits| u64::try_from(hits).ok())
            .filter(|hits| *hits > 0)
            .ok_or_else(|| Problem::invalid("`hits` is a whole number from 1"))?,
    };
    let condition = value.get("condition").map(|rule| {
        JsonLogic::compile(rule).map(Arc::new).map_err(|errors| {
            let errors = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            Problem::invalid(format!("the condition of the breakpoint at `{node}`: {errors}"))
        })
    });
    Ok(Breakpoint { node: node.into(), when, condition: condition.transpose()?, hits })
}
