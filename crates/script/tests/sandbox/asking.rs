//! What scripts ask of the world.

use std::time::{Duration, Instant};

use mcpgraph_script::{Limits, Sandbox, ScriptError};

use crate::{error, execution, json, run_with, tight};

#[tokio::test]
async fn servers_are_asked_about() {
    assert_eq!(
        json("return [getServerInfo('files'), getServerInfo('nope')]").await,
        r#"[{"name":"files","status":"running"},null]"#
    );
}

#[tokio::test]
async fn pages_are_fetched() {
    let script = "const answer = await fetch('https://example.test/echo', \
                  { method: 'post', headers: { a: 1, b: 2 }, body: 'hello' }); \
                  return [answer.ok, answer.status, answer.headers, await answer.json(), \
                          (await answer.text()).length]";
    assert_eq!(
        json(script).await,
        r#"[true,200,{"x-method":"POST"},{"headers":2,"body":"hello"},28]"#
    );
    let missing = "const answer = await fetch('https://example.test/missing'); \
                   try { await answer.json() } catch (error) { return [answer.ok, error.name] }";
    assert_eq!(json(missing).await, r#"[false,"SyntaxError"]"#);
    assert!(error("await fetch('https://other.test/')").await.contains("may not be reached"));
}

#[tokio::test]
async fn requests_are_bounded() {
    let script = "const all = []; \
                  for (let i = 0; i < 20; i++) all.push(fetch('https://example.test/slow')); \
                  await Promise.all(all)";
    assert!(error(script).await.contains("more than 8 requests at once"));
    let timers = "for (let i = 0; i < 5000; i++) sleep(100000)";
    assert!(error(timers).await.contains("more than 1000 timers at once"));
}

#[tokio::test]
async fn a_request_does_not_outlive_its_script() {
    let sandbox = Sandbox::default();
    let report = run_with(&sandbox, "await fetch('https://example.test/slow')", tight()).await;
    assert!(matches!(report.outcome, Err(ScriptError::Timeout { .. })));
    let began = Instant::now();
    let report = run_with(&sandbox, "fetch('https://example.test/slow'); return 1", tight()).await;
    assert!(report.outcome.is_ok());
    assert!(began.elapsed() < Duration::from_millis(300));
}

#[tokio::test]
async fn a_script_whose_result_is_not_wanted_stops() {
    let sandbox = Sandbox::new(crate::small());
    for script in ["while (true) {}", "await sleep(10000)", "for (;;) await null"] {
        let run = sandbox.run(execution(script, "{}", Limits::default()));
        assert!(tokio::time::timeout(Duration::from_millis(50), run).await.is_err());
        // There is one slot, which is free again long before the time limit.
        let began = Instant::now();
        assert!(run_with(&sandbox, "return 1", Limits::default()).await.outcome.is_ok());
        assert!(began.elapsed() < Duration::from_secs(2), "{script}");
    }
}
