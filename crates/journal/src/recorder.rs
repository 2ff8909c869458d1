use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use mcpgraph_engine::Event;
use mcpgraph_graph::Digest;

use crate::write::spare::{self, EVENTS};
use crate::write::{Collected, Live, Shared};
use crate::{Origin, RunId};

/// A run that begins.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its id.
    pub id: RunId,
    /// The tool that was called.
    pub tool: Arc<str>,
    /// The version of the tool.
    pub digest: Digest,
    /// The text of the file the tool is defined in; the same text is kept once.
    pub definition: Option<Arc<str>>,
    /// Where it comes from.
    pub origin: Origin,
    /// When it began.
    pub started: SystemTime,
}

/// What is called with an event once it is in the file, or is given up as lost.
///
/// It is called by the thread that writes, which must not be kept.
pub type Delivery = Arc<dyn Fn(&Event) + Send + Sync>;

/// How many events are collected before they are handed over, and how large they may be, about.
///
/// Handing over costs a lock and often waking the writer, which a short run then pays once.
const MAX_COLLECTED_EVENTS: usize = 64;
const MAX_COLLECTED_BYTES: usize = 64 * 1024;

/// How long a run that waits keeps what it recorded: what it waits for may come at once.
///
/// A run that is handed over whole costs half of one in pieces, of which the row is made with the
/// first and changed with the others.
const KEPT_BACK: Duration = Duration::from_millis(10);

/// Records one run. Dropping it without an event `Finished` leaves the run interrupted.
pub struct RunRecorder {
    shared: Arc<Shared>,
    run: Arc<Live>,
    deliver: Option<Delivery>,
    collected: Collected,
}

impl RunRecorder {
    pub(crate) fn new(shared: Arc<Shared>, run: Arc<Live>) -> Self {
        Self { shared, run, deliver: None, collected: Collected::default() }
    }

    /// The same recorder, which tells of each event once it is in the file.
    ///
    /// Deliveries are made in the order of the events, unless more than twice as many as may be
    /// queued wait: then what comes is told of at once.
    #[must_use]
    pub fn telling(mut self, deliver: Delivery) -> Self {
        self.deliver = Some(deliver);
        self
    }

    /// The run.
    pub fn id(&self) -> RunId {
        self.run.new.id
    }

    /// How many events of the run earlier executions have recorded: the first that are recorded now
    /// are these again.
    pub fn recorded_before(&self) -> u64 {
        self.run.recorded_before
    }

    /// Records an event. Events are numbered from 0 in the order of these calls. Never blocks.
    ///
    /// An event that somebody is to be told of goes to the writer at once; others go with those
    /// that follow, when there are many or when the run waits: see [`RunRecorder::pause`].
    pub fn record(&mut self, event: Event) {
        self.record_all(&mut vec![event]);
    }

    /// Records events that happened together, and leaves the list empty.
    pub fn record_all(&mut self, events: &mut Vec<Event>) {
        if self.collected.events.capacity() == 0 {
            self.collected.events = spare::take(&EVENTS);
        }
        if let Some((status, at)) = self.collected.add(events, self.deliver.as_ref()) {
            self.run.set_ended(status, at);
        }
        if self.deliver.is_some()
            || self.collected.events.len() >= MAX_COLLECTED_EVENTS
            || self.collected.bytes >= MAX_COLLECTED_BYTES
        {
            self.hand_over();
        }
    }

    /// The run is about to wait. What was recorded is handed over, so that it can be read meanwhile,
    /// unless more may come soon; none, or after how long this is to be called again.
    pub fn pause(&mut self) -> Option<Duration> {
        if self.collected.events.is_empty() {
            return None;
        }
        let waited = self.collected.kept_back.get_or_insert_with(Instant::now).elapsed();
        let left = KEPT_BACK.saturating_sub(waited);
        if left.is_zero() {
            self.hand_over();
            return None;
        }
        Some(left)
    }

    /// Gives the writer everything recorded so far.
    pub fn hand_over(&mut self) {
        if !self.collected.events.is_empty() {
            self.shared.hand_over(&self.run, mem::take(&mut self.collected), None);
        }
    }

    /// Hands over what was recorded so far, and waits until it is in the file, but for no longer
    /// than the run may wait in total. False if it is not: it is late, or lost. While the store is
    /// known not to keep up, nobody waits.
    ///
    /// The future does not need the recorder. It must be awaited inside a Tokio runtime with timers.
    pub fn committed(&mut self) -> impl Future<Output = bool> + Send + use<> {
        let collected = mem::take(&mut self.collected);
        Arc::clone(&self.run).committed(Arc::clone(&self.shared), collected)
    }

    /// The same, for however long it takes: what goes on elsewhere must not be told of an end that
    /// the record does not have. False only if something of the run is lost.
    pub fn kept(&mut self) -> impl Future<Output = bool> + Send + use<> {
        let collected = mem::take(&mut self.collected);
        Arc::clone(&self.run).kept(Arc::clone(&self.shared), collected)
    }

    /// Whether somebody else has taken the durable run over: nothing of this record counts any more.
    pub fn is_refused(&self) -> bool {
        self.run.is_refused()
    }
}

impl Drop for RunRecorder {
    fn drop(&mut self) {
        self.hand_over();
        self.shared.end(&self.run);
    }
}
