//! The events of one run as counts.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_engine::{ErrorKind, Event, RunError, StepId};
use mcpgraph_graph as graph;
use mcpgraph_runtime::{RunObserver, RunStart};

use super::Registry;
use crate::outline::Target;
use crate::steps::{OpenStep, OpenSteps};

/// The outcome of what did not fail.
pub(super) const OK: &str = "ok";

/// The outcome of a run that was dropped before its end.
pub(super) const ABANDONED: &str = "abandoned";

/// A run under way.
pub(super) struct Counted {
    registry: Arc<Registry>,
    tool: Arc<str>,
    steps: OpenSteps<Attempt>,
    /// When the latest event was.
    latest: Duration,
    has_ended: bool,
    is_durable: bool,
    /// When this execution began. What an earlier one left under way is tried again since then.
    since: Duration,
    /// When the first step began that is not told again from another run's record, whose time does
    /// not count; none as long as all are.
    own_since: Option<Duration>,
}

/// The latest attempt of a step.
struct Attempt {
    /// When it begins. A run may end before that.
    begins: Duration,
    /// Whether there was one before it.
    is_retry: bool,
    /// Whether there was an input to call something with when the step was told.
    has_input: bool,
}

impl Attempt {
    /// Whether something was called by the time it ended. What a call is made with may fail, or take
    /// too long, before there is a call.
    fn has_called(&self, error: Option<&RunError>) -> bool {
        match error.map(|error| error.kind) {
            Some(ErrorKind::Expression) => false,
            Some(ErrorKind::Timeout | ErrorKind::Limit | ErrorKind::Cancelled) => {
                self.has_input || self.is_retry
            }
            _ => true,
        }
    }
}

impl Counted {
    pub(super) fn begin(registry: Arc<Registry>, run: &RunStart<'_>) -> Self {
        registry.runs_active.add(1);
        let tool = Arc::clone(run.tool);
        let steps = OpenSteps::new(run, registry.outlines.of(run));
        let is_durable = run.is_durable;
        let since = if is_durable {
            SystemTime::now().duration_since(run.at).unwrap_or_default()
        } else {
            Duration::ZERO
        };
        let own_since = run.origin.parent.is_none().then_some(Duration::ZERO);
        let (latest, has_ended) = (Duration::ZERO, false);
        Self { registry, tool, steps, latest, has_ended, is_durable, since, own_since }
    }

    /// The run is not under way here any more. It ended, or goes on elsewhere, which counts it then.
    fn leave(&mut self) {
        if !self.has_ended {
            self.has_ended = true;
            self.registry.runs_active.add(-1);
        }
    }

    fn end(&mut self, outcome: &'static str) {
        self.leave();
        let registry = &self.registry;
        let took = self.own_since.map_or(Duration::ZERO, |since| self.latest.saturating_sub(since));
        registry.calls.with([(&self.tool).into(), outcome.into()]).increase();
        registry.call_duration.with([(&self.tool).into()]).observe(took);
    }

    fn step_ended(&mut self, step: StepId, error: Option<&RunError>, at: Duration) {
        // What was executed in an earlier run was counted then.
        let Some(step) = self.steps.end(step).filter(|step| !step.is_recalled) else { return };
        let labels = [(&step.tool).into(), (&step.node).into(), step.kind.into()];
        self.registry.node_duration.with(labels).observe(at.saturating_sub(step.began));
        if let Some(error) = error {
            let labels = [(&step.tool).into(), (&step.node).into(), error.kind.code().into()];
            self.registry.node_errors.with(labels).increase();
        }
        self.attempt_ended(&step, error, at);
    }

    fn next_attempt(&mut self, step: StepId, begins: Duration) {
        if let Some(open) = self.steps.get_mut(step) {
            open.own = Attempt { begins, is_retry: true, ..open.own };
        }
    }

    fn attempt_ended(&self, step: &OpenStep<Attempt>, error: Option<&RunError>, at: Duration) {
        if at < step.own.begins {
            return;
        }
        if step.own.is_retry {
            let labels = [(&step.tool).into(), (&step.node).into()];
            self.registry.node_retries.with(labels).increase();
        }
        if !step.own.has_called(error) {
            return;
        }
        let target = self.steps.outline(step).and_then(|outline| outline.target.as_ref());
        let Some(Target::Outside(target)) = target else { return };
        let outcome = error.map_or(OK, |error| error.kind.name());
        let labels = match target {
            graph::Target::Tool { server, tool } => [server.into(), tool.into(), outcome.into()],
            graph::Target::Command(command) => {
                let backend = &command.backend;
                [(&backend.name).into(), backend.kind.name().into(), outcome.into()]
            }
            graph::Target::Hook(_)
            | graph::Target::Wrapped
            | graph::Target::Ask(_)
            | graph::Target::Time { .. } => return,
        };
        self.registry
            .upstream_duration
            .with(labels)
            .observe(at.saturating_sub(step.own.begins.max(self.since)));
    }
}

impl RunObserver for Counted {
    fn event(&mut self, event: &Event) {
        self.latest = self.latest.max(event.at());
        match event {
            Event::StepStarted { step, path, node, kind, input, began, at, .. } => {
                let own_since = &mut self.own_since;
                self.steps.begin((*step, path), (node, kind), *began, |beginning| {
                    if !beginning.is_recalled {
                        own_since.get_or_insert(*began);
                    }
                    // The first attempt of a call begins when its arguments are there.
                    Attempt { begins: *at, is_retry: false, has_input: input.is_some() }
                });
            }
            Event::StepFinished { step, at, .. } => {
                self.step_ended(*step, None, *at);
            }
            Event::StepFailed { step, error, at, .. } => {
                self.step_ended(*step, Some(error), *at);
            }
            Event::Retrying { step, delay, error, at, .. } => {
                if let Some(open) = self.steps.get(*step).filter(|open| !open.is_recalled) {
                    self.attempt_ended(open, Some(error), *at);
                }
                self.next_attempt(*step, at.saturating_add(*delay));
            }
            Event::Finished { outcome, .. } if !self.has_ended => {
                self.end(outcome.as_ref().map_or_else(|error| error.kind.name(), |_| OK));
            }
            _ => {}
        }
    }

    /// What an earlier execution did is not counted once more.
    fn told_again(&mut self, event: &Event) {
        match event {
            Event::StepFinished { step, .. } | Event::StepFailed { step, .. } => {
                self.latest = self.latest.max(event.at());
                self.steps.end(*step);
            }
            Event::Retrying { step, delay, at, .. } => {
                self.latest = self.latest.max(*at);
                self.next_attempt(*step, at.saturating_add(*delay));
            }
            Event::Finished { .. } => self.leave(),
            _ => self.event(event),
        }
    }
}

impl Drop for Counted {
    /// A durable run goes on, unless it failed by a fault of ours.
    fn drop(&mut self) {
        if self.is_durable && !std::thread::panicking() {
            self.leave();
        } else if !self.has_ended {
            self.end(ABANDONED);
        }
    }
}
