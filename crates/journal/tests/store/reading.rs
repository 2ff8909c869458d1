use std::collections::HashSet;
use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, LogLevel, RunError};
use mcpgraph_journal::{
    Filter, JournalError, JournalOptions, NewRun, Origin, Parent, Payload, RunId, RunStatus,
};
use mcpgraph_value::Value;

use crate::support::{
    at, done, failed, finished, keep, new_run, open, record, shared, short_run, started, step,
};

#[tokio::test]
async fn runs_are_listed_by_what_is_asked() {
    let (_dir, journal) = open(JournalOptions::default());
    let a = keep(&journal, new_run("alpha"), &short_run("alpha", &Value::from("one"))).await;
    let big = Value::from(format!("{}Needle{}", "x".repeat(20_000), "y".repeat(20_000)));
    let b = keep(&journal, new_run("beta"), &short_run("beta", &big)).await;
    let c = keep(&journal, new_run("beta"), &[started("beta", Value::Null), failed("no\n\"way\"")])
        .await;
    let ids = |filter: &Filter| -> Vec<RunId> {
        journal.list(filter).unwrap().runs.iter().map(|run| run.id).collect()
    };
    let any = Filter::default;
    let text = |text: &str| Filter { text: Some(text.to_owned()), ..any() };
    assert_eq!(ids(&any()), [c, b, a]);
    assert_eq!(ids(&Filter { tool: Some("beta".to_owned()), ..any() }), [c, b]);
    assert_eq!(ids(&Filter { status: Some(RunStatus::Failed), ..any() }), [c]);
    assert_eq!(ids(&Filter { status: Some(RunStatus::Succeeded), ..any() }), [b, a]);
    assert_eq!(ids(&Filter { slower_than: Some(Duration::from_micros(1500)), ..any() }), [c]);
    assert_eq!(ids(&text("needle")), [b]);
    assert_eq!(ids(&text("ALPHA")), [a]);
    assert_eq!(ids(&text("no\n\"way")), [c]);
    assert_eq!(ids(&text("nowhere")), []);
    let note = Value::from("Étude für “Ω”");
    let d = keep(&journal, new_run("gamma"), &short_run("gamma", &note)).await;
    for found in ["étude", "ÉTUDE FÜR", "“ω”", "ω", "Étude"] {
        assert_eq!(ids(&text(found)), [d], "{found}");
    }
    assert_eq!(ids(&text("etude")), []);
    journal.remove(&[d]).unwrap();
    let started = |id| journal.run(id).unwrap().unwrap().started;
    assert_eq!(ids(&Filter { since: Some(started(b)), until: Some(started(c)), ..any() }), [b]);

    let page = journal.list(&Filter { limit: 2, ..any() }).unwrap();
    assert_eq!(page.next, Some(b));
    let page = journal.list(&Filter { limit: 2, before: page.next, ..any() }).unwrap();
    assert_eq!((page.runs[0].id, page.runs.len(), page.next), (a, 1, None));
}

#[tokio::test]
async fn a_summary_says_what_the_run_says() {
    let (_dir, journal) = open(JournalOptions::default());
    let first = keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
    let mut run = new_run("t");
    run.origin.parent = Some(Parent { run: first, from: 3 });
    run.origin.around = Some(first);
    let cancelled = RunError::new(ErrorKind::Cancelled, "enough");
    let events = [
        started("t", Value::Null),
        step(0, &[0], "a", None),
        Event::Finished { outcome: Err(cancelled), at: at(77) },
    ];
    let (started, origin) = (run.started, run.origin.clone());
    let second = keep(&journal, run, &events).await;
    let summary = journal.run(second).unwrap().unwrap();
    assert_eq!(summary.status, RunStatus::Cancelled);
    assert_eq!(summary.origin, Origin { ..origin });
    assert_eq!((summary.events, summary.steps, summary.lost), (3, 1, 0));
    assert_eq!(summary.duration, at(77));
    assert_eq!(summary.error.as_deref(), Some("enough"));
    assert_eq!(summary.digest, crate::support::version());
    assert!(started.duration_since(summary.started).unwrap() < Duration::from_micros(1));
    let first = journal.run(first).unwrap().unwrap();
    assert_eq!((first.children, first.inside), (vec![second], vec![second]));
    assert!(journal.run(RunId::new()).unwrap().is_none());
}

#[tokio::test]
async fn the_beginning_of_an_id_is_enough() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut ids = Vec::new();
    for number in 0..3_u8 {
        let mut run = new_run("t");
        let mut bytes = [0xab; 16];
        bytes[1] = number;
        run.id = RunId::from_bytes(bytes);
        ids.push(keep(&journal, run, &short_run("t", &Value::Null)).await);
    }
    assert_eq!(journal.resolve("ab01").unwrap(), ids[1]);
    assert_eq!(journal.resolve("AB02ab").unwrap(), ids[2]);
    assert_eq!(journal.resolve("ab00abab-a").unwrap(), ids[0]);
    assert_eq!(journal.resolve(&ids[0].to_string()).unwrap(), ids[0]);
    let error = journal.resolve("ab0").unwrap_err();
    let JournalError::Ambiguous { candidates, more: false, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(candidates, &ids);
    assert!(error.to_string().contains(&ids[2].to_string()), "{error}");
    assert!(matches!(journal.resolve("cd"), Err(JournalError::NoRun(_))));
    for text in ["", "-", "xyz", "é", &"a".repeat(33)] {
        assert!(matches!(journal.resolve(text), Err(JournalError::NotAnId(_))), "{text}");
    }
}

