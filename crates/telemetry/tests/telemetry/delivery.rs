//! A collector that is away, slow or wrong harms no run, and what is lost is counted.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_journal::Origin;
use mcpgraph_runtime::{Observer, Runtime};
use mcpgraph_telemetry::{Batching, Protocol, Settings, TelemetryError, Traces};
use tokio::io::AsyncReadExt as _;

use crate::collector::{Collector, read};
use crate::driven::{drive, execution};
use crate::scripted::Scripted;

/// Settings for a collector that is not there.
async fn settings_for_nobody(protocol: &str, others: &[(&str, &str)]) -> Settings {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    settings(&endpoint, protocol, others)
}

fn settings(endpoint: &str, protocol: &str, others: &[(&str, &str)]) -> Settings {
    let own =
        [("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint), ("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)];
    read(&own, others)
}

/// Makes four spans: the call and its three nodes.
async fn greet(observer: Arc<dyn Observer>) {
    let driven = drive("greeting", r#"{"name": "x"}"#, Origin::default(), &[observer]).await;
    assert_eq!(driven.finished.outcome.unwrap().to_json(), r#""Hello, x""#);
}

#[tokio::test]
async fn a_collector_that_is_away_costs_the_spans_and_nothing_else() {
    for protocol in ["grpc", "http/protobuf", "http/json"] {
        let timeout = ("OTEL_EXPORTER_OTLP_TIMEOUT", "500");
        let settings = settings_for_nobody(protocol, &[timeout]).await;
        let traces = Traces::start(settings).unwrap();
        greet(traces.observer()).await;
        let delivery = traces.shutdown(Duration::from_secs(20)).await;
        assert_eq!((delivery.exported, delivery.refused), (0, 4), "{protocol}");
        assert_eq!((delivery.dropped, delivery.waiting), (0, 0), "{protocol}");
        // The thread is gone; a run that is late goes on all the same.
        greet(traces.observer()).await;
        assert_eq!(traces.delivery().dropped, 4, "{protocol}");
    }
}

#[tokio::test]
async fn a_collector_that_comes_back_within_the_timeout_gets_the_spans() {
    for (name, protocol) in [("grpc", Protocol::Grpc), ("http/json", Protocol::HttpJson)] {
        let settings = settings_for_nobody(name, &[]).await;
        let url = settings.endpoint.strip_prefix("http://").unwrap();
        let address = url.split('/').next().unwrap().to_owned();
        let traces = Traces::start(settings).unwrap();
        greet(traces.observer()).await;
        let collector = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            Collector::start_at(&address, protocol).await
        });
        let delivery = traces.shutdown(Duration::from_secs(20)).await;
        assert_eq!((delivery.exported, delivery.refused), (4, 0), "{name}");
        assert_eq!(collector.await.unwrap().spans().len(), 4, "{name}");
    }
}

#[tokio::test]
async fn a_full_queue_drops_and_counts() {
    // It takes connections and never says anything.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let batching = Batching {
        max_queue: 2,
        max_batch: 2,
        delay: Duration::from_hours(1),
        timeout: Duration::from_hours(1),
    };
    let settings = Settings { batching, ..settings(&endpoint, "http/protobuf", &[]) };
    let traces = Traces::start(settings).unwrap();
    for _ in 0..10 {
        greet(traces.observer()).await;
    }
    // Two are on their way and two wait at most: nobody answers.
    let delivery = traces.delivery();
    assert_eq!(delivery.exported + delivery.refused, 0);
    assert_eq!(delivery.dropped + delivery.waiting, 40);
    assert!(delivery.waiting <= 4, "{delivery:?}");
    // Nor does the end wait for it longer than it was told to.
    let delivery = traces.shutdown(Duration::from_millis(50)).await;
    assert_eq!(delivery.exported, 0);
}

#[tokio::test]
async fn batches_are_as_large_as_asked_for() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let variables = [
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "3"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=counts"),
    ];
    let traces = Traces::start(collector.settings(&variables)).unwrap();
    greet(traces.observer()).await;
    assert_eq!(traces.shutdown(Duration::from_secs(20)).await.exported, 4);
    assert_eq!(collector.authorization().len(), 2);
}

#[tokio::test]
async fn spans_are_sent_without_a_shutdown_too() {
    let collector = Collector::start(Protocol::Grpc).await;
    let traces = Traces::start(collector.settings(&[("OTEL_BSP_SCHEDULE_DELAY", "1")])).unwrap();
    greet(traces.observer()).await;
    let all_are_there = async {
        while collector.spans().len() < 4 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), all_are_there).await.unwrap();
}

#[tokio::test]
async fn a_run_that_is_given_up_ends_its_spans() {
    let collector = Collector::start(Protocol::HttpProtobuf).await;
    let traces = Traces::start(collector.settings(&[])).unwrap();
    let slow = r#"{"shop.refuse": {"delayMs": 3600000, "then": {"content": []}}}"#;
    let runtime =
        Runtime::new(Arc::new(Scripted::new(slow).unwrap())).observed_by(traces.observer());
    let run = runtime.execute(execution("failing", "{}", Origin::default()));
    tokio::time::timeout(Duration::from_millis(50), run).await.unwrap_err();
    traces.shutdown(Duration::from_secs(20)).await;
    let spans = collector.spans();
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["execute_tool failing", "entry entry", "tools/call refuse"]);
    assert_eq!((spans[0].status, spans[0].get("error.type")), (2, "abandoned".into()));
    assert!(spans.iter().all(|span| span.end >= span.start));
}

#[tokio::test]
async fn an_endpoint_with_tls_is_spoken_to_with_tls() {
    for protocol in ["grpc", "http/protobuf", "http/json"] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("https://{}", listener.local_addr().unwrap());
        let first_bytes = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut bytes = [0; 2];
            stream.read_exact(&mut bytes).await.unwrap();
            bytes
        });
        let timeout = ("OTEL_EXPORTER_OTLP_TIMEOUT", "500");
        let traces = Traces::start(settings(&endpoint, protocol, &[timeout])).unwrap();
        greet(traces.observer()).await;
        assert_eq!(traces.shutdown(Duration::from_secs(20)).await.refused, 4, "{protocol}");
        // The beginning of a handshake.
        assert_eq!(first_bytes.await.unwrap(), [0x16, 0x03], "{protocol}");
    }
}

#[test]
fn settings_that_cannot_work_are_said_without_their_secrets() {
    for (endpoint, protocol) in [
        ("not a url", "grpc"),
        ("not a url", "http/json"),
        ("ftp://user:hidden@host/hidden", "http/protobuf"),
        ("unix:/hidden", "http/json"),
        ("localhost:4318", "http/protobuf"),
    ] {
        let error = Traces::start(settings(endpoint, protocol, &[])).err().unwrap();
        assert!(error.to_string().contains("set OTEL_EXPORTER_OTLP_ENDPOINT "), "{error}");
        assert!(matches!(error, TelemetryError::Settings { .. }), "{error:?}");
        assert!(!error.to_string().contains("hidden"), "{error}");
    }
}
