//! What the outside sees of runs: OpenTelemetry traces and Prometheus metrics.
//!
//! This crate owns how the events of a run become spans ([`Traces`]) and numbers ([`Metrics`]), what
//! they are called, and how spans reach a collector without holding up a run. Both are
//! [`Observer`](mcpgraph_runtime::Observer)s: whoever wants neither registers neither, and then
//! nothing of this runs.
//!
//! It must not know HTTP servers or the command line: where metrics are shown is somebody else's
//! business.
//!
//! ```no_run
//! # use std::{sync::Arc, time::Duration};
//! # use mcpgraph_runtime::{Runtime, Effects};
//! # use mcpgraph_telemetry::{Metrics, TelemetryError, Traces};
//! # async fn serve(effects: Arc<dyn Effects>) -> Result<(), TelemetryError> {
//! let metrics = Metrics::new();
//! let traces = Traces::from_env()?;
//! let mut runtime = Runtime::new(effects).observed_by(metrics.observer());
//! if let Some(traces) = &traces {
//!     runtime = runtime.observed_by(traces.observer());
//! }
//! // … runs are executed, and `metrics.render()` is shown to whoever asks …
//! if let Some(traces) = &traces {
//!     traces.shutdown(Duration::from_secs(5)).await;
//! }
//! # Ok(())
//! # }
//! ```

mod metrics;
mod outline;
mod settings;
mod steps;
mod traces;

pub use metrics::{CONTENT_TYPE, Metrics, MetricsError, Reading};
pub use settings::{Batching, Protocol, Sampling, Settings};
pub use traces::{Delivery, Peer, TelemetryError, Traces};