#[tokio::test]
async fn a_step_has_its_retries_and_its_lines() {
    let (_dir, journal) = open(JournalOptions::default());
    let error = RunError::new(ErrorKind::Timeout, "slow");
    let events = [
        started("t", Value::Null),
        step(0, &[0], "a", Some(1.into())),
        Event::Retrying { step: 0, attempt: 1, delay: at(5), error: error.clone(), at: at(6) },
        Event::Log { step: 0, level: LogLevel::Warn, message: shared("hm"), at: at(7) },
        done(0, 2.into(), Some("b")),
        step(1, &[1], "b", None),
        Event::StepFailed { step: 1, error, edge: Some(shared("c")), at: at(20) },
        step(2, &[2], "c", None),
    ];
    let id = keep(&journal, new_run("t"), &events).await;
    let first = journal.step(id, 0).unwrap();
    assert_eq!((&*first.node, &*first.kind, first.began_seq), ("a", "mcp", 1));
    assert_eq!(first.input, Some(Payload::Whole(1.into())));
    assert_eq!(first.between, [2, 3]);
    let end = first.end.unwrap();
    assert_eq!(
        (end.outcome, end.edge.as_deref(), end.seq),
        (Ok(Payload::Whole(2.into())), Some("b"), 4)
    );
    let failed = journal.step(id, 1).unwrap().end.unwrap();
    assert_eq!(failed.outcome.unwrap_err().message.text(), shared("slow"));
    assert_eq!(journal.step(id, 2).unwrap().end, None);
    assert!(matches!(journal.step(id, 3), Err(JournalError::NoStep { step: 3, .. })));
    let context = journal.context_at(id, 2).unwrap();
    assert_eq!(context.get("a"), Some(&2.into()));
    assert_eq!(context.pointer("/error/message"), Some(&"slow".into()));
}

#[tokio::test]
async fn statistics_are_of_each_node_the_slowest_first() {
    let (_dir, journal) = open(JournalOptions::default());
    for number in 1..=20_u64 {
        let took = |step: u64, micros: u64| {
            let at = at(step * 10 + micros);
            let error = RunError::new(ErrorKind::ToolError, "no");
            if number == 20 && step == 1 {
                Event::StepFailed { step, error, edge: None, at }
            } else {
                Event::StepFinished { step, output: Value::Null, edge: None, at }
            }
        };
        let events = [
            started("t", Value::Null),
            step(0, &[0], "fast", None),
            took(0, 3),
            step(1, &[1], "slow", None),
            took(1, number * 100),
            finished(Value::Null),
        ];
        keep(&journal, new_run("t"), &events).await;
    }
    let stats = journal.stats(&Filter::default()).unwrap();
    assert_eq!(stats.len(), 2);
    assert_eq!((&*stats[0].node, stats[0].count, stats[0].errors), ("slow", 20, 1));
    assert_eq!((stats[0].p50, stats[0].p95, stats[0].max), (at(1000), at(1900), at(2000)));
    assert_eq!((&*stats[1].node, stats[1].p95, stats[1].errors), ("fast", at(3), 0));
}

/// A graph whose node `g` of the tool `outer` calls `inner`.
const CALLS_INNER: &str = "
server: { name: s, version: '1' }
tools:
  - name: outer
    inputSchema: { type: object }
    nodes: [{ id: e, type: entry, next: g }, { id: g, type: graph, tool: inner, next: x }, { id: x, type: exit }]
  - name: inner
    inputSchema: { type: object }
    nodes: [{ id: e, type: entry, next: x }, { id: x, type: exit }]
";

#[tokio::test]
async fn statistics_tell_nodes_of_called_tools_apart_and_leave_what_was_taken_over() {
    let mut call = step(1, &[1], "g", None);
    if let Event::StepStarted { kind, .. } = &mut call {
        *kind = "graph";
    }
    let events = [
        started("outer", Value::Null),
        step(0, &[0], "e", None),
        done(0, 1.into(), Some("g")),
        call,
        step(2, &[1, 0, 0], "e", None),
        done(2, 1.into(), None),
        done(1, 1.into(), None),
        finished(Value::Null),
    ];
    // The version that ran says whose they are, where it can be compiled.
    for (definition, called) in [("tools: []", "outer › g"), (CALLS_INNER, "inner")] {
        let (_dir, journal) = open(JournalOptions::default());
        let run = || NewRun { definition: Some(definition.into()), ..new_run("outer") };
        let first = keep(&journal, run(), &events).await;
        let mut again = run();
        again.origin = Origin { parent: Some(Parent { run: first, from: 1 }), ..Origin::default() };
        keep(&journal, again, &events).await;
        let stats = journal.stats(&Filter::default()).unwrap();
        let counts: HashSet<_> =
            stats.iter().map(|row| (&*row.tool, &*row.node, row.count)).collect();
        let expected = [("outer", "e", 1), ("outer", "g", 2), (called, "e", 2)];
        assert_eq!(counts, expected.into_iter().collect());
    }
}

#[tokio::test]
async fn a_run_that_runs_has_taken_the_time_up_to_now() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut recorder =
        record(&journal, new_run("t"), &[started("t", Value::Null), step(0, &[0], "a", None)]);
    assert!(recorder.committed().await);
    let limit = Duration::from_millis(30);
    tokio::time::sleep(limit * 2).await;
    let slow = Filter { slower_than: Some(limit), ..Filter::default() };
    let found = journal.list(&slow).unwrap().runs;
    assert_eq!(found.len(), 1);
    assert!(found[0].duration > limit, "{:?}", found[0].duration);
    let slower = Filter { slower_than: Some(Duration::from_mins(10)), ..Filter::default() };
    assert_eq!(journal.list(&slower).unwrap().runs, []);
}
