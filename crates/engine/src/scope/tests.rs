//! A short scope and a long one are kept differently and must not be told apart.

use std::sync::Arc;

use mcpgraph_expr::Scope as _;
use mcpgraph_value::Value;

use super::ScopeView;

/// Nodes `n0`, `n1`, … in turn; the outputs are the numbers of the steps.
fn scope(nodes: usize, steps: usize) -> ScopeView {
    let mut scope = ScopeView::default();
    for step in 0..steps {
        scope.push(&Arc::from(format!("n{}", step % nodes)), step.into());
    }
    scope
}

#[test]
fn histories_of_any_length_are_read_alike() {
    for (nodes, steps) in [(1, 1), (3, 15), (3, 16), (3, 17), (16, 40), (17, 40), (40, 200)] {
        let scope = scope(nodes, steps);
        assert_eq!(scope.names().len(), nodes.min(steps));
        for back in 1..=steps {
            assert_eq!(scope.previous(back), Some((steps - back).into()));
        }
        assert_eq!(scope.previous(steps + 1), None);
        for node in 0..nodes.min(steps) {
            let expected: Vec<Value> = (node..steps).step_by(nodes).map(Value::from).collect();
            let name = format!("n{node}");
            assert_eq!(scope.execution_count(&name), expected.len());
            assert_eq!(scope.output(&name).as_ref(), expected.last());
            assert_eq!(scope.execution(&name, 0).as_ref(), expected.first());
            assert_eq!(scope.executions(&name), expected);
        }
    }
}

#[test]
fn a_copy_keeps_what_it_had() {
    for steps in [3, 16, 17, 40] {
        let before = scope(20, steps);
        let mut after = before.clone();
        after.push(&Arc::from("n0"), Value::Null);
        assert!(after.replace_latest("n1", "changed".into()).is_some());
        assert_eq!(before.previous(1), Some((steps - 1).into()));
        assert_eq!(after.previous(1), Some(Value::Null));
        assert_eq!(after.output("n1"), Some("changed".into()));
        assert_ne!(before.output("n1"), after.output("n1"));
        assert!(after.replace_latest("unknown", Value::Null).is_none());
    }
}
