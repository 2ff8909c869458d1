//! A span as a collector reads it, from either encoding.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use serde_json::{Value, json};

/// A span as it was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) trace: String,
    pub(crate) id: String,
    /// Empty for the first span of a trace.
    pub(crate) parent: String,
    /// 1 internal, 2 server, 3 client.
    pub(crate) kind: i64,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) attributes: Attributes,
    pub(crate) events: Vec<ToldEvent>,
    /// 0 unset, 1 ok, 2 error.
    pub(crate) status: i64,
    pub(crate) message: String,
    pub(crate) state: String,
    pub(crate) resource: Attributes,
    pub(crate) scope: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ToldEvent {
    pub(crate) name: String,
    pub(crate) time: u64,
    pub(crate) attributes: Attributes,
}

pub(crate) type Attributes = BTreeMap<String, Value>;

impl Told {
    /// An attribute; null where there is none.
    pub(crate) fn get(&self, key: &str) -> Value {
        self.attributes.get(key).cloned().unwrap_or_default()
    }
}

pub(crate) fn of_protobuf(request: ExportTraceServiceRequest) -> Vec<Told> {
    let mut told = Vec::new();
    for resource_spans in request.resource_spans {
        let resource = attributes(resource_spans.resource.unwrap().attributes);
        for scope_spans in resource_spans.scope_spans {
            let scope = scope_spans.scope.unwrap().name;
            for span in scope_spans.spans {
                let status = span.status.unwrap_or_default();
                let events = span.events.into_iter().map(|event| ToldEvent {
                    name: event.name,
                    time: event.time_unix_nano,
                    attributes: attributes(event.attributes),
                });
                told.push(Told {
                    name: span.name,
                    trace: hex(&span.trace_id),
                    id: hex(&span.span_id),
                    parent: hex(&span.parent_span_id),
                    kind: span.kind.into(),
                    start: span.start_time_unix_nano,
                    end: span.end_time_unix_nano,
                    attributes: attributes(span.attributes),
                    events: events.collect(),
                    status: status.code.into(),
                    message: status.message,
                    state: span.trace_state,
                    resource: resource.clone(),
                    scope: scope.clone(),
                });
            }
        }
    }
    told
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn attributes(pairs: Vec<KeyValue>) -> Attributes {
    pairs.into_iter().map(|pair| (pair.key, any(pair.value.unwrap()))).collect()
}

fn any(value: AnyValue) -> Value {
    match value.value {
        Some(any_value::Value::StringValue(text)) => json!(text),
        Some(any_value::Value::BoolValue(flag)) => json!(flag),
        Some(any_value::Value::IntValue(number)) => json!(number),
        Some(any_value::Value::DoubleValue(number)) => json!(number),
        Some(any_value::Value::ArrayValue(list)) => list.values.into_iter().map(any).collect(),
        other => panic!("no attribute of ours: {other:?}"),
    }
}

/// Reads the JSON encoding: ids in hexadecimal, 64-bit integers as strings, absent what is empty.
pub(crate) fn of_json(body: &[u8]) -> Vec<Told> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let mut told = Vec::new();
    for resource_spans in list(&body["resourceSpans"]) {
        let resource = json_attributes(&resource_spans["resource"]["attributes"]);
        for scope_spans in list(&resource_spans["scopeSpans"]) {
            for span in list(&scope_spans["spans"]) {
                let events = list(&span["events"]).iter().map(|event| ToldEvent {
                    name: text(&event["name"]),
                    time: integer(&event["timeUnixNano"]),
                    attributes: json_attributes(&event["attributes"]),
                });
                told.push(Told {
                    name: text(&span["name"]),
                    trace: text(&span["traceId"]),
                    id: text(&span["spanId"]),
                    parent: text(&span["parentSpanId"]),
                    kind: span["kind"].as_i64().unwrap(),
                    start: integer(&span["startTimeUnixNano"]),
                    end: integer(&span["endTimeUnixNano"]),
                    attributes: json_attributes(&span["attributes"]),
                    events: events.collect(),
                    status: span["status"]["code"].as_i64().unwrap_or_default(),
                    message: text(&span["status"]["message"]),
                    state: text(&span["traceState"]),
                    resource: resource.clone(),
                    scope: text(&scope_spans["scope"]["name"]),
                });
            }
        }
    }
    told
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn integer(value: &Value) -> u64 {
    value.as_str().unwrap_or_else(|| panic!("64 bits are a string: {value}")).parse().unwrap()
}

fn json_attributes(pairs: &Value) -> Attributes {
    list(pairs).iter().map(|pair| (text(&pair["key"]), json_any(&pair["value"]))).collect()
}

fn json_any(value: &Value) -> Value {
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    match kind.as_str() {
        "stringValue" | "boolValue" | "doubleValue" => value.clone(),
        "intValue" => json!(value.as_str().unwrap().parse::<i64>().unwrap()),
        "arrayValue" => list(&value["values"]).iter().map(json_any).collect(),
        other => panic!("no attribute of ours: {other}"),
    }
}
