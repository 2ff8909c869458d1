//! How a durable run waits.
//!
//! Another execution has to come to the same steps in the same order. So what is not the run's own
//! doing is kept: what calls gave, and where several things may come first, which one did. While one
//! call is all there is to wait for, what it gave and when says everything, and nothing else is kept.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use mcpgraph_durable::{Place, Steps, Stopped};
use mcpgraph_engine::{Call, LogLevel, Outcome, TaskId};
use mcpgraph_journal::rfc3339_millis;
use mcpgraph_upstream::raw;
use mcpgraph_value::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::call::{Called, Pending, elapsed_of, micros};
use super::flights::{Flight, State, beside, ended, first_of};
use crate::drive::Drive;
use crate::{EffectCall, Said, waiting};

/// The entry of `_meta` that names a call of a durable run, the same whenever it is made again.
const IDEMPOTENCY_KEY: &str = "mcpgraph/idempotencyKey";

/// What the drive of a durable run has besides.
pub(crate) struct Durably<'a> {
    steps: Arc<dyn Steps>,
    /// Whether an execution before this one may have come somewhere.
    pub(crate) is_again: bool,
    /// In the order they were begun.
    flights: Vec<Flight<'a>>,
    /// Why it must not go on.
    pub(crate) stopped: Option<Stopped>,
}

/// What ended a wait.
enum News {
    /// Something that was waited for.
    Come,
    /// The caller cancelled the run, or the engine did.
    Cancelled,
    /// The execution must stop.
    Stopped,
}

impl Durably<'_> {
    pub(super) fn new(steps: Arc<dyn Steps>, is_again: bool) -> Self {
        Self { steps, is_again, flights: Vec::new(), stopped: None }
    }
}

