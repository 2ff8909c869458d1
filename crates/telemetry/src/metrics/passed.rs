//! Calls that are passed on, as counts.

use std::sync::Arc;
use std::time::Instant;

use mcpgraph_engine::RunError;
use mcpgraph_runtime::{PassObserver, PassStart};

use super::Registry;
use super::family::MAX_SERIES;
use super::run::{ABANDONED, OK};
use crate::outline::bounded_name;

/// How many combinations of labels may be there before a passed-on call adds none. The names of
/// tools are the clients' here, who may make them up, and must not take the place of the graph's.
const MAX_PASSED: usize = MAX_SERIES / 2;

/// A call under way.
pub(super) struct Passed {
    registry: Arc<Registry>,
    tool: Arc<str>,
    server: Arc<str>,
    inner: Arc<str>,
    began: Instant,
    has_ended: bool,
}

impl Passed {
    pub(super) fn begin(registry: Arc<Registry>, call: &PassStart<'_>) -> Self {
        // As long as the call lasts, nothing is kept of a name that no label would show.
        let kept = |name: &str| -> Arc<str> { Arc::from(&*bounded_name(name)) };
        let (tool, server, inner) = (kept(call.tool), kept(call.server), kept(call.inner));
        Self { registry, tool, server, inner, began: Instant::now(), has_ended: false }
    }

    fn end(&mut self, outcome: &'static str) {
        self.has_ended = true;
        let Self { registry, tool, server, inner, began, .. } = self;
        let (tool, took) = (&*tool, began.elapsed());
        registry.calls.with_among(MAX_PASSED, [tool.into(), outcome.into()]).increase();
        registry.call_duration.with_among(MAX_PASSED, [tool.into()]).observe(took);
        let labels = [(&*server).into(), (&*inner).into(), outcome.into()];
        registry.upstream_duration.with_among(MAX_PASSED, labels).observe(took);
    }
}

impl PassObserver for Passed {
    fn ended(mut self: Box<Self>, outcome: Result<&str, &RunError>) {
        self.end(outcome.map_or_else(|error| error.kind.name(), |_| OK));
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end(ABANDONED);
        }
    }
}
