//! Doing again what a record says.
//!
//! The engine is pure, so feeding it what the record says came from outside, in the order and at
//! the times of the record, must give the same events. Expressions are evaluated anew: where the
//! graph or an expression has changed, the events differ, and the first difference is told.

mod leading;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::ExprError;
use mcpgraph_graph::{Graph, Tool};

use crate::{Action, Evaluated, Evaluation, Event, PauseReason, Run, StepId, StepPath, TaskId};

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
    /// Steps may begin before those that are in line before them: of two that were held, the record
    /// does not tell which the run stood still for, and so not what came into line when.
    jumps: bool,
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
            jumps: false,
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
            if let (Some(before), Event::StepStarted { step, path, .. }) = (before, next)
                && *step >= before
            {
                if self.arrive(path, next.at(), &mut evaluate) {
                    return Ok(Progress::Reached);
                }
                continue;
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

    fn divergence(&self, replayed: Option<Event>) -> Box<Divergence> {
        let recorded = self.record.get(self.position).cloned();
        Box::new(Divergence { position: self.position, recorded, replayed })
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
