//! Waiting for a time: what a `wait` node is given, and until when that is.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_engine::{Call, ErrorKind, RunError};
use mcpgraph_graph::{Target, read_duration, read_time};
use mcpgraph_journal::rfc3339_millis;
use mcpgraph_value::{Map, Value};

/// What a `duration` has to be.
const DURATION: &str = "`90s`, `2h`, `3d`, or a number of milliseconds";

/// What `until` has to be.
const TIME: &str = "a time such as `2030-01-31T12:00:00Z`";

/// Waits until the time of a call has come.
pub(crate) async fn until_then(call: &Call) -> Result<Value, RunError> {
    let until = until(call)?;
    sleep_until(until).await;
    Ok(output(until))
}

/// What a call gives that waits for a time, as if that had come.
pub fn after_waiting(call: &Call) -> Result<Value, RunError> {
    until(call).map(output)
}

/// Until when a call waits, if it does nothing else.
pub(crate) fn wake_time(call: &Call) -> Option<Result<u64, RunError>> {
    matches!(call.target, Target::Time { .. }).then(|| until(call))
}

/// Until when a call waits, in milliseconds since 1970.
fn until(call: &Call) -> Result<u64, RunError> {
    let now = u64::try_from(call.told).unwrap_or_default();
    let until = match (call.args.get("duration"), call.args.get("until")) {
        (Some(duration), _) => match duration_of(duration) {
            Some(duration) => now.saturating_add(to_millis(duration)),
            None => return Err(unreadable("duration", duration, DURATION)),
        },
        (None, Some(time)) => match time_of(time) {
            Some(time) => time,
            None => return Err(unreadable("until", time, TIME)),
        },
        // To go on at once would do early what was to be done late.
        (None, None) => {
            return Err(RunError::new(
                ErrorKind::Expression,
                format!(
                    "the expression that says how long the node waits gave nothing; a `duration` \
                     has to be {DURATION}, and `until` {TIME}"
                ),
            ));
        }
    };
    let Target::Time { longest } = call.target else { return Ok(now) };
    let longest = to_millis(longest);
    if until.saturating_sub(now) > longest {
        return Err(RunError::new(
            ErrorKind::Limit,
            format!(
                "the node would wait until {}, which is longer than maxWaitMs ({longest} ms); wait \
                 for less, or raise the limit in executionLimits",
                rfc3339_millis(until)
            ),
        ));
    }
    Ok(until.max(now))
}

/// What a node that has waited gives.
pub(crate) fn output(until: u64) -> Value {
    Value::object(Map::from_iter([("until", rfc3339_millis(until))]))
}

/// Sleeps until a time in milliseconds since 1970.
pub(crate) async fn sleep_until(until: u64) {
    let until = UNIX_EPOCH + Duration::from_millis(until);
    // The clock of the machine may be set meanwhile, and the one that sleeps does not know.
    const LONGEST: Duration = Duration::from_mins(1);
    while let Ok(left) = until.duration_since(SystemTime::now())
        && !left.is_zero()
    {
        tokio::time::sleep(left.min(LONGEST)).await;
    }
}

fn duration_of(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => read_duration(text),
        Value::Number(number) => {
            let millis = number.as_f64();
            (millis.is_finite() && millis >= 0.0).then(|| Duration::from_millis(millis as u64))
        }
        _ => None,
    }
}

fn time_of(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => read_time(text),
        Value::Number(number) => {
            let millis = number.as_f64();
            (millis.is_finite() && millis >= 0.0).then_some(millis as u64)
        }
        _ => None,
    }
}

fn to_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn unreadable(key: &str, value: &Value, hint: &str) -> RunError {
    let mut shown = value.to_json();
    shown.truncate(shown.floor_char_boundary(80));
    RunError::new(
        ErrorKind::Expression,
        format!("`{key}` of the node is {shown}; it has to be {hint}"),
    )
}
