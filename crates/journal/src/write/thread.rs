//! The writer's thread: takes what is queued, writes it, and tells those who wait.

#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::batch::{Batcher, Written};
use super::collected::Told;
use super::live::Live;
use super::queue::{Item, Series, Work};
use super::retention::Keeper;
use super::shared::{MAX_SPENT, Shared};
use super::state::RunState;
use super::whole::Whole;
use crate::JournalError;
use crate::database::{Access, Store, TakingOver, Whereabouts, bound};
use crate::journal::register;
use crate::liveness::{self, Presence};

/// The pause after the first failure to write; it doubles with each, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// How often it is tried to note what was lost.
const NOTE_LOSSES_EVERY: Duration = Duration::from_millis(500);

/// How often it is looked whether the file is where it was.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Of how many runs it is remembered that something has to be noted.
const MAX_UNSETTLED: usize = 10_000;

/// How much is not in the record.
#[derive(Clone, Copy, Default, PartialEq)]
struct Losses {
    events: u64,
    runs: u64,
    requests: u64,
}

/// The writer; lives on its thread.
pub(crate) struct Writer {
    shared: Arc<Shared>,
    batcher: Batcher,
    keeper: Keeper,
    store: Store,
    taking_over: Option<TakingOver>,
    /// Runs of which something has to be noted that could not be.
    unsettled: Vec<Arc<Live>>,
    /// What was lost and told of.
    told: Losses,
    /// Why the store did not take something, since it was last told what was lost.
    failure: Option<String>,
    /// Held while the thread lives.
    presence: Presence,
    /// When this writer last said that it lives.
    shown: Instant,
    /// Where the file is that is written, if it is one.
    whereabouts: Option<Whereabouts>,
    /// When it was last seen there.
    found: Option<Instant>,
    /// Since when it has said so without a gap. Whoever could not look does not judge others.
    steady: Instant,
}

impl Writer {
    pub(crate) fn new(
        shared: Arc<Shared>,
        mut batcher: Batcher,
        store: Store,
        presence: Presence,
    ) -> Result<Self, JournalError> {
        let taking_over = store.take_over(&mut batcher.connection)?;
        let keeper = Keeper::new(shared.options.retention);
        let (unsettled, shown) = (Vec::new(), Instant::now());
        Ok(Self {
            shared,
            batcher,
            keeper,
            store,
            taking_over,
            unsettled,
            told: Losses::default(),
            failure: None,
            presence,
            shown,
            whereabouts: None,
            found: None,
            steady: shown,
        })
    }

    /// Notices when the file that is written is no longer there.
    pub(crate) fn at(self, whereabouts: Option<Whereabouts>) -> Self {
        Self { whereabouts, ..self }
    }

    /// Works until the journal is closed and everything is written.
    pub(crate) fn run(mut self) {
        nap_precisely();
        loop {
            let patience = if self.unsettled.is_empty() {
                self.keeper.patience()
            } else {
                Some(NOTE_LOSSES_EVERY)
            };
            let patience = if self.store.is_shared() {
                Some(patience.unwrap_or(liveness::SHOW_EVERY).min(liveness::SHOW_EVERY))
            } else {
                patience
            };
            match self.shared.next_work(patience) {
                Work::Write(items, oldest) => {
                    let count = items.iter().map(Item::count).sum();
                    self.write(items, oldest);
                    self.take_over();
                    self.keep(Some(count));
                }
                Work::Idle => {
                    if !self.unsettled.is_empty() {
                        self.write(Vec::new(), Instant::now());
                    }
                    self.keep(None);
                }
                Work::Closed => break,
            }
            self.show();
        }
        if !self.unsettled.is_empty() {
            // Once: whoever closes the journal does not wait for a disk that has been full.
            let now = Instant::now();
            self.write(Vec::new(), now.checked_sub(self.shared.options.wait).unwrap_or(now));
        }
        self.tell_losses();
        if let Some(writer) = self.batcher.writer {
            let sql = if self.shared.hands_over.load(Ordering::Acquire) {
                // Its durable runs go on somewhere else.
                "UPDATE writers SET gone = 1 WHERE no = ?1 AND gone = 0"
            } else {
                // One that stays is found to be gone by the next.
                "DELETE FROM writers WHERE no = ?1 AND NOT EXISTS
                     (SELECT 1 FROM runs WHERE writer = ?1 AND status = 'running')"
            };
            self.batcher.connection.execute(sql, bound![writer]).unwrap_or_default();
        }
    }

