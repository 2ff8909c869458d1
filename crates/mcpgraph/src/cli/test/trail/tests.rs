use std::time::Duration;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_value::Value;

use super::*;

const AT: Duration = Duration::ZERO;

fn begin(step: StepId, path: &[u32], node: &str, kind: &'static str) -> Event {
    Event::StepStarted {
        step,
        path: StepPath::new(path),
        node: node.into(),
        kind,
        input: None,
        item_name: None,
        began: AT,
        at: AT,
    }
}

fn end(step: StepId) -> Event {
    Event::StepFinished { step, output: Value::Null, edge: None, at: AT }
}

fn error() -> RunError {
    RunError::new(ErrorKind::ToolError, "no")
}

fn names(events: &[Event]) -> String {
    Trail::of(events).nodes().join(" ")
}

#[test]
fn what_runs_side_by_side_is_in_the_order_of_its_items() {
    let events = [
        begin(0, &[0], "loop", "foreach"),
        begin(1, &[0, 0, 0], "a0", "mcp"),
        begin(2, &[0, 1, 0], "a1", "mcp"),
        end(2),
        begin(3, &[0, 1, 1], "b1", "mcp"),
        end(3),
        end(1),
        begin(4, &[0, 0, 1], "b0", "mcp"),
        end(4),
        end(0),
        begin(5, &[1], "exit", "exit"),
        end(5),
    ];
    assert_eq!(names(&events), "a0 b0 a1 b1 loop exit");
    assert_eq!(Trail::of(&events).steady().len(), 6);
}

#[test]
fn attempts_of_a_loop_follow_each_other() {
    let retrying = Event::Retrying { step: 0, attempt: 1, delay: AT, error: error(), at: AT };
    let failed = |step| Event::StepFailed { step, error: error(), edge: None, at: AT };
    let events = [
        begin(0, &[0], "loop", "foreach"),
        begin(1, &[0, 0, 0], "first", "mcp"),
        end(1),
        begin(2, &[0, 1, 0], "second", "mcp"),
        failed(2),
        retrying,
        begin(3, &[0, 0, 0], "third", "mcp"),
        end(3),
        begin(4, &[0, 1, 0], "fourth", "mcp"),
        end(4),
        end(0),
    ];
    assert_eq!(names(&events), "first second third fourth loop");
    assert_eq!(Trail::of(&events).steady(), [Part::Unsteady, Part::Node("loop".into())]);
}
