use mcpgraph_engine::Event;

use super::estimate::estimate;
use crate::Delivery;

/// What a run recorded since it last handed something over.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) events: Vec<Event>,
    /// What they hold, about.
    pub(crate) bytes: usize,
    /// Who is to be told of them once they are in the file.
    pub(super) told: Option<Told>,
}

/// Events that somebody is to be told of.
pub(crate) struct Told {
    events: Vec<Event>,
    deliver: Delivery,
}

impl Collected {
    pub(crate) fn add(&mut self, event: Event, deliver: Option<&Delivery>) {
        self.bytes += estimate(&event);
        if let Some(deliver) = deliver {
            self.told
                .get_or_insert_with(|| Told { events: Vec::new(), deliver: deliver.clone() })
                .events
                .push(event.clone());
        }
        self.events.push(event);
    }
}

impl Told {
    /// Tells of them.
    pub(super) fn tell(&self) {
        for event in &self.events {
            (self.deliver)(event);
        }
    }
}
