use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_engine::Event;
use mcpgraph_graph::Digest;

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
pub type Delivery = Arc<dyn Fn(&Event) + Send + Sync>;

/// Records one run. Dropping it without an event `Finished` leaves the run interrupted.
pub struct RunRecorder {}

impl RunRecorder {
    /// Records an event. Events are numbered from 0 in the order of these calls. Never blocks.
    pub fn record(&self, _event: &Event, _deliver: Option<Delivery>) {
        unimplemented!()
    }

    /// Waits until everything recorded so far is in the file, but for no longer than the run may
    /// wait in total. False if it is not: it is late, or lost.
    pub async fn committed(&self) -> bool {
        unimplemented!()
    }
}
