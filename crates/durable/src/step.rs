use mcpgraph_value::Value;

use crate::{Place, Steps, Stopped};

/// Whether a step may be done again if an earlier execution began it and nobody knows how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It may: at least once.
    Safe,
    /// It must not: at most once.
    Never,
}

/// Does something that is done once in a run, and gives its outcome. Where it must not be repeated,
/// and may have been done already, `unknown` is its outcome.
pub async fn step<F: Future<Output = Value>>(
    steps: &dyn Steps,
    place: &Place,
    repeat: Repeat,
    body: impl FnOnce() -> F,
    unknown: impl FnOnce() -> Value,
) -> Result<Value, Stopped> {
    if let Some(kept) = steps.recall(place).await? {
        return Ok(kept);
    }
    let intent = (repeat == Repeat::Never).then(|| place.intent());
    let outcome = match intent {
        Some(intent) if steps.recall(&intent).await?.is_some() => unknown(),
        Some(intent) => {
            let _under_way = steps.course().commit()?;
            // Only whoever wrote the intent does what is intended.
            let mark = Value::from(steps.mark());
            let is_own = steps.keep(&intent, mark.clone()).await? == mark;
            let outcome = if is_own { body().await } else { unknown() };
            return steps.keep(place, outcome).await;
        }
        None => body().await,
    };
    steps.keep(place, outcome).await
}
