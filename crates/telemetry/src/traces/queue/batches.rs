//! How much is sent at once.

use opentelemetry::{Array, KeyValue, Value};
use opentelemetry_sdk::trace::SpanData;

/// How many bytes are sent at once, about: most collectors take 4 MiB over gRPC and refuse what is
/// longer as a whole. No span is as long as that by itself.
pub(super) const MAX_BATCH_BYTES: usize = 2 * 1024 * 1024;

/// What a span takes beside its texts: ids, times, lengths.
const SPAN_BYTES: usize = 128;
const EVENT_BYTES: usize = 32;
const ATTRIBUTE_BYTES: usize = 16;

/// These spans in their order, in batches that are not too long.
pub(super) fn bounded(spans: Vec<SpanData>) -> Vec<Vec<SpanData>> {
    let mut batches = Vec::with_capacity(1);
    let (mut batch, mut bytes) = (Vec::new(), 0_usize);
    for span in spans {
        let size = size(&span);
        if !batch.is_empty() && bytes + size > MAX_BATCH_BYTES {
            batches.push(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += size;
        batch.push(span);
    }
    if !batch.is_empty() {
        batches.push(batch);
    }
    batches
}

fn size(span: &SpanData) -> usize {
    let events = span.events.iter();
    let events = events.map(|event| EVENT_BYTES + event.name.len() + attributes(&event.attributes));
    let message = match &span.status {
        opentelemetry::trace::Status::Error { description } => description.len(),
        _ => 0,
    };
    let state = span.span_context.trace_state().header().len();
    let texts = span.name.len() + state + message;
    SPAN_BYTES + texts + attributes(&span.attributes) + events.sum::<usize>()
}

fn attributes(attributes: &[KeyValue]) -> usize {
    let sizes = attributes.iter();
    sizes.map(|it| ATTRIBUTE_BYTES + it.key.as_str().len() + value(&it.value)).sum()
}

fn value(value: &Value) -> usize {
    match value {
        Value::String(text) => text.as_str().len(),
        Value::Array(Array::String(texts)) => {
            texts.iter().map(|text| ATTRIBUTE_BYTES + text.as_str().len()).sum()
        }
        // Numbers, of which there are never many.
        _ => ATTRIBUTE_BYTES,
    }
}
