use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use mcpgraph_value::Value;

use super::*;

const GUARDED: &str = r#"---
agent: desk
version: 2
always_tools: [echo]
enforce: true
guards:
  CHECK:
    yes: {"==": [{"var": "get_order.status"}, "pending"]}
    no: {"!=": [{"var": "nodes.CHECK.get_order.status"}, "pending"]}
    odd: {"<": [{"var": "$error('no')"}, 1]}
---

```mermaid
flowchart TD
    START --> CHECK{Pending?}
    CHECK -->|yes| CANCEL --> DONE
    CHECK -->|no| DENY
    CHECK -->|odd| ODD
```

## Node Prompts

### CHECK

```yaml
tools: [get_order]
```

### CANCEL

```yaml
tools: [set_order_status]
```
"#;

fn walk(mode: Mode) -> Walk {
    of(GUARDED, mode)
}

fn of(text: &str, mode: Mode) -> Walk {
    let (procedure, diagnostics) = crate::read(&Source::new("desk.md", text));
    Walk::new(Arc::new(procedure.unwrap_or_else(|| panic!("{diagnostics:?}"))), mode)
}

fn permit(walk: &mut Walk, tool: &str) -> Result<Permit, Denied> {
    walk.permit(&tool.into(), &digest("{}"))
}

fn answered(walk: &mut Walk, permit: Permit, result: &str) {
    let answer = Answer { result: Some(digest(result)), value: Value::from_json(result).ok() };
    walk.answered(permit, answer);
}

/// Calls a tool that answers at once.
fn call(walk: &mut Walk, tool: &str, result: &str) {
    let permit = permit(walk, tool).expect("allowed");
    answered(walk, permit, result);
}

fn refused(made: Move) -> Guarded {
    match made {
        Move::Refused(Refusal::Guarded(guarded)) => guarded,
        other => panic!("{other:?}"),
    }
}

