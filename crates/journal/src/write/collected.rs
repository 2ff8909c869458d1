use std::time::{Duration, Instant};

use mcpgraph_engine::Event;

use super::estimate::Estimate;
use crate::{Delivery, RunStatus};

/// What a run recorded since it last handed something over.
#[derive(Default)]
pub(crate) struct Collected {
    pub(crate) events: Vec<Event>,
    /// What they hold, about.
    pub(crate) bytes: usize,
    estimate: Estimate,
    /// Since when the run waits, if it does, and keeps the first of them.
    pub(crate) kept_back: Option<Instant>,
    /// Who is to be told of them once they are in the file.
    pub(super) told: Option<Told>,
}

/// Events that somebody is to be told of.
pub(crate) struct Told {
    events: Vec<Event>,
    deliver: Delivery,
}

impl Collected {
    /// Adds events, which are moved all at once; how and when the run ended, if one of them says so.
    pub(crate) fn add(
        &mut self,
        events: &mut Vec<Event>,
        deliver: Option<&Delivery>,
    ) -> Option<(RunStatus, Duration)> {
        let mut ended = None;
        for event in &*events {
            self.bytes += self.estimate.event(event);
            if let Event::Finished { outcome, at } = event {
                ended = Some((RunStatus::of(outcome), *at));
            }
        }
        if let Some(deliver) = deliver {
            self.told
                .get_or_insert_with(|| Told { events: Vec::new(), deliver: deliver.clone() })
                .events
                .extend_from_slice(events);
        }
        self.events.append(events);
        ended
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
