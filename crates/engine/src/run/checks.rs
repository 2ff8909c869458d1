//! What a tool takes and gives, and how large and deep a payload may be.

use mcpgraph_graph::{Schema, Tool};
use mcpgraph_value::{MAX_DEPTH, Value};

use crate::{ErrorKind, RunError};

/// Whether arguments fit a tool.
pub(super) fn check_input(tool: &Tool, input: &Value) -> Result<(), RunError> {
    check_schema(&tool.input, input).map_err(|violations| {
        RunError::new(
            ErrorKind::InvalidInput,
            format!("the arguments of `{}` do not fit its inputSchema: {violations}", tool.name),
        )
    })
}

/// Whether a result fits a tool.
pub(super) fn check_output(tool: &Tool, output: &Value) -> Result<(), RunError> {
    let Some(schema) = &tool.output else { return Ok(()) };
    check_schema(schema, output).map_err(|violations| {
        RunError::new(
            ErrorKind::InvalidOutput,
            format!("the result of `{}` does not fit its outputSchema: {violations}", tool.name),
        )
    })
}

fn check_schema(schema: &Schema, value: &Value) -> Result<(), String> {
    let violations = schema.violations(value);
    if violations.is_empty() {
        return Ok(());
    }
    Err(violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// Whether an input or output is small and flat enough. One that adds no bytes has been looked at.
pub(super) fn check_payload(
    what: &str,
    value: &Value,
    bytes: usize,
    limit: usize,
) -> Option<RunError> {
    if bytes > limit {
        return Some(RunError::new(
            ErrorKind::Limit,
            format!(
                "the {what} is larger than maxPayloadBytes ({bytes} of {limit} bytes); raise the \
                 limit in executionLimits, or ask for less"
            ),
        ));
    }
    (bytes > 0 && value.is_deeper_than(MAX_DEPTH)).then(|| {
        RunError::new(
            ErrorKind::Limit,
            format!("the {what} nests deeper than {MAX_DEPTH} levels, the limit for JSON values"),
        )
    })
}
