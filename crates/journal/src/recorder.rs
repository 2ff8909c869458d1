use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::Event;
use mcpgraph_graph::Digest;

use crate::write::{Live, Shared};
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

/// Records one run. Dropping it without an event `Finished` leaves the run interrupted.
pub struct RunRecorder {
    shared: Arc<Shared>,
    run: Arc<Live>,
}

impl RunRecorder {
    pub(crate) fn new(shared: Arc<Shared>, run: Arc<Live>) -> Self {
        Self { shared, run }
    }

    /// The run.
    pub fn id(&self) -> RunId {
        self.run.new.id
    }

    /// Records an event. Events are numbered from 0 in the order of these calls. Never blocks.
    ///
    /// Deliveries of a run are made in the order of its events, unless more than twice as many as
    /// may be queued wait: then what comes is told of at once.
    pub fn record(&self, event: &Event, deliver: Option<Delivery>) {
        self.shared.record(&self.run, event, deliver);
    }

    /// Waits until everything recorded so far is in the file, but for no longer than the run may
    /// wait in total. False if it is not: it is late, or lost. While the store is known not to
    /// keep up, nobody waits.
    ///
    /// Must be called inside a Tokio runtime with timers.
    pub async fn committed(&self) -> bool {
        self.run.committed(&self.shared).await
    }
}

impl Drop for RunRecorder {
    fn drop(&mut self) {
        self.shared.end(&self.run);
    }
}
