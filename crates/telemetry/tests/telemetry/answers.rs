//! What a collector answers to spans that reached it, and how many they may be at once.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use mcpgraph_journal::Origin;
use mcpgraph_telemetry::{Delivery, Settings, Traces};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use parking_lot::Mutex;
use prost::Message as _;

use crate::collector::read;
use crate::driven::drive;

/// The bodies that came.
type Bodies = Arc<Mutex<Vec<Bytes>>>;

/// A collector that answers like this, by how many requests came before.
async fn collector(answer: fn(usize) -> Response) -> (String, Bodies) {
    let bodies = Bodies::default();
    let kept = Arc::clone(&bodies);
    let take = move |body: Bytes| {
        let mut kept = kept.lock();
        kept.push(body);
        std::future::ready(answer(kept.len() - 1))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    // A batch that a collector would refuse is to be seen.
    let limit = axum::extract::DefaultBodyLimit::disable();
    let router = Router::new().route("/v1/traces", post(take)).layer(limit);
    tokio::spawn(axum::serve(listener, router).into_future());
    (endpoint, bodies)
}

fn settings(endpoint: &str, protocol: &str, others: &[(&str, &str)]) -> Settings {
    let own =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)];
    read(&own, others)
}

/// Sends the four spans of a run.
async fn send(settings: Settings) -> Delivery {
    let traces = Traces::start(settings).unwrap();
    let input = r#"{"name": "x"}"#;
    drive("greeting", input, Origin::default(), &[traces.observer()]).await;
    traces.shutdown(Duration::from_secs(20)).await
}

fn partial(rejected_spans: i64, error_message: &str) -> Response {
    let error_message = error_message.to_owned();
    let partial_success = Some(ExportTracePartialSuccess { rejected_spans, error_message });
    let body = ExportTraceServiceResponse { partial_success }.encode_to_vec();
    ([(header::CONTENT_TYPE, "application/x-protobuf")], body).into_response()
}

#[tokio::test]
async fn spans_that_a_collector_rejects_are_lost() {
    let (endpoint, _) = collector(|_| partial(3, "over quota")).await;
    let delivery = send(settings(&endpoint, "http/protobuf", &[])).await;
    assert_eq!((delivery.exported, delivery.refused), (1, 3));

    let json = |_| {
        let body = r#"{"partialSuccess": {"rejectedSpans": "4", "errorMessage": "over quota"}}"#;
        ([(header::CONTENT_TYPE, "application/json")], body).into_response()
    };
    let (endpoint, _) = collector(json).await;
    let delivery = send(settings(&endpoint, "http/json", &[])).await;
    assert_eq!((delivery.exported, delivery.refused), (0, 4));

    // Advice is no rejection.
    let (endpoint, _) = collector(|_| partial(0, "use fewer attributes")).await;
    let delivery = send(settings(&endpoint, "http/protobuf", &[])).await;
    assert_eq!((delivery.exported, delivery.refused), (4, 0));
}

#[tokio::test]
async fn a_page_for_people_is_no_collector() {
    let page = |_| {
        ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], "<html>sign in</html>")
            .into_response()
    };
    let (endpoint, bodies) = collector(page).await;
    let delivery = send(settings(&endpoint, "http/protobuf", &[])).await;
    assert_eq!((delivery.exported, delivery.refused), (0, 4));
    assert_eq!(bodies.lock().len(), 1);
}

#[tokio::test]
async fn a_collector_that_asks_for_more_time_than_there_is_gets_a_last_attempt() {
    let busy_once = |before| match before {
        0 => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "60")]).into_response(),
        _ => partial(0, ""),
    };
    let (endpoint, bodies) = collector(busy_once).await;
    let timeout = ("OTEL_EXPORTER_OTLP_TIMEOUT", "2500");
    let delivery = send(settings(&endpoint, "http/protobuf", &[timeout])).await;
    assert_eq!((delivery.exported, delivery.refused), (4, 0));
    assert_eq!(bodies.lock().len(), 2);
}

#[tokio::test]
async fn batches_are_not_longer_than_collectors_take() {
    let (endpoint, bodies) = collector(|_| partial(0, "")).await;
    let variables = [("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")];
    let traces = Traces::start(settings(&endpoint, "http/protobuf", &variables)).unwrap();
    let input = format!(r#"{{"name": "{}"}}"#, "x".repeat(20_000));
    // The spans of each run have 80 KiB.
    for _ in 0..60 {
        drive("greeting", &input, Origin::default(), &[traces.observer()]).await;
    }
    assert_eq!(traces.shutdown(Duration::from_secs(20)).await.exported, 240);
    let bodies = bodies.lock();
    let sizes: Vec<_> = bodies.iter().map(Bytes::len).collect();
    assert!(sizes.iter().sum::<usize>() > 4 << 20, "{sizes:?}");
    assert!(sizes.iter().all(|size| *size < 5 << 19), "{sizes:?}");
    for body in &*bodies {
        ExportTraceServiceRequest::decode(body.clone()).unwrap();
    }
}
