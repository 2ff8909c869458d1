//! Runs as numbers, in the text format of Prometheus.
//!
//! The registry is our own: what is counted is a handful of families whose labels are texts that
//! the events share already, so that counting takes a read lock and an addition and allocates
//! nothing. The libraries for it bring label sets that are built for every lookup, sketches that
//! need upkeep, or a recorder for the whole process.

mod family;
mod instrument;
mod passed;
mod readings;
mod run;
mod text;

use std::sync::Arc;

use mcpgraph_runtime::{Observer, PassObserver, PassStart, RunObserver, RunStart};

use crate::outline::Outlines;
use family::Family;
use instrument::{Counter, Gauge, Histogram};
use readings::{Read, Readings};
use text::Text;

pub use readings::{MetricsError, Reading};

/// The media type of [`Metrics::render`].
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Counts and times runs. Copies count together.
#[derive(Clone, Default)]
pub struct Metrics(Arc<Registry>);

/// Everything that is counted.
struct Registry {
    outlines: Outlines,
    runs_active: Gauge,
    calls: Family<2, Counter>,
    call_duration: Family<1, Histogram>,
    node_duration: Family<3, Histogram>,
    node_errors: Family<3, Counter>,
    node_retries: Family<2, Counter>,
    upstream_duration: Family<3, Histogram>,
    readings: Readings,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            outlines: Outlines::default(),
            runs_active: Gauge::default(),
            calls: Family::new(
                "mcpgraph_calls_total",
                "Calls of tools that ended, by how.",
                ["tool", "outcome"],
            ),
            call_duration: Family::new(
                "mcpgraph_call_duration_seconds",
                "How long calls of tools took.",
                ["tool"],
            ),
            node_duration: Family::new(
                "mcpgraph_node_duration_seconds",
                "How long nodes took, retries and the pauses before them included.",
                ["tool", "node", "kind"],
            ),
            node_errors: Family::new(
                "mcpgraph_node_errors_total",
                "Nodes that failed for good, by the code of the error.",
                ["tool", "node", "code"],
            ),
            node_retries: Family::new(
                "mcpgraph_node_retries_total",
                "Attempts after the first.",
                ["tool", "node"],
            ),
            upstream_duration: Family::new(
                "mcpgraph_upstream_duration_seconds",
                "How long attempts to call tools of other servers took, by how they ended.",
                ["server", "upstream_tool", "outcome"],
            ),
            readings: Readings::default(),
        }
    }
}

impl Metrics {
    /// Nothing counted yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What a runtime is to be observed by.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::new(self.clone())
    }

    /// Adds a number that somebody else keeps and that is read whenever metrics are shown. It must
    /// be quick and must not wait.
    ///
    /// The name is one of Prometheus, and used once; that of a counter ends in `_total`.
    pub fn register(
        &self,
        kind: Reading,
        name: &'static str,
        help: &'static str,
        read: impl Fn() -> f64 + Send + Sync + 'static,
    ) -> Result<(), MetricsError> {
        self.add(kind, name, help, Read::One(Box::new(read)))
    }

    /// The same for one that goes up and down and of which there are several, told apart by a
    /// label: what is read are the label's values, each with its number.
    pub fn register_each(
        &self,
        name: &'static str,
        help: &'static str,
        label: &'static str,
        read: impl Fn() -> Vec<(Arc<str>, f64)> + Send + Sync + 'static,
    ) -> Result<(), MetricsError> {
        self.add(Reading::Gauge, name, help, Read::Each(label, Box::new(read)))
    }

    fn add(
        &self,
        kind: Reading,
        name: &'static str,
        help: &'static str,
        read: Read,
    ) -> Result<(), MetricsError> {
        if self.0.own_names().contains(&name) {
            return Err(MetricsError::Taken(name));
        }
        self.0.readings.add(kind, name, help, read)
    }

    /// Everything as the text that Prometheus reads; its type is [`CONTENT_TYPE`].
    pub fn render(&self) -> String {
        let registry = &self.0;
        let mut text = Text::default();
        text.family(RUNS_ACTIVE, "Runs under way.", "gauge");
        text.sample(RUNS_ACTIVE, &[], &[], registry.runs_active.get() as f64);
        registry.calls.render(&mut text);
        registry.call_duration.render(&mut text);
        registry.node_duration.render(&mut text);
        registry.node_errors.render(&mut text);
        registry.node_retries.render(&mut text);
        registry.upstream_duration.render(&mut text);
        registry.readings.render(&mut text);
        text.finish()
    }
}

const RUNS_ACTIVE: &str = "mcpgraph_runs_active";

impl Registry {
    fn own_names(&self) -> [&'static str; 7] {
        [
            RUNS_ACTIVE,
            self.calls.name(),
            self.call_duration.name(),
            self.node_duration.name(),
            self.node_errors.name(),
            self.node_retries.name(),
            self.upstream_duration.name(),
        ]
    }
}

impl Observer for Metrics {
    fn begin(&self, run: &RunStart<'_>) -> Option<Box<dyn RunObserver>> {
        Some(Box::new(run::Counted::begin(Arc::clone(&self.0), run)))
    }

    fn pass(&self, call: &PassStart<'_>) -> Option<Box<dyn PassObserver>> {
        Some(Box::new(passed::Passed::begin(Arc::clone(&self.0), call)))
    }
}

#[cfg(test)]
mod tests;
