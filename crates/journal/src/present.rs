//! Runs, events, steps and requests as JSON for people and programs: what `--json` prints and HTTP answers.
//!
//! Times of day are texts in RFC 3339, spans of time are milliseconds with three decimals. A payload
//! that is not whole is `{preview, size, digest}` under a name that says so: `inputTruncated`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_engine::{ErrorKind, PauseReason};
use mcpgraph_value::{Map, Value};

use crate::{
    JournalStatus, KeptRequest, NodeStats, Origin, Payload, Question, RequestListing, RunSummary,
    StepRecord, StoredError, StoredEvent, Truncated,
};

/// A span of time in milliseconds.
fn millis(time: Duration) -> Value {
    // Whole microseconds have at most three decimals.
    Value::from(time.as_micros() as f64 / 1000.0)
}

/// Milliseconds since 1970 as RFC 3339.
pub fn rfc3339_millis(millis: u64) -> String {
    rfc3339(UNIX_EPOCH.checked_add(Duration::from_millis(millis)).unwrap_or(UNIX_EPOCH))
}

/// A moment as RFC 3339 in UTC with milliseconds.
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let days = i64::try_from(since.as_secs() / 86_400).unwrap_or(i64::MAX / 2);
    let (year, month, day) = civil(days);
    let of_day = since.as_secs() % 86_400;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}Z",
        of_day / 3600,
        of_day / 60 % 60,
        of_day % 60,
        since.subsec_millis()
    )
}

/// The date of a day counted from 1970, by counting years from March, so that leap days come last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl RunSummary {
    /// The run as JSON.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("id", self.id.to_string());
        map.insert("tool", self.tool.clone());
        map.insert("status", self.status.name());
        map.insert("started", rfc3339(self.started));
        map.insert("durationMs", millis(self.duration));
        map.insert("steps", self.steps);
        map.insert("events", self.events);
        if let Some(error) = &self.error {
            map.insert("error", error.clone());
        }
        if let Some(reached) = &self.reached {
            let reached: Map = Map::from_iter([
                ("step", Value::from(reached.step)),
                ("node", reached.node.clone().into()),
            ]);
            map.insert("reached", reached);
        }
        if self.lost > 0 {
            map.insert("lostEvents", self.lost);
        }
        map.insert("digest", self.digest.to_string());
        if let Some(definition) = &self.definition {
            map.insert("definition", definition.to_string());
        }
        map.insert("origin", origin(&self.origin));
        for (key, runs) in [("children", &self.children), ("inside", &self.inside)] {
            if !runs.is_empty() {
                let ids: Vec<Value> = runs.iter().map(|id| id.to_string().into()).collect();
                map.insert(key, ids);
            }
        }
        map.into()
    }
}

fn origin(origin: &Origin) -> Value {
    let mut map: Map = Map::from_iter([("face", origin.face.name())]);
    if let Some(client) = &origin.client {
        let client = Value::from_json(client).unwrap_or_else(|_| client.clone().into());
        map.insert("client", client);
    }
    if let Some(protocol) = &origin.protocol {
        map.insert("protocol", protocol.clone());
    }
    if let Some(trace) = &origin.trace {
        map.insert("traceparent", trace.traceparent.clone());
    }
    if let Some(parent) = &origin.parent {
        let parent: Map = Map::from_iter([
            ("run", Value::from(parent.run.to_string())),
            ("from", parent.from.into()),
        ]);
        map.insert("parent", parent);
    }
    if let Some(around) = origin.around {
        map.insert("around", around.to_string());
    }
    map.into()
}

