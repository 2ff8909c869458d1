//! The three ways of OTLP.

use std::collections::HashMap;

use opentelemetry_otlp::{Protocol as OtlpProtocol, WithTonicConfig as _};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SpanExporter as _;
use tonic::metadata::MetadataMap;
use tonic::transport::ClientTlsConfig;

use super::TelemetryError;
use crate::{Protocol, Settings};

/// What sends spans. It must be called inside of the runtime that will send them.
pub(super) fn build(
    settings: &Settings,
    resource: &Resource,
) -> Result<SpanExporter, TelemetryError> {
    let fault = |reason: String| {
        let endpoint = shown(&settings.endpoint);
        TelemetryError::Settings { endpoint, reason }
    };
    let url = reqwest::Url::parse(&settings.endpoint).map_err(|error| fault(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(fault("the URL must begin with http:// or https://".to_owned()));
    }
    // The first one counts for the whole process; a host program may have chosen another.
    drop(rustls::crypto::ring::default_provider().install_default());
    let exporter = match settings.protocol {
        Protocol::Grpc => grpc(settings, &url),
        Protocol::HttpProtobuf => http(settings, &url, OtlpProtocol::HttpBinary),
        Protocol::HttpJson => http(settings, &url, OtlpProtocol::HttpJson),
    };
    let mut exporter = exporter.map_err(fault)?;
    exporter.set_resource(resource);
    Ok(exporter)
}

fn http(
    settings: &Settings,
    url: &reqwest::Url,
    protocol: OtlpProtocol,
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
        .with_http_client(client)
        .with_protocol(protocol)
        .with_endpoint(&settings.endpoint)
        .with_timeout(settings.timeout)
        .with_headers(headers)
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
        .with_metadata(MetadataMap::from_headers(headers));
    if url.scheme() == "https" {
        builder = builder.with_tls_config(ClientTlsConfig::new().with_native_roots());
    }
    builder.build().map_err(|error| error.to_string())
}

/// Whether the collector runs on this machine, where a proxy has no business.
fn is_local(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// What may be shown of an endpoint: it may hold credentials.
fn shown(endpoint: &str) -> String {
    match reqwest::Url::parse(endpoint) {
        Ok(url) => url.origin().ascii_serialization(),
        Err(_) => "a URL that cannot be read".to_owned(),
    }
}
