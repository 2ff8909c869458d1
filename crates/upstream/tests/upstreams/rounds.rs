//! Calls in rounds, and arguments repeated in headers, against a server of the official SDK.

use std::time::Duration;

use mcpgraph_mcp::client::{EraChoice, HttpConfig, TransportConfig};
use mcpgraph_mcp::message::raw;
use mcpgraph_testkit::{HttpServer, environment};
use mcpgraph_upstream::{
    CallContext, CallEvent, ServerSpec, UpstreamError, UpstreamOptions, Upstreams,
};
use serde_json::json;
use tokio::sync::mpsc;

use crate::support::{call, call_with, named, options};

/// A modern server over HTTP, and the process that serves it.
fn modern() -> Option<(Upstreams, HttpServer)> {
    let program = environment::fixture_server()?;
    let http =
        HttpServer::start(move |port| program.arg("--http").arg(format!("127.0.0.1:{port}")));
    let config = HttpConfig { url: http.url("/mcp"), ..HttpConfig::default() };
    let spec =
        ServerSpec { era: EraChoice::Modern, ..ServerSpec::new(TransportConfig::Http(config)) };
    let capabilities = raw(&json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let options = UpstreamOptions { capabilities, ..options() };
    Some((Upstreams::new(named([("s", spec)]), options), http))
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_a_modern_server_are_answered_like_those_of_a_legacy_one() {
    let Some((upstreams, _http)) = modern() else { return };
    let (sender, mut receiver) = mpsc::channel(4);
    let context = CallContext { events: Some(sender), ..CallContext::default() };
    let tool = "test_input_required_result_elicitation";
    let calling = call_with(&upstreams, "s", tool, "{}", context);
    let answering = async {
        let mut asked = Vec::new();
        while let Some(event) = receiver.recv().await {
            if let CallEvent::ServerRequest { method, reply, .. } = event {
                asked.push(method);
                let answer = json!({"action": "accept", "content": {"name": "Ada"}});
                reply.send(Ok(raw(&answer))).unwrap();
            }
        }
        asked
    };
    let (answer, asked) = tokio::join!(calling, answering);
    assert_eq!(asked, ["elicitation/create"]);
    assert!(answer.unwrap().contains("Ada"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_answers_ends_at_the_deadline() {
    let Some((upstreams, _http)) = modern() else { return };
    let (sender, mut receiver) = mpsc::channel(4);
    let timeout = Some(Duration::from_millis(800));
    let context = CallContext { events: Some(sender), timeout, ..CallContext::default() };
    let tool = "test_input_required_result_elicitation";
    let calling = call_with(&upstreams, "s", tool, "{}", context);
    let (answer, _question) = tokio::join!(calling, receiver.recv());
    assert!(matches!(answer, Err(UpstreamError::Timeout { ms: 800, .. })), "{answer:?}");
    // Without anyone to ask, the questions are no result.
    let answer = call(&upstreams, "s", tool, "{}").await;
    assert!(matches!(answer, Err(UpstreamError::Broken { .. })), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_a_server_wants_in_headers_are_put_there() {
    let Some((upstreams, _http)) = modern() else { return };
    call(&upstreams, "s", "test_custom_header", r#"{"value":"é"}"#).await.unwrap();
}
