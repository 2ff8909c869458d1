//! Doing again what a record says.
//!
//! The engine is pure, so feeding it what the record says came from outside, in the order and at
//! the times of the record, must give the same events. Expressions are evaluated anew: where the
//! graph or an expression has changed, the events differ, and the first difference is told.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::ExprError;
use mcpgraph_graph::{Graph, Tool};

use crate::{
    Action, ErrorKind, Evaluated, Evaluation, Event, Outcome, PauseReason, Run, RunError, StepId,
    StepPath, TaskId,
};

/// A run that follows a record.
pub struct Replay<'r> {
    run: Run,
    record: &'r [Event],
    /// How many events of the record have happened again.
    position: usize,
    /// Handed out by the run and not answered yet.
    pending: BTreeMap<TaskId, Action>,
    /// The steps that have begun, by where they stand.
    tasks: HashMap<StepPath, TaskId>,
    /// When and where the steps of the record began, with the position that tells it. A part that
    /// was tried again has the same places again.
    began: HashMap<StepPath, VecDeque<(usize, Duration)>>,
    paths: HashMap<StepId, StepPath>,
    is_same: &'r dyn Fn(&Event, &Event) -> bool,
}

/// How far a replay came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// All of the record happened again.
    Done,
    /// The step that was asked for is the next to begin.
    Reached,
}

/// What became of an attempt to answer a step.
enum Answer {
    /// It has its answer.
    Given,
    /// It waits, but what the record tells did not come from what it waits for.
    NotItsOwn,
    /// It waits for nothing.
    NotAwaited,
}

/// The first thing that happened otherwise.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// The position in the record.
    pub position: usize,
    /// What the record says; none if it ends here.
    pub recorded: Option<Event>,
    /// What happened this time; none if nothing more would.
    pub replayed: Option<Event>,
}

impl<'r> Replay<'r> {
    /// Begins again. `is_same` says whether an event of the record (the first) is what happened
    /// (the second): a record may hold less than the run did, such as a masked secret.
    ///
    /// None if the record has no beginning.
    pub fn new(
        graph: Arc<Graph>,
        tool: &Arc<Tool>,
        record: &'r [Event],
        is_same: &'r dyn Fn(&Event, &Event) -> bool,
    ) -> Option<Self> {
        let Some(Event::Started { input, given, .. }) = record.first() else { return None };
        let mut began: HashMap<StepPath, VecDeque<(usize, Duration)>> = HashMap::new();
        let mut paths = HashMap::new();
        let mut looked_at = Vec::new();
        for (position, event) in record.iter().enumerate() {
            match event {
                Event::StepStarted { step, path, began: at, .. } => {
                    began.entry(path.clone()).or_default().push_back((position, *at));
                    paths.insert(*step, path.clone());
                }
                Event::Paused { why: PauseReason::After(node), .. } => {
                    looked_at.push(Arc::clone(node));
                }
                _ => {}
            }
        }
        let mut run = Run::start(graph, tool, input.clone(), *given);
        run.hold_after(looked_at.into_iter());
        Some(Self {
            began,
            paths,
            tasks: HashMap::new(),
            run,
            record,
            position: 0,
            pending: BTreeMap::new(),
            is_same,
        })
    }

    /// Goes on to the end of the record, or until `before` is the next step to begin. Expressions
    /// are evaluated with `evaluate`.
    pub fn advance(
        &mut self,
        before: Option<StepId>,
        mut evaluate: impl FnMut(&Evaluation) -> Result<Evaluated, ExprError>,
    ) -> Result<Progress, Box<Divergence>> {
        loop {
            self.compare()?;
            if self.release() {
                continue;
            }
            self.take_actions();
            let Some(next) = self.record.get(self.position) else { return Ok(Progress::Done) };
            if let (Some(before), Event::StepStarted { step, .. }) = (before, next)
                && *step >= before
            {
                return Ok(Progress::Reached);
            }
            if !self.follow(next, &mut evaluate) {
                return Err(self.divergence(None));
            }
        }
    }

    /// The run as it stands, to be driven on from here. What was under way begins again.
    pub fn into_run(mut self) -> Run {
        self.run.hold_after(std::iter::empty());
        self.run.hand_out_again(self.pending.into_values());
        self.run
    }

    /// How many events of the record have happened again.
    pub fn position(&self) -> usize {
        self.position
    }

    /// The time of the run at which the record goes on.
    pub fn now(&self) -> Duration {
        let next = self.record.get(self.position).or_else(|| self.record.last());
        next.map_or(Duration::ZERO, Event::at)
    }

    /// Holds what just happened against the record.
    fn compare(&mut self) -> Result<(), Box<Divergence>> {
        for event in self.run.take_events() {
            match self.record.get(self.position) {
                Some(recorded) if (self.is_same)(recorded, &event) => self.position += 1,
                // What a process did not live to record is no contradiction.
                None if !matches!(self.record.last(), Some(Event::Finished { .. })) => {}
                _ => return Err(self.divergence(Some(event))),
            }
        }
        Ok(())
    }

