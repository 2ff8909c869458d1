//! Server-sent events, written and read.
//!
//! The reader is incremental and bounded: it is given bytes as they come, at any cut, and skips an
//! event that grows past its limit, but for its two ends.

use std::collections::VecDeque;
use std::time::Duration;

use crate::excerpt::Excerpt;

/// The media type of a stream of events.
pub const CONTENT_TYPE: &str = "text/event-stream";

/// A comment that keeps a quiet connection open. Readers ignore it.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Event {
    /// Its type; `message` where it has none.
    pub event: Option<String>,
    /// Its data; several lines are joined by line feeds.
    pub data: String,
    /// Its id, for `Last-Event-ID`.
    pub id: Option<String>,
    /// How long a reader waits before it connects again.
    pub retry: Option<Duration>,
}

/// An event was longer than the reader accepts, and was skipped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a server-sent event is longer than the limit of {limit} bytes")]
pub struct EventTooLong {
    /// The limit, in bytes.
    pub limit: usize,
    /// What was known of it before it was too long, but for its data.
    pub event: Event,
    /// The ends of its data.
    pub(crate) data: Box<Excerpt>,
}

/// Turns bytes into events.
#[derive(Debug)]
pub struct Decoder {
    /// How many bytes of one event are kept at most.
    limit: usize,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The event that is not complete yet.
    pending: Pending,
    /// That event is too long. Of its lines only the beginnings are kept.
    is_skipping: bool,
    /// The last byte was a carriage return: a line feed right after it ends no second line.
    after_cr: bool,
    /// No line has been completed yet, so that a byte order mark may precede the first.
    at_start: bool,
}

#[derive(Debug, Default)]
struct Pending {
    event: Event,
    /// Bytes of the lines so far, whatever they say.
    bytes: usize,
    has_data: bool,
    has_field: bool,
    /// The ends of its data, if it is too long and has some.
    excerpt: Option<Excerpt>,
}

/// What begins a line of data.
const DATA: &[u8] = b"data:";

// === impl Event ===

impl Event {
    /// An event without a type.
    pub fn message(data: impl Into<String>) -> Self {
        Self { data: data.into(), ..Self::default() }
    }

    /// The same event with an id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Whether this is what a reader without a type calls it: a message.
    pub fn is_message(&self) -> bool {
        self.event.as_deref().is_none_or(|event| event.is_empty() || event == "message")
    }

    /// Appends the event as it is written on the wire, the empty line after it included.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        let mut field = |name: &str, value: &str| {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(b": ");
            out.extend_from_slice(value.as_bytes());
            out.push(b'\n');
        };
        // A type or an id is a single line by nature; what follows a line break would be a field.
        let first_line = |text: &str| text.split(['\n', '\r', '\0']).next().map(str::to_owned);
        if let Some(event) = self.event.as_deref().and_then(first_line) {
            field("event", &event);
        }
        if let Some(id) = self.id.as_deref().and_then(first_line) {
            field("id", &id);
        }
        if let Some(retry) = self.retry {
            field("retry", &retry.as_millis().to_string());
        }
        if self.data.contains('\r') {
            for line in self.data.replace("\r\n", "\n").split(['\n', '\r']) {
                field("data", line);
            }
        } else {
            for line in self.data.split('\n') {
                field("data", line);
            }
        }
        out.push(b'\n');
    }

    /// The event as it is written on the wire.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.data.len() + 32);
        self.write_to(&mut out);
        out
    }
}

// === impl Decoder ===

impl Decoder {
    /// A reader that accepts events of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            pending: Pending::default(),
            is_skipping: false,
            after_cr: false,
            at_start: true,
        }
    }

    /// Reads on, and appends every event that `bytes` completes.
    ///
    /// A block of fields without data is an event too, with empty data: it may carry an id or a
    /// time to wait.
    pub fn feed(&mut self, mut bytes: &[u8], events: &mut VecDeque<Result<Event, EventTooLong>>) {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = memchr::memchr2(b'\n', b'\r', bytes) {
            self.keep(&bytes[..end]);
            let line = std::mem::take(&mut self.line);
            events.extend(self.end_line(&line));
            // The buffer is used again for the next line that is cut by the end of a chunk.
            self.line = line;
            self.line.clear();
            let rest = &bytes[end + 1..];
            bytes = if bytes[end] == b'\r' {
                self.after_cr = rest.is_empty();
                rest.strip_prefix(b"\n").unwrap_or(rest)
            } else {
                rest
            };
        }
        self.keep(bytes);
    }

    /// Adds to the line that is not complete yet.
    fn keep(&mut self, bytes: &[u8]) {
        let is_too_long = self.pending.bytes + self.line.len() + bytes.len() > self.limit;
        if is_too_long && !self.is_skipping {
            self.is_skipping = true;
            let line = std::mem::take(&mut self.line);
            self.pending.skip_data();
            self.skip(&line);
        }
        if self.is_skipping {
            self.skip(bytes);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    /// The same for a line of an event that is too long: its beginning tells whether it is of data.
    fn skip(&mut self, bytes: &[u8]) {
        let beginning = bytes.len().min(DATA.len() - self.line.len());
        let (beginning, rest) = bytes.split_at(beginning);
        self.line.extend_from_slice(beginning);
        if self.line == DATA {
            self.pending.skip(rest);
        }
    }

    fn end_line(&mut self, mut line: &[u8]) -> Option<Result<Event, EventTooLong>> {
        if self.at_start {
            self.at_start = false;
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            let Pending { event, has_field, excerpt, .. } = std::mem::take(&mut self.pending);
            if !std::mem::take(&mut self.is_skipping) {
                return has_field.then_some(Ok(event));
            }
            // Without data it was a comment, or nothing that anybody asks for.
            return excerpt
                .map(|data| Err(EventTooLong { limit: self.limit, event, data: Box::new(data) }));
        }
        if self.is_skipping {
            return None;
        }
        // A comment is over with its line: a long quiet stream is no long event.
        if line[0] != b':' {
            self.pending.bytes += line.len();
            self.pending.take_field(line);
        }
        None
    }
}

impl Pending {
    /// Goes on with the ends of the data alone.
    fn skip_data(&mut self) {
        let data = std::mem::take(&mut self.event.data);
        if self.has_data {
            self.skip(data.as_bytes());
        }
    }

    fn skip(&mut self, data: &[u8]) {
        self.excerpt = Some(self.excerpt.take().unwrap_or_default().and(data));
    }

    fn take_field(&mut self, line: &[u8]) {
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &line[..0]),
        };
        let text = String::from_utf8_lossy(value);
        match name {
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(&text);
            }
            b"event" => self.event.event = Some(text.into_owned()),
            b"id" if !value.contains(&0) => self.event.id = Some(text.into_owned()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let Ok(millis) = text.parse() else { return };
                self.event.retry = Some(Duration::from_millis(millis));
            }
            _ => return,
        }
        self.has_field = true;
    }
}

#[cfg(test)]
mod tests;