impl KeptRequest {
    /// The request as JSON. What is not known of it is not there.
    pub fn to_value(&self) -> Value {
        let request = &self.request;
        let mut map = Map::new();
        map.insert("id", self.no);
        map.insert("time", rfc3339(request.at));
        map.insert("method", request.method.clone());
        let mut put = |key: &str, text: Option<Value>| {
            if let Some(text) = text {
                map.insert(key, text);
            }
        };
        put("name", request.name.clone().map(Value::from));
        put("server", request.server.clone().map(Value::from));
        put("status", Some(request.status.name().into()));
        put("code", request.code.map(Value::from));
        put("durationMs", Some(millis(request.duration)));
        put(
            "token",
            request.token.as_ref().map(|token| {
                Map::from_iter([
                    ("id", Value::from(token.id.clone())),
                    ("name", token.name.clone().into()),
                ])
                .into()
            }),
        );
        put("client", request.client.clone().map(Value::from));
        put("run", request.run.map(|run| run.to_string().into()));
        map.into()
    }
}

impl RequestListing {
    /// The requests as JSON: `{requests, next}`.
    pub fn to_value(&self) -> Value {
        let requests: Vec<Value> = self.requests.iter().map(KeptRequest::to_value).collect();
        Map::from_iter([("requests", Value::from(requests)), ("next", self.next.into())]).into()
    }
}

impl Truncated {
    /// What is left of the payload, as JSON.
    pub fn to_value(&self) -> Value {
        Map::from_iter([
            ("preview", Value::from(self.preview.clone())),
            ("size", self.size.into()),
            ("digest", self.digest.to_string().into()),
        ])
        .into()
    }
}

/// Puts a payload under its name, or what is left of it under a name that says so.
fn put(map: &mut Map, key: &str, payload: &Payload) {
    match payload {
        Payload::Whole(value) => map.insert(key, value.clone()),
        Payload::Truncated(left) => map.insert(format!("{key}Truncated"), left.to_value()),
    };
}

impl StoredError {
    /// The error as JSON, as expressions see it in `$.error`.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("code", self.kind.code());
        map.insert("kind", self.kind.name());
        put(&mut map, "message", &self.message);
        if let Some(node) = &self.node {
            map.insert("node", node.clone());
        }
        if let ErrorKind::ProtocolError { code } = self.kind {
            map.insert("protocolCode", code);
        }
        if let Some(data) = &self.data {
            put(&mut map, "data", data);
        }
        map.into()
    }
}

impl StoredEvent {
    /// The word for what happened.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Started { .. } => "started",
            Self::StepStarted { .. } => "stepStarted",
            Self::StepFinished { .. } => "stepFinished",
            Self::StepFailed { .. } => "stepFailed",
            Self::Retrying { .. } => "retrying",
            Self::Paused { .. } => "paused",
            Self::Resumed { .. } => "resumed",
            Self::OutputChanged { .. } => "outputChanged",
            Self::Log { .. } => "log",
            Self::Finished { .. } => "finished",
        }
    }

    /// The event as JSON.
    pub fn to_value(&self) -> Value {
        let mut map: Map = Map::from_iter([("type", self.name())]);
        if let Some(step) = self.step() {
            map.insert("step", step);
        }
        map.insert("atMs", millis(self.at()));
        match self {
            Self::Started { tool, digest, input, .. } => {
                map.insert("tool", tool.clone());
                map.insert("digest", digest.to_string());
                put(&mut map, "input", input);
            }
            Self::StepStarted { path, node, kind, input, began, .. } => {
                map.insert("path", path.to_string());
                map.insert("node", node.clone());
                map.insert("kind", kind.clone());
                map.insert("beganMs", millis(*began));
                if let Some(input) = input {
                    put(&mut map, "input", input);
                }
            }
            Self::StepFinished { output, edge, .. } => {
                put(&mut map, "output", output);
                map.insert("edge", edge.clone());
            }
            Self::StepFailed { error, edge, .. } => {
                map.insert("error", error.to_value());
                map.insert("edge", edge.clone());
            }
            Self::Retrying { attempt, delay, error, .. } => {
                map.insert("attempt", u64::from(*attempt));
                map.insert("delayMs", millis(*delay));
                map.insert("error", error.to_value());
            }
            Self::Paused { why, .. } => {
                let (word, node) = match why {
                    PauseReason::Asked => ("asked", None),
                    PauseReason::Stepped => ("stepped", None),
                    PauseReason::Before(node) => ("before", Some(node)),
                    PauseReason::After(node) => ("after", Some(node)),
                };
                map.insert("why", word);
                if let Some(node) = node {
                    map.insert("node", node.clone());
                }
            }
            Self::Resumed { waited, .. } => {
                map.insert("waitedMs", millis(*waited));
            }
            Self::OutputChanged { scope, node, output, .. } => {
                map.insert("scope", scope.to_string());
                map.insert("node", node.clone());
                put(&mut map, "output", output);
            }
            Self::Log { level, message, .. } => {
                map.insert("level", level.name());
                put(&mut map, "message", message);
            }
            Self::Finished { outcome, .. } => match outcome {
                Ok(result) => put(&mut map, "result", result),
                Err(error) => drop(map.insert("error", error.to_value())),
            },
        }
        map.into()
    }
}

