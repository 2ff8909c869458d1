//! What the log says of a run, inside the span that names it.
//!
//! Messages of failures are not in it: they may quote what is masked in records. The code and the
//! node say where to look.

use mcpgraph_engine::Event;

/// Writes the line of an event, if it has one. Where that level is off it costs a comparison.
pub(crate) fn write(event: &Event) {
    match event {
        Event::Started { .. } => tracing::debug!("a run begins"),
        Event::Retrying { attempt, delay, error, .. } => tracing::debug!(
            node = error.node.as_deref(),
            code = error.kind.code(),
            kind = error.kind.name(),
            attempt,
            delay_ms = delay.as_millis() as u64,
            "a node is tried again"
        ),
        Event::StepFailed { error, edge: Some(edge), .. } => tracing::debug!(
            node = error.node.as_deref(),
            code = error.kind.code(),
            kind = error.kind.name(),
            next = &**edge,
            "a node failed, which is handled"
        ),
        Event::Finished { outcome: Ok(_), at } => {
            tracing::debug!(ms = at.as_millis() as u64, "a run succeeded");
        }
        Event::Finished { outcome: Err(error), at } => tracing::info!(
            node = error.node.as_deref(),
            code = error.kind.code(),
            kind = error.kind.name(),
            ms = at.as_millis() as u64,
            "a run failed"
        ),
        _ => {}
    }
}
