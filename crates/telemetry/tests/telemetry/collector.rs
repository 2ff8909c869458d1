//! A collector that takes OTLP in all three ways and keeps what it gets.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use futures_util::FutureExt as _;
use mcpgraph_telemetry::{Protocol, Settings};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use parking_lot::Mutex;
use prost::Message as _;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::told::{Told, of_json, of_protobuf};

/// A collector that runs until it is dropped.
pub(crate) struct Collector {
    kept: Arc<Kept>,
    address: SocketAddr,
    protocol: Protocol,
    _end: DropGuard,
}

#[derive(Default)]
struct Kept {
    spans: Mutex<Vec<Told>>,
    authorization: Mutex<Vec<String>>,
}

impl Collector {
    pub(crate) async fn start(protocol: Protocol) -> Self {
        Self::start_at("127.0.0.1:0", protocol).await
    }

    pub(crate) async fn start_at(address: &str, protocol: Protocol) -> Self {
        let kept = Arc::new(Kept::default());
        let listener = tokio::net::TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let end = CancellationToken::new();
        let ended = end.clone().cancelled_owned();
        if protocol == Protocol::Grpc {
            let service = TraceServiceServer::new(Grpc(Arc::clone(&kept)));
            let incoming = futures_util::stream::unfold(listener, |listener| async {
                Some((listener.accept().await.map(|(stream, _)| stream), listener))
            });
            let server = tonic::transport::Server::builder().add_service(service);
            tokio::spawn(server.serve_with_incoming_shutdown(incoming, ended.map(|()| ())));
        } else {
            let router =
                Router::new().route("/v1/traces", post(take)).with_state(Arc::clone(&kept));
            let server = axum::serve(listener, router).with_graceful_shutdown(ended);
            tokio::spawn(server.into_future());
        }
        Self { kept, address, protocol, _end: end.drop_guard() }
    }

    /// The settings that the standard variables give for this collector, and these others.
    pub(crate) fn settings(&self, others: &[(&str, &str)]) -> Settings {
        let endpoint = format!("http://{}", self.address);
        let protocol = match self.protocol {
            Protocol::Grpc => "grpc",
            Protocol::HttpProtobuf => "http/protobuf",
            Protocol::HttpJson => "http/json",
        };
        let own = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol),
        ];
        read(&own, others)
    }

    /// All spans so far, by the time they began.
    pub(crate) fn spans(&self) -> Vec<Told> {
        let mut spans = self.kept.spans.lock().clone();
        spans.sort_by_key(|span| span.start);
        spans
    }

    /// The header `authorization` of every export.
    pub(crate) fn authorization(&self) -> Vec<String> {
        self.kept.authorization.lock().clone()
    }
}

/// The settings that these variables give.
pub(crate) fn read(own: &[(&str, &str)], others: &[(&str, &str)]) -> Settings {
    let lookup = |name: &str| {
        let found = own.iter().chain(others).find(|(key, _)| *key == name)?;
        Some(found.1.to_owned())
    };
    Settings::read(&lookup).unwrap()
}

impl Kept {
    fn keep(&self, spans: Vec<Told>, authorization: Option<&str>) {
        self.spans.lock().extend(spans);
        self.authorization.lock().extend(authorization.map(str::to_owned));
    }
}

async fn take(State(kept): State<Arc<Kept>>, headers: HeaderMap, body: Bytes) -> Response {
    let authorization = headers.get("authorization").map(|value| value.to_str().unwrap());
    let content_type = headers.get(header::CONTENT_TYPE).unwrap().to_str().unwrap();
    let (spans, answer) = match content_type {
        "application/x-protobuf" => {
            let request = ExportTraceServiceRequest::decode(body).unwrap();
            (of_protobuf(request), Vec::new())
        }
        "application/json" => (of_json(&body), b"{}".to_vec()),
        _ => return StatusCode::UNSUPPORTED_MEDIA_TYPE.into_response(),
    };
    kept.keep(spans, authorization);
    ([(header::CONTENT_TYPE, content_type.to_owned())], answer).into_response()
}

struct Grpc(Arc<Kept>);

#[async_trait::async_trait]
impl TraceService for Grpc {
    async fn export(
        &self,
        request: tonic::Request<ExportTraceServiceRequest>,
    ) -> Result<tonic::Response<ExportTraceServiceResponse>, tonic::Status> {
        let authorization =
            request.metadata().get("authorization").map(|it| it.to_str().unwrap().to_owned());
        self.0.keep(of_protobuf(request.into_inner()), authorization.as_deref());
        Ok(tonic::Response::new(ExportTraceServiceResponse::default()))
    }
}
