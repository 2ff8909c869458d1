//! The executions of one process, whatever engine they belong to.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mcpgraph_journal::RunId;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::halt::Halt;
use crate::{Place, Stopped};

/// The runs that are executed by this process.
#[derive(Default)]
pub(crate) struct Executions {
    running: Mutex<Running>,
    /// The steps under way that must not be repeated; closed once no more are begun.
    unrepeatable: TaskTracker,
}

#[derive(Default)]
struct Running {
    halts: HashMap<RunId, Arc<Halt>>,
    /// None begins any more. It is under the same lock, so that nobody enters whom closing has not
    /// stopped.
    is_closed: bool,
}

impl Executions {
    /// Begins an execution of a run; none while there is another one, and once they are closed.
    pub(crate) fn enter(self: &Arc<Self>, run: RunId) -> Option<(Entered, Course)> {
        let halt = Arc::new(Halt::default());
        {
            let mut running = self.running.lock();
            if running.is_closed {
                return None;
            }
            match running.halts.entry(run) {
                Entry::Occupied(_) => return None,
                Entry::Vacant(entry) => entry.insert(Arc::clone(&halt)),
            };
        }
        let course = Course {
            mark: RunId::new().to_string(),
            halt,
            taken: AtomicU32::new(0),
            unrepeatable: self.unrepeatable.clone(),
        };
        Some((Entered { executions: Arc::clone(self), run }, course))
    }

    /// The runs that are executed.
    pub(crate) fn runs(&self) -> Vec<RunId> {
        self.running.lock().halts.keys().copied().collect()
    }

    pub(crate) fn contains(&self, run: RunId) -> bool {
        self.running.lock().halts.contains_key(&run)
    }

    /// Stops the execution of a run, if there is one.
    pub(crate) fn stop(&self, run: RunId, why: Stopped) {
        if let Some(halt) = self.running.lock().halts.get(&run) {
            halt.stop(why);
        }
    }

    /// Stops all executions.
    pub(crate) fn stop_all(&self, why: &Stopped) {
        self.running.lock().stop_all(why);
    }

    /// Stops all executions, because the process ends; no other begins.
    pub(crate) fn close(&self) {
        let mut running = self.running.lock();
        running.is_closed = true;
        running.stop_all(&Stopped::ending());
    }

    /// See [`crate::Engine::retire`].
    pub(crate) async fn retire(&self) {
        self.unrepeatable.close();
        self.unrepeatable.wait().await;
    }
}

impl Running {
    fn stop_all(&self, why: &Stopped) {
        for halt in self.halts.values() {
            halt.stop(why.clone());
        }
    }
}

/// An execution that is counted among those of its process until this is dropped.
pub(crate) struct Entered {
    executions: Arc<Executions>,
    run: RunId,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.executions.running.lock().halts.remove(&self.run);
    }
}

/// Where one execution of a run is, and whether it may go on.
pub struct Course {
    mark: String,
    halt: Arc<Halt>,
    /// The number of the next place.
    taken: AtomicU32,
    unrepeatable: TaskTracker,
}

impl Course {
    pub(crate) fn next(&self, name: &str) -> Place {
        Place { number: self.taken.fetch_add(2, Ordering::Relaxed), name: name.into() }
    }

    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    pub(crate) fn stopped(&self) -> &CancellationToken {
        self.halt.token()
    }

    pub(crate) fn why(&self) -> Option<Stopped> {
        self.halt.why()
    }

    /// An error if it must stop.
    pub(crate) fn check(&self) -> Result<(), Stopped> {
        self.why().map_or(Ok(()), Err)
    }

    /// Says that a step is under way that must not be repeated, until what is given back is dropped.
    pub(crate) fn commit(&self) -> Result<TaskTrackerToken, Stopped> {
        let token = self.unrepeatable.token();
        if self.unrepeatable.is_closed() {
            return Err(Stopped::ending());
        }
        Ok(token)
    }
}
