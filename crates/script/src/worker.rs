//! The threads that scripts run on.

use std::sync::mpsc::{Receiver, SyncSender};
use std::sync::{Arc, Weak};
use std::thread;

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::execute::execute;
use crate::operations::Message;
use crate::sandbox::Pool;
use crate::watch::Watch;
use crate::{Host, Limits, Report};

/// What is to be executed.
pub(crate) struct Task {
    pub(crate) script: Arc<str>,
    /// The argument, as JSON.
    pub(crate) context: String,
    pub(crate) limits: Limits,
    pub(crate) host: Arc<dyn Host>,
    /// Where requests are made.
    pub(crate) world: Handle,
    /// Reaches the execution while it waits.
    pub(crate) outbox: SyncSender<Message>,
}

/// A task for a thread.
pub(crate) struct Job {
    pub(crate) task: Task,
    pub(crate) inbox: Receiver<Message>,
    pub(crate) watch: Arc<Watch>,
    pub(crate) reply: oneshot::Sender<Report>,
    /// The way to the thread, for its next task. It goes with the task so that a thread whose
    /// sandbox is gone ends.
    pub(crate) thread: SyncSender<Job>,
}

/// What the engine may use of the stack, four times.
const STACK: usize = 2 << 20;

/// Starts a thread.
pub(crate) fn start(pool: Weak<Pool>, jobs: Receiver<Job>) -> std::io::Result<()> {
    let work = move || {
        while let Ok(job) = jobs.recv() {
            let Job { task, inbox, watch, reply, thread } = job;
            let report = execute(&task, inbox, &watch);
            let is_lost = !watch.finish();
            let Some(pool) = pool.upgrade() else { return };
            if is_lost {
                // Another thread has taken its place.
                pool.found();
                return;
            }
            pool.rest(thread);
            // Nobody may want it any more.
            drop(reply.send(report));
        }
    };
    thread::Builder::new().name(String::from("script")).stack_size(STACK).spawn(work).map(drop)
}
