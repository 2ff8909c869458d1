use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, StepId};

use crate::mask::Masker;
use crate::tracker::Tracker;
use crate::{RunStatus, StoredError, StoredEvent};

/// How much of an error the list of runs shows.
const MAX_ERROR_BYTES: usize = 1024;

/// What the row of a run says, and what is needed to go on with it.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunState {
    /// The number of its row, once there is one.
    pub(crate) no: Option<i64>,
    pub(crate) tracker: Tracker,
    /// The event before which the latest snapshot was taken.
    pub(crate) snapshot: u64,
    pub(crate) steps: u64,
    /// The number of the next event.
    pub(crate) events: u64,
    pub(crate) lost: u64,
    /// Events below this are in the store from an earlier execution of the run.
    pub(crate) kept: u64,
    pub(crate) reached: Option<(StepId, Arc<str>)>,
    /// When its latest event happened.
    pub(crate) at: Duration,
    /// None while it runs.
    pub(crate) ended: Option<RunStatus>,
    pub(crate) error: Option<String>,
    /// Another run has its id, or another process this run; nothing of this one is kept.
    pub(crate) refused: bool,
}

impl RunState {
    /// Of a run that is not kept: another has its id.
    pub(super) fn refused() -> Self {
        Self { refused: true, ..Self::default() }
    }

    /// Goes on by an event of the run.
    pub(crate) fn apply(&mut self, seq: u64, event: &StoredEvent, masker: &Masker) {
        self.tracker.apply(seq, event);
        self.note(seq, event, masker);
    }

    /// Goes on by an event of a run that needs no snapshot.
    pub(crate) fn note(&mut self, seq: u64, event: &StoredEvent, masker: &Masker) {
        self.note_all(seq, std::slice::from_ref(event), masker);
    }

    /// Goes on by several, the first of which has this number.
    pub(super) fn note_all(&mut self, first: u64, events: &[StoredEvent], masker: &Masker) {
        self.events = first + events.len() as u64;
        let mut reached = None;
        for event in events {
            self.at = self.at.max(event.at());
            match event {
                StoredEvent::StepStarted { step, node, .. } => {
                    self.steps += 1;
                    reached = Some((*step, node));
                }
                StoredEvent::Finished { outcome: Ok(_), .. } => {
                    self.ended = Some(RunStatus::Succeeded);
                }
                StoredEvent::Finished { outcome: Err(error), .. } => {
                    self.ended = Some(RunStatus::of_error(error.kind));
                    self.error = Some(shown(error, masker));
                }
                _ => {}
            }
        }
        if let Some((step, node)) = reached {
            self.reached = Some((step, Arc::clone(node)));
        }
    }

    pub(crate) fn status(&self) -> RunStatus {
        self.ended.unwrap_or(RunStatus::Running)
    }
}

/// An error as the list of runs shows it.
fn shown(error: &StoredError, masker: &Masker) -> String {
    let message = error.message.text();
    let message = masker.message(&message);
    let text = match &error.node {
        Some(node) => format!("node `{node}`: {message}"),
        None => message.into_owned(),
    };
    text[..text.floor_char_boundary(MAX_ERROR_BYTES)].to_owned()
}

impl RunStatus {
    /// How a run that failed so stands.
    pub(crate) fn of_error(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Cancelled => Self::Cancelled,
            _ => Self::Failed,
        }
    }
}
