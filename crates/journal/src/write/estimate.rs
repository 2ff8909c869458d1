use mcpgraph_engine::{Event, RunError};
use mcpgraph_value::Value;

use super::payloads::address;

/// How many entries of a payload are looked at to guess its size.
const MAX_LOOKED_AT: usize = 64;

/// Guesses what events hold, without looking at all of it.
#[derive(Default)]
pub(super) struct Estimate {
    /// Where the latest payload is. Mostly the next event has it, too, and it is held once.
    latest: Option<usize>,
}

impl Estimate {
    /// What an event adds to those before it.
    pub(super) fn event(&mut self, event: &Event) -> usize {
        const FIXED: usize = 256;
        FIXED
            + match event {
                Event::Started { input, .. } => self.value(input),
                Event::StepStarted { input, .. } => {
                    input.as_ref().map_or(0, |input| self.value(input))
                }
                Event::StepFinished { output, .. } | Event::OutputChanged { output, .. } => {
                    self.value(output)
                }
                Event::StepFailed { error, .. } | Event::Retrying { error, .. } => {
                    self.error(error)
                }
                Event::Log { message, .. } => message.len(),
                Event::Finished { outcome: Ok(output), .. } => self.value(output),
                Event::Finished { outcome: Err(error), .. } => self.error(error),
                _ => 0,
            }
    }

    fn error(&mut self, error: &RunError) -> usize {
        error.message.len() + error.data.as_ref().map_or(0, |data| self.value(data))
    }

    fn value(&mut self, value: &Value) -> usize {
        let address = address(value);
        if address.is_some() && self.latest == address {
            return 0;
        }
        self.latest = address.or(self.latest);
        let mut left = MAX_LOOKED_AT;
        estimate_entries(value, &mut left)
    }
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
