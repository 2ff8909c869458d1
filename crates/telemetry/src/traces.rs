//! Runs as OpenTelemetry traces: a span for the call, and one for each execution of a node.

mod attributes;
mod collector;
mod context;
mod events;
mod exporter;
mod ids;
mod node;
mod passed;
mod peers;
mod queue;
mod request;
mod run;
mod shown;
mod unrecorded;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use mcpgraph_journal::{Masker, Redaction};
use mcpgraph_runtime::{Observer, PassObserver, PassStart, RunObserver, RunStart};
use opentelemetry::trace::{Span as _, TracerProvider as _};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider, Span};
use parking_lot::Mutex;

use crate::Settings;
use crate::outline::Outlines;
use collector::Collector;
use ids::Ids;
pub use peers::Peer;
use peers::{Peers, transport};
use queue::Queue;
use shown::Shown;

/// Traces of runs, on their way to a collector.
///
/// Spans are exported by a thread of their own. It ends with [`shutdown`](Self::shutdown), or when
/// the last copy and the last observer are gone.
#[derive(Clone)]
pub struct Traces {
    observer: Arc<Tracing>,
    queue: Queue,
}

/// What became of the spans so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// The collector has them.
    pub exported: u64,
    /// The collector did not take them.
    pub refused: u64,
    /// They found the queue full.
    pub dropped: u64,
    /// They wait.
    pub waiting: u64,
}

/// Why traces cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The settings are not usable.
    #[error("traces cannot be exported to `{endpoint}`: {reason}")]
    Settings {
        /// Where they should have gone.
        endpoint: String,
        /// What is wrong.
        reason: String,
    },
    /// The system gave no thread.
    #[error("traces cannot be exported: no thread: {0}")]
    Thread(#[from] std::io::Error),
}

impl Traces {
    /// Traces as the environment asks for them; none where it does not.
    pub fn from_env() -> Result<Option<Self>, TelemetryError> {
        Settings::from_env().map(Self::start).transpose()
    }

    /// Begins to export; nothing is sent before there is a span.
    pub fn start(settings: Settings) -> Result<Self, TelemetryError> {
        let attributes = settings.resource.iter();
        let attributes = attributes.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
        let resource = Resource::builder_empty().with_attributes(attributes).build();
        let collector = Collector::new(exporter::shown(&settings.endpoint));
        let build = || exporter::build(&settings, &resource, &collector);
        let queue = Queue::start(settings.batching, collector.clone(), build)?;
        let provider = SdkTracerProvider::builder()
            .with_sampler(sampler(&settings))
            .with_resource(resource)
            .with_id_generator(Ids::default())
            .with_span_processor(queue.clone())
            .build();
        let scope = InstrumentationScope::builder("mcpgraph")
            .with_version(env!("CARGO_PKG_VERSION"))
            .build();
        let observer = Arc::new(Tracing {
            tracer: provider.tracer_with_scope(scope),
            outlines: Outlines::default(),
            captures_payloads: settings.captures_payloads,
            masker: Mutex::default(),
            peers: Peers::default(),
            transport: OnceLock::new(),
        });
        Ok(Self { observer, queue })
    }

    /// What a runtime is to be observed by.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.observer) as _
    }

    /// Spans of calls say how their servers are reached, as this finds it by the server's name; the
    /// first that is given stays. It is asked at the end of every call, and must not wait.
    pub fn know_servers(&self, find: impl Fn(&str) -> Option<Peer> + Send + Sync + 'static) {
        self.observer.peers.set(find);
    }

    /// Spans of requests say that clients reach this process over HTTP, or over its own streams.
    pub fn serves_over(&self, is_http: bool) {
        self.observer.transport.get_or_init(|| transport(is_http));
    }

    /// What became of the spans so far.
    pub fn delivery(&self) -> Delivery {
        self.queue.delivery()
    }

    /// Exports what waits, as far as that is possible `within` a time, and ends the thread. Spans
    /// that come later are dropped.
    pub async fn shutdown(&self, within: Duration) -> Delivery {
        self.queue.stop(within).await;
        self.queue.delivery()
    }
}

fn sampler(settings: &Settings) -> Sampler {
    let sampling = settings.sampling;
    let of_its_own = match sampling.ratio {
        ratio if ratio >= 1.0 => Sampler::AlwaysOn,
        ratio if ratio <= 0.0 => Sampler::AlwaysOff,
        ratio => Sampler::TraceIdRatioBased(ratio),
    };
    if sampling.follows_caller { Sampler::ParentBased(Box::new(of_its_own)) } else { of_its_own }
}

/// Makes spans of runs.
struct Tracing {
    tracer: SdkTracer,
    outlines: Outlines,
    captures_payloads: bool,
    masker: Mutex<Arc<Masker>>,
    peers: Peers,
    /// How clients reach this process, once that is known.
    transport: OnceLock<&'static str>,
}

impl Tracing {
    /// What of values and messages spans may show now.
    fn shown(&self) -> Shown {
        Shown::new(self.captures_payloads, Arc::clone(&self.masker.lock()))
    }

    /// Says on the span of a request how it came.
    fn describe_transport(&self, span: &mut Span) {
        if let Some(transport) = self.transport.get() {
            span.set_attribute(KeyValue::new(attributes::TRANSPORT, *transport));
        }
    }
}

impl Observer for Tracing {
    fn begin(&self, run: &RunStart<'_>) -> Option<Box<dyn RunObserver>> {
        Some(run::observe(self, run))
    }

    fn pass(&self, call: &PassStart<'_>) -> Option<Box<dyn PassObserver>> {
        Some(passed::observe(self, call))
    }

    fn set_redaction(&self, redaction: &Redaction) {
        *self.masker.lock() = Arc::new(Masker::new(redaction));
    }
}
