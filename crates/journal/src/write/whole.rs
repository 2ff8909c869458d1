//! Runs of which all is recorded at once, as most are: what is written of them is made where they
//! ran.
//!
//! Their events are in the caches of the thread that recorded them. The one that writes would have to
//! fetch each of them, and they would be fetched again to be freed.

use std::sync::Arc;

use super::chunk::MAX_EVENTS;
use super::collected::Collected;
use super::live::Live;
use super::payloads::{Nowhere, PayloadWriter};
use super::shared::Shared;
use super::state::RunState;
use crate::StoredEvent;
use crate::codec::write_event;

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

impl Whole {
    /// Makes the events of a run into what is written, if they are all of it, small, and have
    /// nothing that stands elsewhere. They are gone then.
    pub(super) fn of(run: &Arc<Live>, shared: &Shared, collected: &mut Collected) -> Option<Self> {
        let Collected { events, bytes, told } = collected;
        let is_whole = matches!(events.last(), Some(StoredEvent::Finished { .. }))
            && run.recorded() == 0
            && !run.is_durable;
        if !is_whole || told.is_some() || *bytes > MAX_BYTES || events.len() as u64 >= MAX_EVENTS {
            return None;
        }
        let masker = shared.masker();
        let mut payloads = PayloadWriter::new(&shared.options, &masker, Nowhere);
        let mut lines = shared.spare_lines.take();
        let mut state = Box::<RunState>::default();
        for (place, event) in events.iter().enumerate() {
            if place > 0 {
                lines.push(b'\n');
            }
            write_event(&mut lines, event, &mut payloads).ok()?;
        }
        state.note_all(0, events, &masker);
        let (count, bytes) = (events.len(), *bytes);
        shared.spare_lists.give_back(std::mem::take(events));
        Some(Self { run: Arc::clone(run), count, bytes, lines, state })
    }
}
