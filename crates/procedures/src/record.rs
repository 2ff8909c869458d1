//! Walks as runs: the same events as a graph's, in the same record and for the same observers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::{Event, Given};
use mcpgraph_journal::{Digest, Journal, JournalError, NewRun, Origin, RunId, RunRecorder};
use mcpgraph_runtime::{Instruments, RunObserver, RunStart};
use mcpgraph_sop::{Mode, Procedure, shape};
use mcpgraph_value::Map;
use parking_lot::Mutex;

use crate::Key;
use crate::tools::TODO;
use crate::trail::{CALL, Trail, millis};

/// Where what happens in walks goes.
pub(crate) struct Records {
    instruments: Instruments,
    /// Whether walks go on in other processes, too: then none of them holds their runs, and nobody
    /// but the store sees all that happens.
    is_shared: bool,
    open: Mutex<HashMap<Key, Record>>,
}

/// The record of a walk that only this process serves.
struct Record {
    run: RunId,
    observers: Vec<Box<dyn RunObserver>>,
    recorder: Option<RunRecorder>,
}

impl Records {
    pub(crate) fn new(instruments: Instruments, is_shared: bool) -> Self {
        Self { instruments, is_shared, open: Mutex::default() }
    }

    /// A walk begins.
    pub(crate) async fn begin(
        &self,
        key: &Key,
        trail: &Trail,
        (procedure, mode): (&Procedure, Mode),
        file: &str,
        origin: Origin,
    ) {
        let Instruments { journal, observers, .. } = &self.instruments;
        let tool: Arc<str> = procedure.agent().into();
        let digest = Digest::of(procedure.source.text());
        let (id, at) = (trail.run, trail.began);
        let input = Map::from_iter([("sop_file", file), ("mode", mode.name())]).into();
        let given = Given { seed: 0, clock: millis(at) };
        let started = Event::Started { tool: Arc::clone(&tool), digest, input, given };
        let new = NewRun {
            id,
            tool: Arc::clone(&tool),
            digest,
            definition: Some(procedure.source.text().into()),
            origin: origin.clone(),
            started: at,
        };
        if self.is_shared {
            self.write(move |journal| journal.begin_unheld(&new, vec![started])).await;
            return;
        }
        let start = RunStart {
            id,
            graph: None,
            tool: &tool,
            digest,
            origin: &origin,
            at,
            is_durable: false,
        };
        let observers = observers.iter().filter_map(|observer| observer.begin(&start)).collect();
        let recorder = journal.as_ref().map(|journal| journal.begin(new));
        let record = Record { run: id, observers, recorder };
        drop(self.open.lock().insert(key.clone(), record));
        self.tell(key, id, vec![started]).await;
    }

    /// Tells everyone of what happened in a conversation, and waits, but not for ever, until it is in
    /// the record: what an agent has heard of is never lost.
    pub(crate) async fn tell(&self, key: &Key, run: RunId, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        let ends = matches!(events.last(), Some(Event::Finished { .. }));
        if self.is_shared {
            self.write(move |journal| journal.append(run, events)).await;
            if ends {
                self.observe(run).await;
            }
            return;
        }
        let commit = {
            let mut open = self.open.lock();
            let Some(record) = open.get_mut(key).filter(|record| record.run == run) else { return };
            record.tell(events);
            let commit = record.recorder.as_mut().map(RunRecorder::committed);
            if ends {
                open.remove(key);
            }
            commit
        };
        if let Some(commit) = commit {
            // A loss is counted and logged where it happens; it is no reason to fail a call.
            commit.await;
        }
    }

    /// Tells the observers of a walk that several processes served, once it has ended: of all that
    /// happened, as the store has it.
    async fn observe(&self, run: RunId) {
        let Instruments { journal: Some(journal), observers, .. } = &self.instruments else {
            return;
        };
        if observers.is_empty() {
            return;
        }
        let journal = Arc::clone(journal);
        let read = tokio::task::spawn_blocking(move || {
            let summary = journal.run(run)?.ok_or_else(|| JournalError::NoRun(run.to_string()))?;
            let events = journal.whole_events_of(run, summary.digest, kind)?;
            Ok::<_, JournalError>((summary, events))
        });
        let (summary, events) = match read.await {
            Ok(Ok(read)) => read,
            Ok(Err(error)) => {
                return tracing::debug!(%run, %error, "nobody hears of a walk that has ended");
            }
            Err(error) => {
                return tracing::debug!(%run, %error, "nobody hears of a walk that has ended");
            }
        };
        let start = RunStart {
            id: run,
            graph: None,
            tool: &summary.tool,
            digest: summary.digest,
            origin: &summary.origin,
            at: summary.started,
            is_durable: false,
        };
        for mut observer in observers.iter().filter_map(|observer| observer.begin(&start)) {
            for event in &events {
                observer.event(event);
            }
        }
    }

    /// Writes to the store, which blocks as files do.
    async fn write(
        &self,
        write: impl FnOnce(&Journal) -> Result<(), JournalError> + Send + 'static,
    ) {
        let Some(journal) = self.instruments.journal.clone() else { return };
        match tokio::task::spawn_blocking(move || write(&journal)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "a walk is not recorded whole"),
            Err(error) => tracing::warn!(%error, "a walk is not recorded whole"),
        }
    }

    /// The conversations whose walks are under way and end with this process.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.open.lock().keys().cloned().collect()
    }
}

impl Record {
    /// It can be read at once: who knows when the agent goes on.
    fn tell(&mut self, events: Vec<Event>) {
        for event in events {
            for observer in &mut self.observers {
                observer.event(&event);
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.record(event);
            }
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.hand_over();
        }
    }
}

/// The type of a node of a walk, as events have it.
fn kind(name: &str) -> &'static str {
    [TODO, CALL].into_iter().find(|known| *known == name).unwrap_or_else(|| shape(name))
}

/// The trail of a walk that begins now.
pub(crate) fn new_trail() -> Trail {
    Trail::new(RunId::new(), SystemTime::now())
}
