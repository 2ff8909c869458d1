//! The writer's thread: takes what is queued, writes it, and tells those who wait.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::batch::Batcher;
use super::live::Live;
use super::queue::{Item, Series, Shared, Work};
use super::retention::Keeper;
use crate::liveness::WriterLock;

/// The pause after the first failure to write; it doubles with each, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// How often it is tried to note what was lost.
const NOTE_LOSSES_EVERY: Duration = Duration::from_millis(500);

/// Of how many runs it is remembered that something has to be noted.
const MAX_UNSETTLED: usize = 10_000;

/// The writer; lives on its thread.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    batcher: Batcher,
    keeper: Keeper,
    dir: PathBuf,
    /// Runs of which something has to be noted that could not be.
    unsettled: Vec<Arc<Live>>,
    /// Held while the thread lives.
    _lock: WriterLock,
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        batcher: Batcher,
        dir: PathBuf,
        lock: WriterLock,
    ) -> Self {
        let keeper = Keeper::new(shared.options.retention);
        Self { shared, batcher, keeper, dir, unsettled: Vec::new(), _lock: lock }
    }

    /// Works until the journal is closed and everything is written.
    pub(crate) fn run(mut self) {
        loop {
            let patience = if self.unsettled.is_empty() {
                self.keeper.patience()
            } else {
                Some(NOTE_LOSSES_EVERY)
            };
            match self.shared.next_work(patience) {
                Work::Write(items, oldest) => {
                    self.write(items, oldest);
                    self.keep(false);
                }
                Work::Idle => {
                    if !self.unsettled.is_empty() {
                        self.write(Vec::new(), Instant::now());
                    }
                    self.keep(true);
                }
                Work::Closed => break,
            }
        }
        if !self.unsettled.is_empty() {
            self.write(Vec::new(), Instant::now());
        }
        if let Some(writer) = self.batcher.writer {
            // One that stays is found to be gone by the next.
            self.batcher
                .connection
                .execute(
                    "DELETE FROM writers WHERE no = ?1 AND NOT EXISTS
                         (SELECT 1 FROM runs WHERE writer = ?1 AND status = 'running')",
                    [writer],
                )
                .unwrap_or_default();
        }
    }

    fn keep(&mut self, is_idle: bool) {
        if let Err(error) = self.keeper.work(&mut self.batcher.connection, &self.dir, is_idle) {
            tracing::debug!(%error, "old runs could not be forgotten");
        }
    }

    /// Writes the items, for as long as they may wait; then they are lost.
    fn write(&mut self, mut items: Vec<Item>, oldest: Instant) {
        items.extend(self.unsettled.drain(..).map(Item::Settle));
        let mut pause = FIRST_PAUSE;
        loop {
            let masker = self.shared.masker();
            match self.batcher.write(&items, &self.shared.options, &masker) {
                Ok(states) => {
                    if self.shared.succeeded() {
                        tracing::info!("runs are recorded again");
                    }
                    self.shared.tell_followers(states.iter().map(|(run, _)| run));
                    // A run that goes on has told its caller everything.
                    deliver(&items);
                    let mut requests = Vec::new();
                    for item in items {
                        match item {
                            Item::Series(part) => part.run.give_back(part.events),
                            Item::Request(request) => requests.push(request),
                            Item::Lost(_) | Item::Settle(_) => {}
                        }
                    }
                    self.shared.give_back(requests);
                    let mut settled = Vec::with_capacity(states.len());
                    for (run, state) in states {
                        let events = state.events;
                        if state.refused {
                            if !run.state.lock().refused {
                                tracing::warn!(run = %run.new.id, "another run has this id; not kept");
                            }
                            self.shared.count_lost(&run, 1);
                        }
                        *run.state.lock() = state;
                        run.settle(events);
                        settled.push(run);
                    }
                    self.shared.wake_waiting(settled);
                    return;
                }
                Err(error) => {
                    if self.shared.failed(&error) {
                        tracing::warn!(%error, "runs cannot be recorded; they go on without");
                    }
                    let left = self.shared.options.wait.saturating_sub(oldest.elapsed());
                    if left.is_zero() {
                        deliver(&items);
                        self.give_up(&items);
                        return;
                    }
                    std::thread::sleep(pause.min(left));
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    fn give_up(&mut self, items: &[Item]) {
        for item in items {
            let run = match item {
                Item::Series(part) => {
                    let count = part.events.len() as u64;
                    self.shared.count_lost(&part.run, count);
                    part.run.settle(part.first + count);
                    part.run.wake();
                    &part.run
                }
                Item::Settle(run) => run,
                Item::Request(_) => {
                    self.shared.count_lost_request();
                    continue;
                }
                Item::Lost(_) => continue,
            };
            let is_known = self.unsettled.last().is_some_and(|last| Arc::ptr_eq(last, run));
            if !is_known && self.unsettled.len() < MAX_UNSETTLED {
                self.unsettled.push(Arc::clone(run));
            }
        }
    }
}

/// Tells of events what is to be told, once they are in the file or lost.
fn deliver(items: &[Item]) {
    for item in items {
        match item {
            Item::Series(Series { told: Some(told), .. }) | Item::Lost(told) => told.tell(),
            _ => {}
        }
    }
}
