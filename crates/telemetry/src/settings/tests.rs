use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::*;

fn read(variables: &[(&str, &str)]) -> Option<Settings> {
    Settings::read(&|name| {
        let found = variables.iter().find(|(key, _)| *key == name)?;
        Some(found.1.to_owned())
    })
}

const ON: (&str, &str) = ("OTEL_TRACES_EXPORTER", "otlp");

#[test]
fn traces_are_asked_for_by_an_endpoint_or_by_name() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://collector:4318");
    let of_traces = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector:4318/v1/traces");
    let cases: &[(&[(&str, &str)], bool)] = &[
        (&[], false),
        (&[endpoint], true),
        (&[of_traces], true),
        (&[ON], true),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")], false),
        (&[endpoint, ("OTEL_TRACES_EXPORTER", "none")], false),
        (&[endpoint, ("OTEL_TRACES_EXPORTER", "zipkin")], false),
        (&[("OTEL_TRACES_EXPORTER", "console, OTLP")], true),
        (&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")], false),
        (&[endpoint, ("OTEL_SDK_DISABLED", "false")], true),
    ];
    for (variables, wanted) in cases {
        assert_eq!(read(variables).is_some(), *wanted, "{variables:?}");
    }
}

#[test]
fn the_endpoint_depends_on_the_protocol() {
    let general = "OTEL_EXPORTER_OTLP_ENDPOINT";
    let of_traces = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let insecure = ("OTEL_EXPORTER_OTLP_INSECURE", "true");
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[ON], "http://localhost:4318/v1/traces"),
        (&[ON, grpc], "http://localhost:4317"),
        (&[(general, "http://c:1")], "http://c:1/v1/traces"),
        (&[(general, "http://c:1/root/")], "http://c:1/root/v1/traces"),
        (&[(of_traces, "http://c:1/here"), (general, "http://d")], "http://c:1/here"),
        (&[(general, "http://c:1"), grpc], "http://c:1"),
        (&[(general, "c:1"), grpc], "https://c:1"),
        (&[(general, "c:1"), grpc, insecure], "http://c:1"),
    ];
    for (variables, wanted) in cases {
        assert_eq!(read(variables).unwrap().endpoint, *wanted, "{variables:?}");
    }
}

#[test]
fn the_protocol_of_traces_comes_first_and_nonsense_is_ignored() {
    let protocol = |variables: &[(&str, &str)]| read(variables).unwrap().protocol;
    let general = "OTEL_EXPORTER_OTLP_PROTOCOL";
    let of_traces = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
    assert_eq!(protocol(&[ON]), Protocol::HttpProtobuf);
    assert_eq!(protocol(&[ON, (general, "http/JSON")]), Protocol::HttpJson);
    assert_eq!(protocol(&[ON, (general, "http/json"), (of_traces, "grpc")]), Protocol::Grpc);
    assert_eq!(protocol(&[ON, (general, "carrier-pigeon")]), Protocol::HttpProtobuf);
}

#[test]
fn pairs_are_decoded_and_broken_ones_left_out() {
    let settings = read(&[
        ON,
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x, ,broken,=no,a=b=c"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=from-here"),
    ])
    .unwrap();
    let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(settings.headers, [pair("authorization", "Bearer x"), pair("a", "b=c")]);
    assert_eq!(
        settings.resource,
        [
            pair("deployment.environment.name", "test"),
            pair("service.name", "from-here"),
            pair("service.version", env!("CARGO_PKG_VERSION")),
        ]
    );
    let named = read(&[
        ON,
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=from-here"),
        ("OTEL_SERVICE_NAME", "mine"),
    ])
    .unwrap();
    assert_eq!(named.resource[0], pair("service.name", "mine"));
    assert_eq!(read(&[ON]).unwrap().resource[0], pair("service.name", "mcpgraph"));
}

