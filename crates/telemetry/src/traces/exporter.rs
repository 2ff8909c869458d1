//! The three ways of OTLP.

mod answer;
mod listening;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use opentelemetry_otlp::{Protocol as OtlpProtocol, RetryPolicy, WithTonicConfig as _};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkError;
use opentelemetry_sdk::trace::{SpanData, SpanExporter as _};
use parking_lot::Mutex;
use tokio::time::Instant;
use tonic::metadata::MetadataMap;
use tonic::transport::ClientTlsConfig;

use super::TelemetryError;
use super::collector::Collector;
use crate::{Protocol, Settings};
pub(super) use answer::Answer;
use listening::{Exchange, Exchanges, Listening};

/// What to do about an endpoint that cannot be used.
const REMEDY: &str = "set OTEL_EXPORTER_OTLP_ENDPOINT (or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) to a \
                      URL such as http://localhost:4318";

/// The longest pause between two attempts of an export. They go on until its time is up.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What sends spans, one batch after the other.
pub(super) struct Exporter {
    spans: SpanExporter,
    /// How long one export may take.
    timeout: Duration,
    exchanges: Exchanges,
}

impl Exporter {
    /// Sends spans. What reached the collector is not necessarily what it took, as far as it says so.
    pub(super) async fn export(&self, batch: Vec<SpanData>) -> Result<Answer, OTelSdkError> {
        let exchange = Exchange::before(Instant::now() + self.timeout);
        *self.exchanges.lock() = exchange;
        self.spans.export(batch).await?;
        Ok(std::mem::take(&mut self.exchanges.lock().answer))
    }
}

/// What sends spans. It must be called inside of the runtime that will send them.
pub(super) fn build(
    settings: &Settings,
    resource: &Resource,
    collector: &Collector,
) -> Result<Exporter, TelemetryError> {
    let fault = |reason: String| {
        let endpoint = shown(&settings.endpoint);
        TelemetryError::Settings { endpoint, reason }
    };
    let url = reqwest::Url::parse(&settings.endpoint);
    let url = url.map_err(|error| fault(format!("{error}; {REMEDY}")))?;
    if !is_http(&url) {
        return Err(fault(format!("it does not begin with http:// or https://; {REMEDY}")));
    }
    // The first one counts for the whole process; a host program may have chosen another.
    drop(rustls::crypto::ring::default_provider().install_default());
    let timeout = settings.timeout;
    let exchanges: Exchanges = Arc::new(Mutex::new(Exchange::before(Instant::now())));
    let listening = |client| Listening {
        client,
        exchanges: Arc::clone(&exchanges),
        collector: collector.clone(),
    };
    let exporter = match settings.protocol {
        Protocol::Grpc => grpc(settings, &url),
        Protocol::HttpProtobuf => http(settings, &url, OtlpProtocol::HttpBinary, listening),
        Protocol::HttpJson => http(settings, &url, OtlpProtocol::HttpJson, listening),
    };
    let mut spans = exporter.map_err(fault)?;
    spans.set_resource(resource);
    Ok(Exporter { spans, timeout, exchanges })
}

fn http(
    settings: &Settings,
    url: &reqwest::Url,
    protocol: OtlpProtocol,
    listening: impl FnOnce(reqwest::Client) -> Listening,
) -> Result<SpanExporter, String> {
    let mut client = reqwest::Client::builder()
        // A redirect could take credentials to another host.
        .redirect(reqwest::redirect::Policy::none())
        .timeout(settings.timeout);
    if is_local(url) {
        client = client.no_proxy();
    }
    let client = client.build().map_err(|error| error.to_string())?;
    let headers: HashMap<String, String> = settings.headers.iter().cloned().collect();
    SpanExporter::builder()
        .with_http()
        .with_http_client(listening(client))
        .with_protocol(protocol)
        .with_endpoint(&settings.endpoint)
        .with_timeout(settings.timeout)
        .with_headers(headers)
        .with_retry_policy(retries())
        .build()
        .map_err(|error| error.to_string())
}

fn grpc(settings: &Settings, url: &reqwest::Url) -> Result<SpanExporter, String> {
    let mut headers = http::HeaderMap::new();
    for (name, value) in &settings.headers {
        let pair = (name.to_ascii_lowercase().parse::<http::HeaderName>().ok())
            .zip(value.parse::<http::HeaderValue>().ok());
        // Neither is shown: they may be secret, and the name is wrong.
        let (name, value) = pair.ok_or("a header is not one that HTTP allows")?;
        headers.insert(name, value);
    }
    let mut builder = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(&settings.endpoint)
        .with_timeout(settings.timeout)
        .with_metadata(MetadataMap::from_headers(headers))
        .with_retry_policy(retries());
    if url.scheme() == "https" {
        builder = builder.with_tls_config(ClientTlsConfig::new().with_native_roots());
    }
    builder.build().map_err(|error| error.to_string())
}

/// A collector that is started again is back after some seconds: spans wait for it as long as an
/// export may take.
fn retries() -> RetryPolicy {
    RetryPolicy::recommended().with_max_retries(usize::MAX).with_max_delay(LONGEST_PAUSE)
}

fn is_http(url: &reqwest::Url) -> bool {
    matches!(url.scheme(), "http" | "https") && url.host().is_some()
}

/// Whether the collector runs on this machine, where a proxy has no business.
fn is_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What may be shown of an endpoint: it may hold credentials.
pub(super) fn shown(endpoint: &str) -> String {
    match reqwest::Url::parse(endpoint) {
        Ok(url) if is_http(&url) => url.origin().ascii_serialization(),
        _ => "a URL that cannot be read".to_owned(),
    }
}