    fn take_over(&mut self) {
        if let Some(taking_over) = &mut self.taking_over
            && let Err(error) = taking_over.after_commit(&self.batcher.connection)
        {
            tracing::debug!(%error, "the log of changes could not be taken over");
        }
    }

    /// Forgets what is too much, after so many things were written, or when there was nothing to do.
    fn keep(&mut self, written: Option<usize>) {
        if let Err(error) = self.keeper.work(&self.batcher.connection, &self.store, written) {
            tracing::debug!(%error, "old runs could not be forgotten");
        }
    }

    /// Says that this writer lives, where others cannot see it, and settles the runs of those that
    /// do not say so any more.
    fn show(&mut self) {
        if !self.store.is_shared() || self.shown.elapsed() < liveness::SHOW_EVERY {
            return;
        }
        if self.shown.elapsed() >= liveness::GONE_AFTER_TIME {
            self.steady = Instant::now();
        }
        match self.try_show() {
            Ok(()) => {
                if self.shared.reached() {
                    tracing::info!("the store can be reached again");
                }
            }
            Err(error) => {
                self.steady = Instant::now();
                if self.shared.failed(&error) {
                    tracing::warn!(%error, "the store cannot be reached");
                }
            }
        }
        self.shown = Instant::now();
    }

    fn try_show(&mut self) -> Result<(), JournalError> {
        self.reconnect()?;
        let connection = &self.batcher.connection;
        let now = Instant::now();
        let is_known = match self.batcher.writer {
            Some(writer) => liveness::show(connection, writer)?,
            None => true,
        };
        if !is_known {
            // It was gone for too long; its runs are said to be interrupted, and may yet go on. Only
            // durable ones may not: it comes back when they are handed over.
            self.shared.set_writer(None);
            let hands_over = self.shared.hands_over.load(Ordering::Acquire);
            if !hands_over || !liveness::is_awaited(connection, self.presence.name())? {
                self.batcher.writer = Some(register(connection, &self.store, &self.presence)?);
                self.shared.set_writer(self.batcher.writer);
                self.shared.set_seen(now);
            }
        } else {
            self.shared.set_seen(now);
        }
        if is_known
            && self.steady.elapsed() >= liveness::GONE_AFTER_TIME
            && liveness::has_gone(connection)?
        {
            let store = &self.store;
            connection
                .transaction(Access::Write, |connection| liveness::bury(connection, store))?;
        }
        Ok(())
    }

    /// Makes another connection if there is none any more.
    fn reconnect(&mut self) -> Result<(), JournalError> {
        if self.batcher.connection.is_closed() {
            self.batcher.connection = self.store.open_writer()?;
        }
        Ok(())
    }

    /// Looks now and then whether what is written would be found.
    fn find(&mut self) -> Result<(), JournalError> {
        if let Some(whereabouts) = &self.whereabouts
            && self.found.is_none_or(|found| found.elapsed() >= LOOK_EVERY)
        {
            whereabouts.check()?;
            self.found = Some(Instant::now());
        }
        Ok(())
    }

