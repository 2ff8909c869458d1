//! What the outside sees of runs: OpenTelemetry traces and Prometheus metrics.
//!
//! This crate owns how the events of a run become spans ([`Traces`]) and numbers ([`Metrics`]), what
//! they are called, and how spans reach a collector without holding up a run. Both are
//! [`Observer`](mcpgraph_runtime::Observer)s: whoever wants neither registers neither, and then
//! nothing of this runs.
//!
//! It must not know HTTP servers or the command line: where metrics are shown is somebody else's
//! business.

mod metrics;
mod outline;
mod settings;
mod steps;
mod traces;

pub use metrics::{CONTENT_TYPE, Metrics, MetricsError, Reading};
pub use settings::{Batching, Protocol, Sampling, Settings};
pub use traces::{Delivery, TelemetryError, Traces};
