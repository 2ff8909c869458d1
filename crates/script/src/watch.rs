//! When an execution has to stop.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Instant;

use crate::operations::Message;
use crate::{Limits, ScriptError};

/// One execution as both sides see it: the thread it runs on, and whoever waits for it.
pub(crate) struct Watch {
    is_cancelled: AtomicBool,
    end: AtomicU8,
    wake: SyncSender<Message>,
}

const RUNNING: u8 = 0;
const FINISHED: u8 = 1;
const ABANDONED: u8 = 2;

impl Watch {
    pub(crate) fn new(wake: SyncSender<Message>) -> Self {
        Self { is_cancelled: AtomicBool::new(false), end: AtomicU8::new(RUNNING), wake }
    }

    /// Asks the execution to stop.
    pub(crate) fn cancel(&self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        // A full inbox means that it is awake.
        drop(self.wake.try_send(Message::Wake));
    }

    /// Gives the thread up; false if the execution has just ended.
    pub(crate) fn abandon(&self) -> bool {
        self.end_as(ABANDONED)
    }

    /// Ends the execution; false if its thread has been given up.
    pub(crate) fn finish(&self) -> bool {
        self.end_as(FINISHED)
    }

    /// Whether an execution that may go on until `deadline` has to stop.
    pub(crate) fn is_over(&self, deadline: Instant) -> bool {
        self.is_cancelled.load(Ordering::Relaxed) || Instant::now() >= deadline
    }

    fn end_as(&self, end: u8) -> bool {
        self.end.compare_exchange(RUNNING, end, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// The clock of an execution, on its own thread.
pub(crate) struct Clock<'a> {
    pub(crate) deadline: Instant,
    pub(crate) limits: Limits,
    watch: &'a Watch,
}

impl<'a> Clock<'a> {
    pub(crate) fn start(limits: Limits, watch: &'a Watch) -> Self {
        Self { deadline: Instant::now() + limits.time, limits, watch }
    }

    /// Why it has to stop, if it has to.
    pub(crate) fn stop(&self) -> Option<ScriptError> {
        if self.watch.is_cancelled.load(Ordering::Relaxed) {
            return Some(ScriptError::Cancelled);
        }
        (Instant::now() >= self.deadline)
            .then_some(ScriptError::Timeout { limit: self.limits.time })
    }
}