#[test]
fn guards_see_what_tools_gave() {
    let mut walk = walk(Mode::Enforced);
    assert_eq!(walk.go("START", 0), Move::Legal(0));
    assert_eq!(walk.go("CHECK", 1), Move::Legal(1));
    let guarded = refused(walk.go("CANCEL", 2));
    assert_eq!(guarded.condition.as_deref(), Some("yes"));
    assert_eq!(&*guarded.rule, r#"{"==":[{"var":"get_order.status"},"pending"]}"#);
    assert!(guarded.results.is_empty());
    call(&mut walk, "get_order", r#"{"status": "pending"}"#);
    let guarded = refused(walk.go("DENY", 3));
    assert_eq!(guarded.results, ["get_order".into()]);
    assert_eq!(walk.next(3), [2]);
    assert_eq!(walk.go("CANCEL", 4), Move::Legal(2));
}

#[test]
fn a_guard_that_fails_lets_nobody_through() {
    let mut walk = walk(Mode::Enforced);
    walk.go("START", 0);
    walk.go("CHECK", 0);
    let guarded = refused(walk.go("ODD", 0));
    assert!(guarded.error.is_some_and(|error| error.contains("no")));
}

#[test]
fn only_a_procedure_that_binds_has_guards_and_forbids_tools() {
    let mut walk = walk(Mode::Strict);
    walk.go("START", 0);
    walk.go("CHECK", 0);
    assert!(permit(&mut walk, "anything").is_ok());
    assert_eq!(walk.go("DENY", 0), Move::Legal(4));
}

#[test]
fn tools_belong_to_nodes() {
    let mut walk = walk(Mode::Enforced);
    assert!(permit(&mut walk, "echo").is_ok());
    assert_eq!(permit(&mut walk, "get_order"), Err(Denied::NotHere));
    walk.go("START", 0);
    walk.go("CHECK", 0);
    assert!(permit(&mut walk, "get_order").is_ok());
    assert_eq!(permit(&mut walk, "set_order_status"), Err(Denied::NotHere));
    let allowed: Vec<Arc<str>> = walk.allowed().collect();
    assert_eq!(allowed, ["get_order".into(), "echo".into()]);
}

#[test]
fn a_late_result_belongs_to_the_node_it_was_asked_for_at() {
    let mut walk = walk(Mode::Enforced);
    walk.go("START", 0);
    walk.go("CHECK", 0);
    let permit = permit(&mut walk, "get_order").expect("allowed");
    walk.go("DENY", 1);
    let noted =
        ToolUse { tool: "get_order".into(), arguments: digest("{}"), result: None, failed: false };
    assert!(noted.is_unanswered());
    assert_eq!(walk.steps()[1].uses, *std::slice::from_ref(&noted));
    let result = r#"{"status": "paid"}"#;
    answered(&mut walk, permit, result);
    assert_eq!(walk.steps()[1].uses, [ToolUse { result: Some(digest(result)), ..noted }]);
    assert_eq!(walk.steps()[2].uses.len(), 0);
    walk.go("START", 2);
    answered(&mut walk, permit, result);
    assert_eq!(walk.steps().len(), 1);
    assert!(walk.steps()[0].uses.is_empty());
}

/// Whoever comes to a node again has to ask there again.
#[test]
fn what_an_earlier_visit_gave_proves_nothing() {
    let text = r#"---
agent: x
always_tools: [look]
guards:
  JUDGE:
    DONE: {"==": [{"var": "nodes.CHECK.look.ok"}, true]}
---

```mermaid
flowchart TD
    START --> ROUTE --> CHECK --> JUDGE --> DONE
```
"#;
    let mut walk = of(text, Mode::Enforced);
    for node in ["START", "ROUTE", "CHECK"] {
        walk.go(node, 0);
    }
    let late = permit(&mut walk, "look").expect("allowed");
    call(&mut walk, "look", r#"{"ok": true}"#);
    for node in ["JUDGE", "DONE", "ROUTE", "CHECK", "JUDGE"] {
        assert!(matches!(walk.go(node, 0), Move::Legal(_)), "{node}");
    }
    refused(walk.go("DONE", 0));
    // Nor does an answer that comes when the node was come to again.
    answered(&mut walk, late, r#"{"ok": true}"#);
    refused(walk.go("DONE", 0));
    for node in ["ROUTE", "CHECK"] {
        walk.go(node, 0);
    }
    call(&mut walk, "look", r#"{"ok": true}"#);
    walk.go("JUDGE", 0);
    assert!(matches!(walk.go("DONE", 0), Move::Legal(_)));
}

#[test]
fn what_is_kept_for_guards_is_bounded() {
    let text = "---\nagent: x\nalways_tools: [a, b, c, d]\n---\n\
                ```mermaid\nflowchart TD\nSTART --> A\n```\n";
    let mut walk = of(text, Mode::Enforced);
    walk.go("START", 0);
    let large = format!("\"{}\"", "x".repeat(MAX_KEPT_BYTES / 3));
    for tool in ["a", "b", "c", "d"] {
        call(&mut walk, tool, &large);
    }
    let kept: Vec<&str> = walk.kept.here().map(|tool| &**tool).collect();
    assert_eq!(kept, ["c", "d"]);
    // A call counts when it is made.
    for _ in 4..MAX_CALLS {
        permit(&mut walk, "a").expect("allowed");
    }
    assert_eq!(permit(&mut walk, "a"), Err(Denied::TooMany));
    walk.go("START", 0);
    assert!(permit(&mut walk, "a").is_ok());
}

/// Whoever begins anew has proved nothing yet.
#[test]
fn the_hub_is_jumped_to_only_on_a_path_that_came_to_it() {
    let text = "---\nagent: x\nalways_tools: [login]\nguards:\n  AUTH:\n    ROUTE: {\"var\": \"login.ok\"}\n---\n\
                ```mermaid\nflowchart TD\nSTART --> AUTH --> ROUTE --> CANCEL --> DONE\n```\n";
    let mut walk = of(text, Mode::Enforced);
    let route = walk.chart().find("ROUTE").unwrap();
    for node in ["START", "AUTH"] {
        assert!(matches!(walk.go(node, 0), Move::Legal(_)));
    }
    call(&mut walk, "login", r#"{"ok": true}"#);
    for node in ["ROUTE", "CANCEL", "DONE", "ROUTE", "START"] {
        assert!(matches!(walk.go(node, 0), Move::Legal(_)), "{node}");
    }
    assert_eq!(walk.next(0), [walk.chart().find("AUTH").unwrap()]);
    assert_eq!(walk.go("ROUTE", 0), Move::Refused(Refusal::NoWay(route)));
    // Nor in another process.
    let saved = walk.to_value();
    let mut walk = Walk::from_value(Arc::clone(&walk.procedure), Mode::Enforced, &saved).unwrap();
    assert_eq!(walk.go("ROUTE", 0), Move::Refused(Refusal::NoWay(route)));
}

#[test]
fn a_path_has_a_limit_and_begins_anew_at_the_entry() {
    let text = "---\nagent: x\n---\n```mermaid\nflowchart TD\nSTART --> A\nA --> B --> A\n```\n";
    let mut walk = of(text, Mode::Lenient);
    walk.go("START", 0);
    for step in 1..MAX_STEPS {
        let to = if step % 2 == 1 { "A" } else { "B" };
        assert!(matches!(walk.go(to, 0), Move::Legal(_)));
    }
    assert_eq!(walk.go("B", 0), Move::Refused(Refusal::PathFull));
    assert_eq!(walk.go("START", 0), Move::Legal(0));
    assert_eq!(walk.steps().len(), 1);
}

#[test]
fn todos_are_taken_whole_or_not_at_all() {
    let mut walk = walk(Mode::Strict);
    let draft = |content: &str, status: &str, node: Option<&str>| TodoDraft {
        content: content.into(),
        status: status.into(),
        note: None,
        completion_node: node.map(Into::into),
    };
    let good = vec![draft("a", "pending", Some("DONE")), draft("b", "in_progress", None)];
    assert_eq!(walk.plan(good), Ok(()));
    assert_eq!(walk.summary(), Summary { pending: 1, in_progress: 1, completed: 0 });
    assert!(walk.completes(3) && !walk.completes(2));
    let long = "x".repeat(MAX_TODO_BYTES + 1);
    for (wrong, said) in [
        (draft(" ", "pending", None), "`content` is empty"),
        (
            draft("a", "done", None),
            "`status` is `done`; it must be `pending`, `in_progress` or `completed`",
        ),
        (
            draft("a", "pending", Some("GONE")),
            "`completion_node` is `GONE`, which is not in the flowchart",
        ),
        (draft(&long, "pending", None), "it has 4097 bytes; the limit is 4096 (4 KiB)"),
    ] {
        let drafts = vec![draft("a", "completed", None), wrong];
        let expected = NotAccepted::Item { position: 2, why: said.into() };
        assert_eq!(walk.plan(drafts), Err(expected));
        assert_eq!(walk.todos().len(), 2);
    }
    let many = vec![draft("a", "pending", None); MAX_TODOS + 1];
    assert_eq!(walk.plan(many), Err(NotAccepted::TooMany(MAX_TODOS + 1)));
    assert_eq!(walk.plan(Vec::new()), Ok(()));
    assert_eq!(walk.summary(), Summary::default());
}

/// A walk that another process takes up goes on as it would have.
#[test]
fn a_walk_is_taken_up_where_it_was_put_down() {
    let mut first = walk(Mode::Enforced);
    assert_eq!(first.go("START", 1), Move::Legal(first.chart().find("START").unwrap()));
    first.go("CHECK", 2);
    call(&mut first, "get_order", r#"{"status": "pending"}"#);
    let late = permit(&mut first, "get_order").unwrap();
    let failed = permit(&mut first, "echo").unwrap();
    first.answered(failed, Answer { result: None, value: None });
    let todo = TodoDraft {
        content: "look".into(),
        status: "in_progress".into(),
        note: Some("soon".into()),
        completion_node: Some("DONE".into()),
    };
    first
        .plan(vec![
            todo,
            TodoDraft { content: "x".into(), status: "pending".into(), ..TodoDraft::default() },
        ])
        .unwrap();
    let saved = Value::from_json(&first.to_value().to_json()).unwrap();
    let (procedure, _) = crate::read(&Source::new("desk.md", GUARDED));
    let procedure = Arc::new(procedure.unwrap());
    let mut second = Walk::from_value(Arc::clone(&procedure), Mode::Enforced, &saved).unwrap();
    assert_eq!(second.to_value(), first.to_value());
    assert_eq!(second.todos(), first.todos());
    assert_eq!(second.next(3), first.next(3));
    assert_eq!(second.steps()[1].uses, first.steps()[1].uses);
    let unanswered: Vec<bool> = second.steps()[1].uses.iter().map(ToolUse::is_unanswered).collect();
    assert_eq!(unanswered, [false, true, false]);
    // What was called here is answered there.
    answered(&mut second, late, r#"{"status": "pending"}"#);
    assert!(!second.steps()[1].uses[1].is_unanswered());
    // The guard sees what the tool gave to the other.
    assert!(matches!(second.go("DENY", 3), Move::Refused(Refusal::Guarded(_))));
    assert!(matches!(second.go("CANCEL", 3), Move::Legal(_)));
    assert!(first.path().eq(second.path().take(2)));
    for damaged in
        ["null", "{}", r#"{"steps":[["NOWHERE",1,[]]],"paths":1,"todos":[],"calls":0,"kept":[]}"#]
    {
        let damaged = Value::from_json(damaged).unwrap();
        assert!(Walk::from_value(Arc::clone(&procedure), Mode::Enforced, &damaged).is_none());
    }
}
