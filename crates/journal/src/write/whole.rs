//! Runs of which all is recorded at once, as most are: what is written of them is made where they
//! ran.
//!
//! Their events are in the caches of the thread that recorded them. The one that writes would have to
//! fetch each of them, and they would be fetched again to be freed.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{Event, StepId};

use super::chunk::MAX_EVENTS;
use super::collected::Collected;
use super::live::Live;
use super::occasion::Occasion;
use super::payloads::{Nowhere, PayloadWriter};
use super::row::NewRow;
use super::shared::Shared;
use super::state::RunState;
use crate::codec::{write_line, write_plain_line};
use crate::mask::Masker;
use crate::{Digest, NewRun, RunId, RunStatus, StoredEvent};

/// A run that holds more than this, about, is left to the thread that writes: whoever serves calls
/// has no time for it.
const MAX_BYTES: usize = 16 * 1024;

/// What the id of a node mostly takes.
const ROOM_FOR_A_NAME: usize = 64;

/// All events of a run, and what its row says.
///
/// Whoever writes it looks at nothing that those who record work with: memory that one processor
/// changes is slow to reach for another, for both.
pub(crate) struct Whole {
    /// Whom to tell.
    pub(crate) run: Arc<Live>,
    pub(super) id: RunId,
    pub(super) occasion: Arc<Occasion>,
    started: SystemTime,
    /// Where the run comes from says more than its occasion.
    is_particular: bool,
    /// How many events they are.
    pub(crate) count: usize,
    /// What they hold, about.
    pub(super) bytes: usize,
    /// Their lines, and behind them the id of the node that was reached last.
    text: Vec<u8>,
    lines: usize,
    steps: u64,
    reached: Option<StepId>,
    at: Duration,
    status: RunStatus,
    error: Option<String>,
}

/// Why the events of a run are not made into a [`Whole`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NotMade {
    /// They have to be made into what is stored first.
    NotPlain,
    /// They are not all of it, or too much for whoever serves calls.
    ForTheWriter,
}

impl Whole {
    /// Makes the events of a run into what is written, if they are all of it, small, and have
    /// nothing that stands elsewhere.
    pub(super) fn of_plain(
        run: &Arc<Live>,
        shared: &Shared,
        collected: &Collected,
    ) -> Result<Self, NotMade> {
        let Collected { events, bytes, told, .. } = collected;
        let has_ended = matches!(events.last(), Some(Event::Finished { .. }));
        if !has_ended || told.is_some() || !can_be_whole(run, events.len(), *bytes) {
            return Err(NotMade::ForTheWriter);
        }
        let (mut steps, mut at, mut reached) = (0, Duration::ZERO, None);
        let text = write(shared, |lines, payloads, _| {
            for (place, event) in events.iter().enumerate() {
                if place > 0 {
                    lines.push(b'\n');
                }
                let written = write_plain_line(lines, event, payloads).ok_or(NotMade::NotPlain)?;
                written.map_err(|()| NotMade::ForTheWriter)?;
                if let Event::StepStarted { step, node, .. } = event {
                    steps += 1;
                    reached = Some((*step, &**node));
                }
                at = at.max(event.at());
            }
            Ok(())
        })?;
        let whole = Self::new(run, shared, text, events.len(), *bytes);
        // Of those that are plain, the last can only say so.
        let status = RunStatus::Succeeded;
        Ok(Self { steps, at, status, ..whole }.reaching(reached))
    }

    /// The same for events as they are stored.
    pub(super) fn of_stored(
        run: &Arc<Live>,
        shared: &Shared,
        events: &[StoredEvent],
        bytes: usize,
    ) -> Result<Self, NotMade> {
        let mut state = RunState::default();
        let text = write(shared, |lines, payloads, masker| {
            for (place, event) in events.iter().enumerate() {
                if place > 0 {
                    lines.push(b'\n');
                }
                write_line(lines, event, payloads).map_err(|()| NotMade::ForTheWriter)?;
            }
            state.note_all(0, events, masker);
            Ok(())
        })?;
        let whole = Self::new(run, shared, text, events.len(), bytes);
        let RunState { steps, at, ref reached, .. } = state;
        let (status, error) = (state.status(), state.error);
        let reached = reached.as_ref().map(|(step, node)| (*step, &**node));
        Ok(Self { steps, at, status, error, ..whole }.reaching(reached))
    }

    fn new(run: &Arc<Live>, shared: &Shared, text: Vec<u8>, count: usize, bytes: usize) -> Self {
        let NewRun { id, started, origin, .. } = &run.new;
        Self {
            run: Arc::clone(run),
            id: *id,
            occasion: shared.occasions.of(&run.new),
            started: *started,
            is_particular: origin.is_particular(),
            count,
            bytes,
            lines: text.len(),
            text,
            steps: 0,
            reached: None,
            at: Duration::ZERO,
            status: RunStatus::Running,
            error: None,
        }
    }

    /// The same after it came to a node.
    fn reaching(mut self, reached: Option<(StepId, &str)>) -> Self {
        if let Some((step, node)) = reached {
            self.reached = Some(step);
            self.text.extend_from_slice(node.as_bytes());
        }
        self
    }

    /// The lines of its events.
    pub(super) fn lines(&self) -> &[u8] {
        &self.text[..self.lines]
    }

    /// Its row, in the place with a number.
    pub(super) fn row(&self, no: i64, writer: Option<i64>, occasion: Digest) -> NewRow<'_> {
        let node = str::from_utf8(&self.text[self.lines..]).unwrap_or_default();
        NewRow {
            no: Some(no),
            id: self.id,
            started: self.started,
            at: self.at,
            status: self.status,
            writer,
            steps: self.steps,
            events: self.count as u64,
            lost: 0,
            occasion,
            reached: self.reached.map(|step| (step, node)),
            error: self.error.as_deref(),
            origin: self.is_particular.then(|| &self.run.new.origin),
        }
    }

    /// Its text, to be used again.
    pub(super) fn into_text(self) -> Vec<u8> {
        self.text
    }
}

/// Whether so many events of this size, of which the last ends the run, can be all of it.
fn can_be_whole(run: &Live, events: usize, bytes: usize) -> bool {
    run.recorded() == 0 && !run.is_durable && bytes <= MAX_BYTES && (events as u64) < MAX_EVENTS
}

/// Writes lines into memory that was used for others.
///
/// What the writer has read is slow to change where it has another cache. So lines are made somewhere
/// else, bit by bit, and put there at once.
fn write(
    shared: &Shared,
    body: impl FnOnce(&mut Vec<u8>, &mut PayloadWriter<'_, Nowhere>, &Masker) -> Result<(), NotMade>,
) -> Result<Vec<u8>, NotMade> {
    let masker = shared.masker();
    let mut payloads = PayloadWriter::new(&shared.options, &masker, Nowhere);
    let mut draft = shared.drafts.take();
    let made = body(&mut draft, &mut payloads, &masker).map(|()| {
        let mut lines = shared.spare_lines.take();
        lines.reserve(draft.len() + ROOM_FOR_A_NAME);
        lines.extend_from_slice(&draft);
        lines
    });
    shared.drafts.give_back(draft);
    made
}
