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
    let mut left = MAX_LOOKED_AT;
    estimate_entries(value, &mut left)
}

/// Each level takes one of those that may be looked at, so that this cannot go deep.
fn estimate_entries(value: &Value, left: &mut usize) -> usize {
    const CELL: usize = size_of::<Value>();
    *left = left.saturating_sub(1);
    // What is not looked at counts as the cell it takes.
    let mut look = |entry: &Value| if *left == 0 { CELL } else { estimate_entries(entry, left) };
    CELL + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => {
            let looked_at = items.iter().take(MAX_LOOKED_AT);
            let rest = items.len().saturating_sub(MAX_LOOKED_AT) * CELL;
            looked_at.map(&mut look).sum::<usize>() + rest
        }
        Value::Object(members) => {
            let looked_at = members.values().take(MAX_LOOKED_AT).map(&mut look);
            let rest = members.len().saturating_sub(MAX_LOOKED_AT) * CELL;
            looked_at.sum::<usize>() + rest + members.len() * CELL
        }
    }
}