    /// Writes the items, for as long as they may wait; then they are lost.
    fn write(&mut self, mut items: Vec<Item>, oldest: Instant) {
        items.extend(self.unsettled.drain(..).map(Item::Settle));
        let mut pause = FIRST_PAUSE;
        let mut asked = false;
        loop {
            let masker = self.shared.masker();
            let shared = Arc::clone(&self.shared);
            let more = || shared.take_more();
            let written = self.reconnect().and_then(|()| self.find()).and_then(|()| {
                Ok(self.batcher.write(&mut items, more, &shared.options, &masker)?)
            });
            match written {
                Ok(written) => return self.wrote(items, written),
                Err(_) if self.batcher.was_refused() && !asked => asked = true,
                Err(error) => {
                    if self.shared.failed(&error) {
                        tracing::warn!(%error, "runs cannot be recorded; they go on without");
                    }
                    self.failure = Some(error.to_string());
                    let left = self.shared.options.wait.saturating_sub(oldest.elapsed());
                    // A database that is away comes back, and there is room for what comes.
                    let is_patient = self.store.is_shared() && !self.shared.is_closed();
                    if left.is_zero() && !is_patient {
                        deliver(&items);
                        self.batcher.give_up();
                        self.give_up(&items);
                        return;
                    }
                    std::thread::sleep(if is_patient { pause } else { pause.min(left) });
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
            }
        }
    }

    /// Tells everybody of what was written.
    fn wrote(&mut self, items: Vec<Item>, written: Written) {
        if self.shared.succeeded() {
            tracing::info!("runs are recorded again");
            self.tell_losses();
        }
        let Written { states, refused } = written;
        let groups = states.iter().map(|(run, _)| run.new.id);
        self.shared.tell_followers(groups.chain(wholes(&items).map(|whole| whole.id)));
        // A run that goes on has told its caller everything.
        deliver(&items);
        for (run, state) in states {
            if state.refused {
                self.refuse(&run);
            }
            *run.state.lock() = state;
        }
        if !refused.is_empty() {
            for whole in wholes(&items).filter(|whole| refused.contains(&whole.id)) {
                self.refuse(&whole.run);
                *whole.run.state.lock() = RunState::refused();
            }
        }
        self.settle(&items);
        let mut spent = Vec::with_capacity(items.len().min(MAX_SPENT));
        for item in items {
            match item {
                Item::Series(part) => {
                    let Series { run, events, .. } = *part;
                    run.give_back(events);
                }
                Item::Whole(whole) if spent.len() < MAX_SPENT => spent.push(whole),
                _ => {}
            }
        }
        self.shared.give_back(spent);
    }

    /// Nothing of a run is kept.
    fn refuse(&self, run: &Arc<Live>) {
        let (is_first, id) = (!run.state.lock().refused, run.new.id);
        if run.is_durable {
            // Nothing is lost: whoever has taken it over records it.
            if is_first {
                tracing::info!(run = %id, "not kept: another process has taken the run over");
            }
            run.lose(1);
            run.wake();
            return;
        }
        if is_first {
            tracing::warn!(run = %id, "not kept: another run has this id");
        }
        self.shared.count_lost(run, 1);
    }

    /// Says what was lost since it was last said, and why.
    fn tell_losses(&mut self) {
        let status = self.shared.status();
        let (events, runs, requests) = (status.lost_events, status.lost_runs, status.lost_requests);
        let lost = Losses { events, runs, requests };
        if lost != self.told {
            let error = self.failure.take();
            tracing::warn!(
                events = lost.events - self.told.events,
                runs = lost.runs - self.told.runs,
                requests = lost.requests - self.told.requests,
                error,
                "the record is not complete: events of runs are lost"
            );
            self.told = lost;
        }
    }

    /// Nobody has to wait for these any more.
    fn settle(&self, items: &[Item]) {
        self.shared.settling.settle(items.iter().filter(|item| item.has_turn()).count() as u64);
    }

    fn give_up(&mut self, items: &[Item]) {
        for item in items {
            let run = match item {
                Item::Series(part) => {
                    self.shared.count_lost(&part.run, part.events.len() as u64);
                    &part.run
                }
                Item::Whole(whole) => {
                    self.shared.count_lost(&whole.run, whole.count as u64);
                    &whole.run
                }
                Item::Settle(run) => run,
                Item::Requests(requests) => {
                    self.shared.count_lost_requests(requests.count as u64);
                    continue;
                }
                Item::Lost(_) => continue,
            };
            let is_known = self.unsettled.last().is_some_and(|last| Arc::ptr_eq(last, run));
            if !is_known && self.unsettled.len() < MAX_UNSETTLED {
                self.unsettled.push(Arc::clone(run));
            }
        }
        self.settle(items);
    }
}

/// Linux adds 50 µs to whatever a thread sleeps unless told otherwise, and naps are as short.
fn nap_precisely() {
    #[cfg(target_os = "linux")]
    {
        const ONE_MICROSECOND: Option<NonZeroU64> = NonZeroU64::new(1000);
        // Where it cannot be told, naps are longer, and nothing else is different.
        rustix::thread::set_current_timer_slack(ONE_MICROSECOND).unwrap_or_default();
    }
}

/// The runs of which all was made ready.
fn wholes(items: &[Item]) -> impl Iterator<Item = &Whole> {
    items.iter().filter_map(|item| match item {
        Item::Whole(whole) => Some(&**whole),
        _ => None,
    })
}

/// Tells of events what is to be told, once they are in the file or lost.
fn deliver(items: &[Item]) {
    for item in items {
        match item {
            Item::Series(part) => part.told.iter().for_each(Told::tell),
            Item::Lost(told) => told.tell(),
            _ => {}
        }
    }
}
