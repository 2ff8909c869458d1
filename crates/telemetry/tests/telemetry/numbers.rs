//! What Prometheus reads of runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use mcpgraph_journal::Origin;
use mcpgraph_runtime::Runtime;
use mcpgraph_telemetry::{CONTENT_TYPE, Metrics, MetricsError, Reading};

use crate::driven::{drive, execution};
use crate::prometheus::{Family, read};
use crate::scripted::Scripted;

/// The number with this name and these labels, in the order of their names.
fn number(families: &BTreeMap<String, Family>, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: BTreeMap<String, String> =
        labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let samples = families.values().flat_map(|family| &family.samples);
    let mut found = samples.filter(|sample| sample.0 == name && sample.1 == labels);
    let sample = found.next().unwrap_or_else(|| panic!("no {name} {labels:?} in {families:#?}"));
    assert!(found.next().is_none());
    sample.2
}

#[tokio::test]
async fn runs_are_counted_and_timed() {
    let metrics = Metrics::new();
    for _ in 0..2 {
        drive("order", r#"{"items": [1, 2, 3]}"#, Origin::default(), &[metrics.observer()]).await;
    }
    drive("failing", "{}", Origin::default(), &[metrics.observer()]).await;
    let families = read(&metrics.render());
    let of = |name: &str, labels: &[(&str, &str)]| number(&families, name, labels);

    assert_eq!(of("mcpgraph_runs_active", &[]), 0.0);
    assert_eq!(of("mcpgraph_calls_total", &[("tool", "order"), ("outcome", "ok")]), 2.0);
    let failed = [("tool", "failing"), ("outcome", "protocol_error")];
    assert_eq!(of("mcpgraph_calls_total", &failed), 1.0);
    assert_eq!(of("mcpgraph_call_duration_seconds_count", &[("tool", "order")]), 2.0);

    let node = |node, kind| {
        let labels = [("tool", "order"), ("node", node), ("kind", kind)];
        of("mcpgraph_node_duration_seconds_count", &labels)
    };
    assert_eq!(node("count", "transform"), 4.0);
    assert_eq!(node("again", "switch"), 4.0);
    assert_eq!(node("double", "transform"), 6.0);
    assert_eq!(node("greet", "graph"), 2.0);
    assert_eq!(node("broken", "mcp"), 2.0);
    // The nodes of a tool that is called by another are its own.
    let say = [("tool", "greeting"), ("node", "say"), ("kind", "transform")];
    assert_eq!(of("mcpgraph_node_duration_seconds_count", &say), 2.0);

    let errors = |tool, node, code| {
        of("mcpgraph_node_errors_total", &[("tool", tool), ("node", node), ("code", code)])
    };
    assert_eq!(errors("order", "broken", "MG0402"), 2.0);
    assert_eq!(errors("failing", "call", "MG0403"), 1.0);
    assert_eq!(of("mcpgraph_node_retries_total", &[("tool", "order"), ("node", "price")]), 2.0);

    let upstream = |tool, outcome| {
        let labels = [("server", "shop"), ("upstream_tool", tool), ("outcome", outcome)];
        of("mcpgraph_upstream_duration_seconds_count", &labels)
    };
    // Every attempt counts, with its own outcome.
    assert_eq!(upstream("price", "unavailable"), 2.0);
    assert_eq!(upstream("price", "ok"), 2.0);
    assert_eq!(upstream("fail", "tool_error"), 2.0);
    assert_eq!(upstream("refuse", "protocol_error"), 1.0);
}

#[tokio::test]
async fn a_run_under_way_is_seen_and_one_given_up_is_not_forgotten() {
    let metrics = Metrics::new();
    let slow = r#"{"shop.refuse": {"delayMs": 3600000, "then": {"content": []}}}"#;
    let runtime =
        Runtime::new(Arc::new(Scripted::new(slow).unwrap())).observed_by(metrics.observer());
    let mut run = Box::pin(runtime.execute(execution("failing", "{}", Origin::default())));
    assert!(tokio::time::timeout(Duration::from_millis(20), &mut run).await.is_err());
    assert_eq!(number(&read(&metrics.render()), "mcpgraph_runs_active", &[]), 1.0);
    drop(run);
    let families = read(&metrics.render());
    assert_eq!(number(&families, "mcpgraph_runs_active", &[]), 0.0);
    let labels = [("tool", "failing"), ("outcome", "abandoned")];
    assert_eq!(number(&families, "mcpgraph_calls_total", &labels), 1.0);
}

#[test]
fn others_add_what_they_keep() {
    let metrics = Metrics::new();
    let lost = Arc::new(AtomicU64::new(3));
    let kept = Arc::clone(&lost);
    let read_lost = move || kept.load(Ordering::Relaxed) as f64;
    let help = "What was lost.\nWith a \\ in it.";
    metrics.register(Reading::Counter, "mcpgraph_lost_total", help, read_lost).unwrap();
    metrics.register(Reading::Gauge, "mcpgraph_lag_seconds", "How late.", || 0.25).unwrap();
    metrics.register(Reading::Gauge, "mcpgraph_odd", "Odd.", || f64::INFINITY).unwrap();
    let families = read(&metrics.render());
    assert_eq!(number(&families, "mcpgraph_lost_total", &[]), 3.0);
    assert_eq!(number(&families, "mcpgraph_lag_seconds", &[]), 0.25);
    assert_eq!(number(&families, "mcpgraph_odd", &[]), f64::INFINITY);
    assert_eq!(families["mcpgraph_lost_total"].kind, "counter");
    assert_eq!(families["mcpgraph_lost_total"].help, r"What was lost.\nWith a \\ in it.");
    lost.store(4, Ordering::Relaxed);
    assert_eq!(number(&read(&metrics.render()), "mcpgraph_lost_total", &[]), 4.0);

    let add = |kind, name| metrics.register(kind, name, "", || 0.0).unwrap_err();
    assert_eq!(add(Reading::Gauge, "mcpgraph_odd"), MetricsError::Taken("mcpgraph_odd"));
    let own = "mcpgraph_calls_total";
    assert_eq!(add(Reading::Counter, own), MetricsError::Taken(own));
    for name in ["", "1st", "with space", "dash-ed", "é"] {
        assert_eq!(add(Reading::Gauge, name), MetricsError::Name(name));
    }
    assert_eq!(add(Reading::Counter, "no_suffix"), MetricsError::Name("no_suffix"));
}

#[test]
fn nothing_counted_is_a_text_too() {
    let families = read(&Metrics::new().render());
    assert_eq!(families.len(), 7);
    assert!(CONTENT_TYPE.starts_with("text/plain; version=0.0.4"));
}