impl StepRecord {
    /// The step as JSON.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("step", self.step);
        map.insert("path", self.path.to_string());
        map.insert("node", self.node.clone());
        map.insert("kind", self.kind.clone());
        map.insert("beganMs", millis(self.began));
        if let Some(input) = &self.input {
            put(&mut map, "input", input);
        }
        if let Some(end) = &self.end {
            map.insert("durationMs", millis(end.at.saturating_sub(self.began)));
            match &end.outcome {
                Ok(output) => put(&mut map, "output", output),
                Err(error) => drop(map.insert("error", error.to_value())),
            }
            map.insert("edge", end.edge.clone());
        }
        map.into()
    }
}

impl NodeStats {
    /// The numbers as JSON.
    pub fn to_value(&self) -> Value {
        Map::from_iter([
            ("tool", Value::from(self.tool.clone())),
            ("node", self.node.clone().into()),
            ("count", self.count.into()),
            ("p50Ms", millis(self.p50)),
            ("p95Ms", millis(self.p95)),
            ("maxMs", millis(self.max)),
            ("errors", self.errors.into()),
        ])
        .into()
    }
}

impl JournalStatus {
    /// The status as JSON.
    pub fn to_value(&self) -> Value {
        Map::from_iter([
            ("queuedEvents", Value::from(self.queued_events as u64)),
            ("queuedBytes", (self.queued_bytes as u64).into()),
            ("lostEvents", self.lost_events.into()),
            ("lostRuns", self.lost_runs.into()),
            ("lostRequests", self.lost_requests.into()),
            ("lateRuns", self.late_runs.into()),
            ("lagMs", millis(self.lag)),
            ("commits", self.commits.into()),
            ("lastError", self.last_error.clone().into()),
        ])
        .into()
    }
}

impl Question {
    /// The question as faces show it.
    pub fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("id", self.id.to_string());
        map.insert("run", self.run.to_string());
        map.insert("tool", self.tool.as_str());
        map.insert("node", self.node.as_str());
        map.insert("path", self.path.as_str());
        map.insert("message", self.message.as_str());
        map.insert("schema", self.schema.clone());
        if let Some(principal) = &self.principal {
            map.insert("caller", principal.as_str());
        }
        map.insert("askedAt", rfc3339(self.asked));
        map.insert("expiresAt", rfc3339(self.expires));
        map.into()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::rfc3339;

    #[test]
    fn moments_are_dates() {
        let at = |millis| rfc3339(UNIX_EPOCH + Duration::from_millis(millis));
        assert_eq!(at(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(at(951_782_399_999), "2000-02-28T23:59:59.999Z");
        assert_eq!(at(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(at(4_107_542_400_000), "2100-03-01T00:00:00.000Z");
        assert_eq!(at(1_795_000_000_123), "2026-11-18T11:06:40.123Z");
    }
}
