//! The calls of a durable run that are under way.

use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcpgraph_durable::Stopped;
use mcpgraph_engine::{StepId, TaskId};
use tokio_util::sync::CancellationToken;

use super::call::{Called, Pending};
use crate::Effects;

/// A call that is under way, or about to be.
pub(super) struct Flight<'a> {
    pub(super) task: TaskId,
    pub(super) step: StepId,
    /// The number of its place.
    pub(super) number: u32,
    pub(super) state: State<'a>,
    /// It was among several of which one came first. In this it is the same in every execution; an
    /// execution that knows which one came first has not begun the others.
    pub(super) has_raced: bool,
    /// Ends the call, on the other side too.
    pub(super) stop: CancellationToken,
}

pub(super) enum State<'a> {
    /// Nothing has been done.
    Pending(Box<Pending>),
    UnderWay(BoxFuture<'a, Result<Called, Stopped>>),
    Done(Result<Called, Stopped>),
    Taken,
}

impl<'a> Flight<'a> {
    /// Ends the call: it is looked at once more, and tells the other side.
    pub(super) fn stop(self) {
        self.stop.cancel();
        if let State::UnderWay(call) = self.state {
            drop(call.now_or_never());
        }
    }

    /// Makes the call, if that is not under way; it is given up after `time`.
    pub(super) fn start(&mut self, effects: &'a dyn Effects, time: Option<Duration>) {
        self.state = match std::mem::replace(&mut self.state, State::Taken) {
            State::Pending(pending) => State::UnderWay(pending.make(effects, time).boxed()),
            other => other,
        };
    }

    /// Goes on with the call, if it is under way.
    fn look(&mut self, context: &mut Context<'_>) {
        if let State::UnderWay(call) = &mut self.state
            && let Poll::Ready(called) = call.poll_unpin(context)
        {
            self.state = State::Done(called);
        }
    }

    /// What became of it; none if it has not ended.
    pub(super) fn take(&mut self) -> Option<Result<Called, Stopped>> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Done(called) => Some(called),
            other => {
                self.state = other;
                None
            }
        }
    }
}

/// Waits for something while the calls go on. One that was left alone would keep what it has of the
/// engine, such as a connection to its database, from what is waited for.
pub(super) async fn beside<T>(flights: &mut [Flight<'_>], wait: impl Future<Output = T>) -> T {
    let mut wait = pin!(wait);
    poll_fn(|context| {
        for flight in flights.iter_mut() {
            flight.look(context);
        }
        wait.as_mut().poll(context)
    })
    .await
}

/// Waits for the end of one, while the others go on. It is taken with [`Flight::take`].
pub(super) async fn ended(flights: &mut [Flight<'_>], index: usize) {
    poll_fn(|context| {
        for flight in flights.iter_mut() {
            flight.look(context);
        }
        match flights.get(index).map(|flight| &flight.state) {
            Some(State::UnderWay(_)) => Poll::Pending,
            _ => Poll::Ready(()),
        }
    })
    .await;
}

/// Waits for the first to end; its position.
pub(super) async fn first_of(flights: &mut [Flight<'_>]) -> usize {
    poll_fn(|context| {
        for flight in flights.iter_mut() {
            flight.look(context);
        }
        let first = flights.iter().position(|flight| matches!(flight.state, State::Done(_)));
        first.map_or(Poll::Pending, Poll::Ready)
    })
    .await
}
