//! Where one process keeps what its durable runs need: in the journal's file, or in memory.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use mcpgraph_journal::{Journal, JournalError, KeptRun, RunId, Taken};
use mcpgraph_value::Value;
use parking_lot::Mutex;

use crate::sealed::{About, unreadable};
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
                let input = input.clone();
                let keep = move |journal: &Journal| {
                    journal.keep_run(run, &About::input(run).seal(journal, &input)?)
                };
                Ok(with(journal, keep).await?)
            }
        }
    }

    /// Whether other processes have runs besides these, which they may leave. Blocks as files do.
    pub(crate) fn others_have_some(&self, besides: &HashSet<RunId>) -> bool {
        match self {
            Self::Memory(_) => false,
            Self::File(journal) => match journal.runs_of_others() {
                Ok(runs) => runs.iter().any(|run| !besides.contains(run)),
                // Whoever takes them over says what is wrong with the file.
                Err(_) => true,
            },
        }
    }

    /// The runs besides these that processes which are gone have left.
    pub(crate) async fn left(
        &self,
        besides: HashSet<RunId>,
    ) -> Result<Vec<(RunId, Value)>, DurableError> {
        let Self::File(journal) = self else { return Ok(Vec::new()) };
        let open = move |journal: &Journal| {
            let left = journal.left_runs()?.into_iter();
            left.filter(|left| !besides.contains(&left.run))
                .map(|KeptRun { run, input }| {
                    // One that cannot be opened is executed to say so.
                    Ok((run, About::input(run).unseal(journal, &input)?.unwrap_or_default()))
                })
                .collect()
        };
        Ok(with(journal, open).await?)
    }

    /// Makes runs that were left this process's own: those of them that nobody else was faster with.
    pub(crate) async fn take_over(&self, runs: Vec<RunId>) -> Result<HashSet<RunId>, DurableError> {
        let Self::File(journal) = self else { return Ok(HashSet::new()) };
        Ok(with(journal, move |journal| journal.take_over(&runs)).await?.into_iter().collect())
    }

    /// The runs of this process that have not ended.
    pub(crate) async fn pending(&self) -> Result<HashSet<RunId>, DurableError> {
        match self {
            Self::Memory(memory) => Ok(memory.lock().pending.keys().copied().collect()),
            Self::File(journal) => Ok(with(journal, Journal::pending_runs).await?),
        }
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
                let look = move |journal: &Journal| {
                    let Some((status, outcome)) = journal.kept_run(run)? else {
                        return Ok(Standing::Unknown);
                    };
                    Ok(match outcome {
                        Some(outcome) => About::outcome(run)
                            .unseal(journal, &outcome)?
                            // What can no longer be opened is as if it were forgotten.
                            .map_or(Standing::Unknown, |value| {
                                Standing::Ended(Ended::Value(value))
                            }),
                        None if status == "cancelled" => Standing::Ended(Ended::Cancelled),
                        None => Standing::Pending,
                    })
                };
                Ok(with(journal, look).await?)
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
                let end = move |journal: &Journal| {
                    let outcome = match &ended {
                        Ended::Value(value) => Some(About::outcome(run).seal(journal, value)?),
                        Ended::Cancelled => None,
                    };
                    journal.end_run(run, outcome.as_deref())
                };
                with(journal, end).await?;
            }
        }
        Ok(())
    }

    pub(crate) async fn recall(&self, run: RunId, place: &Place) -> Result<Option<Value>, Stopped> {
        let Self::File(journal) = self else { return Ok(None) };
        let wanted = place.clone();
        let recall = move |journal: &Journal| {
            let Some((name, kept)) = journal.kept_step(run, u64::from(wanted.number))? else {
                return Ok(None);
            };
            Ok(Some((name, About::step(run, &wanted).unseal(journal, &kept)?)))
        };
        match with(journal, recall).await? {
            Some((name, _)) if *name != *place.name => Err(Stopped::Unusable(format!(
                "the run came to the step `{}` where it was at `{name}` before",
                place.name
            ))),
            Some((_, kept)) => kept.ok_or_else(unreadable).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) async fn keep(
        &self,
        run: RunId,
        place: &Place,
        kept: Value,
    ) -> Result<Value, Stopped> {
        self.keep_as(run, place, About::step(run, place), kept).await
    }

    /// Keeps that no message has come: what comes later is too late in every execution.
    pub(crate) async fn give_up(
        &self,
        run: RunId,
        place: &Place,
        topic: &str,
    ) -> Result<(), Stopped> {
        let nothing = Value::array(Vec::new());
        self.keep_as(run, place, About::message(run, topic), nothing).await.map(drop)
    }

    async fn keep_as(
        &self,
        run: RunId,
        place: &Place,
        about: About,
        kept: Value,
    ) -> Result<Value, Stopped> {
        let Self::File(journal) = self else { return Ok(kept) };
        let place = place.clone();
        let keep = move |journal: &Journal| {
            let sealed = about.seal(journal, &kept)?;
            let there = journal.keep_step(run, u64::from(place.number), &place.name, &sealed)?;
            Ok(match there {
                Some(there) if there == sealed => Some(Some(kept)),
                Some(there) => Some(about.unseal(journal, &there)?),
                None => None,
            })
        };
        with(journal, keep).await?.ok_or(Stopped::Cancelled)?.ok_or_else(unreadable)
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
                let put = move |journal: &Journal| {
                    let message = Value::array(vec![value]);
                    let sealed = About::message(run, &topic).seal(journal, &message)?;
                    journal.put_message(run, &topic, &key, &sealed)
                };
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
                let take =
                    move |journal: &Journal| match journal.take_message(run, number, &topic)? {
                        Taken::Value(kept) => {
                            Ok(Some(About::message(run, &topic).unseal(journal, &kept)?))
                        }
                        Taken::Nothing => Ok(None),
                    };
                with(journal, take).await?.map(|taken| taken.ok_or_else(unreadable)).transpose()
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
