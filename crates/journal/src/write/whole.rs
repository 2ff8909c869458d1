//! Runs of which all is recorded at once, as most are: what is written of them is made where they
//! ran.
//!
//! Their events are in the caches of the thread that recorded them. The one that writes would have to
//! fetch each of them, and they would be fetched again to be freed.

use std::slice;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{Event, StepId};
use mcpgraph_memory::fetch_to_write;

use super::chunk::MAX_EVENTS;
use super::collected::Collected;
use super::live::Live;
use super::occasion::Occasion;
use super::payloads::{Nowhere, PayloadWriter};
use super::row::NewRow;
use super::shared::Shared;
use super::spare::{self, DRAFTS, LINES};
use super::state::RunState;
use crate::codec::{write_line, write_plain_line};
use crate::mask::Masker;
use crate::{Digest, NewRun, RunId, RunStatus, StoredEvent};

/// A run that holds more than this, about, is left to the thread that writes: whoever serves calls
/// has no time for it.
const MAX_BYTES: usize = 16 * 1024;

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

/// Runs that are in the file, for those who made them to drop. They go back as they came, and are not
/// copied on the way.
pub(crate) type Spent = Vec<Box<Whole>>;

/// Why the events of a run are not made into a [`Whole`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum NotMade {
    /// They have to be made into what is stored first.
    NotPlain,
    /// They are not all of it, or too much for whoever serves calls.
    ForTheWriter,
}

/// What the events of a run came to.
struct End<'e> {
    steps: u64,
    reached: Option<(StepId, &'e str)>,
    at: Duration,
    status: RunStatus,
    error: Option<String>,
}

impl Whole {
    /// Makes the events of a run into what is written, if they are all of it, small, and have
    /// nothing that stands elsewhere.
    pub(super) fn of_plain(
        run: &Arc<Live>,
        shared: &Shared,
        collected: &Collected,
    ) -> Result<Box<Self>, NotMade> {
        let Collected { events, bytes, told, .. } = collected;
        let has_ended = matches!(events.last(), Some(Event::Finished { .. }));
        if !has_ended || told.is_some() || !can_be_whole(run, events.len(), *bytes) {
            return Err(NotMade::ForTheWriter);
        }
        Self::make(run, shared, (events.len(), *bytes), |lines, payloads, _| {
            let (mut steps, mut reached, mut at) = (0, None, Duration::ZERO);
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
            // Of those that are plain, the last can only say so.
            Ok(End { steps, reached, at, status: RunStatus::Succeeded, error: None })
        })
    }

    /// The same for events as they are stored.
    pub(super) fn of_stored(
        run: &Arc<Live>,
        shared: &Shared,
        events: &[StoredEvent],
        bytes: usize,
    ) -> Result<Box<Self>, NotMade> {
        let mut state = RunState::default();
        let noted = &mut state;
        Self::make(run, shared, (events.len(), bytes), |lines, payloads, masker| {
            for (place, event) in events.iter().enumerate() {
                if place > 0 {
                    lines.push(b'\n');
                }
                write_line(lines, event, payloads).map_err(|()| NotMade::ForTheWriter)?;
            }
            noted.note_all(0, events, masker);
            let (error, status) = (noted.error.take(), noted.status());
            let RunState { steps, at, reached, .. } = noted;
            let reached = reached.as_ref().map(|(step, node)| (*step, &**node));
            Ok(End { steps: *steps, reached, at: *at, status, error })
        })
    }

    /// Makes so many events, which hold so many bytes, into what is written.
    ///
    /// What the writer has read is slow to change where it has another cache. So that memory is asked
    /// for before it is needed, lines are made somewhere else, bit by bit, and put there at once.
    fn make<'e>(
        run: &Arc<Live>,
        shared: &Shared,
        (count, bytes): (usize, usize),
        write: impl FnOnce(
            &mut Vec<u8>,
            &mut PayloadWriter<'_, Nowhere>,
            &Masker,
        ) -> Result<End<'e>, NotMade>,
    ) -> Result<Box<Self>, NotMade> {
        let masker = shared.masker();
        let mut payloads = PayloadWriter::new(&shared.options, &masker, Nowhere);
        let (mut whole, mut text) = (Box::new_uninit(), spare::take(&LINES));
        fetch_to_write(slice::from_mut(&mut *whole));
        fetch_to_write(text.spare_capacity_mut());
        let mut draft = spare::take(&DRAFTS);
        let made = match write(&mut draft, &mut payloads, &masker) {
            Ok(end) => {
                let lines = draft.len();
                if let Some((_, node)) = end.reached {
                    draft.extend_from_slice(node.as_bytes());
                }
                text.extend_from_slice(&draft);
                let NewRun { id, started, origin, .. } = &run.new;
                let made = Self {
                    run: Arc::clone(run),
                    id: *id,
                    occasion: shared.occasions.of(&run.new),
                    started: *started,
                    is_particular: origin.is_particular(),
                    count,
                    bytes,
                    text,
                    lines,
                    steps: end.steps,
                    reached: end.reached.map(|(step, _)| step),
                    at: end.at,
                    status: end.status,
                    error: end.error,
                };
                Ok(Box::write(whole, made))
            }
            Err(why) => {
                spare::give_back(&LINES, text);
                Err(why)
            }
        };
        spare::give_back(&DRAFTS, draft);
        made
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