    /// Lets happen what follows from a step that is held, unless the run stood still for it; false if
    /// nothing is to be released.
    fn release(&mut self) -> bool {
        let Some(held) = self.run.held().filter(|_| !self.run.is_paused()) else { return false };
        let is_looked_at = match self.record.get(self.position) {
            Some(Event::Paused { why: PauseReason::After(node), .. }) => node == held.node,
            _ => false,
        };
        if is_looked_at && !held.was_seen {
            return false;
        }
        self.run.release(self.now());
        true
    }

    /// The same while the run stands still: in older records, what followed from the end of a step
    /// did not wait for that.
    fn release_early(&mut self, now: Duration) -> bool {
        let is_held = self.run.is_paused() && self.run.held().is_some_and(|held| !held.was_seen);
        if is_held {
            self.run.release(now);
        }
        is_held
    }

    fn divergence(&self, replayed: Option<Event>) -> Box<Divergence> {
        let recorded = self.record.get(self.position).cloned();
        Box::new(Divergence { position: self.position, recorded, replayed })
    }

    /// Does what leads to the next event of the record; false if nothing does.
    fn follow(
        &mut self,
        next: &Event,
        evaluate: &mut impl FnMut(&Evaluation) -> Result<Evaluated, ExprError>,
    ) -> bool {
        let now = next.at();
        if let Some(error) = self.stopped_by(next) {
            // Whatever could have begun by then did not.
            self.run.abort(error.clone(), now);
            return self.run.has_events();
        }
        match next {
            Event::Started { .. } => return false,
            Event::Paused { why, .. } => self.run.pause(why.clone(), now),
            Event::Resumed { waited, .. } => self.run.resume(*waited, now),
            Event::OutputChanged { scope, node, output, .. } => {
                return self.run.set_output(Some(scope), node, output.clone(), now).is_ok();
            }
            Event::Log { step, level, message, .. } => {
                self.run.log(*step, *level, Arc::clone(message), now);
            }
            Event::Finished { outcome, .. } => {
                return self.begin_more(next)
                    || self.release_early(now)
                    || self.end(outcome.as_ref().err(), now);
            }
            Event::StepStarted { step, .. }
            | Event::StepFinished { step, .. }
            | Event::StepFailed { step, .. }
            | Event::Retrying { step, .. } => {
                let error = self.failure(next);
                return match self.answer(*step, error, next, evaluate) {
                    Answer::Given => true,
                    Answer::NotItsOwn => self.end(error, now) || self.begin_more(next),
                    Answer::NotAwaited => {
                        self.begin_more(next)
                            || self.release_early(now)
                            || self.open_container(*step, now, evaluate)
                            || self.end(error, now)
                    }
                };
            }
        }
        true
    }

