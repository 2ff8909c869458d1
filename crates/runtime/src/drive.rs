//! A run under way: what it asks for is done, what comes is fed to it, everyone is told.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use mcpgraph_durable::Stopped;
use mcpgraph_engine::{Action, Event, Outcome, Run};
use mcpgraph_graph::Target;
use mcpgraph_journal::{RunId, RunRecorder};
use mcpgraph_upstream::Raw;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::debugging::Debugging;
use crate::durable::Durably;
use crate::ending;
use crate::live::{Entered, LiveRuns, Standing, Visit};
use crate::runtime::Ended;
use crate::watch::Watchers;
use crate::work::Work;
use crate::{Asker, EffectCall, Finished, Runtime, Wrapped};

/// After how many steps in a row a run lets others have their turn.
const STEPS_PER_TURN: u32 = 32;

/// A run under way.
pub(crate) struct Drive<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) id: RunId,
    pub(crate) run: Run,
    pub(crate) clock: Clock,
    pub(crate) watchers: Watchers,
    pub(crate) debugging: Debugging,
    /// The place where debuggers may join.
    pub(crate) entered: Option<Entered>,
    pub(crate) cancel: CancellationToken,
    /// The run it is inside of, and where that is found.
    pub(crate) around: Option<(RunId, LiveRuns)>,
    /// Lets that one stand still while this one does.
    pub(crate) standing: Option<Standing>,
    pub(crate) meta: Vec<(String, Raw)>,
    pub(crate) wrapped: Option<Arc<dyn Wrapped>>,
    pub(crate) asker: Option<Asker>,
    pub(crate) answer: Option<oneshot::Sender<Finished>>,
    pub(crate) work: Work<'a>,
    /// What it has besides if it is durable.
    pub(crate) durably: Option<Durably<'a>>,
    /// Room for what happened in a step.
    pub(crate) happened: Vec<Event>,
}

