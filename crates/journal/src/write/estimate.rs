use mcpgraph_engine::{Event, RunError};
use mcpgraph_value::Value;

/// How many entries of a payload are looked at to guess its size.
const MAX_LOOKED_AT: usize = 64;

/// What an event holds, about, without looking at all of it.
pub(crate) fn estimate(event: &Event) -> usize {
    const FIXED: usize = 256;
    let error =
        |error: &RunError| error.message.len() + error.data.as_ref().map_or(0, estimate_value);
    FIXED
        + match event {
            Event::Started { input, .. } => estimate_value(input),
            Event::StepStarted { input, .. } => input.as_ref().map_or(0, estimate_value),
            Event::StepFinished { output, .. } | Event::OutputChanged { output, .. } => {
                estimate_value(output)
            }
            Event::StepFailed { error: failure, .. } | Event::Retrying { error: failure, .. } => {
                error(failure)
            }
            Event::Log { message, .. } => message.len(),
            Event::Finished { outcome: Ok(output), .. } => estimate_value(output),
            Event::Finished { outcome: Err(failure), .. } => error(failure),
            _ => 0,
        }
}

fn estimate_value(value: &Value) -> usize {
    const CELL: usize = size_of::<Value>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => return CELL,
        Value::String(text) => return CELL + text.len(),
        Value::Array(_) | Value::Object(_) => {}
    }
    let mut total = 0;
    let mut pending = vec![value];
    let mut looked_at = 0;
    while let Some(value) = pending.pop() {
        looked_at += 1;
        total += CELL;
        // What is not looked at counts as the cells it takes.
        let room = MAX_LOOKED_AT.saturating_sub(looked_at + pending.len());
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => total += text.len(),
            Value::Array(items) => {
                pending.extend(items.iter().take(room));
                total += items.len().saturating_sub(room) * CELL;
            }
            Value::Object(members) => {
                pending.extend(members.values().take(room));
                total += members.len() * CELL;
            }
        }
    }
    total
}
