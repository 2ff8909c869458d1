//! The events of a span, of which the library keeps a number and drops what comes later. The last one
//! is the one that matters, since it tells of the failure.

use std::time::SystemTime;

use opentelemetry::KeyValue;
use opentelemetry::trace::Span as _;
use opentelemetry_sdk::trace::Span;

use super::attributes as key;

/// The event for a line of a log.
pub(super) const LOG: &str = "log";

/// How many events a span has beside that of its failure: one less than the library keeps.
const MAX_EVENTS: u32 = 127;

/// How many of them are lines of logs, so that there is room for what is told less often.
const MAX_LOGS: u32 = 96;

/// How many events a span has.
#[derive(Default)]
pub(super) struct Events {
    told: u32,
    logs: u32,
    dropped: u32,
}

impl Events {
    /// Adds an event, if there is room for it.
    pub(super) fn tell(
        &mut self,
        span: &mut Span,
        name: &'static str,
        time: SystemTime,
        attributes: Vec<KeyValue>,
    ) {
        let is_log = name == LOG;
        if self.told == MAX_EVENTS || is_log && self.logs == MAX_LOGS {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        self.told += 1;
        self.logs += u32::from(is_log);
        span.add_event_with_timestamp(name, time, attributes);
    }

    /// Says how many there was no room for.
    pub(super) fn end(&self, span: &mut Span) {
        if self.dropped > 0 {
            span.set_attribute(key::count(key::EVENTS_DROPPED, self.dropped));
        }
    }
}
