//! The sandbox as its users see it: what scripts can do, and what they cannot.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod asking;
mod hostile;
mod language;
mod limits;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_script::{
    Capacity, Execution, FetchRequest, FetchResponse, Host, Limits, Report, Sandbox, ScriptError,
};
use mcpgraph_value::Value;

/// A world with one server and one page.
struct World;

#[async_trait]
impl Host for World {
    fn server_info(&self, name: &str) -> Option<Value> {
        (name == "files")
            .then(|| Value::from_json(r#"{"name":"files","status":"running"}"#).unwrap())
    }

    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, String> {
        match &*request.url {
            "https://example.test/echo" => Ok(FetchResponse {
                status: 200,
                status_text: String::from("OK"),
                headers: vec![(String::from("x-method"), request.method)],
                body: format!(
                    r#"{{"headers":{},"body":{:?}}}"#,
                    request.headers.len(),
                    request.body.unwrap_or_default()
                ),
            }),
            "https://example.test/missing" => Ok(FetchResponse {
                status: 404,
                status_text: String::from("Not Found"),
                headers: Vec::new(),
                body: String::from("not json"),
            }),
            "https://example.test/slow" => {
                tokio::time::sleep(Duration::from_mins(1)).await;
                Err(String::from("too late"))
            }
            other => Err(format!("{other} may not be reached")),
        }
    }
}

/// Limits that make hostile scripts short.
fn tight() -> Limits {
    Limits { time: Duration::from_millis(200), ..Limits::default() }
}

fn execution(script: &str, context: &str, limits: Limits) -> Execution {
    let context = Value::from_json(context).unwrap();
    Execution { script: script.into(), context, limits, host: Arc::new(World) }
}

async fn run_with(sandbox: &Sandbox, script: &str, limits: Limits) -> Report {
    sandbox.run(execution(script, r#"{"request":{"params":{"n":20}}}"#, limits)).await
}

/// What a script returns.
async fn run(script: &str) -> Result<Option<Value>, ScriptError> {
    run_with(&Sandbox::default(), script, Limits::default()).await.outcome
}

/// The result of a script that has one, as JSON.
async fn json(script: &str) -> String {
    run(script).await.unwrap().unwrap().to_json()
}

/// The message of a script that fails.
async fn error(script: &str) -> String {
    run(script).await.unwrap_err().to_string()
}

fn small() -> Capacity {
    Capacity { running: 1, waiting: 1, lost: 1, grace: Duration::from_millis(200) }
}
