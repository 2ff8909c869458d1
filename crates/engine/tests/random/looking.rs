//! Drives a run as a debugger does that stops after nodes.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Action, PauseReason};
use mcpgraph_value::{Map, Value};

use crate::driver::{Drive, Finished, MAX_MOVES};

impl Drive {
    /// To the end, while somebody looks at what just ended, and now and then stops there and changes
    /// what it gave.
    pub(crate) fn looked_at(mut self) -> Finished {
        let numbered = (0..80).map(|number| format!("n{number}"));
        let named = ["entry", "call", "exit"].map(str::to_owned).into_iter();
        self.run.hold_after(numbered.chain(named).map(Arc::from));
        for _ in 0..MAX_MOVES {
            self.settle();
            if self.is_due() {
                self.run.tick(self.now);
            } else if let Some(action) = self.run.next_action() {
                self.take(action);
            } else if !self.run.begin_next(self.now) {
                self.listen();
                if self.run.outcome().is_some() {
                    return self.finished(false);
                }
                self.step();
            }
        }
        panic!("the run does not end");
    }

    /// Decides about every step that ended, before anything else happens.
    fn settle(&mut self) {
        self.listen();
        while let Some(held) = self.run.held() {
            if held.was_seen || self.order.pick(3) > 0 {
                self.run.release(self.now);
            } else {
                let node = Arc::clone(held.node);
                self.stop_after(node);
            }
            self.listen();
        }
    }

    fn stop_after(&mut self, node: Arc<str>) {
        self.run.pause(PauseReason::After(Arc::clone(&node)), self.now);
        assert!(!self.run.begin_next(self.now), "nothing begins in a pause");
        assert!(self.run.held().is_some_and(|held| held.was_seen && *held.node == node));
        assert!(self.run.view(None).is_some(), "the body of a step that is looked at is there");
        if self.order.pick(2) == 0 {
            let before = self.run.context_bytes();
            let output = Value::object(Map::from_iter([("n", 2)]));
            // A step that failed has no output.
            for _ in 0..3 {
                drop(self.run.set_output(None, &node, output.clone(), self.now));
            }
            assert!(self.run.context_bytes() <= before + output.approximate_bytes());
        }
        self.take_all();
        // A call that was under way may end meanwhile.
        let call = self.under_way.iter().position(|action| matches!(action, Action::Call(_)));
        if let Some(call) = call.filter(|_| self.order.pick(2) == 0) {
            self.answer_at(call);
            self.take_all();
        }
        self.run.resume(Duration::from_secs(9), self.now);
    }

    fn take_all(&mut self) {
        while let Some(action) = self.run.next_action() {
            self.take(action);
        }
    }
}
