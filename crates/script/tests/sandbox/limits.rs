//! The limits, each with the message that names it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_script::{Capacity, Limits, Sandbox, ScriptError};

use crate::{run_with, small, tight};

#[tokio::test]
async fn time() {
    let sandbox = Sandbox::default();
    for script in ["while (true) {}", "await null; while (true) {}", "await sleep(60000)"] {
        let began = Instant::now();
        let outcome = run_with(&sandbox, script, tight()).await.outcome;
        assert_eq!(outcome, Err(ScriptError::Timeout { limit: tight().time }), "{script}");
        assert!(began.elapsed() < Duration::from_millis(1300), "{script}");
    }
}

/// Also where nothing is left to say so with.
#[tokio::test]
async fn memory() {
    let limits = Limits { memory: 2 << 20, ..Limits::default() };
    for script in [
        "const kept = []; while (true) kept.push(new Array(100))",
        "const more = () => Promise.resolve().then(more); await more()",
        "const more = async () => { await null; return more() }; await more()",
    ] {
        let outcome = run_with(&Sandbox::default(), script, limits).await.outcome;
        let said = outcome.unwrap_err().to_string();
        assert!(said.contains("memory limit (2097152 bytes)"), "{script}: {said}");
    }
}

#[tokio::test]
async fn result() {
    let limits = Limits { result: 1000, ..Limits::default() };
    let outcome = run_with(&Sandbox::default(), "return 'x'.repeat(1001)", limits).await.outcome;
    assert_eq!(outcome, Err(ScriptError::ResultTooLarge { bytes: 1003, limit: 1000 }));
}

#[tokio::test]
async fn console() {
    let limits = Limits { console: 1000, ..Limits::default() };
    let script = "for (let i = 0; i < 1e5; i++) console.log('line ' + i); return 'done'";
    let report = run_with(&Sandbox::default(), script, limits).await;
    assert!(report.outcome.is_ok());
    assert!(report.console.len() < 70);
    assert!(report.console.last().is_some_and(|line| line.text.contains("limit 1000 bytes")));
}

#[tokio::test]
async fn what_runs_and_waits() {
    let sandbox = Arc::new(Sandbox::new(small()));
    let mut running = Vec::new();
    for _ in 0..6 {
        let sandbox = Arc::clone(&sandbox);
        running.push(tokio::spawn(async move {
            run_with(&sandbox, "await sleep(150); return 1", Limits::default()).await.outcome
        }));
    }
    let (mut done, mut refused) = (0, 0);
    for outcome in running {
        match outcome.await {
            Ok(Ok(_)) => done += 1,
            Ok(Err(ScriptError::Busy(message))) => {
                assert!(message.contains("1 scripts run at once"), "{message}");
                refused += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((done, refused), (2, 4));
}

/// A native call that takes seconds cannot be interrupted: its thread is given up and replaced,
/// and only so many may be lost.
#[tokio::test]
async fn lost_threads() {
    const STUCK: &str = "return 'a'.repeat(400000).indexOf('a'.repeat(200000) + 'b')";
    let sandbox = Sandbox::new(Capacity { lost: 2, ..small() });
    let limits = Limits { time: Duration::from_millis(100), ..Limits::default() };
    for _ in 0..2 {
        let began = Instant::now();
        let outcome = run_with(&sandbox, STUCK, limits).await.outcome;
        assert_eq!(outcome, Err(ScriptError::Stuck { limit: limits.time }));
        assert!(began.elapsed() < Duration::from_secs(2));
    }
    let refused = run_with(&sandbox, "return 1", limits).await.outcome;
    assert!(
        matches!(&refused, Err(ScriptError::Busy(message)) if message.contains("2 scripts are stuck")),
        "{refused:?}"
    );
}
