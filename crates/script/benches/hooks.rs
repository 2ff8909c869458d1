//! How many small hooks a second the sandbox executes, one after the other.
//!
//! `cargo bench -p mcpgraph-script`
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_script::{Alone, Execution, Limits, Sandbox};
use mcpgraph_value::Value;

const SCRIPT: &str = r"
    const { name, arguments: args } = context.request.params;
    if (name.startsWith('delete_')) {
        return { continue: false, error: { code: 'DENIED', message: name + ' is not allowed' } };
    }
    return { request: { ...context.request, params: { name, arguments: { ...args, limit: 10 } } } };
";

const CONTEXT: &str = r#"{
    "request": { "method": "tools/call", "params": { "name": "search", "arguments": { "q": "x" } } },
    "metadata": { "clientId": "bench", "workflowId": "w", "nodeId": "n" }
}"#;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let Ok(runtime) = runtime else { return };
    let context = Value::from_json(CONTEXT).unwrap_or_default();
    let script: Arc<str> = SCRIPT.into();
    runtime.block_on(async {
        let sandbox = Sandbox::default();
        let started = Instant::now();
        let mut executed = 0;
        while started.elapsed() < Duration::from_secs(2) {
            let report = sandbox
                .run(Execution {
                    script: Arc::clone(&script),
                    context: context.clone(),
                    limits: Limits::default(),
                    host: Arc::new(Alone),
                })
                .await;
            assert!(report.outcome.is_ok(), "{:?}", report.outcome);
            executed += 1;
        }
        let each = started.elapsed() / executed;
        println!("{} hooks/s, {each:?} each", (1.0 / each.as_secs_f64()).round());
    });
}