#[test]
fn samplers_have_their_standard_names() {
    let sampling = |name: &str, argument: &str| {
        let sampler = ("OTEL_TRACES_SAMPLER", name);
        let settings = read(&[ON, sampler, ("OTEL_TRACES_SAMPLER_ARG", argument)]).unwrap();
        (settings.sampling.follows_caller, settings.sampling.ratio)
    };
    assert_eq!(sampling("", ""), (true, 1.0));
    assert_eq!(sampling("always_on", ""), (false, 1.0));
    assert_eq!(sampling("always_off", ""), (false, 0.0));
    assert_eq!(sampling("traceidratio", "0.25"), (false, 0.25));
    assert_eq!(sampling("parentbased_always_on", ""), (true, 1.0));
    assert_eq!(sampling("parentbased_always_off", ""), (true, 0.0));
    assert_eq!(sampling("parentbased_traceidratio", "0.5"), (true, 0.5));
    for nonsense in ["2", "-1", "NaN", "half"] {
        assert_eq!(sampling("traceidratio", nonsense), (false, 1.0), "{nonsense}");
    }
    assert_eq!(sampling("xray", ""), (true, 1.0));
}

#[test]
fn numbers_have_defaults_and_bounds() {
    let settings = read(&[ON]).unwrap();
    assert_eq!(settings.timeout, Duration::from_secs(10));
    assert_eq!(
        settings.batching,
        Batching {
            max_queue: 2048,
            max_batch: 512,
            delay: Duration::from_secs(5),
            timeout: Duration::from_secs(30),
        }
    );
    let settings = read(&[
        ON,
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "1"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "2"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "10"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "100"),
        ("OTEL_BSP_SCHEDULE_DELAY", "soon"),
        ("OTEL_BSP_EXPORT_TIMEOUT", "0"),
    ])
    .unwrap();
    assert_eq!(settings.timeout, Duration::from_millis(2));
    assert_eq!(settings.batching.max_queue, 10);
    assert_eq!(settings.batching.max_batch, 10);
    assert_eq!(settings.batching.delay, Duration::from_secs(5));
    assert_eq!(settings.batching.timeout, Duration::from_secs(30));
    let many = read(&[ON, ("OTEL_BSP_MAX_QUEUE_SIZE", "99999999999")]).unwrap();
    assert_eq!(many.batching.max_queue, 1 << 20);
}

#[test]
fn payloads_are_carried_only_if_asked_for() {
    let captures = |value: &str| {
        let variable = ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", value);
        read(&[ON, variable]).unwrap().captures_payloads
    };
    assert!(captures("true") && captures("SPAN_ONLY") && captures("span_and_event"));
    assert!(!captures("") && !captures("false") && !captures("event_only") && !captures("1"));
}

#[test]
fn what_means_nothing_is_logged_by_its_name() {
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317");
    let grpc = ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let capture = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
    for (name, value, says) in [
        ("OTEL_TRACES_EXPORTER", "otlp,console", "`console`"),
        ("OTEL_TRACES_EXPORTER", "zipkin,otlp", "`zipkin`"),
        ("OTEL_SDK_DISABLED", "yes", "`yes`"),
        ("OTEL_EXPORTER_OTLP_INSECURE", "1", "`1`"),
        (capture, "yes", "`yes`"),
        (capture, "no_content", ""),
        ("OTEL_SDK_DISABLED", "False", ""),
        ("OTEL_TRACES_EXPORTER", "none,otlp", ""),
    ] {
        let heard = Heard::default();
        let settings = tracing::subscriber::with_default(heard.clone(), || {
            read(&[endpoint, grpc, (name, value)])
        });
        assert!(settings.is_some(), "{name}={value}");
        let lines = heard.0.lock().clone();
        let wanted = usize::from(!says.is_empty());
        assert_eq!(lines.len(), wanted, "{name}={value}: {lines:?}");
        assert!(lines.iter().all(|line| line.contains(name) && line.contains(says)), "{lines:?}");
    }
}

/// Keeps the lines of a log.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Visit for Heard {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().push(format!("{value:?}"));
    }
}

impl Subscriber for Heard {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