    /// The error with which somebody ended the whole run, if that is what an event tells of: the
    /// record then ends with it, at the same time.
    fn stopped_by(&self, event: &Event) -> Option<&'r RunError> {
        let (Event::StepFailed { error: told, at, .. }
        | Event::Finished { outcome: Err(told), at }) = event
        else {
            return None;
        };
        let Some(Event::Finished { outcome: Err(error), at: end }) = self.record.last() else {
            return None;
        };
        let is_it = error == told && end == at && self.run.ended_from_outside(error, *at);
        is_it.then_some(error)
    }

    /// The error that an event of the record tells of.
    fn failure(&self, event: &Event) -> Option<&'r RunError> {
        // A step that fails before it has its input is told of only then.
        let ahead = usize::from(matches!(event, Event::StepStarted { input: None, .. }));
        match self.record.get(self.position + ahead) {
            Some(Event::StepFailed { error, .. } | Event::Retrying { error, .. }) => Some(error),
            _ => None,
        }
    }

    /// Answers what a step waits for, with what the record says of it.
    fn answer(
        &mut self,
        step: StepId,
        error: Option<&RunError>,
        next: &Event,
        evaluate: &mut impl FnMut(&Evaluation) -> Result<Evaluated, ExprError>,
    ) -> Answer {
        let now = next.at();
        let task = self.paths.get(&step).and_then(|path| self.tasks.get(path)).copied();
        let Some((task, action)) = task.and_then(|task| self.pending.get_key_value(&task)) else {
            return Answer::NotAwaited;
        };
        let task = *task;
        let is_anothers = |error: &RunError| {
            // A limit that is reached at one node ends everything that is under way elsewhere.
            error.kind == ErrorKind::Limit && error.node.as_ref() != action.node()
        };
        if error.is_some_and(|error| self.run.ended_from_outside(error, now) || is_anothers(error))
        {
            return Answer::NotItsOwn;
        }
        let outcome = match (action, error, next) {
            (Action::Evaluate(_), Some(error), _) if error.kind == ErrorKind::Timeout => {
                return Answer::NotItsOwn;
            }
            (Action::Evaluate(evaluation), ..) => Outcome::Evaluated(evaluate(evaluation)),
            (Action::Call(_), Some(error), _) => Outcome::Called(Err(error.clone())),
            (Action::Call(_), None, Event::StepFinished { output, .. }) => {
                Outcome::Called(Ok(output.clone()))
            }
            (Action::Call(_) | Action::Abort(_), ..) => return Answer::NotAwaited,
        };
        self.pending.remove(&task);
        self.run.apply(task, outcome, now);
        Answer::Given
    }

    /// Evaluates the input of a step that contains this one. Where it failed before it had its
    /// input and is tried again, the record tells of it only by what then happens inside.
    fn open_container(
        &mut self,
        step: StepId,
        now: Duration,
        evaluate: &mut impl FnMut(&Evaluation) -> Result<Evaluated, ExprError>,
    ) -> bool {
        let Some(path) = self.paths.get(&step) else { return false };
        let containers = (1..path.positions().len()).map(|end| &path.positions()[..end]);
        for container in containers {
            let task = self.tasks.get(&StepPath::new(container)).copied();
            let pending = task.and_then(|task| self.pending.remove_entry(&task));
            match pending {
                Some((task, Action::Evaluate(evaluation))) => {
                    self.run.apply(task, Outcome::Evaluated(evaluate(&evaluation)), now);
                    return true;
                }
                Some((task, other)) => drop(self.pending.insert(task, other)),
                None => {}
            }
        }
        false
    }

    /// Lets one step begin on the way to the next event of the record; false if none can. Where the
    /// run stands still, only one that had begun before and is told of now.
    fn begin_more(&mut self, next: &Event) -> bool {
        if !self.run.is_paused() {
            let Some(upcoming) = self.run.upcoming() else { return false };
            let now = self.began(&upcoming.path).unwrap_or_else(|| self.now());
            return self.run.begin_next(now);
        }
        let Event::StepStarted { path, began, .. } = next else { return false };
        self.run.begin_late(path, *began)
    }

    /// When the next step at a place began.
    fn began(&mut self, path: &StepPath) -> Option<Duration> {
        let all = self.began.get_mut(path)?;
        while all.front().is_some_and(|(position, _)| *position < self.position) {
            all.pop_front();
        }
        all.front().map(|(_, began)| *began)
    }

    /// Takes everything the run wants done.
    fn take_actions(&mut self) {
        while let Some(action) = self.run.any_action() {
            self.take(action);
        }
    }

    fn take(&mut self, action: Action) {
        match action {
            Action::Abort(task) => {
                self.pending.remove(&task);
            }
            action => {
                let path = match &action {
                    Action::Evaluate(evaluation) => Some(evaluation.path()),
                    // A call without an expression before it has been told of as a step.
                    Action::Call(call) => self.paths.get(&call.step),
                    Action::Abort(_) => None,
                };
                if let Some(path) = path {
                    self.tasks.insert(path.clone(), action.task());
                }
                self.pending.insert(action.task(), action);
            }
        }
    }

    /// Nothing is left to do from inside: time passed, or somebody ended the run.
    fn end(&mut self, error: Option<&RunError>, now: Duration) -> bool {
        if self.pass_time(now) {
            return true;
        }
        match error {
            Some(error) if self.run.ended_from_outside(error, now) => {
                self.run.abort(error.clone(), now);
                self.run.has_events()
            }
            _ => false,
        }
    }

    /// Lets time pass; false if nothing happens by itself. One thing that is due at a time: a retry
    /// may have had time to fail again by now.
    fn pass_time(&mut self, now: Duration) -> bool {
        while let Some(due) = self.run.next_deadline().filter(|due| *due <= now) {
            if self.run.held().is_none() {
                self.run.tick(due);
            } else if !self.run.fire(due) {
                break;
            }
            if self.run.has_events() || self.run.has_work() {
                return true;
            }
        }
        false
    }
}

impl Event {
    /// Whether another event tells the same, whenever it happened.
    pub fn tells_the_same_as(&self, other: &Self) -> bool {
        self.clone().at_no_time() == other.clone().at_no_time()
    }

    fn at_no_time(mut self) -> Self {
        match &mut self {
            Self::Started { .. } => {}
            Self::StepStarted { began, at, .. } => {
                *began = Duration::ZERO;
                *at = Duration::ZERO;
            }
            Self::StepFinished { at, .. }
            | Self::StepFailed { at, .. }
            | Self::Retrying { at, .. }
            | Self::Paused { at, .. }
            | Self::Resumed { at, .. }
            | Self::OutputChanged { at, .. }
            | Self::Log { at, .. }
            | Self::Finished { at, .. } => *at = Duration::ZERO,
        }
        self
    }
}
