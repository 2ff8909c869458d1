//! Drives a run as debuggers do: it stands still before nodes, after nodes and whenever somebody
//! asks; meanwhile outputs are changed, and what is under way comes to its end.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Action, PauseReason};
use mcpgraph_value::{Map, Value};

use crate::driver::{Drive, Finished, MAX_MOVES};

impl Drive {
    /// To the end, with pauses now and then.
    pub(crate) fn meddled_with(mut self) -> Finished {
        for _ in 0..MAX_MOVES {
            self.begin_all();
            if self.run.outcome().is_some() {
                return self.finished(false);
            }
            if self.order.pick(4) == 3 {
                self.run.pause(PauseReason::Asked, self.now);
                assert!(self.run.poll(self.now).is_none(), "nothing begins in a pause");
                self.meddle(&"entry".into());
            } else {
                self.step();
            }
        }
        panic!("the run does not end");
    }

    /// To the end, while somebody looks at what just ended and at what is to begin, and now and then
    /// stops there and changes what a node gave.
    pub(crate) fn looked_at(mut self) -> Finished {
        let numbered = (0..80).map(|number| format!("n{number}"));
        let named = ["entry", "call", "exit"].map(str::to_owned).into_iter();
        self.run.hold_after(numbered.chain(named).map(Arc::from));
        // Some see what time it is before anything begins, others only when they have to wait.
        let looks_up = self.order.pick(2) == 0;
        for _ in 0..MAX_MOVES {
            self.settle(true);
            if looks_up && self.is_due() {
                self.run.tick(self.now);
            } else if let Some(action) = self.run.next_action() {
                let is_evaluation = matches!(action, Action::Evaluate(_));
                self.take(action);
                // As a rule an expression has its value before anything else happens.
                if is_evaluation && self.order.pick(4) > 0 {
                    self.answer_at(self.under_way.len() - 1);
                }
            } else if let Some(next) = self.run.upcoming() {
                if self.order.pick(6) == 5 {
                    self.run.pause(PauseReason::Before(Arc::clone(&next.node)), self.now);
                    self.meddle(&next.node);
                    self.settle(true);
                }
                self.run.begin_next(self.now);
            } else {
                self.listen();
                if self.run.outcome().is_some() {
                    return self.finished(false);
                }
                self.step();
            }
        }
        panic!("the run does not end");
    }

    /// Begins all there is to begin.
    pub(crate) fn begin_all(&mut self) {
        loop {
            self.settle(false);
            if let Some(action) = self.run.next_action() {
                self.take(action);
            } else if !self.run.begin_next(self.now) {
                return;
            }
        }
    }

    /// Decides about every step that ended, before anything else happens: the run goes on or, for
    /// somebody who looks, may stand still.
    fn settle(&mut self, looks: bool) {
        self.listen();
        while let Some(held) = self.run.held() {
            if !looks || held.was_seen || self.order.pick(3) > 0 {
                self.run.release(self.now);
            } else {
                let node = Arc::clone(held.node);
                self.stop_after(&node);
            }
            self.listen();
        }
    }

    fn stop_after(&mut self, node: &Arc<str>) {
        self.run.pause(PauseReason::After(Arc::clone(node)), self.now);
        assert!(!self.run.begin_next(self.now), "nothing begins in a pause");
        assert!(self.run.held().is_some_and(|held| held.was_seen && held.node == node));
        assert!(self.run.view(None).is_some(), "the body of a step that is looked at is there");
        self.meddle(node);
    }

    /// What may happen while the run stands still, until it goes on.
    fn meddle(&mut self, node: &Arc<str>) {
        self.stop_unwanted();
        for _ in 0..self.order.pick(5) {
            if self.order.pick(2) == 0 {
                self.change(node);
            } else if !self.under_way.is_empty() {
                self.answer_one();
            }
            self.listen();
            self.stop_unwanted();
        }
        self.run.resume(Duration::from_secs(9), self.now);
    }

    fn stop_unwanted(&mut self) {
        while let Some(action) = self.run.next_action() {
            assert!(matches!(action, Action::Abort(_)), "nothing begins in a pause");
            self.take(action);
        }
    }

    /// Puts another value in the place of what a node gave, if it gave something.
    fn change(&mut self, node: &Arc<str>) {
        let before = self.run.context_bytes();
        let output = Value::object(Map::from_iter([("n", 2)]));
        for _ in 0..2 {
            drop(self.run.set_output(None, node, output.clone(), self.now));
        }
        assert!(self.run.context_bytes() <= before + output.approximate_bytes());
    }
}