impl Drive<'_> {
    /// Begins a call of a durable run; it is made when the run waits.
    pub(crate) fn fly(&mut self, call: Call) {
        let trace = self.watchers.trace_context(Some(call.step));
        let began = self.clock.began();
        let mut meta = self.meta.clone();
        let key = format!("{}/{}", self.id, call.path);
        meta.push((IDEMPOTENCY_KEY.to_owned(), raw(&key)));
        if let Some(Ok(until)) = waiting::wake_time(&call) {
            let line = format!("waits until {}", rfc3339_millis(until));
            self.run.log(call.step, LogLevel::Info, line.into(), self.clock.now());
        }
        let asker = self.asker.clone();
        let Some(durably) = &mut self.durably else { return };
        let place = durably.steps.place(&format!("{}/{}", call.path, call.attempt));
        let stop = CancellationToken::new();
        let (task, step, number) = (call.task, call.step, place.number);
        let call = EffectCall {
            call,
            cancel: stop.clone(),
            caller: Arc::clone(&self.watchers.caller),
            meta,
            trace,
            said: Said::default(),
            asker,
        };
        let pending = Pending { steps: Arc::clone(&durably.steps), place, call, began };
        durably.flights.push(Flight {
            task,
            step,
            number,
            state: State::Pending(Box::new(pending)),
            has_raced: false,
            stop,
        });
    }

    /// Gives up the call of a step.
    pub(crate) fn ground(&mut self, task: TaskId) {
        if let Some(durably) = &mut self.durably {
            for flight in durably.flights.extract_if(.., |flight| flight.task == task) {
                flight.stop();
            }
        }
    }

    /// Waits for what brings a durable run on.
    pub(crate) async fn wait_durably(&mut self) {
        if let Err(stopped) = self.next_of_steps().await {
            if stopped == Stopped::Cancelled {
                self.cancel_durably();
            } else if let Some(durably) = &mut self.durably {
                durably.stopped = Some(stopped);
            }
        }
    }

    /// Waits for the record of a run that has ended. Nobody executes it again once the engine knows
    /// what it came to, so that the record must be whole before, and this one's own.
    pub(crate) async fn kept(&mut self) -> Result<(), Stopped> {
        let Some(durably) = &mut self.durably else { return Ok(()) };
        durably.flights.clear();
        let steps = Arc::clone(&durably.steps);
        tokio::select! {
            biased;
            () = steps.stopped().cancelled() => {}
            () = self.watchers.kept() => {}
        }
        match steps.why() {
            // The engine knows its end already.
            Some(Stopped::Cancelled) => self.watchers.committed().await,
            Some(why) => return Err(why),
            None if self.watchers.are_refused() => return Err(Stopped::Elsewhere),
            None => {}
        }
        Ok(())
    }

    async fn next_of_steps(&mut self) -> Result<(), Stopped> {
        if !self.work.running.is_empty() {
            return self.evaluated().await;
        }
        let due = self.run.next_deadline().unwrap_or(Duration::MAX);
        let Some(durably) = &mut self.durably else { return Ok(()) };
        if durably.flights.is_empty() {
            let time = tokio::time::sleep(self.clock.until(due));
            let news = heed(&durably.steps, &self.cancel, time).await;
            return self.after(news, |drive| drive.time_passed(due));
        }
        let is_sole =
            self.run.awaits_only_calls() && matches!(&durably.flights[..], [one] if !one.has_raced);
        let time = self.clock.until(due);
        if is_sole { self.sole(time, due).await } else { self.one_of_several(time, due).await }
    }

    /// An expression that takes its time. They are pure, so that nothing is kept of them, and come
    /// before everything else.
    async fn evaluated(&mut self) -> Result<(), Stopped> {
        use futures_util::StreamExt as _;

        let Some(durably) = &mut self.durably else { return Ok(()) };
        let mut came = None;
        let running = &mut self.work.running;
        let news = heed(&durably.steps, &self.cancel, async {
            came = running.next().await;
        });
        let news = beside(&mut durably.flights, news).await;
        self.after(news, |drive| {
            if let Some((task, Some(outcome))) = came {
                drive.work.stop(task);
                drive.run.apply(task, outcome, drive.clock.now());
            }
        })
    }

    /// One call is all there is to wait for.
    async fn sole(&mut self, time: Duration, due: Duration) -> Result<(), Stopped> {
        let effects = &*self.runtime.effects;
        let Some(durably) = &mut self.durably else { return Ok(()) };
        let flights = &mut durably.flights[..];
        if let [flight] = flights {
            flight.start(effects, Some(time));
        }
        let news = heed(&durably.steps, &self.cancel, ended(flights, 0)).await;
        let called = flights.first_mut().and_then(Flight::take).transpose()?;
        self.after(news, |drive| {
            let Some(called) = called else { return };
            let elapsed = called.elapsed;
            let is_late = called.answer.is_none();
            drive.landed(0, called, elapsed);
            // The clocks that measure both need not agree to the microsecond.
            if is_late {
                drive.time_passed(due);
            }
        })
    }

    /// Something of several comes first, and which one is kept.
    async fn one_of_several(&mut self, time: Duration, due: Duration) -> Result<(), Stopped> {
        let effects = &*self.runtime.effects;
        let Some(durably) = &mut self.durably else { return Ok(()) };
        let steps = Arc::clone(&durably.steps);
        let place = steps.place("next");
        for flight in &mut durably.flights {
            flight.has_raced = true;
        }
        let kept = match beside(&mut durably.flights, steps.recall(&place)).await? {
            Some(kept) => kept,
            None => {
                for flight in &mut durably.flights {
                    flight.start(effects, None);
                }
                let flights = &mut durably.flights;
                let mut first = None;
                let race = async {
                    tokio::select! {
                        biased;
                        index = first_of(flights) => first = Some(index),
                        () = tokio::time::sleep(time) => {}
                    }
                };
                match heed(&steps, &self.cancel, race).await {
                    News::Come => {}
                    news => return self.after(news, |_| {}),
                }
                let choice = match first {
                    Some(index) => {
                        let flight = &durably.flights[index];
                        // A call that was stopped has not come to anything.
                        if let State::Done(Err(stopped)) = &flight.state {
                            return Err(stopped.clone());
                        }
                        Map::from_iter([
                            ("step", Value::from(u64::from(flight.number))),
                            ("at", micros(self.clock.elapsed()).into()),
                        ])
                    }
                    None => Map::from_iter([("due", Value::from(micros(due)))]),
                };
                beside(&mut durably.flights, steps.keep(&place, choice.into())).await?
            }
        };
        self.follow(&place, &kept).await
    }

    /// Does what was kept of a choice.
    async fn follow(&mut self, place: &Place, kept: &Value) -> Result<(), Stopped> {
        let number = |key| kept.get(key).and_then(Value::as_i64);
        if let Some(due) = number("due") {
            self.time_passed(Duration::from_micros(due.unsigned_abs()));
            return Ok(());
        }
        let effects = &*self.runtime.effects;
        let Some(durably) = &mut self.durably else { return Ok(()) };
        let is_it = |flight: &Flight<'_>| number("step") == Some(i64::from(flight.number));
        let Some(index) = durably.flights.iter().position(is_it) else {
            return Err(Stopped::Unusable(format!(
                "the run does something else than before at its step {}",
                place.number
            )));
        };
        let flights = &mut durably.flights[..];
        flights[index].start(effects, None);
        let news = heed(&durably.steps, &self.cancel, ended(flights, index)).await;
        let called = flights[index].take().transpose()?;
        let elapsed = elapsed_of(kept);
        self.after(news, |drive| {
            if let Some(called) = called {
                drive.landed(index, called, elapsed);
            }
        })
    }

    /// A call has ended.
    fn landed(&mut self, index: usize, called: Called, elapsed: Duration) {
        let Some(durably) = &mut self.durably else { return };
        let flight = durably.flights.remove(index);
        if called.is_recalled {
            self.watchers.recalled(flight.step);
        }
        self.clock.move_to(elapsed);
        let now = self.clock.now();
        if let Some(answer) = called.answer {
            for (level, line) in answer.said {
                self.run.log(flight.step, level, line, now);
            }
            self.run.apply(flight.task, Outcome::Called(answer.outcome), now);
        }
        self.run.tick(now);
    }

    fn time_passed(&mut self, due: Duration) {
        self.clock.move_to(due);
        self.run.tick(due);
    }

    /// Goes on after a wait.
    fn after(&mut self, news: News, come: impl FnOnce(&mut Self)) -> Result<(), Stopped> {
        match news {
            News::Come => come(self),
            News::Cancelled => self.cancel_durably(),
            News::Stopped => {
                let why = self.durably.as_ref().and_then(|durably| durably.steps.why());
                return Err(why.unwrap_or(Stopped::Elsewhere));
            }
        }
        Ok(())
    }

    fn cancel_durably(&mut self) {
        self.clock.move_to(self.clock.elapsed());
        self.run.cancel(self.why_cancelled(), self.clock.now());
    }
}

/// Waits for something, but not longer than the run may go on.
async fn heed(
    steps: &Arc<dyn Steps>,
    cancel: &CancellationToken,
    wait: impl Future<Output = ()>,
) -> News {
    tokio::select! {
        biased;
        () = cancel.cancelled() => News::Cancelled,
        () = steps.stopped().cancelled() => match steps.why() {
            Some(Stopped::Cancelled) => News::Cancelled,
            _ => News::Stopped,
        },
        () = wait => News::Come,
    }
}

/// When a durable run began that was given this clock.
pub(crate) fn began(clock: u64) -> std::time::SystemTime {
    UNIX_EPOCH.checked_add(Duration::from_millis(clock)).unwrap_or(UNIX_EPOCH)
}
