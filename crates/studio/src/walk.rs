//! Where a walk was at a moment: its record, walked again.

use std::sync::Arc;

use mcpgraph_journal::{Journal, JournalError, Payload, RunId, StoredEvent};
use mcpgraph_sop::{Answer, Mode, Permit, Procedure, Walk};
use mcpgraph_value::Value;
use serde_json::json;

/// How many events are read at once.
const PAGE: usize = 1000;

/// The kind of the steps that are plans.
const PLAN: &str = "todo";

/// Walks as the record says, up to the event `until`, and tells where that leads: the path, the
/// nodes that can be gone to next, the tools that may be called, and the todos.
pub(crate) fn recall(
    journal: &Journal,
    run: RunId,
    procedure: Arc<Procedure>,
    until: Option<u64>,
) -> Result<serde_json::Value, JournalError> {
    let mut recalled = Recalled {
        walk: Walk::new(procedure, Mode::Strict),
        todos: Value::array(Vec::new()),
        calls: Vec::new(),
        now: 0,
    };
    let mut from = 0;
    'pages: loop {
        let page = journal.events(run, from, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        from = last + 1;
        for (seq, event) in page {
            if until.is_some_and(|until| seq > until) {
                break 'pages;
            }
            recalled.apply(event);
        }
    }
    Ok(recalled.told())
}

struct Recalled {
    walk: Walk,
    todos: Value,
    /// Calls of tools that have begun, by their steps.
    calls: Vec<(u64, Permit)>,
    /// When the run began, in milliseconds since 1970.
    now: u64,
}

impl Recalled {
    fn apply(&mut self, event: StoredEvent) {
        match event {
            StoredEvent::Started { input: Payload::Whole(input), given, .. } => {
                self.now = given.clock;
                let name = input.get("mode").and_then(Value::as_str);
                let mode = Mode::ALL.iter().find(|(known, _)| Some(*known) == name);
                let mode = mode.map_or(Mode::Strict, |(_, mode)| *mode);
                self.walk = Walk::new(Arc::clone(self.walk.procedure()), mode);
            }
            StoredEvent::StepStarted { kind, input: Some(Payload::Whole(input)), .. }
                if &*kind == PLAN =>
            {
                self.todos = input.get("todos").cloned().unwrap_or_default();
            }
            StoredEvent::StepStarted { kind, .. } if &*kind == PLAN => {}
            StoredEvent::StepStarted { path, node, at, .. } if path.positions().len() == 1 => {
                let entered = self.now + u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
                self.walk.follow(&node, entered);
            }
            StoredEvent::StepStarted { step, node, .. } => {
                self.calls.extend(self.walk.permit(&node, "").ok().map(|permit| (step, permit)));
            }
            StoredEvent::StepFinished { step, output: Payload::Whole(output), .. } => {
                let call = self.calls.iter().position(|(known, _)| *known == step);
                if let Some(call) = call {
                    let (_, permit) = self.calls.swap_remove(call);
                    // What a tool gave is what guards look at.
                    self.walk.answered(permit, Answer { result: None, value: Some(output) });
                }
            }
            _ => {}
        }
    }

    fn told(&self) -> serde_json::Value {
        let walk = &self.walk;
        let id = |number| &walk.node(number).id;
        json!({
            "mode": walk.mode().name(),
            "path": walk.path().collect::<Vec<_>>(),
            "current": walk.current().map(id),
            "next": walk.next(self.now).into_iter().map(id).collect::<Vec<_>>(),
            "tools": walk.allowed().collect::<Vec<_>>(),
            "todos": self.todos,
        })
    }
}
