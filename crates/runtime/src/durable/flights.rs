//! The calls of a durable run that are under way.

use std::future::poll_fn;
use std::task::Poll;
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
    pub(super) fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending(_))
    }

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

    /// Waits for its end. It is taken with [`Flight::take`].
    pub(super) async fn ended(&mut self) {
        if let State::UnderWay(call) = &mut self.state {
            let called = call.await;
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

/// Waits for the first to end; its position.
pub(super) async fn first_of(flights: &mut [Flight<'_>]) -> usize {
    poll_fn(|context| {
        for (index, flight) in flights.iter_mut().enumerate() {
            let ended = match &mut flight.state {
                State::UnderWay(call) => match call.poll_unpin(context) {
                    Poll::Ready(called) => {
                        flight.state = State::Done(called);
                        true
                    }
                    Poll::Pending => false,
                },
                State::Done(_) => true,
                State::Pending(_) | State::Taken => false,
            };
            if ended {
                return Poll::Ready(index);
            }
        }
        Poll::Pending
    })
    .await
}
