//! Where one process keeps what its durable runs need: in the journal's file, or in memory.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcpgraph_journal::{Journal, JournalError, RunId, Taken};
use mcpgraph_value::Value;
use parking_lot::Mutex;

use crate::{DurableError, Ended, Message, Place, Stopped};

/// How many runs that have ended are remembered without a file.
const MAX_ENDED: usize = 1000;

/// See the module.
pub(crate) enum Shelf {
    /// Runs end with the process, so that no execution ever comes to a step a second time.
    Memory(Mutex<Memory>),
    File(Arc<Journal>),
}

#[derive(Default)]
pub(crate) struct Memory {
    /// The messages of each run, and whether they were taken: another with the same key is ignored.
    pending: HashMap<RunId, Vec<(Message, bool)>>,
    ended: VecDeque<(RunId, Ended)>,
}

/// How a run stands.
pub(crate) enum Standing {
    Unknown,
    Pending,
    Ended(Ended),
}

impl Shelf {
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    pub(crate) async fn begin(&self, run: RunId, input: &Value) -> Result<(), DurableError> {
        match self {
            Self::Memory(memory) => {
                memory.lock().pending.entry(run).or_default();
                Ok(())
            }
            Self::File(journal) => {
                let input = input.to_json();
                Ok(with(journal, move |journal| journal.keep_run(run, &input)).await?)
            }
        }
    }

    /// The runs that processes which are gone have left.
    pub(crate) async fn left(&self) -> Result<Vec<(RunId, Value)>, DurableError> {
        let Self::File(journal) = self else { return Ok(Vec::new()) };
        let left = with(journal, Journal::take_over).await?;
        left.into_iter().map(|kept| Ok((kept.run, value(&kept.input)?))).collect()
    }

    pub(crate) async fn look(&self, run: RunId) -> Result<Standing, DurableError> {
        match self {
            Self::Memory(memory) => {
                let memory = memory.lock();
                let ended = memory.ended.iter().rev().find(|(ended, _)| *ended == run);
                Ok(match ended {
                    Some((_, ended)) => Standing::Ended(ended.clone()),
                    None if memory.pending.contains_key(&run) => Standing::Pending,
                    None => Standing::Unknown,
                })
            }
            Self::File(journal) => {
                let Some((status, outcome)) =
                    with(journal, move |journal| journal.kept_run(run)).await?
                else {
                    return Ok(Standing::Unknown);
                };
                Ok(match outcome {
                    Some(outcome) => Standing::Ended(Ended::Value(value(&outcome)?)),
                    None if status == "cancelled" => Standing::Ended(Ended::Cancelled),
                    None => Standing::Pending,
                })
            }
        }
    }

    /// Notes how a run ended, unless it has ended before.
    pub(crate) async fn end(&self, run: RunId, ended: Ended) -> Result<(), DurableError> {
        match self {
            Self::Memory(memory) => {
                let mut memory = memory.lock();
                if memory.pending.remove(&run).is_some() {
                    if memory.ended.len() == MAX_ENDED {
                        memory.ended.pop_front();
                    }
                    memory.ended.push_back((run, ended));
                }
            }
            Self::File(journal) => {
                let outcome = match &ended {
                    Ended::Value(value) => Some(value.to_json()),
                    Ended::Cancelled => None,
                };
                with(journal, move |journal| journal.end_run(run, outcome.as_deref())).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn recall(&self, run: RunId, place: &Place) -> Result<Option<Value>, Stopped> {
        let Self::File(journal) = self else { return Ok(None) };
        let number = u64::from(place.number);
        match with(journal, move |journal| journal.kept_step(run, number)).await? {
            Some((name, _)) if *name != *place.name => Err(Stopped::Unusable(format!(
                "the run came to the step `{}` where it was at `{name}` before",
                place.name
            ))),
            Some((_, kept)) => Ok(Some(value(&kept)?)),
            None => Ok(None),
        }
    }

    pub(crate) async fn keep(
        &self,
        run: RunId,
        place: &Place,
        kept: Value,
    ) -> Result<Value, Stopped> {
        let Self::File(journal) = self else { return Ok(kept) };
        let (number, name, text) =
            (u64::from(place.number), Arc::clone(&place.name), kept.to_json());
        let there = {
            let text = text.clone();
            with(journal, move |journal| journal.keep_step(run, number, &name, &text)).await?
        };
        match there {
            Some(there) if there == text => Ok(kept),
            Some(there) => Ok(value(&there)?),
            None => Err(Stopped::Cancelled),
        }
    }

    pub(crate) async fn send(&self, run: RunId, message: Message) -> Result<bool, DurableError> {
        match self {
            Self::Memory(memory) => {
                let mut memory = memory.lock();
                let Some(messages) = memory.pending.get_mut(&run) else { return Ok(false) };
                let is_it = |(other, _): &(Message, bool)| {
                    other.topic == message.topic && other.key == message.key
                };
                if !messages.iter().any(is_it) {
                    messages.push((message, false));
                }
                Ok(true)
            }
            Self::File(journal) => {
                let Message { topic, key, value } = message;
                let text = Value::array(vec![value]).to_json();
                let put = move |journal: &Journal| journal.put_message(run, &topic, &key, &text);
                Ok(with(journal, put).await?)
            }
        }
    }

    /// Takes the oldest message of a topic: a list of it, which is empty where nobody waits for one
    /// any more.
    pub(crate) async fn take(
        &self,
        run: RunId,
        place: &Place,
        topic: &str,
    ) -> Result<Option<Value>, Stopped> {
        match self {
            Self::Memory(memory) => {
                let mut memory = memory.lock();
                let Some(messages) = memory.pending.get_mut(&run) else {
                    return Err(Stopped::Cancelled);
                };
                let next = messages
                    .iter_mut()
                    .find(|(message, is_taken)| message.topic == topic && !is_taken);
                Ok(next.map(|(message, is_taken)| {
                    *is_taken = true;
                    Value::array(vec![message.value.clone()])
                }))
            }
            Self::File(journal) => {
                let (number, topic) = (u64::from(place.number), topic.to_owned());
                match with(journal, move |journal| journal.take_message(run, number, &topic))
                    .await?
                {
                    Taken::Value(text) => Ok(Some(value(&text)?)),
                    Taken::Nothing => Ok(None),
                }
            }
        }
    }
}

/// Does something with the file where blocking is no harm.
async fn with<T: Send + 'static>(
    journal: &Arc<Journal>,
    body: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
) -> Result<T, Stopped> {
    let journal = Arc::clone(journal);
    let done = tokio::task::spawn_blocking(move || body(&journal)).await;
    match done {
        Ok(done) => done.map_err(|error| Stopped::Unusable(error.to_string())),
        Err(_) => Err(Stopped::Unusable("the file could not be used".to_owned())),
    }
}

fn value(json: &str) -> Result<Value, Stopped> {
    Value::from_json(json)
        .map_err(|error| Stopped::Unusable(format!("what a step kept cannot be read: {error}")))
}
