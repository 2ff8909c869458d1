//! A run that stands still: what would come next, what it has, and what of it may be changed.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Kind, Node, NodeIx};
use mcpgraph_value::Value;

use super::{LiveScope, Run, ScopeId, State};
use crate::{Action, Event, LogLevel, PauseReason, ScopeView, StepId, StepPath, TaskId};

/// The node that begins next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upcoming {
    /// Where it will stand.
    pub path: StepPath,
    /// The node's id.
    pub node: Arc<str>,
    /// The node's type.
    pub kind: &'static str,
}

/// Why an output was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotChanged {
    /// The run has ended.
    Ended,
    /// The run goes on, and what is changed might be used already.
    Running,
    /// There is no such body at work.
    NoScope(StepPath),
    /// The node has no output in this body.
    NoOutput(Arc<str>),
    /// The value would be more than the run may hold.
    TooLarge(String),
}

impl Run {
    /// Lets nothing begin any more. What is under way may still end.
    pub fn pause(&mut self, why: PauseReason, now: Duration) {
        if !self.is_paused && self.outcome.is_none() {
            self.is_paused = true;
            self.see_held(&why);
            self.events.push(Event::Paused { why, at: now });
        }
    }

    /// Goes on. The time it stood still must not be in `now`.
    pub fn resume(&mut self, waited: Duration, now: Duration) {
        if self.is_paused {
            self.is_paused = false;
            self.waited = self.waited.saturating_add(waited);
            if self.outcome.is_none() {
                self.events.push(Event::Resumed { waited, at: now });
            }
        }
    }

    /// The time that expressions are told at a time of the run, in milliseconds since 1970. While
    /// it stood still, the world's time went on.
    pub fn told(&self, at: Duration) -> i64 {
        let elapsed = at.saturating_add(self.waited).as_millis();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        i64::try_from(self.given.clock.saturating_add(elapsed)).unwrap_or(i64::MAX)
    }

    /// Whether calls are all that it waits for: nothing is evaluated, and no step is about to be
    /// tried again.
    pub fn awaits_only_calls(&self) -> bool {
        let is_call =
            |state: &State| matches!(state, State::Calling | State::Asking | State::Containing(_));
        !self.has_work() && self.steps.values().all(|step| is_call(&step.state))
    }

    /// Whether it waits for people.
    pub fn waits_for_people(&self) -> bool {
        self.patience.is_needed()
    }

    /// Whether it stands still.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// The node that begins next, once what has to be done for others is under way.
    pub fn upcoming(&self) -> Option<Upcoming> {
        let (scope, node) = self.ready.front()?;
        let scope = self.scopes.get(scope)?;
        let node = &scope.body.nodes[*node];
        let mut path = scope.prefix.clone();
        path.push(scope.next_position);
        Some(Upcoming {
            path: StepPath(path.into()),
            node: Arc::clone(&node.id),
            kind: node.kind.name(),
        })
    }

    /// What the nodes of a body see. If none is named, of the body whose step has just ended and is
    /// held, or else of the one that goes on next.
    pub fn view(&self, scope: Option<&StepPath>) -> Option<&ScopeView> {
        let id = self.find_scope(scope)?;
        self.scopes.get(&id).map(|scope| &scope.view)
    }

    /// Puts another value in the place of a node's latest output, in the body that [`Run::view`]
    /// tells of if none is named. What was decided on the old value stays decided.
    pub fn set_output(
        &mut self,
        scope: Option<&StepPath>,
        node: &Arc<str>,
        output: Value,
        now: Duration,
    ) -> Result<(), NotChanged> {
        let Some(id) = self.find_scope(scope) else {
            return Err(match scope {
                Some(path) if self.outcome.is_none() => NotChanged::NoScope(path.clone()),
                _ => NotChanged::Ended,
            });
        };
        let Some(scope) = self.scopes.get_mut(&id) else { return Err(NotChanged::Ended) };
        let added = scope.view.added_bytes(&output);
        let Some(before) = scope.view.replace_latest(node, output.clone()) else {
            return Err(NotChanged::NoOutput(Arc::clone(node)));
        };
        // What another node has, too, is still there.
        let freed = scope.view.added_bytes(&before).min(scope.bytes);
        self.context_bytes = self.context_bytes.saturating_sub(freed);
        let held = self.hold(added);
        let Some(scope) = self.scopes.get_mut(&id) else { return Err(NotChanged::Ended) };
        if let Err(error) = held {
            self.context_bytes += freed;
            scope.view.replace_latest(node, before);
            return Err(NotChanged::TooLarge(error.message));
        }
        scope.bytes = scope.bytes - freed + added;
        let is_result = |of: NodeIx| scope.body.nodes[of].id == *node;
        let is_exit = |of: &Node| of.id == *node && matches!(of.kind, Kind::Exit);
        if scope.result_of.is_some_and(is_result) || scope.body.nodes.iter().any(is_exit) {
            scope.result = output.clone();
        }
        let scope = StepPath(scope.prefix.as_slice().into());
        self.refresh(id);
        self.events.push(Event::OutputChanged { scope, node: Arc::clone(node), output, at: now });
        Ok(())
    }

    /// Keeps something that a node said.
    pub fn log(&mut self, step: StepId, level: LogLevel, message: Arc<str>, now: Duration) {
        if self.outcome.is_none() {
            self.events.push(Event::Log { step, level, message, at: now });
        }
    }

    /// What is under way in a body, and in the bodies inside it, sees what is there now.
    fn refresh(&mut self, id: ScopeId) {
        let Some(scope) = self.scopes.get(&id) else { return };
        let outer = Arc::new(scope.view.clone());
        let last = scope.result.clone();
        let tasks: Vec<TaskId> =
            self.steps.iter().filter(|(_, step)| step.scope == id).map(|(task, _)| *task).collect();
        for task in tasks {
            match &self.steps[&task].state {
                State::Evaluating => {
                    self.take_back(task);
                    self.evaluate(task);
                }
                State::Containing(children) => {
                    let last = children.begin_with_last().then(|| last.clone());
                    let inside: Vec<ScopeId> = children.running().collect();
                    for scope in inside {
                        if let Some(inner) = self.scopes.get_mut(&scope)
                            && inner.view.set_outer(&outer, last.clone())
                        {
                            self.refresh(scope);
                        }
                    }
                }
                State::Idle | State::Calling | State::Asking => {}
            }
        }
    }

    pub(super) fn next_abort(&mut self) -> Option<Action> {
        let abort = self.actions.iter().position(|action| matches!(action, Action::Abort(_)))?;
        self.actions.remove(abort)
    }

    fn find_scope(&self, path: Option<&StepPath>) -> Option<ScopeId> {
        match path {
            Some(path) => {
                let is_it = |scope: &LiveScope| scope.prefix == path.positions();
                self.scopes.iter().find(|(_, scope)| is_it(scope)).map(|(id, _)| *id)
            }
            None => {
                let next = || self.ready.front().map(|(scope, _)| *scope);
                let any = || self.scopes.keys().next().copied();
                self.held_scope().or_else(next).or_else(any)
            }
        }
    }
}

impl fmt::Display for NotChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the run has ended"),
            Self::Running => f.write_str("the run goes on; pause it first"),
            Self::NoScope(path) => write!(f, "nothing is under way at `{path}`"),
            Self::NoOutput(node) => write!(f, "node `{node}` has no output here yet"),
            Self::TooLarge(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NotChanged {}
