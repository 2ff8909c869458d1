//! Runs of which all is recorded at once, as most are: what is written of them is made where they
//! ran.
//!
//! Their events are in the caches of the thread that recorded them. The one that writes would have to
//! fetch each of them, and they would be fetched again to be freed.

use std::sync::Arc;

use mcpgraph_engine::Event;

use super::chunk::MAX_EVENTS;
use super::collected::Collected;
use super::live::Live;
use super::payloads::{Nowhere, PayloadWriter};
use super::shared::Shared;
use super::state::RunState;
use crate::codec::{write_line, write_plain_line};
use crate::mask::Masker;
use crate::{RunStatus, StoredEvent};

/// A run that holds more than this, about, is left to the thread that writes: whoever serves calls
/// has no time for it.
const MAX_BYTES: usize = 16 * 1024;

/// All events of a run.
pub(crate) struct Whole {
    pub(crate) run: Arc<Live>,
    /// How many they are.
    pub(crate) count: usize,
    /// What they hold, about.
    pub(super) bytes: usize,
    /// Their lines.
    pub(super) lines: Vec<u8>,
    /// What the run came to.
    pub(super) state: Box<RunState>,
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
        let mut state = Box::<RunState>::default();
        let lines = write(shared, |lines, payloads, _| {
            let mut reached = None;
            for (place, event) in events.iter().enumerate() {
                if place > 0 {
                    lines.push(b'\n');
                }
                let written = write_plain_line(lines, event, payloads).ok_or(NotMade::NotPlain)?;
                written.map_err(|()| NotMade::ForTheWriter)?;
                if let Event::StepStarted { step, node, .. } = event {
                    state.steps += 1;
                    reached = Some((*step, node));
                }
                state.at = state.at.max(event.at());
            }
            state.reached = reached.map(|(step, node)| (step, Arc::clone(node)));
            // Of those that are plain, the last can only say so.
            state.ended = Some(RunStatus::Succeeded);
            Ok(())
        })?;
        state.events = events.len() as u64;
        Ok(Self { run: Arc::clone(run), count: events.len(), bytes: *bytes, lines, state })
    }

    /// The same for events as they are stored.
    pub(super) fn of_stored(
        run: &Arc<Live>,
        shared: &Shared,
        events: &[StoredEvent],
        bytes: usize,
    ) -> Result<Self, NotMade> {
        let mut state = Box::<RunState>::default();
        let lines = write(shared, |lines, payloads, masker| {
            for (place, event) in events.iter().enumerate() {
                if place > 0 {
                    lines.push(b'\n');
                }
                write_line(lines, event, payloads).map_err(|()| NotMade::ForTheWriter)?;
            }
            state.note_all(0, events, masker);
            Ok(())
        })?;
        Ok(Self { run: Arc::clone(run), count: events.len(), bytes, lines, state })
    }
}

/// Whether so many events of this size, of which the last ends the run, can be all of it.
fn can_be_whole(run: &Live, events: usize, bytes: usize) -> bool {
    run.recorded() == 0 && !run.is_durable && bytes <= MAX_BYTES && (events as u64) < MAX_EVENTS
}

/// Writes lines into memory that was used for others.
fn write(
    shared: &Shared,
    body: impl FnOnce(&mut Vec<u8>, &mut PayloadWriter<'_, Nowhere>, &Masker) -> Result<(), NotMade>,
) -> Result<Vec<u8>, NotMade> {
    let masker = shared.masker();
    let mut payloads = PayloadWriter::new(&shared.options, &masker, Nowhere);
    let mut lines = shared.spare_lines.take();
    match body(&mut lines, &mut payloads, &masker) {
        Ok(()) => Ok(lines),
        Err(why) => {
            shared.spare_lines.give_back(lines);
            Err(why)
        }
    }
}
