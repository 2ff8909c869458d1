//! How a debugger acts on the run it controls.

use std::sync::Arc;

use mcpgraph_engine::{NotChanged, PauseReason, Run, ScopeView, StepPath};
use mcpgraph_expr::Scope;

use crate::clock::Clock;
use crate::debug::{Command, DebugSession, DebugState, Move, When};
use crate::evaluate::Evaluator;

/// A debugger at work in a run; without one, everything here does nothing.
pub(crate) struct Debugging {
    session: Option<DebugSession>,
    mode: Mode,
    /// The steps that were stepped over: what is inside several may be at work at once.
    over: Vec<StepPath>,
    /// The step before which the run stood still: it begins when the run goes on.
    let_through: Option<StepPath>,
    /// The step that has not begun though the breakpoints before it were counted already.
    counted: Option<StepPath>,
    /// Why it is not known whether it should stand still.
    problem: Option<Arc<str>>,
    /// Why the debugger has the run stand still; none if it has not.
    held: Option<PauseReason>,
    /// A run inside this one stands still, and this one with it, whatever the debugger wants.
    stands_inside: bool,
}

/// What makes the run stop next, besides breakpoints.
enum Mode {
    /// Nothing.
    Run,
    /// The beginning of the run.
    Start,
    /// The next step.
    Step,
    /// The next step that is not inside one that was stepped over.
    StepOver,
}

impl Debugging {
    pub(crate) fn new(session: Option<DebugSession>, run: &mut Run) -> Self {
        let starts_paused = session.as_ref().is_some_and(|session| session.starts_paused);
        let mode = if starts_paused { Mode::Start } else { Mode::Run };
        let debugging = Self {
            session,
            mode,
            over: Vec::new(),
            let_through: None,
            counted: None,
            problem: None,
            held: None,
            stands_inside: false,
        };
        debugging.look_after(run);
        debugging
    }

    /// Has the run hold the steps after which it may have to stand still.
    fn look_after(&self, run: &mut Run) {
        let points = self.session.iter().flat_map(|session| &session.breakpoints);
        let after = points.filter(|(point, _)| point.when == When::After);
        run.hold_after(after.map(|(point, _)| Arc::clone(&point.node)));
    }

    /// Another debugger takes over. What the one before had paused goes on, unless this one wants
    /// it to stand still, or a run inside it does.
    pub(crate) fn join(&mut self, session: DebugSession, run: &mut Run, clock: &mut Clock) {
        let pauses = session.starts_paused;
        if let Some(before) = self.session.replace(session) {
            before.replaced();
        }
        self.look_after(run);
        if pauses {
            // Whatever the one before had it stand still for.
            self.held = None;
            self.pause(run, clock, PauseReason::Asked);
        } else {
            self.resume(run, clock, Mode::Run);
        }
    }

    /// Whether the debugger has to be told how the run stands still. What led there should be in the
    /// record by then, so that the debugger can look at it.
    pub(crate) fn has_news(&self, run: &Run) -> bool {
        self.session.as_ref().is_some_and(|session| {
            self.standing(run).is_some_and(|state| *session.state.borrow() != state)
        })
    }

    /// Tells the debugger how the run stands still. What was under way goes on meanwhile, so that
    /// this changes.
    pub(crate) fn tell(&self, run: &Run) {
        if let (Some(session), Some(now)) = (&self.session, self.standing(run)) {
            session.state.send_if_modified(|state| {
                let is_news = *state != now;
                if is_news {
                    *state = now;
                }
                is_news
            });
        }
    }

    /// How the run stands still; none if it goes on.
    fn standing(&self, run: &Run) -> Option<DebugState> {
        run.is_paused().then(|| {
            let error = run.held().filter(|held| held.was_seen).and_then(|held| held.error);
            DebugState::Paused {
                why: self.held.clone().unwrap_or(PauseReason::Asked),
                next: run.upcoming(),
                error: error.cloned().map(Box::new),
                problem: self.problem.clone(),
                inside: self.stands_inside,
            }
        })
    }

