//! The way a run took.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_engine::{Event, StepId, StepPath};

/// The nodes of a run in the order in which they ended.
///
/// What runs side by side is put in the order of its items and branches, so that the same run has
/// the same trail however fast each of them was.
#[derive(Default)]
pub(super) struct Trail {
    /// The steps that have begun, until they end.
    open: HashMap<StepId, Begun>,
    ended: Vec<Ended>,
    /// How often the step at a place was tried again.
    retries: HashMap<StepPath, u32>,
    /// Steps with others inside that failed, for good or once.
    broken: Vec<StepPath>,
}

struct Begun {
    node: Arc<str>,
    path: StepPath,
    contains: bool,
    order: Vec<u32>,
}

struct Ended {
    node: Arc<str>,
    path: StepPath,
    /// The positions of the path with the number of the attempt after each but the last.
    order: Vec<u32>,
}

/// A part of a trail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Node(Arc<str>),
    /// Nodes whose number or order depended on what was faster.
    Unsteady,
}

impl Trail {
    /// Goes through the events of a run.
    pub(super) fn of(events: &[Event]) -> Self {
        let mut trail = Self::default();
        for event in events {
            trail.take(event);
        }
        trail.ended.sort_by(|one, other| inside_first(&one.order, &other.order));
        trail
    }

    /// The nodes.
    pub(super) fn nodes(&self) -> Vec<Arc<str>> {
        self.ended.iter().map(|ended| Arc::clone(&ended.node)).collect()
    }

    /// The nodes, without those inside a loop or branches that failed: how far the others came by
    /// then is a matter of time.
    pub(super) fn steady(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        for ended in &self.ended {
            if self.broken.iter().any(|container| ended.path.is_inside(container)) {
                if parts.last() != Some(&Part::Unsteady) {
                    parts.push(Part::Unsteady);
                }
            } else {
                parts.push(Part::Node(Arc::clone(&ended.node)));
            }
        }
        parts
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::StepStarted { step, path, node, kind, .. } => {
                let begun = Begun {
                    node: Arc::clone(node),
                    path: path.clone(),
                    contains: matches!(*kind, "foreach" | "parallel"),
                    order: self.order(path),
                };
                self.open.insert(*step, begun);
            }
            Event::Retrying { step, .. } => {
                if let Some(begun) = self.open.get(step) {
                    *self.retries.entry(begun.path.clone()).or_default() += 1;
                    if begun.contains {
                        self.broken.push(begun.path.clone());
                    }
                }
            }
            Event::StepFinished { step, .. } => self.end(*step, false),
            Event::StepFailed { step, .. } => self.end(*step, true),
            _ => {}
        }
    }

    fn end(&mut self, step: StepId, failed: bool) {
        let Some(begun) = self.open.remove(&step) else { return };
        if failed && begun.contains {
            self.broken.push(begun.path.clone());
        }
        self.ended.push(Ended { node: begun.node, path: begun.path, order: begun.order });
    }

    fn order(&self, path: &StepPath) -> Vec<u32> {
        let positions = path.positions();
        let mut order = Vec::with_capacity(positions.len() * 2);
        for (index, position) in positions.iter().enumerate() {
            order.push(*position);
            if index + 1 < positions.len() {
                let container = StepPath::new(&positions[..=index]);
                order.push(self.retries.get(&container).copied().unwrap_or_default());
            }
        }
        order
    }
}

/// What is inside a step ends before it.
fn inside_first(one: &[u32], other: &[u32]) -> std::cmp::Ordering {
    let shared = one.len().min(other.len());
    one[..shared].cmp(&other[..shared]).then(other.len().cmp(&one.len()))
}

#[cfg(test)]
mod tests;