impl Drive<'_> {
    /// Gives the last of the record to be written, unless it is in the store, and keeps nothing but
    /// what has to wait for that.
    pub(crate) fn end(
        mut self,
        came_to: Result<Finished, Stopped>,
        is_kept: bool,
    ) -> Ended<impl Future<Output = bool> + Send + use<>> {
        let mut recorder = self.watchers.recorder.take();
        let entered = self.entered.take();
        let committing = recorder.as_mut().filter(|_| !is_kept).map(RunRecorder::committed);
        match committing {
            Some(committing) if came_to.is_ok() && self.watchers.caller.keeps_back() => {
                let over = committing.map(move |_| drop((recorder, entered)));
                self.watchers.caller.keep_back(over.boxed());
                Ended { came_to, committing: None, recorder: None, entered: None }
            }
            committing => Ended { came_to, committing, recorder, entered },
        }
    }

    pub(crate) async fn until_it_ends(&mut self) -> Result<Finished, Stopped> {
        let mut steps = 0;
        loop {
            self.tell();
            while self.advance() {
                self.tell();
                steps += 1;
                if steps % STEPS_PER_TURN == 0 {
                    tokio::task::yield_now().await;
                    self.run.tick(self.clock.now());
                    self.look_up();
                }
            }
            self.tell();
            if self.run.outcome().is_some()
                && let Some(finished) = Finished::of(self.id, &self.run)
            {
                return Ok(finished);
            }
            let waits_long = self.run.is_paused() || self.run.waits_for_people();
            if waits_long || self.durably.is_some() {
                self.watchers.hand_over();
            }
            if self.debugging.has_news(&self.run) {
                self.watchers.committed().await;
                self.debugging.tell(&self.run);
            }
            self.stand();
            self.answer_early();
            if self.durably.is_none() {
                self.wait().await;
                continue;
            }
            if self.watchers.are_refused() {
                return Err(Stopped::Elsewhere);
            }
            self.wait_durably().await;
            if let Some(stopped) = self.durably.as_mut().and_then(|durably| durably.stopped.take())
            {
                return Err(stopped);
            }
        }
    }

    /// Does the next thing there is to do; false if everything is under way.
    fn advance(&mut self) -> bool {
        let Some(action) = self.run.next_action() else {
            let evaluator = &self.runtime.evaluator;
            return !self.debugging.stops(&mut self.run, &mut self.clock, evaluator)
                && self.run.begin_next(self.clock.now());
        };
        match action {
            Action::Evaluate(evaluation) => {
                let task = evaluation.task();
                match self.runtime.evaluator.try_now(&evaluation) {
                    Some(outcome) => {
                        // It shares the run's history, which is then changed in place.
                        drop(evaluation);
                        self.run.apply(task, outcome, self.clock.now());
                    }
                    None => {
                        let evaluator = &self.runtime.evaluator;
                        self.work.add(task, |_| evaluator.slowly(evaluation));
                    }
                }
            }
            Action::Call(call) if self.durably.is_some() => self.fly(call),
            Action::Call(call) => {
                let task = call.task;
                let trace = self.watchers.trace_context(Some(call.step));
                let caller = Arc::clone(&self.watchers.caller);
                let meta = self.meta.clone();
                let effects = &self.runtime.effects;
                let said = self.work.listen(task, call.step);
                let wrapped = self.wrapped.clone();
                let asker = self.asker.clone();
                self.work.add(task, |cancel| async move {
                    Outcome::Called(match (&call.target, wrapped) {
                        (Target::Wrapped, Some(wrapped)) => {
                            wrapped.call(call.args, trace, cancel).await
                        }
                        _ => {
                            let call =
                                EffectCall { call, cancel, caller, meta, trace, said, asker };
                            effects.call(call).await
                        }
                    })
                });
            }
            Action::Abort(task) => {
                self.work.stop(task);
                self.ground(task);
            }
        }
        true
    }

    /// Sees whether somebody wants something of a run that has a lot to do.
    fn look_up(&mut self) {
        if self.cancel.is_cancelled() {
            self.run.cancel(self.why_cancelled(), self.clock.now());
        }
        if let Some(entered) = &mut self.entered
            && let Ok(session) = entered.joining.try_recv()
        {
            self.debugging.join(session, &mut self.run, &mut self.clock);
        }
        while let Some(command) = self.debugging.take_command() {
            self.debugging.obey(Some(command), &mut self.run, &mut self.clock);
        }
    }

    /// While this run stands still, so does the one it is inside of: that must not run out of time.
    fn stand(&mut self) {
        if !self.run.is_paused() {
            self.standing = None;
        } else if self.standing.is_none()
            && let Some((around, live)) = &self.around
        {
            self.standing = live.stand(*around);
        }
    }

    /// Waits for whatever comes first: an outcome, a deadline, the caller, the debugger.
    async fn wait(&mut self) {
        let deadline = self.run.next_deadline().unwrap_or(Duration::MAX);
        let left = deadline.saturating_sub(self.clock.now());
        let left = self.watchers.pause().map_or(left, |pause| pause.min(left));
        let (work, debugging, entered) = (&mut self.work, &mut self.debugging, &mut self.entered);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => {
                self.run.cancel(self.why_cancelled(), self.clock.now());
            }
            Some((task, outcome)) = work.running.next(), if !work.running.is_empty() => {
                // What was stopped says nothing; the step may be at its next attempt by now.
                if let Some(outcome) = outcome {
                    let now = self.clock.now();
                    for (step, level, line) in work.heard(task) {
                        self.run.log(step, level, line, now);
                    }
                    work.stop(task);
                    self.run.apply(task, outcome, self.clock.now());
                }
            }
            // Before the commands: the debugger that is replaced goes away, which releases the run.
            visit = visited(entered) => match visit {
                Visit::Debugs(session) => {
                    debugging.join(session, &mut self.run, &mut self.clock);
                }
                Visit::StandsInside(stands) => {
                    debugging.follow(stands, &mut self.run, &mut self.clock);
                }
            },
            command = debugging.next_command() => {
                debugging.obey(command, &mut self.run, &mut self.clock);
            }
            () = tokio::time::sleep(left), if !self.run.is_paused() => {
                self.run.tick(self.clock.now());
            }
        }
    }

    /// Why the run is cancelled. Of a durable one nobody says who asked for that.
    pub(crate) fn why_cancelled(&self) -> &'static str {
        let is_stopped = self.entered.as_ref().is_some_and(Entered::is_stopped);
        ending::why_cancelled(is_stopped || self.durably.is_some())
    }

    /// Tells whoever waits what the run came to, if only calls that nothing waits for go on.
    fn answer_early(&mut self) {
        if self.answer.is_some()
            && let Some(finished) = Finished::of(self.id, &self.run)
            && let Some(answer) = self.answer.take()
        {
            self.watchers.hand_over();
            // Nobody may wait any more.
            drop(answer.send(finished));
            self.cancel = CancellationToken::new();
        }
    }

    /// Tells everyone what happened, and what follows from the end of steps that a debugger looks at.
    pub(crate) fn tell(&mut self) {
        loop {
            let mut happened = mem::take(&mut self.happened);
            self.run.take_events_into(&mut happened);
            for event in &happened {
                self.watchers.show(event);
            }
            self.watchers.record(&mut happened);
            self.happened = happened;
            let evaluator = &self.runtime.evaluator;
            if !self.debugging.settles(&mut self.run, &mut self.clock, evaluator) {
                return;
            }
        }
    }
}

/// The next that comes from outside; waits for ever where nothing can.
async fn visited(entered: &mut Option<Entered>) -> Visit {
    match entered {
        Some(entered) => entered.visit().await,
        None => std::future::pending().await,
    }
}