    /// The next command. Waits for ever where there is no debugger; none when it went away.
    pub(crate) async fn next_command(&mut self) -> Option<Command> {
        match &mut self.session {
            Some(session) => session.commands.recv().await,
            None => std::future::pending().await,
        }
    }

    /// Commands that need not be waited for.
    pub(crate) fn take_command(&mut self) -> Option<Command> {
        self.session.as_mut()?.commands.try_recv().ok()
    }

    /// Whether the run has to stand still instead of beginning its next step.
    pub(crate) fn stops(
        &mut self,
        run: &mut Run,
        clock: &mut Clock,
        evaluator: &Evaluator,
    ) -> bool {
        if self.session.is_none() || run.is_paused() {
            return run.is_paused();
        }
        let Some(next) = run.upcoming() else { return false };
        let is_let_through = self.let_through.take().is_some_and(|path| path == next.path);
        // A time counts also where the run would stop for another reason, or not at all.
        let is_hit = self.counted.take().is_none_or(|path| path != next.path) && {
            let told = run.told(clock.now());
            self.hit(&next.node, When::Before, run.view(None), told, evaluator)
        };
        if is_let_through {
            return false;
        }
        let why = match &self.mode {
            Mode::Start => Some(PauseReason::Asked),
            Mode::Step => Some(PauseReason::Stepped),
            Mode::StepOver if !self.over.iter().any(|over| next.path.is_inside(over)) => {
                Some(PauseReason::Stepped)
            }
            _ => is_hit.then(|| PauseReason::Before(Arc::clone(&next.node))),
        };
        let Some(why) = why else { return false };
        self.pause(run, clock, why);
        self.counted = Some(next.path.clone());
        self.let_through = Some(next.path);
        true
    }

    /// A step may have ended that is held: the run stands still after it, or it goes on. False if
    /// there is nothing to decide.
    pub(crate) fn settles(
        &mut self,
        run: &mut Run,
        clock: &mut Clock,
        evaluator: &Evaluator,
    ) -> bool {
        let Some(held) = run.held().filter(|_| !run.is_paused()) else { return false };
        let told = run.told(clock.now());
        if !held.was_seen && self.hit(held.node, When::After, Some(held.view), told, evaluator) {
            let node = Arc::clone(held.node);
            self.pause(run, clock, PauseReason::After(node));
        } else {
            run.release(clock.now());
        }
        true
    }

    /// Does what the debugger wants; none if it went away, which lets the run go on.
    pub(crate) fn obey(&mut self, command: Option<Command>, run: &mut Run, clock: &mut Clock) {
        // Whoever asked may have gone since, and then wants no answer.
        match command {
            None => {
                self.session = None;
                self.look_after(run);
                self.resume(run, clock, Mode::Run);
            }
            Some(Command::Move(how, reply)) => {
                self.go(how, run, clock);
                self.tell(run);
                reply.send(()).ok();
            }
            Some(Command::SetBreakpoints(breakpoints, reply)) => {
                if let Some(session) = &mut self.session {
                    session.breakpoints = breakpoints.into_iter().map(|point| (point, 0)).collect();
                }
                self.look_after(run);
                reply.send(()).ok();
            }
            Some(Command::Context(scope, reply)) => {
                drop(reply.send(run.view(scope.as_ref()).map(Scope::context)));
            }
            Some(Command::SetOutput { scope, node, output, reply }) => {
                // It may have gone on since it was asked for.
                let changed = if run.is_paused() {
                    run.set_output(scope.as_ref(), &node, output, clock.now())
                } else {
                    Err(NotChanged::Running)
                };
                self.tell(run);
                drop(reply.send(changed));
            }
        }
    }

