//! One call of a durable run, as a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use mcpgraph_durable::{Place, Repeat, Steps, Stopped, step};
use mcpgraph_engine::{ErrorKind, LogLevel, RunError};
use mcpgraph_value::{Map, Value};

use super::kept::{outcome_of, put_outcome};
use crate::{EffectCall, Effects, waiting};

/// A call that is about to be made.
pub(super) struct Pending {
    pub(super) steps: Arc<dyn Steps>,
    pub(super) place: Place,
    pub(super) call: EffectCall,
    /// When the run began.
    pub(super) began: SystemTime,
}

/// What became of a call.
pub(super) struct Called {
    /// How much of the world's time had passed since the run began.
    pub(super) elapsed: Duration,
    /// Its answer; none if its time was up first.
    pub(super) answer: Option<Answer>,
    /// Whether an execution before this one kept it.
    pub(super) is_recalled: bool,
}

pub(super) struct Answer {
    pub(super) outcome: Result<Value, RunError>,
    /// What was said on the way.
    pub(super) said: Vec<(LogLevel, Arc<str>)>,
}

impl Pending {
    /// Makes the call, unless an execution before this one has. It is given up after `time`.
    pub(super) async fn make(
        self,
        effects: &dyn Effects,
        time: Option<Duration>,
    ) -> Result<Called, Stopped> {
        let Self { steps, place, call, began } = self;
        let repeats = call.call.may_repeat || effects.may_repeat(&call.call).await;
        let repeat = if repeats { Repeat::Safe } else { Repeat::Never };
        let unknown = unknown(&call);
        let said = call.said.clone();
        let is_recalled = AtomicBool::new(true);
        let body = || async {
            is_recalled.store(false, Ordering::Relaxed);
            let answer = async {
                let outcome = match waiting::wake_time(&call.call) {
                    Some(Ok(until)) => {
                        waiting::sleep_until(until).await;
                        Ok(waiting::output(until))
                    }
                    Some(Err(error)) => Err(error),
                    None => effects.call(call).await,
                };
                Answer { outcome, said: said.take() }
            };
            let answer = match time {
                Some(time) => tokio::time::timeout(time, answer).await.ok(),
                None => Some(answer.await),
            };
            Called { elapsed: since(began), answer, is_recalled: false }.to_value()
        };
        let unknown = || {
            is_recalled.store(false, Ordering::Relaxed);
            let answer = Answer { outcome: Err(unknown), said: Vec::new() };
            Called { elapsed: since(began), answer: Some(answer), is_recalled: false }.to_value()
        };
        let kept = step(&*steps, &place, repeat, body, unknown).await?;
        Ok(Called::from_value(&kept, is_recalled.into_inner()))
    }
}

/// The outcome of a call that must not be made twice, and may have been made.
fn unknown(call: &EffectCall) -> RunError {
    let (target, node) = (&call.call.target, &call.call.node);
    RunError::new(
        ErrorKind::OutcomeUnknown,
        format!(
            "the call of {target} was under way when the process that made it went away, and nobody \
             knows whether it was carried out; look there, and call the tool again if it was not. \
             If it may be repeated, give node `{node}` a `retry`"
        ),
    )
}

fn since(began: SystemTime) -> Duration {
    let elapsed = SystemTime::now().duration_since(began).unwrap_or_default();
    Duration::from_micros(u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX))
}

impl Called {
    fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("at", micros(self.elapsed));
        if let Some(Answer { outcome, said }) = &self.answer {
            put_outcome(&mut map, outcome);
            if !said.is_empty() {
                let line = |(level, line): &(LogLevel, Arc<str>)| {
                    Value::array(vec![level.name().into(), Value::String(Arc::clone(line))])
                };
                map.insert("said", Value::array(said.iter().map(line).collect()));
            }
        }
        map.into()
    }

    fn from_value(value: &Value, is_recalled: bool) -> Self {
        let has_answer = value.get("ok").is_some() || value.get("error").is_some();
        let answer = has_answer.then(|| Answer {
            outcome: outcome_of(value),
            said: value
                .get("said")
                .and_then(Value::as_array)
                .map_or_else(Vec::new, |lines| lines.iter().filter_map(said_of).collect()),
        });
        Self { elapsed: elapsed_of(value), answer, is_recalled }
    }
}

fn said_of(line: &Value) -> Option<(LogLevel, Arc<str>)> {
    let name = line.at(0)?.as_str()?;
    let level = [LogLevel::Debug, LogLevel::Info, LogLevel::Warn, LogLevel::Error]
        .into_iter()
        .find(|level| level.name() == name)?;
    Some((level, line.at(1)?.as_str()?.into()))
}

/// A time as it is kept.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The time of something that is kept.
pub(super) fn elapsed_of(value: &Value) -> Duration {
    let micros = value.get("at").and_then(Value::as_i64).unwrap_or_default();
    Duration::from_micros(micros.unsigned_abs())
}