    fn go(&mut self, how: Move, run: &mut Run, clock: &mut Clock) {
        match how {
            Move::Pause => self.pause(run, clock, PauseReason::Asked),
            Move::Resume => self.resume(run, clock, Mode::Run),
            // One that goes on stands still before its next node, which has not been looked at yet.
            Move::Step | Move::StepOver if !run.is_paused() => self.mode = Mode::Step,
            Move::Step => {
                self.let_through = run.upcoming().map(|next| next.path);
                self.resume(run, clock, Mode::Step);
            }
            Move::StepOver => {
                self.let_through = run.upcoming().map(|next| next.path);
                let Some(path) = self.let_through.clone() else {
                    return self.resume(run, clock, Mode::Step);
                };
                self.over.retain(|over| are_side_by_side(over, &path));
                self.over.push(path);
                self.resume(run, clock, Mode::StepOver);
            }
            Move::Stop => {
                // The run inside is cancelled with it.
                self.stands_inside = false;
                self.resume(run, clock, Mode::Run);
                run.cancel("stopped by the debugger", clock.now());
            }
        }
    }

    /// A run inside this one stands still, or none does any more: this one has to wait for it, and
    /// its time stands still, too. What the debugger wants of this one is another matter.
    pub(crate) fn follow(&mut self, stands: bool, run: &mut Run, clock: &mut Clock) {
        self.stands_inside = stands;
        if !stands {
            self.go_on(run, clock);
        } else if !run.is_paused() {
            stand(run, clock, PauseReason::Asked);
        }
    }

    /// The debugger has the run stand still.
    fn pause(&mut self, run: &mut Run, clock: &mut Clock, why: PauseReason) {
        if self.held.is_some() || run.outcome().is_some() {
            return;
        }
        self.held = Some(why.clone());
        self.mode = Mode::Run;
        stand(run, clock, why);
    }

    /// The debugger lets the run go on in this way, as far as it is the debugger who holds it.
    fn resume(&mut self, run: &mut Run, clock: &mut Clock, mode: Mode) {
        self.held = None;
        if !matches!(mode, Mode::StepOver) {
            self.over.clear();
        }
        self.mode = mode;
        self.problem = None;
        self.go_on(run, clock);
    }

    /// The run goes on, and its clock, if nothing holds it.
    fn go_on(&self, run: &mut Run, clock: &mut Clock) {
        if self.held.is_some() || self.stands_inside || !run.is_paused() {
            return;
        }
        run.resume(clock.resume(), clock.now());
        if let Some(session) = &self.session {
            session.state.send_replace(DebugState::Running);
        }
    }

    /// Whether a breakpoint is reached here, as often as it wants to be.
    fn hit(
        &mut self,
        node: &str,
        when: When,
        view: Option<&ScopeView>,
        told: i64,
        evaluator: &Evaluator,
    ) -> bool {
        let Some(session) = &mut self.session else { return false };
        let mut is_hit = false;
        for (point, count) in &mut session.breakpoints {
            if *point.node != *node || point.when != when {
                continue;
            }
            let holds = match (&point.condition, view) {
                (Some(rule), Some(view)) => {
                    evaluator.holds(rule, view, told).unwrap_or_else(|error| {
                        // Whoever wrote it should see that.
                        let problem =
                            format!("the condition of the breakpoint at `{node}`: {error}");
                        self.problem = Some(problem.into());
                        true
                    })
                }
                _ => true,
            };
            if holds {
                *count += 1;
                is_hit |= *count >= point.hits;
            }
        }
        is_hit
    }
}

fn stand(run: &mut Run, clock: &mut Clock, why: PauseReason) {
    if run.outcome().is_none() {
        run.pause(why, clock.now());
        clock.pause();
    }
}

/// Whether two steps belong to different items or branches of a step around them: otherwise one is
/// over when the other begins, or inside it. In a path positions of steps take turns with those of
/// items.
fn are_side_by_side(one: &StepPath, other: &StepPath) -> bool {
    let mut pairs = one.positions().iter().zip(other.positions());
    pairs.position(|(one, other)| one != other).is_some_and(|at| at % 2 == 1)
}
